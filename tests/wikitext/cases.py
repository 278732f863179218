"""Wikitext and the prose it becomes, one case a construct: what a reader sees of it, and broken markup."""

from __future__ import annotations

LINKS_AND_QUOTES = {
    "'''Marie''' met ''the'' '''''other''''' one.": "Marie met the other one.",
    "The '''Smiths''''s house and d'''Artagnan'' book.": "The Smiths's house and d'Artagnan book.",
    "A [[dog]] and two [[fox]]es ran past the [[Barn (building)|old barn]].": (
        "A dog and two foxes ran past the old barn."
    ),
    "She left [[Paris (Texas)|]] for [[Rome, Georgia|]].": "She left Paris for Rome.",
    "Read [[#Life|below]] and [[:Category:Birds|the birds]] and [[s:Ode|the ode]].": (
        "Read below and the birds and the ode."
    ),
    "It ends.\n\n[[Category:Birds|*]]\n[[fr:Oiseau]]\n[[zh-yue:雀]]": "It ends.",
    "The [[Alien: Covenant]] film.": "The Alien: Covenant film.",
    "[[File:A.png|thumb|A [[bird]] near {{convert|2|km}}.<ref>x</ref>]]Birds fly.": "Birds fly.",
    "The [[Image:A.png|10px]] sign.": "The sign.",
    "'''[[*NSYNC]]''' sang.": "*NSYNC sang.",
    "Ask the [https://example.org/a?b=c main office] or [https://example.org] now.": "Ask the main office or now.",
    # three closing brackets: the first closes a single one
    "[[File:A.png|thumb|Birds, from [https://example.org the atlas]]] Birds fly.": "Birds fly.",
    "[[File:A.png|thumb|[[Birds]] of [x] and {{y|[https://example.org z]}}]]] Birds fly.": "] Birds fly.",
    "See [[Bird|birds [of prey]]] and [[Bird (genus [2])]] too.": "See birds [of prey] and Bird (genus [2]) too.",
    "[[File:A.png|thumb|{{y|z}}]]] Birds fly.": "] Birds fly.",
    # two, of which the second closes nothing
    "Ask [https://example.org the office]] now ([//example.org]]), or {{nowrap|[https://a.org a]]}} [[Bird]].": (
        "Ask the office now, or a Bird."
    ),
    "[[File:A.png|thumb|{{y|[https://a.org a]]}}]] Birds [of prey]] fly, but [[Bird|no [foxes]].": (
        "Birds [of prey] fly, but no [foxes."
    ),
    # an address is no title
    "Ask [[https://example.org/a the main office]] now.": "Ask [the main office] now.",
    "Ask [[//example.org|x the office]] or [[mailto:a@b.org]] now.": "Ask [the office] or now.",
    "Read the [[7%25 tax|7%25]] and [[Salt%20lake]] and [[7% tax]] and [[Salt%7Clake]].": (
        "Read the 7%25 and Salt lake and 7% tax and Salt%7Clake."
    ),
    "Hear [[Media:Song.ogg|the song]] or [[media:Song.ogg]].": "Hear the song or media:Song.ogg.",
    # a call for a bar parts a link, and shows a bar elsewhere
    "The [[Barn (building){{!}}old barn]] and {{nowrap|the [[fox{{!}}foxes]]}}, a{{!}}b.": (
        "The old barn and the foxes, a|b."
    ),
    "The {{nowrap|fox{{!}}es}} ran.": "The fox|es ran.",
    "Ask the [http://example.org/a\u3000main office] or [http://[2001:db8::1]/ the other].": (
        "Ask the main office or the other."
    ),
    "It ends.\n\nhttps://a.org/b https://é.org/c\n\nmailto:a@b.org\n\nNote:é": "It ends.\n\nNote:é",
    "It ends.\n\nNota:bene\n\nHTTP://a.org": "It ends.\n\nNota:bene",
    # quote marks end an address
    "Ask [http://a.org''the office''] or [//a.b'c''''it''' now], [sic''er''].": "Ask the office or it now, [sicer].",
}

