"""Write the tables of `bertdata/curation/words/english.json`: the characters and words that spaCy's English knows.

    pip install spacy datatrove && python scripts/english_word_tables.py

Classes of characters are found by asking the tokenizer's expressions about each code point; `datatrove` gives the
characters that its filters take for punctuation. Facts alone are taken; the rules are written in `bertdata`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import spacy
from datatrove.utils import text as datatrove_text
from spacy.lang import char_classes
from spacy.pipeline import Sentencizer

OUTPUT = Path(__file__).parents[1] / "bertdata/curation/words/english.json"
POINTS = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]


def ranges(belongs: Callable[[str], object]) -> list[list[int]]:
    """Return the first and the last code point of each run of characters that belong to a class."""
    bounds: list[list[int]] = []
    for point in POINTS:
        if belongs(chr(point)):
            if bounds and bounds[-1][1] == point - 1:
                bounds[-1][1] = point
            else:
                bounds.append([point, point])
    return bounds


def main() -> None:
    """Write the tables."""
    tokenizer = spacy.blank("en").tokenizer
    alpha, upper, lower = (
        re.compile(f"[{char_class}]")
        for char_class in (char_classes.ALPHA, char_classes.ALPHA_UPPER, char_classes.ALPHA_LOWER)
    )
    quotes = re.compile(f"[{char_classes.CONCAT_QUOTES}]")
    classes: dict[str, Callable[[str], object]] = {
        "alpha": alpha.match,
        "upper": upper.match,
        "lower": lower.match,
        "quote": quotes.match,
        "icon": re.compile(f"[{char_classes.ICONS}]").match,
        "prefix": lambda char_class: char_class != "+" and tokenizer.find_prefix(char_class) == 1,
        "suffix": lambda char_class: tokenizer.find_suffix(char_class) == 1,
        "before_period": lambda char_class: (
            (char_class.isascii() and char_class.isdigit()) or tokenizer.find_suffix(char_class + ".") == 1
        ),
        "symbol": lambda char_class: char_class in datatrove_text.PUNCTUATION_SET,
        "terminal": lambda char_class: char_class in datatrove_text.TERMINAL_PUNCTUATION,
        "sentence_end": lambda char_class: char_class in Sentencizer.default_punct_chars,
    }
    rules = {text: [char_class[65] for char_class in tokens] for text, tokens in tokenizer.rules.items()}
    values = {
        "source": f"spaCy {spacy.__version__} (MIT), datatrove (Apache-2.0); written by scripts/english_word_tables.py",
        "classes": {name: ranges(belongs) for name, belongs in classes.items()},
        "units": sorted(set(char_classes.UNITS.split("|"))),
        "currencies": sorted(char_class.replace("\\", "") for char_class in set(char_classes.CURRENCY.split("|"))),
        "kept": sorted(text for text, tokens in rules.items() if len(tokens) == 1),
        "split": sorted(tokens for tokens in rules.values() if len(tokens) > 1),
    }
    OUTPUT.write_text(json.dumps(values, ensure_ascii=True, separators=(",", ":")) + "\n")
    sys.stdout.write(f"{OUTPUT}: {OUTPUT.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
