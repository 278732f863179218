"""The words that begin a redirect in the wikis that MediaWiki knows, and where a redirect leads.

From the magic word `redirect` of MediaWiki's `languages/messages/Messages*.php`, as of MediaWiki 1.39 and 1.43. Every
wiki understands the English one. A dump marks a redirect by `<redirect>`; in the first Content File Exports, which lack
it, only the words tell.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

REDIRECT_WORDS = """
#REDIRECT en
#ALIH ace id min
#PUPINAH ace
#AANSTUUR af
#ENDRECERA an
#REDIRECCION an es lad oc qu
#REDIRECCIÓN an es gl lad qu
#REENDRECERA an
#تحويل ar arz
#ܨܘܝܒܐ arc
#YÖNLƏNDİRMƏ az
#İSTİQAMƏTLƏNDİR az
#İSTİQAMƏTLƏNDİRMƏ az
#перанакіраваньне be-tarask
#виж bg
#пренасочване bg
#পুনঃনির্দেশ bn
#পুনঃর্নির্দেশ bn
#পুননির্দেশ bn
#পুনর্নির্দেশ bn
#ADKAS br
#PREUSMJERI bs hr sh sh-latn sr-el
#REDIRECCIO ca
#REDIRECCIÓ ca
#дӀасахьажор' ce
#перенапр ce krc os ru tt-cyrl tyv uk
#перенаправление ce krc os ru tt-cyrl tyv uk
'#REDIRECT ce
'#хьажайо' ce
#ڕەوانەکەر ckb
#PŘESMĚRUJ cs
#ПРѢНАПРАВЛЄНИѤ cu
#ail-cyfeirio cy
#ailgyfeirio cy
#WEITERLEITUNG de ksh lb nds
#HETENAYIŞ diq
#ΑΝΑΚΑΤΕΥΘΥΝΣΗ el
#AL eo
#ALIDIREKTI eo
#ALIDIREKTU eo
#suuna et vro
#BIRZUZENDU eu
#تغییر_مسیر fa mzn
#تغییرمسیر fa mzn
#OHJAUS fi
#UUDELLEENOHJAUS fi
#REDIRECTION fr frp mg
#REDIRÈCCION frp
#athsheoladh ga
#YÖNLENDİR gag tr
#YÖNLENDİRME gag tr
#YÖNNENDİR gag
#YÖNNENDİRMÄ gag
#YÖNNENDİRMÄKLER gag
#REDIRECIONAMENTO gl mwl pt pt-br
#KIAHOU haw
#הפניה he yi
#अनुप्रेषित hi ne sa
#पुनर्प्रेषित hi ne
#ÁTIRÁNYÍTÁS hu
#ՎԵՐԱՀՂՈՒՄ hy hyw
#ՎԵՐԱՅՂՈՒՄ hyw
#KÚFÙ ig
#ластар inh
#tilvísun is
#RIMANDO it vec
#RINVIA it vec
#RINVIO it vec
#リダイレクト ja
#転送 ja
＃リダイレクト ja
＃転送 ja
#გადამისამართება ka
#АЙДАУ kk-arab kk-cyrl kk-latn
#ايداۋ kk-arab
#AÝDAW kk-latn
#បញ្ជូនបន្ត km
#ប្ដូរចំណងជើង km
#ប្ដូរទីតាំង km
#ប្ដូរទីតាំងទៅ km
#ប្តូរទីតាំង km
#ប្តូរទីតាំងទៅ km
#넘겨주기 ko
#джибериу krc
#редирект krc
#LEIDT_ÖM_OP ksh
#ÖMLEIDE ksh
#ÖMLEIDE_OP ksh
#ÖMLEIDUNG ksh
#BERALÎKIRIN ku-latn
#DASKEDYANS kw
#DIRECCIÓN lad
#DIRIJAR lad
#VIRULEEDUNG lb
#PERADRESAVIMAS lt
#FIHODINANA mg
#ALIAH min
#види mk
#пренасочување mk
#തിരിച്ചുവിടുക ml
#തിരിച്ചുവിടൽ ml
#ЧИГЛҮҮЛЭГ mn
#पुनर्निर्देशन mr
#पुर्ननिर्देशन mr
#LENCONG ms
#RINDIRIZZA mt
#ANCAMINAR mwl
#بور mzn
#OMDIRIGERING nb sv
#wiederleiden nds
#DEURVERWIEZING nds-nl
#DOORVERWIJZING nds-nl nl srn
#DUURVERWIEZING nds-nl
#अनुप्रेषण ne
#OMDIRIGER nn
#ଲେଉଟାଣି or
#ÆРВИТÆН os
#ÆРВЫСТ os
#РАРВЫСТ os
#ਰੀਡਿਰੈਕਟ pa
#PATRZ pl
#PRZEKIERUJ pl
#TAM pl
#مڑجوڑ pnb
#PUSAPUNA qu
#RENVIAMENT rm
#REDIRECTEAZA ro
#अनुप्रेषितम् sa
#पुनर्निदेशन sa
#पुनर्निर्दिष्टम् sa
#утаарыы sah
#утр sah
#چوريو sd
#OĐĐASITSTIVREN se
#STIVREN se
#PREUSMERI sh sh-latn sr-el
#යළියොමුව si
#presmeruj sk
#PREUSMERITEV sl
#RIDREJTO sq
#Преусмери sr-ec
#Преусмјери sr-ec
#STIR srn
#வழிமாற்று ta
#దారిమార్పు te
#равона tg-cyrl
#เปลี่ยนทาง th
#TOJƏDƏN_İSTİĞOMƏT_DOY tly
#ЮНӘЛТҮ tt-cyrl
#YÜNÄLTÜ tt-latn
#ШИГЛЕДИР tyv
#көжүрүлге tyv
#ПЕРЕНАПРАВЛЕННЯ uk
#رجوع_مکرر ur
#YONALTIRISH uz
#YOʻNALTIRISH uz
#VARDA vec
#đổi vi
#saadaq vro
#ווייטערפירן yi
#重定向 zh-hans zh-hant
#重新導向 zh-hant
"""
"""A word in a line, followed by the codes of the languages that have it."""

_SPACE = r"[ \t\n\r\f\v]*+"
_WORDS = [line.partition(" ")[0] for line in REDIRECT_WORDS.split("\n") if line]
_REDIRECT = re.compile(
    rf"(?:{'|'.join(map(re.escape, sorted(_WORDS, key=len, reverse=True)))}){_SPACE}:?{_SPACE}"
    r"\[\[([^|\n]*?)(?:\|[^\n]*?)?\]\]",
    re.IGNORECASE,
)
_FIRST_BYTES = b"".join(sorted({word.encode()[:1] for word in _WORDS}))
_BEGIN = re.compile(rb"[ \t\n\r\0\x0b]*+(?=[%b])" % re.escape(_FIRST_BYTES))
_HEAD = 4096
"""Bytes in which a word and its link are looked for; a title has at most 255."""


def redirect_target(wikitext: bytes) -> str | None:
    """Return the title that a page redirects to, without the part after `#`, None where it is not a redirect.

    A redirect is what MediaWiki takes for one (`WikitextContent::getRedirectTargetAndText`): a word of the table in any
    case, with its number sign, at the beginning but for spaces, then a link, with at most a colon and spaces between.
    The words of all wikis are understood in each.

    >>> redirect_target("#WEITERLEITUNG [[Köln#Dom|der Dom]]".encode()), redirect_target(b"#redirect : [[:Rome]]")
    ('Köln', 'Rome')
    >>> redirect_target("# [[Köln]]".encode()), redirect_target(b"#REDIRECT to [[Rome]]")
    (None, None)
    """
    begin = _BEGIN.match(wikitext)
    found = begin and _REDIRECT.match(wikitext[begin.end() : begin.end() + _HEAD].decode("utf-8", "replace"))
    return unquote(found[1]).strip().removeprefix(":").partition("#")[0].strip() if found else None
