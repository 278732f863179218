"""A long text is cut between paragraphs or sentences; of text that is sentences only none is lost in any layout."""

from __future__ import annotations

import textwrap
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bertdata.sources.books.layout import Cut
from bertdata.sources.books.long_texts import cut_at, parts_of
from bertdata.sources.books.read import clean_book
from bertdata.sources.names import LeftOut
from tests.generated import examples

SENTENCE = "It rained all day in the town and nobody went out because the clock in the hall had struck nine times."
_WORDS = (
    "it rained all day in the town and nobody went out because that clock had struck nine times he she said there "
    "were many people on road old house by sea with again morning understand window lamp table part of story I a"
)
WORDS = _WORDS.split()
LATER = ["copyright", "printed", "edition", "preface", "chapter", "map", "title", "contents"]
"""Words of title pages and archives, which a line of a sentence may begin with."""


def cleaned(text: str, part_bytes: int, *, compiled: bool) -> str:
    """Return the prose of all parts of a text."""
    parts = parts_of(iter([text.encode()]), part_bytes)
    prose = [clean_book(data.decode(), compiled=compiled, cut=cut) for data, cut in parts]
    return "\n\n".join(filter(None, prose))


def words_to_sentence(words: list[str]) -> str:
    return words[0].capitalize() + " " + " ".join(words[1:])


