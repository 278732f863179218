"""Write what the Unicode tables of `tokenizers` say of characters that are newer than those of Python 3.11.

    python3.11 scripts/newer_characters.py > bertdata/characters/newer.txt

A line has the first and the last character of a run, their general category (Cn: not assigned), and what else counts:
"Han" or "Latin" for the script, "composes" where normalization looks at them; or it has a capital and its small letter,
or a run of characters that are no numbers by their category and are cut by Digits, whose tables are newer.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

from tokenizers import Regex, normalizers, pre_tokenizers

CATEGORIES = re.findall("..", "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsCfCnCo")


def main() -> None:
    if unicodedata.unidata_version != "14.0.0":
        raise SystemExit(f"run it with Python 3.11; this one has Unicode {unicodedata.unidata_version}")
    whole = [*range(0xD800), *range(0xE000, 0x110000)]
    points = [point for point in whole if unicodedata.category(chr(point)) == "Cn"]
    matching = {name: _matching(rf"\p{{{name}}}", points) for name in (*CATEGORIES, "Han", "Latin")}
    decomposed = {point: _normalized(normalizers.NFKD(), point) for point in points}
    parts = {ord(part) for text in decomposed.values() if len(text) > 1 for part in text}

    def kind(point: int) -> str:
        category = next(name for name in CATEGORIES if point in matching[name])
        script = next((name for name in ("Han", "Latin") if point in matching[name]), "")
        composes = category[0] == "M" or decomposed[point] != chr(point) or point in parts
        return " ".join(filter(None, [category, script, "composes" if composes else ""]))

    runs = groupby(enumerate(points), key=lambda pair: (pair[1] - pair[0], kind(pair[1])))
    for (_, name), run in runs:
        run_points = [point for _, point in run]
        print(f"{run_points[0]:X} {run_points[-1]:X} {name}")
    digits = pre_tokenizers.Digits(individual_digits=True).pre_tokenize_str
    numeric = [point for point in points if len(digits(f"a{chr(point)}")) > 1 and kind(point)[0] != "N"]
    for _, run in groupby(enumerate(numeric), key=lambda pair: pair[1] - pair[0]):
        run_points = [point for _, point in run]
        print(f"numeric {run_points[0]:X} {run_points[-1]:X}")
    for point in points:
        lower = _normalized(normalizers.Lowercase(), point)
        if lower != chr(point):
            print(f"lower {point:X} {ord(lower):X}")


def _matching(pattern: str, points: list[int]) -> set[int]:
    """Return the characters that match a pattern of one character."""
    split = pre_tokenizers.Split(Regex(pattern), "removed").pre_tokenize_str
    return {point for point in points if not split(chr(point))}


def _normalized(normalizer: normalizers.Normalizer, point: int) -> str:
    return str(normalizer.normalize_str(chr(point)))


if __name__ == "__main__":
    main()
