"""Documents that come near each rule, and what datatrove's filters say of them.

`python -m tests.curation.quality.documents` writes `datatrove.json` again, where datatrove and spaCy are installed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("datatrove.json")
PLAIN = [
    "the",
    "be",
    "to",
    "of",
    "and",
    "that",
    "have",
    "with",
    "sea",
    "ship",
    "islands",
    "harbour",
    "ships",
    "sail",
    "wind",
    "water",
    "salt",
    "1234",
    "north",
]
SIGNS = [
    "- ",
    "• ",
    "…",
    "...",
    "#",
    "Lorem ipsum",
    "javascript",
    "{",
    "cookies",
    "uses cookies",
    "terms of use",
    "[12]",
    "[edit]",
    ". ",
    "? ",
    "! ",
    ".\n",
    "\n",
    "\n\n",
    "\n \n\n",
    ".\n\n",
    "a",
    "-",
    '"\n',
    ".  \n",
    "'",
    "don't",
    "Mr.",
    "5km",
    "U.S.",
    "(well-known)",
    ":)",
    "user@mail.org",
    "www.example.com/a",
    "日本語。",
    "é",
    "10am",
    "\u2028",
    "\t",
    "\x85",
]
HOSTILE = [
    "a",
    "b",
    "Ab",
    "ABC",
    "x",
    "o",
    "O",
    "D",
    "P",
    "s",
    "S",
    "m",
    "'s",
    "’s",
    "don't",
    "can't",
    "I'm",
    "cannot",
    "im",
    "its",
    "Mr.",
    "a.m.",
    "10am",
    "km",
    "km²",
    "kg",
    "µg",
    "%",
    "$",
    "US$",
    "C$",
    "€",
    "1",
    "23",
    "0",
    "8",
    "3",
    "+",
    "-",
    "--",
    "---",
    "–",
    "—",
    "~",
    ".",
    "..",
    "...",
    "…",
    "……",
    ",",
    ";",
    ":",
    "!",
    "?",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "_",
    "#",
    "*",
    "&",
    "@",
    "/",
    "\\",
    '"',
    "'",
    "''",
    "“",
    "”",
    "`",
    "=",
    "|",
    "^",
    "¬",
    "°",
    "°C.",
    "C++",
    "www.",
    "com",
    "http://",
    "example.com",
    "user@mail.org",
    "192.168.1.1",
    "8.8.8.8",
    ":8080",
    "/path?x",
    "é",
    "É",
    "ß",
    "日本",
    "語",
    "。",
    "т",
    "Т",
    "😀",
    "☃",
    "नम",
    "ا",
    "،",
    "e.g.",
    "U.S.",
    "Ph.D.",
    "o.O",
    ";_;",
    "=D",
    ":-)",
    "xD",
    "and/or",
    "w/o",
    "y'all",
    "'em",
    "c'mon",
    "\\n",
    "<space>",
    "ಠ_ಠ",
]
SPACES = [" ", " ", " ", "\n", "\n\n", "\t", "  ", "\u00a0", "\u3000", "\x1c", "\r\n", "\u2028", "\x85", ""]


def hostile(number: int, seed: int = 0) -> list[str]:
    """Return texts of pieces that tokenizers stumble over."""
    draw = random.Random(seed)
    return [
        "".join(draw.choice(HOSTILE) + draw.choice(["", "", draw.choice(SPACES)]) for _ in range(draw.randint(1, 25)))
        for _ in range(number)
    ]


def documents(number: int, seed: int = 0) -> list[str]:
    """Return texts of words, signs and lines that recur."""
    draw = random.Random(seed)
    texts = []
    for _ in range(number):
        words = [f"w{place}" for place in range(draw.randint(1, 300))]
        line = " ".join(draw.choice(PLAIN) for _ in range(draw.randint(2, 9)))
        kinds: list[list[str]] = [PLAIN + SIGNS, SIGNS[: draw.randint(3, 20)] + PLAIN, [*PLAIN[:8], ".\n"]]
        kinds += [[*PLAIN[:3], "a b c d e f.\n", "\n", *words], [*PLAIN, *PLAIN, *words, line, f"\n{line}.\n", ".\n"]]
        pieces = draw.choice(kinds)
        size = draw.choice([3, 20, 70, 200, 500])
        texts.append("".join(draw.choice(pieces) + " " * (draw.random() < 0.8) for _ in range(size)).strip(" "))
    return [text for text in texts if text.strip()]


def repeating(seed: int = 0) -> list[str]:
    """Return texts of which a line, a paragraph or a run of words occurs again, in growing shares."""
    draw = random.Random(seed)
    repeated = []
    for share in range(1, 9):
        for border in ("\n", "\n\n", ". ", " "):
            for size in (1, 4, 8, 15):
                again = [" ".join(f"v{draw.randint(0, 999)}" for _ in range(size))] * share
                other = [" ".join(f"v{draw.randint(0, 999)}" for _ in range(size)) for _ in range(12)]
                repeated.append(border.join([*other, *again]))
    return [f"{text}\nthe end ..." if place % 3 == 0 else text for place, text in enumerate(repeated)]


def peers() -> Iterator[tuple[str, Any]]:
    """Yield filters as `--filter` takes them, each with datatrove's of the same thresholds."""
    from datatrove.pipeline.filters import (
        C4QualityFilter,
        FineWebQualityFilter,
        GopherQualityFilter,
        GopherRepetitionFilter,
    )

    yield "gopher-quality=blank_lines:on", GopherQualityFilter()
    yield "gopher-quality=min_words:off,max_words:20,blank_lines:on", GopherQualityFilter(None, 20)
    other: Any = {"min_doc_words": 1, "min_avg_word_length": None, "max_non_alpha_words_ratio": None}
    rules = "min_words:1,min_mean_word_length:off,min_alphabetic_words:off,min_stop_words:off,blank_lines:on"
    yield f"gopher-quality={rules}", GopherQualityFilter(**other, min_stop_words=None)
    yield "gopher-repetition", GopherRepetitionFilter()
    lines = "max_duplicate_paragraphs:off,max_duplicate_paragraph_characters:off,max_duplicate_lines:off"
    runs = f"{lines},max_duplicate_line_characters:off,max_top_2_gram:off,max_top_3_gram:0.3"
    peer = GopherRepetitionFilter(None, None, None, None, top_n_grams=((3, 0.3), (4, 0.16)))
    yield f"gopher-repetition={runs}", peer
    yield "fineweb-quality=blank_lines:on", FineWebQualityFilter()
    short: Any = {"short_line_length": 60, "line_punct_thr": -1, "short_line_thr": 0.8}
    rules = "short_line:60,min_line_punctuation:off,max_short_lines:0.8,max_duplicate_line_characters:0.2"
    fineweb = FineWebQualityFilter(**short, char_duplicates_ratio=0.2, new_line_ratio=0.1)
    yield f"fineweb-quality={rules},max_newlines:0.1,blank_lines:on", fineweb
    yield "c4-quality", C4QualityFilter()
    least = C4QualityFilter(filter_no_terminal_punct=False, min_num_sentences=2)
    yield "c4-quality=terminal_punctuation:off,min_sentences:2", least
    off: Any = {"remove_citations": False, "filter_policy": False, "filter_no_terminal_punct": False}
    none = C4QualityFilter(**off, min_num_sentences=-1, min_words_per_line=-1)
    rules = "terminal_punctuation:off,min_sentences:off,min_words_per_line:off,citations:off,policy:off"
    yield f"c4-quality={rules}", none


def verdict(peer: Any, text: str) -> list[str | None]:
    """Return why a filter of datatrove drops a text, None where it is kept, and what it leaves of it."""
    from datatrove.data import Document

    document = Document(text=text, id="")
    try:
        answer = peer.filter(document)
    except ZeroDivisionError:
        return ["division by zero", text]
    return [None if answer is True else answer[1], document.text]


def main() -> None:
    """Write what datatrove says of some documents."""
    texts = documents(100, seed=7) + repeating() + [text for text in hostile(60, seed=7) if text.strip()]
    verdicts = {name: [verdict(peer, text)[0] for text in texts] for name, peer in peers()}
    PATH.write_text(json.dumps({"texts": texts, "found": verdicts}, indent=0) + "\n")


if __name__ == "__main__":
    main()
