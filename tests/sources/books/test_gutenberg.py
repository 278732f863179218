"""What an archive and its transcribers added goes: headers, licences, credits, notes, marks."""

from __future__ import annotations

import re

import pytest

from bertdata.sources.books.read import clean_book
from tests.data import data_path
from tests.sources.books.bookish import FIRST, SECOND, SPEECH, books, clean, in_a_book, wrap


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (
            "*** START OF THIS PROJECT GUTENBERG EBOOK THE HALL ***",
            "*** END OF THIS PROJECT GUTENBERG EBOOK THE HALL ***",
        ),
        ("***START OF THE PROJECT GUTENBERG EBOOK THE HALL***", "***END OF THE PROJECT GUTENBERG EBOOK THE HALL***"),
        ("*** START OF THE PROJECT GUTENBERG ETEXT OF THE HALL ***", "End of The Project Gutenberg Etext of The Hall"),
        ("*** START OF THE PROJECT GUTENBERG EBOOK, THE HALL", "End of Project Gutenberg's The Hall, by N. N."),
        (
            "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*",
            "End of Project Gutenberg Etext of It",
        ),
        ("*END THE SMALL PRINT! FOR PUBLIC DOMAIN EBOOKS*Ver.02/11/02*END*", "End of this Project Gutenberg Etext"),
        ("*** START OF THIS OPEN LIBRARY EBOOK: THE HALL ***", "*** END OF THIS OPEN LIBRARY EBOOK: THE HALL ***"),
        ("*** START OF THE PROJECT GUTENBERG EBOOK THE HALL ***", "*** START: FULL LICENSE ***"),
        ("*** START OF THE PROJECT GUTENBERG EBOOK THE HALL ***", "***START**THE SMALL PRINT!**FOR EBOOKS**START***"),
    ],
)
def test_header_and_licence_of_every_age_are_cut(start: str, end: str) -> None:
    header = wrap("These words of the header are a sentence that must not be in the corpus, whatever comes after them.")
    licence = wrap("You agree to be bound by all the terms of this agreement and to destroy all the copies you hold.")
    assert clean(header, start, wrap(FIRST), wrap(SECOND), end, licence) == [FIRST, SECOND]


def test_small_print_behind_the_text_does_not_cut_the_text() -> None:
    small_print = wrap("Why is this here? You know: lawyers. They tell us you might sue us if it is wrong.")
    assert clean(
        wrap(FIRST), wrap(SECOND), "***START**THE SMALL PRINT!**START***", small_print, "*END*THE SMALL PRINT!*END*"
    ) == [FIRST, SECOND]


def test_long_small_print_in_front_of_a_short_text_is_not_the_text() -> None:
    small_print = wrap("Why is this here? You know: lawyers. They tell us you might sue us if it is wrong. " * 30)
    marks = "***START**THE SMALL PRINT!**START***", "*END*THE SMALL PRINT!*END*"
    assert clean("Project Gutenberg, 1994", marks[0], small_print, marks[1], wrap(FIRST), wrap(SECOND)) == [
        FIRST,
        SECOND,
    ]


def test_a_header_without_any_marker_goes_by_its_words() -> None:
    assert clean(
        "The Project Gutenberg EBook of The Hall, by N. N.",
        wrap("This eBook is for the use of anyone anywhere at no cost and with almost no restrictions whatsoever."),
        "Title: The Hall",
        "Author: N. N.",
        "Release Date: March, 1998  [Etext #1237]",
        "Language: English",
        wrap(FIRST),
        wrap(SECOND),
    ) == [FIRST, SECOND]


def test_books_joined_in_one_file_keep_all_their_bodies() -> None:
    start, end = "*** START OF THE PROJECT GUTENBERG EBOOK X ***", "*** END OF THE PROJECT GUTENBERG EBOOK X ***"
    assert clean("Header.", start, wrap(FIRST), end, "Licence.", start, wrap(SECOND), end) == [
        FIRST,
        SECOND,
    ]


def test_a_last_part_has_a_licence_and_no_header() -> None:
    end = "*** END OF THIS PROJECT GUTENBERG EBOOK THE HALL ***"
    assert clean(wrap(FIRST), wrap(SECOND), end, "Licence, a sentence.") == [FIRST, SECOND]


@pytest.mark.parametrize(
    "block",
    [
        "Produced by Anonymous Volunteers, Dan Muller, and David Widger.",
        "Produced by Charles Keller.  HTML version by Al Haines.",
        "This etext was prepared by A. N. Other, of Somewhere.",
        "E-text prepared by Tim and the Online Distributed Proofreading Team\n(http://www.pgdp.net).",
        "Transcribed from the 1910 edition by David Price.",
        "_Printed in Great Britain by Woods and Sons, Ltd., London._",
        "Entered, according to Act of Congress, in the year 1872, by N. N.,\nin the Office of the Librarian.",
    ],
)
def test_credits_go(block: str) -> None:
    assert in_a_book(block) == []


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "block",
    [
        "Produced from the copy in the reading room at Little Needle.",
        "Produced from images generously made available by a library.",
        '_Author of "The Tin Bishop," "Nine Wet Fridays," etc._',
        "Author of “THE WILDERNESS MINE,” “WYNDHAM'S PAL,” “PARTNERS OF THE OUT-TRAIL,” “THE\nBUCCANEER FARMER,” etc.",
    ],
)
def test_what_only_a_title_page_has_goes_there_and_stays_in_the_story(block: str, compiled: bool) -> None:
    prose = [wrap(FIRST), wrap(SECOND)] * 20
    before = clean_book("\n\n".join([block, "CHAPTER I", *prose]), compiled=compiled)
    assert before == "\n\n".join([FIRST, SECOND] * 20)
    inside = clean_book("\n\n".join(["CHAPTER I", *prose, block, *prose]), compiled=compiled)
    assert inside is not None
    assert len(inside.split("\n\n")) == 81


