"""What archives speak of in their notes: digital files, rights, and those who made them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NOTE_WORD = (
    r"(?:(?:end)?notes?|nota|notas|anotaç(?:ão|ões)|annotazion[ei]|amendments?|corrections?|errata|anmerkung(?:en)?|hinweise?|bemerkung(?:en)?|"
    r"opmerking(?:en)?|noot|noten|anmärkning(?:ar)?|bemærkning(?:er)?|remarques?|huomautu(?:s|kset)|poznám\w+|uwag\w+)"
)
_WRITER = (
    r"(?:tran?s[ck]r\w+|(?:proof|korrektur)\w*(?:reader|leser)\w*|typists?\W?s?|bewerkers?|e-?text\W+editor\w*|"
    r"project\s+gutenberg\s+editor\w*)"
)
NOTE_HEAD = re.compile(
    rf"^\W*(?:\w+\W+){{0,3}}?(?:{_WRITER}\W+(?:\w+\W+)?{_NOTE_WORD}|{_NOTE_WORD}\W+(?:\w+\W+){{0,2}}?{_WRITER})\W*$|"
    rf"^\W*{_WRITER}\W+{_NOTE_WORD}\b.{{0,30}}$|^\W*liste\s+des\s+modifications\W*$",
    re.IGNORECASE,
)
NOTE_AT_ONCE = re.compile(
    rf"^\W*(?:\w+\W+){{0,2}}?{_WRITER}(?:\W{{1,2}}s)?\W{{1,3}}{_NOTE_WORD}\W*[:.—]|"
    rf"^\W*{_NOTE_WORD}\W+(?:\w+\W+){{0,2}}?{_WRITER}\W*:",
    re.IGNORECASE,
)
"""A note whose heading is the beginning of its paragraph."""
LONGEST_NOTE = 1800
"""Characters of the longest paragraph of an archive; that of Standard Ebooks has some 900."""
DIGITAL = tuple(
    re.compile(rf"\b(?:{term})", re.IGNORECASE)
    for term in (
        r"e-?texts?\b|electronic\s+(?:edition|text|version)|(?:version|édition)\s+(?:électronique|numérique|papier)\b",
        r"e-?books?\b|livres?\s+électroniques?\b",
        r"https?:|www\.|(?<=\w)\.(?:org|net|com|ca|net\.au)\b",
        r"project\s+gutenberg|gutenberg\s+(?:australia|canada)|gutenberg\W+projekt|projekt\W+gutenberg",
        r"internet\s+archive|hathitrust|wikisource|standard\s+ebooks|faded\s*page|google\s+book|open\s+library|feedbooks|"
        r"wolne\s?lektury|liber\s?liber|jstor",
        r"cover\s+(?:art|image|page)\w*\s[^.]{0,60}?(?:created|granted|included|placed|produced|added)\b",
        r"distributed\s+proofread",
        r"creative\s+commons|cc0\b|cc\s+by\b|gnu\s+(?:fdl|free\s+documentation)",
        r"html\b|epub\b|ascii\b|utf-?8\b|unicode\b|ocr\b|plain\s+text\s+(?:file|version)",
        r"digiti[sz](?:ed|ation)|digital\s+(?:scans?|cop(?:y|ies)|library|edition)",
        r"(?:page|original)\s+(?:images|scans)|images\s+of\s+the\s+original|scan(?:s|ned)\s+(?:images?|pages?|by|from|of)",
        r"download(?:s|ed|ing)?\b",
        r"internet\W?adresse|web\s?(?:site|page|address|edition)\b|on-?line\b",
        r"text\s+readers?\b|character\s+set\b|file\s+encoding\b",
    )
)
OF_RIGHTS = tuple(
    re.compile(rf"\b(?:{term})", re.IGNORECASE)
    for term in (
        r"public\s+domain|domaine\s+public|pubblico\s+dominio|dominio\s+público|gemeinfrei\w*",
        r"copyright(?:s|ed)?\b|uncopyright\b",
        r"licen[cs]e[ds]?\b|licen(?:za|cia|ça)\b|lizenz\w*|terms\s+of\b",
        r"restrict(?:ions?|ed)\b",
        r"redistribut\w+|distribuit\w+|(?:personal|commercial)\s+(?:use|purposes?)\b|copy\s+it\b|give\s+it\s+away",
        r"(?:this|the)\s+file\b",
        r"volunteers?\b|contribut(?:ed|ors?|ions?)\b|donat(?:ed|ions?)\b|fundacj\w+",
        r"(?:made\s+)?available\b|free\s+of\s+charge|no\s+cost\b|for\s+free\b",
        r"thank(?:s|ful)?\b|grazie\b|courtesy\b|acknowledg\w+",
        r"proof-?read\w*|transcri(?:bed|ption|ber)\w*|correction|typed\b",
        r"realizzat\w+|opracowan\w+|produced\b|prepared\b|created\b|provided\b|converted\b|generated\b",
        r"(?:some|other|your|particular)\s+countr(?:y|ies)|in\s+(?:australia|canada|the\s+united\s+states)\b",
    )
)
OF_A_NOTE = re.compile(
    r"\b(?:corrected|errors?|typograph\w+|spellings?|hyphenat\w+|italics?|underscores?|punctuation|footnotes?|"
    r"inconsisten\w+|page\s+numbers?|illustrations?|variant|printer\w*|retained|unchanged|korrigiert|fehler|sperr\w*|"
    r"kursiv\w*|antiqua|corrig\w+|fautes|orthograph\w+|verbeterd|spelling|rättat\w*)\b",
    re.IGNORECASE,
)
"""What a transcriber's note speaks of."""
SHOWN_BY_MARKS = re.compile(
    r"\b(?:itali\w+|kursiv\w*|cursie\w+|corsiv\w+|cursiv\w+|gesperrt\w*|bold\w*|gras\b|fett\w*|small[ -]cap\w*)"
    r"[^.]{1,80}?"
    r"(?<!\w)(?P<mark>[_=~+#*$|])\w[^_=~+#*$|\n]{0,60}(?P=mark)(?!\w)",
    re.IGNORECASE,
)
"""How a plain text shows what its paper showed by type, with an example between marks: no paper book says so."""
CREDIT_WITH_ADDRESS = re.compile(
    r"^\W*(?:\w[\w-]*+ ){0,3}?(?:entered|typed|keyed|keyboarded|scanned|digiti[sz]ed|transcribed|converted|"
    r"proof(?:ed|read)|prepared|formatted|marked\s+up|e-?text)\b[^@]{0,60}?\bby\b[^@]{1,80}@[\w-]+\.\w",
    re.IGNORECASE,
)
"""Who made a file, with an address of electronic mail."""
RIGHTS_TEMPLATE = re.compile(
    r"^\W*(?:this|the)\b[^.]{0,100}?\bin\s+the\s+public\s+domain\b[^.]{0,120}?\bpublished\s+(?:before|prior\s+to|in)\s[^.]{0,20}"
    r"\d{4}|\bcopyright\s+term\s+is\s+the\s+author\W?s\s+life\s+plus\s+\d",
    re.IGNORECASE,
)
"""Why a work may be copied, as the pages of Wikisource say it by templates."""
PUBLISHED = re.compile(
    r"^\W*all\s+rights\s+reserved(?:[.,;:].{0,240})?$|\blicen[cs]ed\s+for\s+your\s+personal\s+(?:enjoyment|use)\b|"
    r"\bno\s+part\s+of\s+this\s+(?:\w+\s+)?(?:e-?book|book|publication|work|story|novel)\s+(?:may|can|shall)\s+be\s"
    r"(?:[^.]{0,40}\s)?(?:reproduced|copied|transmitted)\b|"
    r"\bthis\s+(?:book\s+|novel\s+|story\s+)?is\s+(?:entirely\s+)?a\s+work\s+of\s+fiction\b.{0,300}\b(?:author\W?s\s+imagination|used\s+fictitiously|coincidental)\b",
    re.IGNORECASE,
)
"""What the page of rights of a book says, and the licence of e-books that authors publish."""
ADDRESS = re.compile(r"^\W*(?:https?://|www\.)\S+(?:\s\S+){0,4}$", re.IGNORECASE)
UPDATED = re.compile(r"^\W*last\s+(?:updated|modified)\b.{1,40}\b\d{4}\b.{0,16}$", re.IGNORECASE)
"""An address of the web by itself, and when its page was written last."""
ERRATA_HEAD = re.compile(
    r"^\W*(?:errata|(?:typographical\s+|printer\W?s\W?\s+)?err(?:or|eur)s?(?:\s+(?:and|et)\s+\w+)?(?:\s+\w+)?|corrigenda|"
    r"corrections?(?:\s+(?:made|and\s+\w+))?|(?:changes|corrections)\s+(?:made\s+)?to\s+the\s+text|"
    r"fautes\s+corrigées|korrekturen|verbeteringen|correzioni|correcciones)\W*$",
    re.IGNORECASE,
)
READER_HEAD = re.compile(
    r"^\W*(?:(?:note\s+)?to\s+the\s+reader|note\s+au\s+lecteur|au\s+lecteur|aan\s+den?\s+lezer|an\s+den\s+leser|al\s+lettore|al\s+lector|"
    r"ao\s+leitor|till\s+läsaren)\W*$",
    re.IGNORECASE,
)
"""Headings that transcribers share with authors: what stands below tells whose note it is."""
COMPARED_WITH_PRINT = re.compile(
    r"(?<![^\W_])(?:transcriber|text\s+(?:reads|has)\b|(?:shown|spelled|punctuated)\s+as\s+printed|error\s+for\b)|"
    r"(?:(?<![^\W_])(?:punctuation|parenthes[ie]s|quotation\s+marks?|quote|comma|period|full\s+stop|bracket)|[.,;:])\s+"
    r"(?:is\s+|are\s+)?(?:missing|invisible)\b|\s\[_?[^\W\d][^\][]{0,60}\]",
    re.IGNORECASE,
)
"""What is said of a place where a copy and its print differ, by those who copied."""
CORRECTED = re.compile(
    r"\b(?:unchanged|(?:changed|corrected|amended)\s+(?:to|from)|remplacé\w*\s+par|geändert|veranderd|verbeterd|"
    r"cambiat\w+\s+in|sustituid\w+\s+por)\b",
    re.IGNORECASE,
)
"""What authors say of their errata, too."""
NARRATED = re.compile(r"\b(?:[Hh]e|[Ss]he|him|me|[Mm]y|I|said|asked|replied)\b")


def is_of_archive(text: str) -> bool:
    """Return whether a paragraph speaks of things as archives do, and tells nothing.

    >>> is_of_archive("Special thanks are due to N. N. for extensive proofreading and correction of this etext.")
    True
    >>> is_of_archive("He downloaded the e-book from the Internet Archive, and thanked nobody.")
    False
    >>> is_of_archive("I owe thanks to all who transcribed these letters and made them available to me.")
    False
    """
    if len(text) > LONGEST_NOTE:
        return False
    if any(form.match(text) for form in (NOTE_AT_ONCE, CREDIT_WITH_ADDRESS, ADDRESS, UPDATED)):
        return True
    if NARRATED.search(text):
        return False
    if RIGHTS_TEMPLATE.search(text) or PUBLISHED.search(text):
        return True
    digital, rights = points_of(text, DIGITAL), points_of(text, OF_RIGHTS)
    public, copyrights, _, _, _, file, *_ = (bool(term.search(text)) for term in OF_RIGHTS)
    return (digital >= 1 and 2 * digital + rights >= 4) or (rights >= 3 and copyrights and (public or file))


def points_of(text: str, terms: Sequence[re.Pattern[str]]) -> int:
    return sum(bool(term.search(text)) for term in terms)
