"""What differs from wiki to wiki: namespace names and disambiguation pages.

The tables cover the larger Wikipedias; the titles of sections without prose are in `sections`. A dump names its own
namespaces in `<siteinfo>`; read those with `Namespaces.from_siteinfo`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from bertdata.sources.wikipedia.dump.sections import TITLES


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


_FILES, _CATEGORIES = 6, 14

_FILE = _names(
    "file, image, datei, bild, fichier, archivo, imagen, immagine, ficheiro, imagem, bestand, afbeelding, fil, plik, "
    "grafika, файл, изображение, файлът, картинка, ファイル, 画像, 文件, 图像, 圖像, 檔案, ملف, صورة, 파일, 그림, "
    "dosya, resim, tập tin, hình, soubor, kép, fájl, "
    "tiedosto, kuva, fișier, imagine, berkas, gambar, αρχείο, εικόνα, קובץ, תמונה, پرونده, attēls, vaizdas, pilt, "
    "súbor, obrázok, datoteka, датотека, слика, податотека, зображення, выява, चित्र, চিত্র, படிமம், ไฟล์, ภาพ, պատկեր, "
    "ფაილი, fayl, şəkil, сурет, fitxategi, fitxer, dosiero, mynd, delwedd, restr, lêer, fasciculus, fail"
)
_CATEGORY = _names(
    "category, kategorie, catégorie, categoría, categoria, categorie, kategori, kategoria, категория, категорія, "
    "カテゴリ, 分类, 分類, تصنيف, 분류, thể loại, kategória, luokka, kategorija, κατηγορία, קטגוריה, رده, "
    "kategooria, категорија, катэгорыя, श्रेणी, বিষয়শ্রেণী, பகுப்பு, หมวดหมู่, կատեգորիա, კატეგორია, kateqoriya, санат, "
    "kategorio, flokkur, categori, rummad"
)


_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_FOLD_PREFIX: dict[int, int | str] = {**_ASCII_LOWER, ord("_"): " "}
_FOLD_NAME: dict[int, int | str] = {**_FOLD_PREFIX, ord("\t"): " ", ord("\n"): " "}


def fold_title(title: str) -> str:
    """Return the title of a section as the tables spell it: ASCII letters in lower case."""
    return title.translate(_ASCII_LOWER)


def fold_prefix(prefix: str) -> str:
    """Return the prefix of a link as the tables spell it: ASCII letters in lower case, spaces for underscores.

    >>> fold_prefix(" User_Talk")
    'user talk'
    """
    return prefix.translate(_FOLD_PREFIX).strip(" \t\n\x7f")


@lru_cache(maxsize=4096)
def fold_name(name: str) -> str:
    """Return the name of a template as the tables spell it: a folded prefix with single spaces.

    >>> fold_name("Birth__date and\\nage")
    'birth date and age'
    """
    return " ".join(filter(None, name.translate(_FOLD_NAME).split(" ")))


def case_variants(names: Iterable[str]) -> Iterator[str]:
    """Yield lower-case names in each case that folding keeps: it changes the letters of ASCII alone.

    >>> sorted(case_variants(["datei", "файл"]))
    ['datei', 'ФАЙЛ', 'Файл', 'файл']
    """
    for name in names:
        yield from (
            {name} if name.isascii() else {fold_title(one) for one in (name, name.upper(), name[:1].upper() + name[1:])}
        )


_DISAMBIGUATION_TEMPLATES = _names(
    "disambiguation, disambig, disamb, dab, disambiguation page, disambig-cleanup, disambiguation cleanup, "
    "dab cleanup, 2cc, 2lc, tla, tla-dab, tladisambig, lnd, 3cc, 4lc, 4la, hndis, hndis-cleanup, geodis, roaddis, "
    "numberdis, mathdab, mathdis, schooldis, hospitaldis, callsigndis, chessdis, letterdis, "
    "letter-numbercombdisambig, shipindexdis, airport disambig, biology disambiguation, "
    "species latin name disambiguation, species latin name abbreviation disambiguation, music disambiguation, "
    "human name disambiguation, place name disambiguation, geo-dis, disambig-geo, geo-disambig, begriffsklärung, "
    "bkl, homonymie, paronymie, patronymie, toponymie, sigle, desambiguación, desambiguacion, des, disambigua, "
    "desambiguação, desambig, dp, doorverwijspagina, dpintro, ujednoznacznienie, förgrening, gren, неоднозначность, "
    "многозначность, disambig-ru, пояснение, багатозначність, 曖昧さ回避, aimai, 人名の曖昧さ回避, 地名の曖昧さ回避, "
    "消歧义, 消歧義, 消歧义页, توضيح, صفحة توضيح, 동음이의, anlam ayrımı, rozcestník, täsmennyssivu, flertydig, "
    "egyért, trang định hướng, פירושונים, ابهام‌زدایی"
)
DISAMBIGUATION_TITLE = re.compile(
    r"\((?:disambiguation|begriffsklärung|homonymie|desambiguación|disambigua|desambiguação|doorverwijspagina|"
    r"ujednoznacznienie|olika betydelser|значения|значення|пояснение|曖昧さ回避|消歧义|消歧義|توضيح)\)\s*\Z",
    re.IGNORECASE,
)

LANGUAGE_CODES = _names(
    "aa, ab, ace, ady, af, ak, als, alt, am, ami, an, ang, ar, arc, ary, arz, as, ast, atj, av, avk, awa, ay, az, "
    "azb, ba, ban, bar, bat-smg, bcl, be, be-tarask, be-x-old, bg, bh, bi, bjn, blk, bm, bn, bo, bpy, br, bs, bug, "
    "bxr, ca, cbk-zam, cdo, ce, ceb, ch, cho, chr, chy, ckb, co, cr, crh, cs, csb, cu, cv, cy, da, dag, de, din, "
    "diq, dsb, dty, dv, dz, ee, el, eml, en, eo, es, et, eu, ext, fa, ff, fi, fiu-vro, fj, fo, fr, frp, frr, fur, "
    "fy, ga, gag, gan, gcr, gd, gl, glk, gn, gom, gor, got, gu, guw, gv, ha, hak, haw, he, hi, hif, ho, hr, hsb, ht, "
    "hu, hy, hyw, hz, ia, id, ie, ig, ii, ik, ilo, inh, io, is, it, iu, ja, jam, jbo, jv, ka, kaa, kab, kbd, kbp, "
    "kcg, kg, ki, kj, kk, kl, km, kn, ko, koi, kr, krc, ks, ksh, ku, kv, kw, ky, la, lad, lb, lbe, lez, lfn, lg, li, "
    "lij, lld, lmo, ln, lo, lrc, lt, ltg, lv, mad, mai, map-bms, mdf, mg, mh, mhr, mi, min, mk, ml, mn, mni, mnw, "
    "mr, mrj, ms, mt, mus, mwl, my, myv, mzn, na, nah, nap, nds, nds-nl, ne, new, ng, nia, nl, nn, no, nov, nqo, "
    "nrm, nso, nv, ny, oc, olo, om, or, os, pa, pag, pam, pap, pcd, pcm, pdc, pfl, pi, pih, pl, pms, pnb, pnt, ps, "
    "pt, pwn, qu, rm, rmy, rn, ro, roa-rup, roa-tara, ru, rue, rw, sa, sah, sat, sc, scn, sco, sd, se, sg, sh, shi, "
    "shn, si, simple, sk, skr, sl, sm, smn, sn, so, sq, sr, srn, ss, st, stq, su, sv, sw, szl, szy, ta, tay, tcy, "
    "te, tet, tg, th, ti, tk, tl, tn, to, tpi, tr, trv, ts, tt, tum, tw, ty, tyv, udm, ug, uk, ur, uz, ve, vec, vep, "
    "vi, vls, vo, wa, war, wo, wuu, xal, xh, xmf, yi, yo, za, zea, zh, zh-classical, zh-min-nan, zh-yue, zu"
)


@dataclass(frozen=True)
class Namespaces:
    """The folded prefixes of the links that leave no text: of files, categories and other languages.

    >>> "datei" in DEFAULT_NAMESPACES.hidden, "alien" in DEFAULT_NAMESPACES.hidden
    (True, False)
    """

    hidden: frozenset[str] = frozenset(case_variants(_FILE | _CATEGORY | LANGUAGE_CODES))

    @classmethod
    def from_siteinfo(cls, names: Mapping[int, str | Iterable[str]]) -> Namespaces:
        """Build the namespaces of a dump from its `<siteinfo>`: number to one name or several.

        The English names and those of the larger Wikipedias stay understood whatever the wiki's language.

        >>> wiki = Namespaces.from_siteinfo({0: "", 6: "Attēls", 14: ["Kategorija", "K"]})
        >>> "attēls" in wiki.hidden, "image" in wiki.hidden, "k" in wiki.hidden
        (True, True, True)
        """
        own: set[str] = set()
        for number in (_FILES, _CATEGORIES):
            value = names.get(number, ())
            own.update([value] if isinstance(value, str) else value)
        prefixes = {name.replace("_", " ").strip().lower() for name in own} - {""}
        return cls(DEFAULT_NAMESPACES.hidden | frozenset(case_variants(prefixes)))


DEFAULT_NAMESPACES = Namespaces()

SECTIONS_WITHOUT_PROSE = frozenset(case_variants(TITLES))
"""The folded titles of sections without prose, of all wikis together."""

SECTIONS_OF_NOTES = frozenset(case_variants(_names("notes, note, anmerkungen, notas, noter, uwagi")))
"""The titles among those of sections without prose under which there may be prose: of notes that are no footnotes."""

_SOFT_REDIRECT_TEMPLATES = _names(
    "soft redirect, softredirect, softredir, soft link, wiktionary redirect, wi, wikisource redirect, "
    "wikispecies redirect, commons redirect, category redirect, falschschreibung, obsolete schreibung, "
    "redirection douce, redirección suave, redirect morbido, "
    "мягкое перенаправление, ソフトリダイレクト, 软重定向, 軟重定向"
)
PAGE_KINDS: dict[str, str] = {
    **dict.fromkeys(case_variants(_SOFT_REDIRECT_TEMPLATES), "soft redirect"),
    **dict.fromkeys(case_variants(_DISAMBIGUATION_TEMPLATES), "disambiguation"),
}
"""From a template's folded name to why a page that calls it holds no article."""

LIST_TITLE = re.compile(
    r"(?:lists? of|index of|outline of|timeline of|liste (?:der|des|de|von|over|du)|listes? des?|"
    r"lista (?:de|di|das?|dos?|degli|dei|delle|del)|listas? de|lijst van|список|списък|lista|قائمة|"
    r"danh sách|seznam|lista över|luettelo) |.*(?:一覧|列表|목록)(?: \([^()]*\))?\Z",
    re.IGNORECASE,
)