def test_a_transcribers_note_goes_up_to_the_next_heading() -> None:
    note = wrap("This text is a combination of two others, one of which was compared with a printed copy of the book.")
    assert clean("Original Transcriber's Notes:", note, note, "ETYMOLOGY.", wrap(FIRST)) == [FIRST]


def test_a_transcribers_note_at_the_end_goes_to_the_end() -> None:
    body = [wrap(f"{number}. {FIRST}").replace(f"{number}. ", "") for number in range(40)]
    assert clean(*body, "Transcriber's Note", "Page 12: hte changed to the.", wrap(SECOND)) == [FIRST] * 40


@pytest.mark.parametrize(
    "block",
    [
        "[Illustration]",
        "[Illustration: A CAT. [Page 3.]]",
        "[Illustration: 'I trust you, sir, to speak further\n\nif you so desire.']",
        "[Footnote 12: See the first chapter, and [Note A] there.\n\nIt is long.]",
        "[Footnote *: A star.]",
        "[* Footnote: Another.]",
        "[12] See the first chapter, which says the same in other words.",
        "* Pronounced otherwise in the north of the country.",
        "[Sidenote: He goes away.]",
        "[Transcriber's note: the page is torn.]",
        "[Headnote: TORRENT REACHES NORWAY.]",
    ],
)
def test_notes_and_illustrations_go(block: str) -> None:
    assert in_a_book(block) == []


def test_an_unclosed_note_ends_with_its_paragraph() -> None:
    assert in_a_book("[Illustration: THE HALL\nBY NIGHT", SPEECH) == [SPEECH]


def test_a_paragraph_cut_by_an_illustration_is_healed() -> None:
    head, tail = SECOND[:100].rstrip(), SECOND[100:].strip()
    assert clean(wrap(FIRST), wrap(head), "[Illustration: A CAT]", wrap(tail)) == [FIRST, f"{head} {tail}"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("She said _never_, and meant =it=.", "She said never, and meant it."),
        ("The _Maison\nVauquer_ was so very old.", "The Maison Vauquer was so very old."),
        ("The name snake_case is kept.", "The name snake_case is kept."),
        ("He was _un_likely to go, misch_ee_vous as ever.", "He was unlikely to go, mischeevous as ever."),
        ("So it was, and so it stayed for years.[12]", "So it was, and so it stayed for years."),
        ("So it was.[1] Then [2], and then[A] it was not.[*]", "So it was. Then, and then it was not."),
        ("He saw it;* she did not.(12)", "He saw it; she did not."),
        ("[A]nd it was so, [sic] they say.", "[A]nd it was so, [sic] they say."),
        ("It was <i>so</i> good.", "It was so good."),
        ("The 4^{th} day came, and 2 = 1 + 1, he said.", "The 4th day came, and 2 = 1 + 1, he said."),
        (
            "The sun is 10^6 or 2^{10} or 10^{-3} miles away, and x^2 or 10<sup>6</sup> is what he said of it.",
            "The sun is 10^6 or 2^10 or 10^-3 miles away, and x^2 or 10^6 is what he said of it.",
        ),
        ("M^r. Holt, y^e old man of H_{2}O, left.", "Mr. Holt, ye old man of H2O, left."),
        ("The drug is C_{2}HCl_{3}O, as he said.", "The drug is C2HCl3O, as he said."),
        ("Mr. ---- came--so they say -- late.", "Mr. — came—so they say — late."),
        ("He came from Mr. ____ at noon.", "He came from Mr. — at noon."),
        ("It came[Pg 12] late {13} at night.", "It came late at night."),
        ("T[=o]ky[=o] had an [oe]dema.", "Tokyo had an oedema."),
    ],
)
def test_marks_go_and_words_stay(source: str, expected: str) -> None:
    assert in_a_book(source) == [expected]


@pytest.mark.costly
def test_header_and_licence_are_cut_as_the_stripped_twins_say() -> None:
    for raw in sorted(data_path("books-pairs", "raw").iterdir()):
        with_header, stripped = (
            str(clean_book(books(str(path))[0].text)) for path in (raw, data_path("books-pairs", "clean", raw.name))
        )
        assert with_header == stripped, raw.name


@pytest.mark.costly
def test_no_mark_of_an_archive_is_left_in_real_books() -> None:
    for path in sorted(data_path("books").iterdir())[::9]:
        cleaned = clean_book(books(str(path))[0].text)
        left = re.search(r"Project Gutenberg|\[Illustration|_\w+_|--|^CHAPTER", cleaned or "")
        assert left is None, path.name


def test_an_indented_transcribers_note_ends_with_its_indent() -> None:
    prose = "It was late in the evening when the old man came down to the shore and\nlooked for his boat.\n"
    note = "Transcriber's Note:\n\n  Obvious errors have been corrected. Inconsistent\n  hyphenation was left.\n\n"
    assert clean_book(note + prose) == " ".join(prose.split())


def test_the_header_of_a_canadian_book_goes() -> None:
    prose = "It was late in the evening when the old man came down to the shore and\nlooked for his boat.\n"
    head = (
        "* A Distributed Proofreaders Canada eBook *\n\nThis ebook is made available at no cost and with very few\n"
        "restrictions. These restrictions apply only if (1) you make\na change in the ebook.\n\n"
    )
    assert clean_book(head + prose) == " ".join(prose.split())