REFERENCES_AND_TAGS = {
    'It froze.<ref name="q>z">{{cite book|title=[[Ice]]}}</ref> It thawed.<ref name=q />': "It froze. It thawed.",
    "It froze.{{sfn|Hall|1990}} He slept.{{efn|Long.<ref>x</ref>}}{{cn|date=May 2000}}": "It froze. He slept.",
    "It froze.<ref>{{cite book|title=broken</ref> It thawed.": "It froze. It thawed.",
    "One<br>two<br/ >three</br>four.": "One two three four.",
    "He <s>ran</s><ins>walked</ins> <small>slowly</small> <q>home</q>, x<sup>2</sup>.": "He walked slowly home, x2.",
    "Call <code>len</code> or <nowiki>'''[[it]]'''</nowiki>.": "Call len or '''[[it]]'''.",
    "<nowiki>* no list</nowiki> here.": "* no list here.",
    "It is old (&רלמ;1&rlm;)&رلم;, &amp;رلم; too.": "It is old (1), &رلم; too.",
    "Type <nowiki>&lt;b&gt;[a]&nbsp;&#91;&#x27;'&amp;amp; &c; R&D;</nowiki> it.": "Type <b>[a] [''&amp; &c; R&D; it.",
    "It froze.<ref name='a <i>b</i>'>note</ref> It thawed.<ref name=\"[a] {b} <c>\">note</ref>": "It froze. It thawed.",
    "It froze.<ref name='<b>'/> It thawed.<ref group=\"<<\">c</ref> So it went.": "It froze. It thawed. So it went.",
    "It froze.\n<references>\n<ref name=a>note</ref>\nHall\n</references>\nIt thawed.": "It froze.\n\nIt thawed.",
    "Call <syntaxhighlight lang=c inline>a[[1]] &amp; ''b''</syntaxhighlight> here.": "Call a[[1]] &amp; ''b'' here.",
    'Call <source lang="c" enclose="none"> f() </source> here or <source enclose="div">g()</source> there.': (
        "Call f() here or there."
    ),
    "It froze.<gallery>\nA.png|b\n</gallery>It thawed<pre/>slowly<score>c</score>,<h2>Age</h2> at <pre>x</pre>last.": (
        "It froze. It thawed slowly, at last."
    ),
    "It froze.\n<!-- a -->\n<gallery>\nA.png\n</gallery>It thawed.": "It froze. It thawed.",
    "* It froze <source>\na\n</source> again.\nIt<source>a</source><pre>b</pre>thawed<source>.": "It thawed",
    "Long<wbr>words and<hr>rules.": "Longwords and\n\nrules.",
    "<nowiki>One\n\n* two</nowiki> three.": "One * two three.",
    "== A <nowiki>B\nC</nowiki> ==\n<nowiki> One</nowiki> two<nowiki> three</nowiki>.": "One two three.",
    "Here <!-- not\n\nthis --> there.": "Here there.",
    "One.\n<!-- a line -->\nTwo.": "One. Two.",
    "One.\n <!-- a line --> <!-- of\nthem -->\t\n<!-- another -->\nTwo.": "One. Two.",
    "One.\n<!-- a --> Two.\n<!-- b -->Three.\n<!-- c -->": "One.\n\nThree.",
    "So it is. <!-- left open\n\nand on": "So it is.",
    "Before.\n<gallery>\nA.png|b\n</gallery>\n<syntaxhighlight lang=c>int x;</syntaxhighlight>\nAfter.": (
        "Before.\n\nAfter."
    ),
    "The area is <math>a + b</math>, not <math>\\frac{a}{b}</math>, here.": "The area is a + b, not, here.",
    "Salt is <chem>NaCl</chem>.": "Salt is NaCl.",
    "A song:\n<poem>\nOne line\n: and another\n</poem>\nIt ends.": "A song:\n\nOne line\nand another\n\nIt ends.",
    "<poem>\nOne line\n----\nand another\n-----and -- more\n</poem>": "One line\n\nand another\n\nand -- more",
    "<poem>\n''It rained\n'''and''' d'''ay by ''day\n</poem>": "It rained\nand d'ay by day",
    "<blockquote>To err is human.</blockquote>\nHe left.": "To err is human.\n\nHe left.",
    "Ten&nbsp;km &ndash; &#233;t&#xe9; &amp;lt; &unknown;.": "Ten km – été &lt; &unknown;.",
    "&#128;5 to &#x20AC;9 by &#159; and&#160;&#xA0;all.": "€5 to €9 by Ÿ and all.",
    ")<math>x</math><source>d</source>word.": ")x word.",
    'It froze.\n\n<!-- c -->\n<!-- c -->\n<ref name="x"/> so.': "It froze.",
    'One<ref name="x"/> of<ref name="a>b">c</ref> two <i title="c">is</i> here.': "One of two is here.",
    "__NOTOC__ It is __so__.{{DEFAULTSORT:X}}": "It is __so__.",
    "<noinclude>Shown.</noinclude><includeonly>Hidden.</includeonly>": "Shown.",
    "Shown.<includeonly />\n\nShown <includeonly>never.\n\nNor this.": "Shown.\n\nShown",
    "The -{zh-cn:软件;zh-tw:軟體}- and -{text}- run.": "The 软件 and text run.",
    "Soft\u00adware\u200b has\u00a0spaces.": "Software has spaces.",
}

