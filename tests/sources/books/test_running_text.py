"""Sentences that begin as an archive's additions do, or name an archive, are text; the additions still go."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.sources.books.read import clean_book
from tests.generated import examples
from tests.sources.books.bookish import FIRST, SECOND

FIELDS = (
    "Title", "Author", "Translator", "Editor", "Illustrator", "Contributor", "Language", "Encoding", "Edition",
    "Credits", "Release date", "Posting date", "Last updated", "Character set encoding", "Produced by",
)  # fmt: skip
CREDITS = (
    "Produced in great numbers by Anna's workshops", "Prepared for the worst by Anna", "Transcribed by hand",
    "Transcribed from the walls of the temple", "Scanned by no human eye", "Typed from Anna's own words",
    "Proofread by Anton every night", "Printed in a small quarto", "Printed at night", "Copyright is a right that ends",
    "All rights reserved to the crown", "In the office of the clerk", "This text was prepared in a night",
    "Transcriber's notes lay on the table", "Typists' corrections cover each page", "Author of “The Sea” of old",
    "Proofreader's errata fill a drawer", "The file was converted", "Digitized by Anton",
)  # fmt: skip
NAMES = ("Project Gutenberg", "the Project Gutenberg of our days", "Distributed Proofreaders", "www.gutenberg.org")
HEADINGS = (
    "Contents",
    "Index",
    "Notes",
    "The end",
    "Finis",
    "Introduction",
    "Chapter twelve",
    "Part two",
    "Letter one",
)
LICENCES = (
    "This e-book is made available at no cost",
    "This eBook is for the use of anyone anywhere",
    "The bread was made available at no cost and with almost no restrictions",
    "This etext is for the use of anyone",
    "This ebook is made available at no cost and with very few restrictions, she said,",
    "Anna reads: “This ebook is for the use of anyone anywhere at no cost and with almost no restrictions”, and",
)
_WORDS = (
    "the town in which nobody went out because of rain and wind that came over those hills had many small windows with "
    "lamps on long tables beside old doors where children read until supper when it was late again"
)
WORDS = _WORDS.split()
RUNNING = st.lists(st.sampled_from(WORDS), min_size=24, max_size=60).map(" ".join)
BEGINNINGS = st.one_of(
    st.builds("{}: {}.".format, st.sampled_from(FIELDS), RUNNING),
    st.builds("{}, {}.".format, st.sampled_from(CREDITS), RUNNING),
    st.builds("Of {0} {1}.".format, st.sampled_from(NAMES), RUNNING),
    st.builds("{1} {0}, {1}.".format, st.sampled_from(NAMES), RUNNING.map(str.capitalize)),
    st.builds("{} {}.".format, st.sampled_from(LICENCES), RUNNING),
    st.builds("{1} {0} {1}.".format, st.sampled_from(LICENCES), RUNNING.map(str.capitalize)),
    st.builds("{} {}.".format, st.sampled_from(HEADINGS), RUNNING),
    st.builds("*{}* {}.".format, st.sampled_from(["Now", "She", "That night"]), RUNNING),
)


@settings(max_examples=examples(60), deadline=None)
@given(BEGINNINGS, st.sampled_from([45, 60, 72, 90, 160]), st.sampled_from([(2, 2), (2, 9), (30, 3), (45, 45)]))
def test_a_paragraph_inside_a_book_is_text_whatever_it_begins_with(
    paragraph: str, width: int, around: tuple[int, int]
) -> None:
    before, behind = around
    paragraphs = [*[SECOND] * before, paragraph, *[FIRST] * behind]
    source = "\n\n".join(textwrap.fill(text, width, break_on_hyphens=False) for text in paragraphs)
    for compiled in (False, True):
        prose = str(clean_book(source, compiled=compiled))
        assert prose.replace("*", "").split() == source.replace("*", "").split()


@pytest.mark.parametrize("place", [0, 1, 7])
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "paragraph",
    [
        "Title: that was the first word on the form, and she looked at it before she wrote her mother's name.",
        "Edition: the word has a long history, which begins with games and ends in the shop of a printer.",
        "Project Gutenberg was a thing of which nobody had heard, so the old man spoke of it all evening.",
        "Transcriber's notes lay in heaps, and the wind that came in through the window turned them over.",
        "Printed in London in a small quarto of great rarity, the work contains all that is known of it.",
        "Produced in great numbers by Anna's workshops, these toys reach every market before the winter.",
        "Contents of the chest were laid out upon the table, and everybody came to look at them in turn.",
        "Footnote two: the bishop had never seen the letter, and was told of it by others.",
    ],
)
def test_sentences_at_the_ends_of_a_book_that_say_more_than_who_made_it_are_text(
    paragraph: str, place: int, compiled: bool
) -> None:
    paragraphs = [FIRST] * 7
    paragraphs.insert(place, paragraph)
    source = "\n\n".join(textwrap.fill(text, 72, break_on_hyphens=False) for text in paragraphs)
    assert str(clean_book(source, compiled=compiled)).split() == source.split()


SPEECH = (
    "“This e-book is made available at no cost,” said the voice.",
    "“This ebook is for the use of anyone,” Anna read. “What does that mean?”",
    "“All rights reserved,” said the card.",
    "“Copyright? What copyright?”",
    "“Produced by whom?” “By Anton.”",
    "“Title: none.”",
    "“Transcriber's note?” she asked.",
    "“Is it on Project Gutenberg?”",
    '"Printed in London," he read.',
)
SHORT = (
    "AUTHOR: I know it.",
    "EDITOR: It is late, and I am tired.",
    "Author: You are late, friend.\nTranslator: I was there at six.",
    "Translator: Who would know?",
    "Printed in London, he saw.",
    "Transcribed by hand, every line.",
    "Gutenberg.org, again.",
    "This file was produced by night.",
    "This eBook is made available at no cost, the voice said, and the screen went dark.",
)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("paragraph", "place"), [*((text, 1) for text in SPEECH), *((text, 3) for text in SPEECH + SHORT)]
)
def test_short_speech_and_inside_a_book_short_sentences_are_text(paragraph: str, place: int, compiled: bool) -> None:
    paragraphs = [FIRST, SECOND] * 3
    paragraphs.insert(place, paragraph)
    assert str(clean_book("\n\n".join(paragraphs), compiled=compiled)).split() == " ".join(paragraphs).split()


@pytest.mark.parametrize("place", [3, 150])
@pytest.mark.parametrize("note", ["TRANSCRIBER'S NOTE", "Transcriber's Notes\n\nObvious errors were corrected."])
def test_the_story_after_a_note_inside_a_book_is_text(note: str, place: int) -> None:
    paragraphs = [FIRST, SECOND] * 100
    source = [*paragraphs[:place], note, *paragraphs[place:]]
    assert str(clean_book("\n\n".join(source))).split("\n\n") == paragraphs


def test_a_short_sentence_of_names_that_tells_of_somebody_is_no_title() -> None:
    source = [FIRST, "Nobody in London, he saw.", "Now Anna, she saw.", "The Sea of London.", SECOND]
    assert str(clean_book("\n\n".join(source))).split("\n\n") == [*source[:3], SECOND]


@pytest.mark.parametrize("word", ["Index!", "Notes?", "Contents!"])
def test_a_word_that_is_called_out_is_no_heading_under_which_the_rest_is_left_out(word: str) -> None:
    source = [FIRST, SECOND, word, *["He said it again.", "Nobody came."] * 5]
    assert clean_book("\n\n".join(source)) == "\n\n".join(source)


@pytest.mark.parametrize(
    "block",
    [
        "Title: The Hall of Salt",
        "Produced by: N. N. and the Online Distributed Proofreading Team at\nhttps://www.pgdp.net",
        "Credits: produced from images generously made available by The\nInternet Archive",
        "This eBook is for the use of anyone anywhere in the world and with\nalmost no restrictions whatsoever.",
        "Project Gutenberg presents this book to you for free, as a gift of its\nmany volunteers.",
        "The book was typed in by members of Project Gutenberg in the year of its\nfounding.",
        "This file was produced from images kindly lent by a library.",
        "Special thanks to the volunteers of the town library, who proofread this\netext for Project Gutenberg.",
        "Transcriber's Note: obvious errors of the printer were corrected, and all\nelse was left as it stands.",
    ],
)
@pytest.mark.parametrize("place", [0, 6])
def test_what_an_archive_adds_at_the_ends_of_a_book_still_goes(block: str, place: int) -> None:
    paragraphs = [textwrap.fill(text, 72, break_on_hyphens=False) for text in [FIRST, SECOND] * 3]
    paragraphs.insert(place, block)
    assert str(clean_book("\n\n".join(paragraphs))).split("\n\n") == [FIRST, SECOND] * 3


LICENCE_OF_FADED_PAGE = (
    "This ebook is made available at no cost and with very few restrictions. These restrictions apply only if (1) you "
    "make a change in the ebook, or (2) you are making commercial use of the ebook. If either of these conditions "
    "applies, please contact a fadedpage.com administrator before proceeding."
)
LICENCE_OF_GUTENBERG = (
    "This eBook is for the use of anyone anywhere in the United States and most other parts of the world at no cost "
    "and with almost no restrictions whatsoever. You may copy it, give it away or re-use it under the terms of the "
    "licence included with this eBook."
)


@pytest.mark.parametrize("place", [0, 3, 6])
@pytest.mark.parametrize("licence", [LICENCE_OF_FADED_PAGE, LICENCE_OF_GUTENBERG])
def test_a_licence_goes_also_from_inside_a_book(licence: str, place: int) -> None:
    paragraphs = [FIRST, SECOND] * 3
    source = [*paragraphs[:place], licence, *paragraphs[place:]]
    wrapped = "\n\n".join(textwrap.fill(text, 72, break_on_hyphens=False) for text in source)
    assert str(clean_book(wrapped)).split("\n\n") == paragraphs
