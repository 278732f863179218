"""What the tests of sentences share: our segmenter, NLTK's with the same parameters, and texts of odd pieces."""

from __future__ import annotations

import random
from collections import defaultdict
from functools import cache
from typing import Any

from hypothesis import strategies as st

from bertdata.sentences import PunktParameters, SentenceSegmenter, load_parameters


@cache
def english() -> SentenceSegmenter:
    return SentenceSegmenter.from_pretrained()


def nltk_with(parameters: PunktParameters) -> Any:
    from nltk.tokenize.punkt import PunktParameters as NltkParameters
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    theirs = NltkParameters()
    theirs.abbrev_types = set(parameters.abbrev_types)
    theirs.collocations = set(parameters.collocations)
    theirs.sent_starters = set(parameters.sent_starters)
    theirs.ortho_context = defaultdict(int, parameters.ortho_context)
    return PunktSentenceTokenizer(theirs)


def by_nltk(tokenizer: Any, text: str) -> list[str]:
    sentences = [sentence.strip() for part in text.split("\n\n") for sentence in tokenizer.tokenize(part.strip())]
    return [sentence for sentence in sentences if sentence]


@cache
def english_by_nltk() -> Any:
    return nltk_with(load_parameters("english"))


def pieces() -> st.SearchStrategy[str]:
    parameters = load_parameters("english")
    known = random.Random(1)
    words = known.sample(sorted(parameters.ortho_context), 60)
    return st.sampled_from(
        [*".?!,;:-\"'()[]{}*@#`\u2018\u2019\u201c\u201d\xab\xbb\u2026\u3002  \t\n\r\x0b\x1c\x85\xa0\u2003\0\ud800_$"]
        + ["\n\n", "..", "...", ". . .", ".\xa0.\xa0.", "--", ". ", "? ", "! ", '."', ".)", '?"', "!'' ", ".\u201d "]
        + [
            "Mr. ",
            "U.S. ",
            "e.g. ",
            "etc. ",
            "A. ",
            "\u00c9. ",
            "\u24b6.",
            "\u0301.",
            "5",
            "1990. ",
            "-3.5,",
            "\u0663.",
        ]
        + ["##number## ", "x-mr.", "\u0130.", "The ", "the ", "I ", "He ", "Smith", "don't "]
        + [word + " " for word in words]
        + [word.capitalize() + " " for word in words]
        + [word + ". " for word in known.sample(sorted(parameters.abbrev_types), 40)]
        + [
            f"{first.upper()}. {second.capitalize()} ".replace("##NUMBER##", "12")
            for first, second in known.sample(sorted(parameters.collocations), 40)
        ]
    )


def texts() -> st.SearchStrategy[str]:
    """Texts of up to 30 pieces: marks, quotes, white space of all kinds, words that Punkt knows."""
    return st.lists(pieces(), max_size=30).map("".join)