BLOCKS = {
    "Intro.\n{|\n| a\n|} After.": "Intro.\n\nAfter.",
    "Intro.\n{| class=x\n| a\n{|\n| b\n|}\n|}\nAfter.": "Intro.\n\nAfter.",
    "Intro.\n<table><tr><td>a<table><tr><td>b</td></tr></table></td></tr></table>\nAfter.": "Intro.\n\nAfter.",
    "Intro.\n* one\n** two\n# three\n; four\n: five\nAfter.": "Intro.\n\nAfter.",
    "Intro.\n<ul><li>one</li></ul>\nAfter.": "Intro.\n\nAfter.",
    "One\ntwo\n\nthree.": "One two\n\nthree.",
    "Above.\n-----\nBelow.": "Above.\n\nBelow.",
    "Lead.\n== Life ==\nLived.\n=== Death ===\nDied.": "Lead.\n\nLived.\n\nDied.",
    "Lead.\n== See also ==\nProse here.\n=== More ===\nProse.\n== Life ==\nLived.": "Lead.\n\nLived.",
    "Lead.\n==Einzelnachweise==\nProse.\n== ''Notes'' ==\nProse.": "Lead.",
    "Lead.\n=\nLived.": "Lead.\n\nLived.",
    "Lead.\n==Life== of a man\nMore.": "Lead.\n\nof a man More.",
    "Lead.\n  for x in y:\n      print(x)\nAfter.": "Lead.\n\nAfter.",
    " A line that begins with a space but is a whole sentence stays.": (
        "A line that begins with a space but is a whole sentence stays."
    ),
    "It was founded\n<ref>x</ref>\n<ref>y</ref>\n, and closed.": "It was founded, and closed.",
    "One.\n[[File:A.png|thumb|b]]\nTwo.": "One.\n\nTwo.",
    # what follows an indented table on its line is in the list
    "Intro.\n:{|\n| a\n|} is it.\nAfter.": "Intro.\n\nAfter.",
    "Intro.\n:: {|\n| a\n{|\n| b\n|} c\n  |}{{x}} is it.\nAfter.": "Intro.\n\nAfter.",
    "Intro is\n:{|\n| a\n|}\nlonger.": "Intro is\n\nlonger.",
    # a line that begins with a space is no code in a quotation, in a block or with the tag of one
    "<blockquote>\n To err\n\n is human\n</blockquote>\n x = 1\nHe left.": "To err\n\nis human\n\nHe left.",
    "<blockquote>a</blockquote>\n x = 1\n<BLOCKQUOTE class=b>\n c\nd": "a\n\nc d",
    " To err <div>is</div> human\n x = 1": "To err\n\nis\n\nhuman",
    "<p>To err\n is human\n</p>\n x = 1\nHe left.": "To err is human\n\nHe left.",
    "<p>To err</p>\n x = 1\nHe left.": "To err\n\nHe left.",
    "<div>\n x = 1\n</div>\n <pb> y\n <p_> z\nHe left.": "He left.",
    "<p>To err\n== Age ==\n x = 1\n<p>is\n----\n y = 2\nhuman": "To err\n\nis\n\nhuman",
    "a <td>b\n x = 1\nc </td>d\n e": "a\n\nb\n\nc\n\nd e",
}

