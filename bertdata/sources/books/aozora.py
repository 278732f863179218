"""Texts of Aozora Bunko: readings and notes in their notation, the legend of its signs and the colophon are taken out.

    漢字《かんじ》              a reading; `｜` stands before the characters that it is of, where these are not clear
    ［＃「漢字」に傍点］        a note of how the page was set
    ※［＃「口＋世」、1-15-9］   a character that JIS X 0208 lacks, by its place in JIS X 0213 or its code of Unicode

The legend stands between two lines of hyphens below title and author, the colophon begins with `底本：`.
"""

from __future__ import annotations

import re

_LEGENDS = ("テキスト中に現れる記号について", "Notes on the signs in the text")
"""The second is that of Project Gutenberg's texts."""
_MADE_BY = "青空文庫作成ファイル"
_NOTE = "［＃"
_RULE = re.compile(r"^-{20,}[ \t]*$")
_COLOPHON = re.compile(r"^[ \t\u3000]*底本[:：]")
_READING = re.compile(r"《[^《》\n]{1,80}》")
_KANA_READING = re.compile(r"(?<=[\u4e00-\u9fff々〆ヶ])《[\u3041-\u3096\u30a1-\u30ff]{1,40}》")
_FEW = 5
"""Readings that tell nothing yet of a text."""
_BEGINS_BASE = re.compile(r"｜(?=[^｜《》\n]{1,80}《)")
_MISSING = re.compile(r"※［＃([^［］\n]{1,200})］")
_A_NOTE = re.compile(r"［＃[^［］\n]{0,300}］")
_HEADING = re.compile(r"^[^\n]{0,200}見出し］[ \t\u3000]*$", re.MULTILINE)
_PLACE = re.compile(r"(?<![0-9])([12])-([0-9]{1,2})-([0-9]{1,2})(?![0-9])")
_CODE = re.compile(r"U\+([0-9A-Fa-f]{4,6})")
_UNKNOWN = "〓"
"""What printers set for a character that they lack."""
_HEAD_LINES, _LEGEND_LINES, _COLOPHON_LINES = 40, 60, 120
_NESTED = 3
"""Notes inside of notes that are looked for."""


def is_of_aozora(text: str) -> bool:
    """Tell whether a text is in the notation of Aozora Bunko: by its legend, notes or readings, or the makers it names.

    A reading is in kana, behind a Chinese character; in Chinese texts, titles stand between the same marks.
    """
    if any(legend in text for legend in (*_LEGENDS, _MADE_BY)) or (_NOTE in text and bool(_A_NOTE.search(text))):
        return True
    return "》" in text and len(_KANA_READING.findall(text)) >= max(_FEW, 0.9 * text.count("《"))


def without_notation(text: str) -> str:
    """Return a text of Aozora Bunko as it reads.

    >>> without_notation("彼は｜経《た》った頃［＃「頃」に傍点］、※［＃「目＋爭」、第3水準1-88-85］った。")
    '彼は経った頃、睜った。'
    """
    body = "\n".join(_body(text.split("\n")))
    body = _MISSING.sub(lambda match: _character(match[1]), _HEADING.sub("", body))
    for _ in range(_NESTED):
        body = _A_NOTE.sub("", body)
    return _READING.sub("", _BEGINS_BASE.sub("", body))


def _body(lines: list[str]) -> list[str]:
    """Return lines without title, author and legend above, and the colophon below, which is near the end."""
    begin = 0
    legend = next((number for number, line in enumerate(lines[:_HEAD_LINES]) if _names_signs(line)), None)
    if legend is not None:
        rest = range(legend + 1, min(legend + _LEGEND_LINES, len(lines)))
        begin = next((number + 1 for number in rest if _RULE.match(lines[number])), 0)
    last = max(begin, len(lines) - _COLOPHON_LINES)
    end = next((number for number in range(last, len(lines)) if _COLOPHON.match(lines[number])), len(lines))
    return lines[begin:end]


def _names_signs(line: str) -> bool:
    return any(legend in line for legend in _LEGENDS)


def _character(description: str) -> str:
    """Return the character that a note describes, by its place in JIS X 0213 or its code of Unicode.

    >>> _character("「さんずい＋（廣－广）」、第3水準1-87-13"), _character("「にんべん＋寧」、U+511C、12-3")
    ('潢', '儜')
    >>> _character("「口＋世」、U+D800")
    '〓'
    """
    code = _CODE.search(description)
    if code and int(code[1], 16) < 0x110000 and chr(int(code[1], 16)).isprintable():  # no half of a surrogate pair
        return chr(int(code[1], 16))
    place = _PLACE.search(description)
    if place:
        plane, row, cell = map(int, place.groups())
        try:
            return (b"\x8f" * (plane == 2) + bytes((row + 0xA0, cell + 0xA0))).decode("euc_jis_2004")
        except (UnicodeDecodeError, ValueError):
            return _UNKNOWN
    return _UNKNOWN
