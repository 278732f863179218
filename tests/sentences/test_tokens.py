"""Punkt's tokens against NLTK's, on generated text and over every character."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.characters.newer import alike
from bertdata.sentences.tokens import (
    NUMBER,
    has_letter,
    is_alphabetic,
    is_ellipsis,
    is_initial,
    is_lower,
    is_upper,
    tokens,
    type_of,
)
from tests.generated import examples

PIECES = st.sampled_from(
    [
        *".?!,;:-\"'()[]{}*@#&`\u2018\u2019\u201c\u201d\xab\xbb\u2026\u3002 \t\n\r\x1c\x85\xa0\u2003\0\ud800_",
        *[
            "..",
            "...",
            ". . .",
            "--",
            "Mr.",
            "U.S.",
            "e.g.",
            "5",
            "-3.5,",
            ".5",
            "\u0663.",
            "don't",
            "\u0301.",
            "\u24b6.",
        ],
        *["##number##", "x-mr.", "\u0130.", "\u03a3.", "word", "Word", "A."],
    ]
)
TEXTS = st.lists(PIECES, max_size=20).map("".join)


@given(TEXTS)
@settings(max_examples=examples(500), deadline=None)
def test_tokens_are_those_of_nltk(text: str) -> None:
    from nltk.tokenize.punkt import PunktBaseClass

    assert list(tokens(text)) == [token.tok for token in PunktBaseClass()._tokenize_words(text)]


@given(TEXTS)
@settings(max_examples=examples(300), deadline=None)
def test_what_is_asked_of_a_token_is_what_nltk_answers(text: str) -> None:
    from nltk.tokenize.punkt import PunktToken

    for token in tokens(text):
        theirs = PunktToken(token)
        assert (
            type_of(token),
            is_initial(token),
            is_alphabetic(token),
            has_letter(type_of(token)),
            is_ellipsis(token),
        ) == (
            theirs.type,
            bool(theirs.is_initial),
            bool(theirs.is_alpha),
            bool(theirs.is_non_punct),
            bool(theirs.is_ellipsis),
        ), token


@pytest.mark.costly
def test_every_character_is_a_letter_or_a_digit_as_an_older_one_of_its_kind_in_nltk() -> None:
    from nltk.tokenize.punkt import PunktToken

    assigned = (*range(0x40000), *range(0xE0000, 0xF0000), 0xF0000, sys.maxunicode)  # none between, then private ones
    characters = list(map(chr, assigned))
    letters, numbers = PunktToken._RE_ALPHA, PunktToken._RE_NUMERIC
    odd = [
        hex(ord(character))
        for character in characters
        if is_alphabetic(character) != bool(letters.match(alike(character)))
        or (type_of(character) == NUMBER) != bool(numbers.match(alike(character).lower()))
    ]
    assert odd == []


def test_a_long_line_gives_the_same_tokens_as_its_short_lines() -> None:
    line = 'Mr. Smith, "so-called" (of Rome)... said: no!'
    assert list(tokens(" ".join([line] * 500))) == list(tokens("\n".join([line] * 500)))


NEWER_CAPITAL, NEWER_SMALL, NEWER_DIGIT, NEWER_LETTER = "\U00010d50", "\U00010d70", "\U00010d41", "\U00010d4a"
"""Letters and a digit of Garay, which is of Unicode 16: Python 3.11 to 3.13 and older releases of regex lack them."""


def test_letters_and_digits_of_newer_scripts_are_such_whatever_is_installed() -> None:
    capital, small = NEWER_CAPITAL + NEWER_LETTER, NEWER_SMALL + NEWER_LETTER
    assert type_of(capital) == small
    assert is_alphabetic(capital)
    assert has_letter(f".{small}")
    assert is_initial(f"{NEWER_CAPITAL}.")
    assert [is_upper(NEWER_CAPITAL), is_lower(NEWER_CAPITAL)] == [True, False]
    assert [is_upper(NEWER_SMALL), is_lower(NEWER_SMALL)] == [False, True]
    assert type_of(NEWER_DIGIT) == type_of(f"-{NEWER_DIGIT},{NEWER_DIGIT}.") == NUMBER
    assert not has_letter(NEWER_DIGIT)