SENTENCES = st.lists(
    st.builds(
        lambda first, later: words_to_sentence([first, *later]),
        st.sampled_from(WORDS),
        st.lists(st.sampled_from([*WORDS, *LATER]), min_size=3, max_size=30),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=examples(90), deadline=None)
@given(
    st.lists(SENTENCES, min_size=1, max_size=8),
    st.sampled_from([0, 20, 30, 45, 60, 72, 90, 110, 130, 160, 300]),
    st.sampled_from(["\n\n", "\n", " ", "\n\n\n"]),
    st.sampled_from([60, 150, 400, 3000, 1 << 24]),
    st.booleans(),
    st.sampled_from(["", "\n"]),
)
@example([[SENTENCE[:-1]] * 100], 0, "\n\n", 1 << 24, False, "")
@example([[SENTENCE[:-1]] * 100, *[[SENTENCE[:-1]] * 4] * 20], 0, "\n\n", 1 << 24, False, "\n")
@example([[SENTENCE[:-1]] * 100], 72, "\n\n", 1000, False, "")
@example([["It rained all day and night"], ["It was late"]], 20, "\n\n", 1 << 24, False, "")
@example([["It was so very late"], ["She came home"]], 20, "\n\n", 1 << 24, True, "")
def test_of_sentences_none_is_lost(
    paragraphs: list[list[str]], width: int, between: str, part_bytes: int, last_mark: bool, end: str
) -> None:
    texts = [". ".join(sentences) + "." for sentences in paragraphs]
    texts[-1] = texts[-1] if last_mark else texts[-1][:-1]
    if between == " ":
        texts = [" ".join(texts)]
    wrapped = ["\n".join(textwrap.wrap(text, width)) if width else text for text in texts]
    source = between.join(wrapped) + end
    for compiled in (False, True):
        assert cleaned(source, part_bytes, compiled=compiled).split() == source.split()


@pytest.mark.parametrize("length", [110, 320, 1041, 10_311])
@pytest.mark.parametrize("before", ["", "CHAPTER I\n\n"])
def test_a_first_paragraph_of_one_long_line_is_text_though_it_has_no_mark(length: int, before: str) -> None:
    first = (SENTENCE + " ") * (length // len(SENTENCE)) + "In the hall of the town she waited all day"
    source = "\n\n".join([first, *[f"{SENTENCE} {SENTENCE}"] * 20])
    assert str(clean_book(before + source)).split() == source.split()


def test_what_a_title_page_has_is_counted() -> None:
    left_out: Counter[str] = Counter()
    assert clean_book(f"Limited edition, each illustrated,\n\n{SENTENCE}", left_out=left_out) == SENTENCE
    assert left_out[LeftOut.FRONT_MATTER] == len("Limited edition, each illustrated,")
    left_out.clear()
    assert clean_book("CHAPTER I\n\nTHE SEA\n", left_out=left_out) is None
    assert left_out == {LeftOut.ARCHIVE: 0, LeftOut.NO_PROSE: len("CHAPTER I\n\nTHE SEA\n\n")}


@pytest.mark.parametrize(
    "start",
    [
        "In the office of the mayor sat a clerk. ",
        "Copyright was what they spoke of. ",
        "copyright it was, of which they spoke. ",
        "transcriber that he was, note by note. ",
        "[1] He rose. ",
        "Part two, which was lost, lay here. ",
        "[Map of the town, which he never closed. ",
        "He read of Project Gutenberg. ",
        "It came--it went--it stayed--all day. ",
    ],
)
def test_a_text_in_one_line_is_not_a_note_or_heading_by_its_first_words(start: str) -> None:
    prose = str(clean_book(start + f"{SENTENCE} " * 100))
    assert prose.count(SENTENCE) == 100


@pytest.mark.parametrize("width", [40, 72, 1000])
@pytest.mark.parametrize("place", [0, 2, 5])
def test_a_paragraph_that_begins_as_a_notice_and_tells_something_is_text(place: int, width: int) -> None:
    sentences = [
        "Copyright was an invention of printers.",
        f"Copyright law is old. {SENTENCE}",
        "Copyright, they said, is theft.",
        f"Printed in London were the books that he read. {SENTENCE}",
        "In the office of the mayor sat a clerk who wrote letters.",
        f"All rights reserved for the king were lost by then. {SENTENCE}",
        "The end of the chapter was near.",
    ]
    for sentence in sentences:
        paragraphs = [f"{SENTENCE} {SENTENCE}"] * 6
        paragraphs[place] = sentence
        book = "\n\n".join(textwrap.fill(paragraph, width) for paragraph in paragraphs)
        assert str(clean_book(book)).split() == book.split(), sentence


@pytest.mark.parametrize(
    "notice",
    [
        "Copyright, 1901, by Harper", "COPYRIGHT 1901", "Copyright (c) 2001 David Reed.", "[Copyright 1899]",
        "Copyright in the United States.", "Copyright by the author.", "Copyright © 1950", "Copyrighted 1911.",
        "Printed in the United States of America", "All rights reserved", "End of Book One",
        "In the Clerk's Office of the District Court of the United States.",
        "Entered, according to Act of Congress, in the year 1856, by Harper & Brothers.",
    ],
)  # fmt: skip
def test_a_notice_of_copyright_is_left_out(notice: str) -> None:
    prose = f"{SENTENCE} {SENTENCE}"
    assert clean_book("\n\n".join([prose, notice, prose])) == f"{prose}\n\n{prose}"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One day.\n\nNobody came to town. He", "One day.\n\n"),
        ("Nobody at home.\nIt rained again. He was", "Nobody at home.\n"),
        ("Nobody listened. She saw Mr. Smith who was", "Nobody listened. "),
        ("Nobody listened.” He saw Prof. Smith", "Nobody listened.” "),
        ("It was he. It rained all day in town", "It was he. "),
        ("all day in the old town and on the", "all day in the old town and on "),
        ("all day in\nthe old town and on the road", "all day in\n"),
        ("雨が降った。時計が鳴った。彼", "雨が降った。"),
        ("雨が降って時計が鳴", "雨が降って時計が"),
    ],
)
def test_a_part_ends_where_a_text_may_be_cut(text: str, first: str) -> None:
    limit = len(first.encode()) + 2
    assert bytes(bytearray(text.encode())[: cut_at(bytearray(text.encode()), limit)[0]]).decode() == first


def test_parts_are_as_large_as_they_may_be_and_say_how_they_were_cut() -> None:
    text = f"{SENTENCE} " * 200 + "\n\n" + SENTENCE
    parts = list(parts_of(iter([text[:999].encode(), text[999:].encode()]), 5000))
    assert "".join(data.decode() for data, _ in parts) == text
    assert all(4500 < len(data) <= 5000 for data, _ in parts[:-1])
    assert [cut for _, cut in parts] == [
        Cut(False, False, True),
        *[Cut(True, True, True)] * (len(parts) - 2),
        Cut(True, True, False),
    ]