_OF_MUSIC = "The notes of a scale are sung one after the other, from the lowest to the highest."
NOTES = {
    f"Lead.\n== Notes ==\n{_OF_MUSIC}\n* a list\nThey are seven.\n== References ==\nHall.": (
        f"Lead.\n\n{_OF_MUSIC}\n\nThey are seven."
    ),
    f"Lead.\n== ''Notes'' ==\n{{{{x}}}}\n\n{_OF_MUSIC}": f"Lead.\n\n{_OF_MUSIC}",
    f"Lead.\n== Notes ==\n* Hall.\n\n{_OF_MUSIC}": "Lead.",
    f"Lead.\n== Notes ==\n<sup>1</sup> {_OF_MUSIC}\n\n{_OF_MUSIC}": "Lead.",
    f"Lead.\n== Notes ==\n 1. {_OF_MUSIC}\n\n{_OF_MUSIC}": "Lead.",
    f"Lead.\n== Notes ==\n† {_OF_MUSIC}": "Lead.",
    f"Lead.\n== Notes ==\n{_OF_MUSIC[:-1]}": "Lead.",
    f"Lead.\n== Notes ==\n=== On music ===\n{_OF_MUSIC}": "Lead.",
    f"Lead.\n== See also ==\n{_OF_MUSIC}": "Lead.",
    "Lead.\n== Notes ==\nThe notes of a scale are sung one after the other.": "Lead.",
    "Lead.\n== Notes ==\nHall, Mary, The Notes of a Scale as the People of Salt sang Them, London, 1901.": "Lead.",
    "Lead.\n== Notes ==\nÉtude and scale: in 1901 the notes of both were sung one after the other.": (
        "Lead.\n\nÉtude and scale: in 1901 the notes of both were sung one after the other."
    ),
}

