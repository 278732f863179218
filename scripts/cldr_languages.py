"""Write bertdata/io/languages.toml: names, letters beyond ASCII, "and" and "or" of languages, from Unicode's CLDR.

    npm pack cldr-misc-full cldr-localenames-full
    mkdir cldr && for file in cldr-*.tgz; do tar xzf $file -C cldr; done
    python scripts/cldr_languages.py cldr/package/main

Letters are in it of languages of which one of Python's encodings of 8 bits has nearly all: they tell which of these a
text is in. "and" and "or" are those between the last two items of a list, where they are words of their own.
"""

from __future__ import annotations

import argparse
import json
import re
import unicodedata
from pathlib import Path

from bertdata.io.eight_bits import eight_bits

OUTPUT = Path(__file__).parents[1] / "bertdata" / "io" / "languages.toml"
LEAST = 0.7
"""The least share of the letters of a language that an encoding of its texts has."""
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\(.)")


def letters_of(exemplars: str) -> str:
    """Return the letters and marks beyond ASCII of a set of CLDR, sorted."""
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2], exemplars)
    text = re.sub(r"(.)-(.)", lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))), text)
    return "".join(sorted({sign for sign in text if not sign.isascii() and unicodedata.category(sign)[0] in "LM"}))


def fit(letters: str) -> bool:
    """Return whether one encoding has nearly all letters."""
    most = max(sum(sign in letters for sign in set(signs)) for signs in map(signs_of, eight_bits()))
    return most >= LEAST * len(letters)


def signs_of(encoding: str) -> str:
    """Return what the bytes from 128 on mean in an encoding."""
    return bytes(range(128, 256)).decode(encoding, "ignore")


def conjunctions(path: Path, code: str) -> dict[str, str]:
    """Return "and" and "or" of a language, none where it has not both as words between items."""
    patterns = json.loads(path.read_text())["main"][code]["listPatterns"]
    kinds = {"and": "standard", "or": "or"}
    words = {
        name: re.fullmatch(r"\{0\},? (\w+) \{1\}", patterns[f"listPattern-type-{kinds[name]}"]["2"]) for name in kinds
    }
    conjunction_of = {name: match[1] for name, match in words.items() if match}
    return conjunction_of if len(conjunction_of) == len(kinds) and conjunction_of["and"] != conjunction_of["or"] else {}


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder `main` of the packages")
    folder: Path = parser.parse_args().folder
    names = json.loads((folder / "en" / "languages.json").read_text())["main"]["en"]["localeDisplayNames"]["languages"]
    version = json.loads((folder.parent / "package.json").read_text())["version"]
    lines = [f"# Names, letters beyond ASCII, conjunctions, from CLDR {version}, by scripts/cldr_languages.py.", ""]
    for path in sorted(folder.glob("*/characters.json")):
        code = path.parent.name
        if code not in names or "-" in code:
            continue
        sets = json.loads(path.read_text())["main"][code]["characters"]
        letters, more = letters_of(sets["exemplarCharacters"]), letters_of(sets.get("auxiliary", "[]"))
        table = {"name": names[code]}
        if fit(letters) and (letters or more):
            table |= {"letters": letters, "more": more}
        table |= conjunctions(path.with_name("listPatterns.json"), code)
        if len(table) > 1:
            lines.append(f"[{code}]")
            lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()]
    OUTPUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
