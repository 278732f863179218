"""Blocks that are told to be prose by their bytes give the text that the rules of layout give."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.sources.books import layout, read
from bertdata.sources.books.prose_blocks import mixed_blocks
from bertdata.sources.books.read import Book, read_books
from tests.data import data_path
from tests.generated import examples

_WORDS = (
    "the The and of In in I a She he Chapter chapter Book Part part This this file was made For end "
    "End letter CONTENTS Contents IV iv xii. vi) 12 1. 1815 It's non- body-\n no- where- “Come,” “No!” "
    "he’s said, said. said; — -- _so_ [3] [Illustration: * * * *** =x= {4} (2) † § Gutenberg ebook "
    "e-text pgdp.net Proofread Copyright Title: Author: Transcriber's Note: All rights office £5 £ "
    "..... ..... 12,345,678 | \t    \xa0 \u2003 é École × ² Ωμέγα ſet Kelvin \u2028 \x1f afternoon, "
    "afternoon yesterday considerable considerable considerable remembered everything Alle Rechte vorbehalten, Der "
    "Verfasser behält sich Recht Übersetzung Zweites Kapitel Inhalt des Bandes. Tous droits réservés. « » »Also!« sagte"
)
WORDS = _WORDS.split(" ")
LINE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
BLOCK = st.lists(
    st.tuples(st.sampled_from(["", "", "", "", " ", "  ", "      "]), LINE, st.sampled_from(["", "", "", " "])),
    min_size=1,
    max_size=6,
).map(lambda lines: "\n".join(map("".join, lines)))
LONG = "It was a dark and stormy night, and nobody in the house spoke for an hour\n"
FULL = st.lists(st.sampled_from([LONG, "but " + LONG, LONG[:60] + "\n", "“" + LONG]), min_size=1, max_size=5).map(
    "".join
)
TEXT = st.lists(st.one_of(BLOCK, FULL), min_size=1, max_size=12).map("\n\n".join)


def same(text: str) -> bool:
    mixed = mixed_blocks(text, read._own_blocks)
    return mixed is None or layout.prose_of(*mixed) == read._laid_out_prose(text.split("\n"))


@pytest.mark.costly
@settings(max_examples=examples(250), deadline=None)
@given(TEXT)
def test_any_layout_gives_what_the_rules_give(text: str) -> None:
    assert same(text)


def test_most_blocks_of_a_novel_are_plain() -> None:
    text = "\n\n".join(
        ["CHAPTER I", *[LONG * 5, "“It is late,” she said, and rose.", "IV", LONG * 2 + "He rose."] * 20]
    )
    mixed = mixed_blocks(text, list)
    assert mixed is not None
    kinds = [type(block) for block in mixed[0]]
    assert kinds.count(str) == 60
    assert kinds.count(list) == 21


@pytest.mark.parametrize("begin", ["Alle Rechte vorbehalten,", "Der Verfasser behält sich", "Tous droits réservés,"])
def test_a_notice_of_rights_in_a_block_that_is_full_is_left_to_the_rules(begin: str) -> None:
    more = f" das Recht der Übersetzung in andere Sprachen vor,\n{LONG}as he says."
    texts = ["\n\n".join([LONG * 3, f"{first}{more}", LONG * 3]) for first in (begin, f"Und {begin[4:]}")]
    kinds = [type(mixed[0][1]) for text in texts if (mixed := mixed_blocks(text, list))]
    assert kinds == [list, str]
    assert all(map(same, texts))


ARCHIVES = ["gutenberg", "ebook", "e-book", "etext", "e-text", "proofread", "pgdp", "fadedpage"]


@pytest.mark.parametrize("name", [*ARCHIVES, *map(str.upper, ARCHIVES)])
def test_a_block_that_may_name_an_archive_is_left_to_the_rules(name: str) -> None:
    texts = ["\n\n".join([LONG * 3, f"{LONG}as the {word} says.", LONG * 3]) for word in (name, "padded")]
    kinds = [type(mixed[0][1]) for text in texts if (mixed := mixed_blocks(text, list))]
    assert kinds == [list, str]


def test_other_words_with_letters_of_such_names_are_not_left_to_them() -> None:
    mixed = mixed_blocks("\n\n".join([LONG * 3, f"{LONG}padded xgdp pgdb pxdp edges, he says.", LONG * 3]), list)
    assert mixed is not None
    assert isinstance(mixed[0][1], str)


@pytest.mark.parametrize("end", ["rose.", "rose!", "rose?", "rose,", "rose:", 'rose!"', "rose?_"])
def test_a_paragraph_that_ends_with_a_sentence_or_clause_is_plain(end: str) -> None:
    mixed = mixed_blocks("\n\n".join([LONG * 3, f"“It is late,” she said; and with that she {end}", LONG * 3]), list)
    assert mixed is not None
    assert isinstance(mixed[0][1], list) == (end[4] in ",:")


@pytest.mark.parametrize("number", ["iv", "II", "cc", "12"])
@pytest.mark.parametrize("mark", [".—", "—", ".", "-", ")", "  "])
def test_lines_that_begin_with_a_number_and_a_mark_are_a_list_and_not_plain(number: str, mark: str) -> None:
    text = "\n\n".join([LONG * 3, f"{number}{mark}{LONG}" * 4 + "He rose and went.", LONG * 3])
    mixed = mixed_blocks(text, list)
    assert mixed is not None
    assert isinstance(mixed[0][1], list)
    assert same(text)


def test_letters_and_marks_of_european_prose_are_plain() -> None:
    line = "“It’s late”… she said – no, — cried: ‘Où est l’été?’ «Nein, schön!» Łódź\n"
    mixed = mixed_blocks("\n\n".join([LONG * 3, line * 3 + "He rose.", LONG * 3]), list)
    assert mixed is not None
    assert isinstance(mixed[0][1], str)


def test_a_line_of_other_white_space_alone_leaves_all_lines_to_the_rules() -> None:
    text = "\n\n".join([LONG * 3, "{}", LONG * 3])
    assert mixed_blocks(text.format("\u2003"), list) is None
    assert mixed_blocks(text.format("  "), list) is not None


@pytest.mark.costly
@pytest.mark.parametrize(
    "name", ["books/pg7256.txt", "books/pg1080.txt", "books-french/Ainsi-Parlait-Zarathoustra-.txt"]
)
def test_a_real_book_gives_what_the_rules_give(name: str) -> None:
    for book in read_books(str(data_path(name))):
        assert isinstance(book, Book)
        assert same(book.text.replace("\r\n", "\n"))


IN_ANOTHER_PROCESS = """
import sys
from tests.sources.books.test_prose_blocks import LONG, WORDS, same
state = 1
for _ in range(int(sys.argv[1])):
    text = LONG + "\\n"
    for _ in range(80):
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        text += WORDS[(state >> 33) % len(WORDS)] + (" ", " ", " ", " ", "\\n", "\\n\\n")[(state >> 50) % 6]
    assert same(text), text
"""


def run_apart(texts: int, **variables: str) -> None:
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-W", "error", "-c", IN_ANOTHER_PROCESS, str(texts)]
    subprocess.run(command, check=True, cwd=root, env={**os.environ, **variables})


@pytest.mark.costly
def test_the_kernels_run_as_plain_python() -> None:
    run_apart(60, NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
def test_the_kernels_stay_within_their_arrays(tmp_path: Path) -> None:
    run_apart(3_000, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