TEMPLATES = {
    "{{About|x}}\n{{Infobox y\n| a = {{small|b}} [[c]]\n}}\nA '''Y''' is.{{coord|1|2}}": "A Y is.",
    "It is {{convert|10|km|mi}} off, {{cvt|3|kg}}.": "It is 10 kilometres (6.2 mi) off, 3 kg (6.6 lb).",
    "{{lang|de|Haus}} and {{lang-de|Haus}} and {{langx|ru|дом|dom|house}}.": (
        "Haus and German: Haus and Russian: дом, romanized: dom, lit. 'house'."
    ),
    "{{transl|ar|DIN|bayt}} and {{nihongo|Cat|猫|neko}}.": "bayt and Cat (猫, neko).",
    "{{nihongo||東京|Tokyo}} and {{nihongo||猫}}, {{nihongo|||neko|cat}}.": "Tokyo (東京) and 猫, neko (cat).",
    "{{nowrap|a {{nobr|b}}}}{{nbsp}}{{nowrap begin}}c{{nowrap end}}{{ndash}}d{{snd}}e.": "a b c–d – e.",
    "Built {{circa|1200}}, {{as of|2001|5|lc=y}}.": "Built c. 1200, as of May 2001.",
    "Born {{birth date|df=y|1900|1|2}}, died {{death date and age|1950|1|1|1900|1|2}}.": (
        "Born 2 January 1900, died January 1, 1950 (aged 49)."
    ),
    "{{abbr|EU|Union}} and {{ill|Kai Voss|de}} and {{formatnum:9876543}}.": "EU and Kai Voss and 9,876,543.",
    "{{frac|3|4}}, {{frac|2|1|3}}, {{val|2.5|0.1|e=6|ul=m}}, {{math|''n'' + 1}}, {{mvar|k}}, {{chem|C|O|2}}.": (
        "3⁄4, 2+1⁄3, 2.5±0.1×106 m, n + 1, k, CO2."
    ),
    "{{chem|14|C}} and {{chem|6|Li|+}}, {{chem|Cl|-}}, {{chem|12-|C}}.": "14 C and 6 Li+, Cl−, 12−C.",
    "{{HMS|Hood|51|6}}, {{USS|Iowa|BB-61}}, {{ship|SS|Great Eastern||2}}, {{sclass|Hood|cruiser}}.": (
        "HMS Hood, USS Iowa (BB-61), SS Great Eastern, Hood-class cruiser."
    ),
    "He said:\n{{blockquote|text=Let it be.|author=P.}}\nSo be it.": "He said:\n\nLet it be.\n\nSo be it.",
    "The word{{'}}s {{hlist|one|two}} {{sic|speling}} {{clarify|text=vague words|date=x}}.": (
        "The word's one, two speling [sic] vague words."
    ),
    "{{#if:x|yes|no}} {{#ifeq:a|b|same|other}} {{lc:ABC}} {{ucfirst:abc}} {{#switch:b|a=1|b=2}}.": (
        "yes other abc Abc 2."
    ),
    "{{{1|default}}} and {{ {{{2}}} }} end.": "default and end.",
    "{{nowrap|1=a=b}} and {{nowrap|[[E=mc²]]}}.": "a=b and E=mc².",
    "{{US$|12345}} or {{INR|5 crore}}.": "US$12,345 or ₹5 crore.",
    "{{resize|80%|Rain}}, {{resize|hail}}, {{Resize|1.5em|''snow'' and [[ice]]}}.": "Rain, hail, snow and ice.",
    "{{script|Avst|𐬀𐬎}} and {{script|𐬀}}; {{w|Cromer|a town}} and {{w|Cromer}}.": "𐬀𐬎 and 𐬀; a town and Cromer.",
    "{{font color|white|blue|Rain}}, {{font color|blue|hail}}, {{color|red|snow}}.": "Rain, hail, snow.",
    "{{visible anchor|a|text=Rain}}, {{vanchor|hail|b}}, {{small|1=snow}}, {{larger|ice}}.": "Rain, hail, snow, ice.",
}

PLACEHOLDERS = {
    "Lima ({{IPAc-en|l|i}}) is.": "Lima is.",
    "Lima ({{IPA|l}}; {{audio|x}}; once Rimac) is.": "Lima (once Rimac) is.",
    "Lima ({{lang-es|Lima}}, {{IPA|l}} ({{audio|x}})) is.": "Lima (Spanish: Lima) is.",
    "A {{x}}, b {{x}}; c {{x}}.": "A, b; c.",
    'The word "{{x}}" and [{{x}}] go.': "The word and go.",
    "Version 3.5 ( beta ) of f() :-) stays , really.": "Version 3.5 ( beta ) of f() :-) stays , really.",
}

BROKEN = {
    # a wiki shows a tag that nothing closes, and its text
    "Rain.<ref>Hail fell.\n\nSnow fell.": "Rain. Hail fell.\n\nSnow fell.",
    "Rain. <ref name=a>Hail fell.<ref/> Snow.": "Rain. Hail fell. Snow.",
    "<ref>Rain fell.": "Rain fell.",
    "Rain\u2028<ref>[[File:a]]) fell.": "Rain ) fell.",
    # another reference is closed: the line is hidden, not all that stands before that
    "Rain.<ref>Hall, p. 3.\n\nSnow fell.<ref>b</ref>": "Rain.\n\nSnow fell.",
    "Rain.<ref>Hall</ref Hail fell.\n\nSnow fell.": "Rain. Hail fell.\n\nSnow fell.",
    "Rain.<ref>Hall</ref\n> Hail fell.": "Rain. Hail fell.",
    "Rain.<ref>Hall</ref x='1'> Hail fell.": "Rain. Hail fell.",
    "Rain.<ref>Hall</ref": "Rain.",
    "Rain.<ref Hail fell. Snow fell.": "Rain. Hail fell. Snow fell.",
    'Rain.<ref name="a" group = b Hail fell.\n\nSnow fell.<ref>b</ref>': "Rain. Hail fell.\n\nSnow fell.",
    "Rain.<ref name=a/ Hail fell.<ref>b</ref> Snow fell.": "Rain. Hail fell. Snow fell.",
    "Rain.<ref name='a' Hall, p. 3.</ref> Snow fell.": "Rain. Snow fell.",
    "Rain.<ref name='a' Hail fell.\nSnow fell.</ref>": "Rain. Hail fell. Snow fell.",
    "Rain.<ref": "Rain.",
    "Rain.<references Hail fell.": "Rain.<references Hail fell.",
    "Rain. <gallery>a\nSnow fell.": "Rain. Snow fell.",
    "Rain. <score>a\n\nSnow fell. <score>b</score>": "Rain.",
    "Rain. <pre>a\nSnow fell.": "Rain. Snow fell.",
    "Rain. <math>a</math Snow fell.": "Rain. a</math Snow fell.",
    "Rain. <poem>Hail fell.\n\nSnow fell.": "Rain. Hail fell.\n\nSnow fell.",
    "Rain. <nowiki>Hail [[fell]].": "Rain. Hail fell.",
    "Rain.<ref name=a> Hail fell.<ref>b</ref> Snow fell.": "Rain. Hail fell. Snow fell.",
    "Rain.<ref name=a> Hail fell.\n\nSnow fell.<ref>b</ref>": "Rain. Hail fell.\n\nSnow fell.",
    "Rain<ref name=a>, hail fell.\n\nSnow fell.<ref>b</ref>": "Rain, hail fell.\n\nSnow fell.",
    "Rain.<ref name=a>Hall, p. 3.\n\nSnow fell.<ref>b</ref>": "Rain.\n\nSnow fell.",
    'Rain.<ref name="a> Hail <ref name="b">c</ref> fell.': "Rain. Hail fell.",
    'Rain <math a="x>b</math> and <i title="d">hail</i> fell.': "Rain b and hail fell.",
    'Rain.<ref name="a>Hall</ref> Hail fell.<ref name="b">c</ref>': "Rain. Hail fell.",
    "{{Infobox lake\n| name = X\n\nThe '''lake''' is deep.": "The lake is deep.",
    "{{Infobox lake\n| name = X\nThe '''lake''' is deep.": "The lake is deep.",
    "The {{lang|de|See is deep and cold.": "The See is deep and cold.",
    "A lake }} is ]] deep.": "A lake is deep.",
    "A [[lake|deep lake is cold.": "A deep lake is cold.",
    "[[File:A.png|thumb|A lake.\n\nIt is deep.": "It is deep.",
    "Intro.\n{|\n! A\n|-\n| 1\n\nA whole paragraph follows.": "Intro.\n\nA whole paragraph follows.",
    "Intro.\n<table><tr><td>1\n\nA whole paragraph follows.": "Intro.\n\nA whole paragraph follows.",
    "{{quote|[[unclosed}} It goes on.": "unclosed\n\nIt goes on.",
    "{|\n| {{unclosed\n|}\nIt goes on.": "It goes on.",
    "<gallery>\n\nIt goes on.": "It goes on.",
    "He <s>ran on.": "He ran on.",
}
