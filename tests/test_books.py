from __future__ import annotations

import codecs
import gzip
import io
import re
import textwrap
import time
import tracemalloc
import zipfile
from collections import Counter
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bertdata.books import Book, BrokenBook, clean_book, group_books, read_books
from bertdata.errors import ConfigError, InputError
from tests.data import data_path

FIRST = (
    "It was four o'clock when the ceremony was over and the carriages began to arrive, and a crowd had followed "
    "all the way from the church to the hall where the supper was laid out upon three long tables."
)
SECOND = (
    "Nobody in the street could remember such a supper, though the old schoolmaster, who remembered everything, said "
    "that the one given for his own father had been longer by a full hour and a good deal louder towards the end."
)
SPEECH = "“You never told me that,” said Anna."


def wrap(paragraph: str, indent: str = "") -> str:
    return textwrap.fill(paragraph, 72, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def clean(*blocks: str) -> list[str]:
    cleaned = clean_book("\n\n".join(blocks) + "\n")
    return cleaned.split("\n\n") if cleaned else []


def in_a_book(*blocks: str) -> list[str]:
    """Clean blocks between two paragraphs of prose; return what they became."""
    found = clean(wrap(FIRST), *blocks, wrap(SECOND))
    assert (found[0], found[-1]) == (FIRST, SECOND)
    return found[1:-1]


def write(folder: Path, name: str, data: bytes) -> str:
    target = folder / name
    target.write_bytes(data)
    return str(target)


def books(path: str, *, part_bytes: int = 16 << 20) -> list[Book]:
    found = list(read_books(path, part_bytes=part_bytes))
    assert all(isinstance(book, Book) for book in found)
    return [book for book in found if isinstance(book, Book)]


def test_wrapped_lines_become_paragraphs() -> None:
    assert clean(wrap(FIRST), SPEECH, wrap(SECOND)) == [FIRST, SPEECH, SECOND]


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\r\r\n", "\n"])
def test_every_kind_of_line_end_reads_the_same(line_end: str) -> None:
    source = f"{wrap(FIRST)}\n\n{wrap(SECOND)}\n".replace("\n", line_end)
    assert clean_book(source) == f"{FIRST}\n\n{SECOND}"


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
        ("The drug is C_{2}HCl_{3}O, as he said.", "The drug is C2HCl3O, as he said."),
        ("Mr. ---- came--so they say -- late.", "Mr. — came—so they say — late."),
        ("He came from Mr. ____ at noon.", "He came from Mr. — at noon."),
        ("It came[Pg 12] late {13} at night.", "It came late at night."),
        ("T[=o]ky[=o] had an [oe]dema.", "Tokyo had an oedema."),
    ],
)
def test_marks_go_and_words_stay(source: str, expected: str) -> None:
    assert in_a_book(source) == [expected]


@pytest.mark.parametrize(
    "heading",
    [
        "CHAPTER I.",
        "CHAPTER I. MR. SHERLOCK HOLMES.",
        "Chapter Four: The Supper",
        "Chapter 12",
        "Chapter XII.--A Long Way",
        "I.",
        "XIV",
        "I. THE EVE OF THE WAR.",
        "II. The Horror In Clay",
        "BOOK THE FIRST",
        "Book the First--Recalled to Life",
        "PART TWO",
        "STAVE ONE",
        "THE FIRST BOOK",
        "THE GOOSE-GIRL",
        "Preface",
        "INTRODUCTION.",
        "EPILOGUE",
        "THE END",
        "FINIS.",
        "End of Volume One",
        "CHAPTER III\nIN WHICH NOTHING HAPPENS,\nAND SLOWLY",
        "The Last Supper",
        "* * * * *",
        "-----------------------",
        "#",
        "123",
        "[Page 123]",
        "- 45 -",
        "                              HOUDINI.",
    ],
)
def test_headings_rules_and_page_numbers_go(heading: str) -> None:
    assert in_a_book(heading) == []


def test_a_heading_without_a_blank_line_leaves_its_text() -> None:
    assert clean(f"CHAPTER I.\n{wrap(FIRST)}", f"XII\n{wrap(SECOND)}") == [FIRST, SECOND]


@pytest.mark.parametrize(
    "prose",
    [
        SPEECH,
        "“Yes.”",
        '"Rake!"',
        "“I—”",
        "“NO!”",
        "“CHAPTER I,” he read.",
        "I did so and found it correct.",
        "Part of the crew went home.",
        "Book learning was not for him.",
        "One part of it was true.",
        "A boy came running towards me.",
        "—Come up, Kinch!",
        "Mild.",
    ],
)
def test_short_paragraphs_of_prose_stay(prose: str) -> None:
    assert in_a_book(prose) == [prose.replace("--", "—")]


@pytest.mark.parametrize(
    "contents",
    [
        "CHAPTER I. The Supper\nCHAPTER II. The Morning\nCHAPTER III. The End of It",
        "    I. THE CHRISTENING                   1\n\n    II. EARLY LIFE                      12",
        "I.  Fire worship.--Fire eating and heat resistance.--The Middle\nAges.--Among the Navajo.--Walkers.",
        "BOOK I.\n\nThe Hall\n\nExtinct.\n\nBOOK II.\n\nBurial with Bonfire.",
        " Chapter I. Outside the Mill\n Chapter II. Mr Tulliver Declares His Resolution about Tom\n Chapter III. Tom",
        "The Hall . . . . . . . . . 12\nThe Road . . . . . . . . . 24",
    ],
)
def test_tables_of_contents_go(contents: str) -> None:
    assert clean("THE HALL", "by N. N.", "CONTENTS", contents, "CHAPTER I", wrap(FIRST), SPEECH) == [FIRST, SPEECH]


def test_a_short_first_paragraph_after_the_contents_stays() -> None:
    assert clean("CONTENTS", "I. The Hall", "II. The Road", "CHAPTER I", SPEECH, wrap(FIRST)) == [SPEECH, FIRST]


def test_a_synopsis_under_a_chapter_heading_goes() -> None:
    synopsis = "The Pretty Lago di Lecco--A Carriage Drive in the Country--Astonishing\nSociability--Sleepy Land"
    assert in_a_book("CHAPTER XXI.", synopsis) == []


def test_a_title_page_goes() -> None:
    page = [
        "cover",
        "THE HALL",
        "A NOVEL",
        "By N. N.",
        "NEW YORK\nHARPER AND CO.\n1871",
        "With twenty-five coloured plates",
    ]
    assert clean(*page, wrap(FIRST), wrap(SECOND)) == [FIRST, SECOND]


def test_tables_and_lists_with_page_numbers_go() -> None:
    assert in_a_book("eBooks    Year    Month\n    1     1971    July\n   10     1991    January") == []
    assert in_a_book("Aachen, 12, 34\nAthens, 7\nBerlin, 102, 204") == []
    assert in_a_book("| a | b |\n| 1 | 2 |") == []


def test_an_index_and_endnotes_go_to_the_end() -> None:
    body = [wrap(FIRST)] * 30
    index = ["INDEX", "A", "ANGOULEME, Duchesse d', parts from her father.", "C", "CAMUS, Archivist, imprisoned."]
    assert clean(*body, *index) == [FIRST] * 30
    assert clean(*body, "FOOTNOTES", "    1 In Russian, “silen.”", wrap(SECOND, "    ")) == [FIRST] * 30


def test_verse_is_one_paragraph_and_its_lines_are_joined() -> None:
    verse = "    The almond tree is white and tall,\n    And white upon the garden wall\n    The evening lies."
    assert in_a_book(verse) == ["The almond tree is white and tall, And white upon the garden wall The evening lies."]


def test_an_indented_quotation_is_prose() -> None:
    assert in_a_book(wrap(SECOND, "     ")) == [SECOND]


def test_paragraphs_told_by_their_indent_only_are_parted() -> None:
    third = wrap(FIRST).replace("It was", "    It was", 1)
    fourth = wrap(SECOND).replace("Nobody", "    Nobody", 1)
    assert clean(f"{third}\n{fourth}\n{third}") == [FIRST, SECOND, FIRST]


@pytest.mark.parametrize(
    ("parted", "elsewhere", "healed"),
    [
        ("for in-\nstance", "", "for instance"),
        ("a well-\nknown man", "He was well-known there.", "a well-known man"),
        ("a care-\nless man", "A careless boy, with care and less wit.", "a careless man"),
        ("the red-\nroom door", "The room was red.", "the red-room door"),
        ("in English-\nspeaking lands", "", "in English-speaking lands"),
        ("it came--\nand went", "", "it came—and went"),
    ],
)
def test_words_parted_at_a_line_end_are_healed_as_the_book_writes_them(
    parted: str, elsewhere: str, healed: str
) -> None:
    lead = "and it was all of this which he had never seen before that he had said, "
    found = in_a_book(*([elsewhere] if elsewhere else []), f"{lead}{parted} he had been there.")
    assert found[-1] == f"{lead}{healed} he had been there."


def test_one_sentence_to_a_line_keeps_its_lines() -> None:
    lines = ["`` i 'm sorry , '' he said .", "she laughed .", "chapter 1", "he said ,", "it was n't a joke ?", "* * *"]
    expected = [lines[0], lines[1], lines[3], lines[4]]
    assert clean("\n".join(lines * 10)) == expected * 10


def test_one_paragraph_to_a_line_keeps_its_paragraphs() -> None:
    assert clean("\n".join([FIRST, SECOND, SPEECH] * 9)) == [FIRST, SECOND, SPEECH] * 9
    assert clean("The Hall", "By N. N.", "I. The Horror In Clay", *[FIRST, SPEECH] * 5) == [FIRST, SPEECH] * 5


@pytest.mark.parametrize("source", ["", "\n\n", "* * *", "CHAPTER I", "[Illustration: A CAT]", "1 2 3\n4 5 6", "\0"])
def test_a_book_without_prose_is_none_and_counted(source: str) -> None:
    drops: Counter[str] = Counter()
    assert clean_book(source, drops=drops) is None
    assert drops == {"no prose": 1}


def test_a_book_with_prose_is_not_counted() -> None:
    drops: Counter[str] = Counter()
    assert clean_book(FIRST, drops=drops) == FIRST
    assert not drops


@given(st.text(alphabet="aI1. _[]*=-\n\r—“”{}(){}CHAPTER"))
def test_any_text_gives_clean_paragraphs(source: str) -> None:
    cleaned = clean_book(source)
    if cleaned is not None:
        for paragraph in cleaned.split("\n\n"):
            assert paragraph == " ".join(paragraph.split())
            assert re.search(r"[^\W\d_]", paragraph)


@pytest.mark.parametrize(
    "junk",
    [
        "[Illustration ",
        "_a ",
        "=a ",
        "*",
        "(",
        "I\n",
        "I\n\n",
        "a-\n",
        "a",
        "[",
        " ",
        "1.",
        "Footnote ",
        "ab " * 20 + "\n\n",
    ],
)
def test_hostile_repetition_takes_linear_time(junk: str) -> None:
    source = junk * (400_000 // len(junk))
    began = time.process_time()
    clean_book(f"a b-\nc {source} x.")
    assert time.process_time() - began < 5


def test_a_text_file_is_one_book_with_its_title_and_author(tmp_path: Path) -> None:
    text = "The Project Gutenberg EBook\r\n\r\nTitle: The Hall\r\n       A Story\r\n\r\nAuthor: N. N.\r\n\r\n" + FIRST
    assert books(write(tmp_path, "1184-0.txt", text.encode())) == [Book("1184-0", "The Hall A Story", "N. N.", text)]
    assert books(write(tmp_path, "plain.txt", FIRST.encode())) == [Book("plain", "plain", "", FIRST)]


@pytest.mark.parametrize(
    ("name", "pack"), [("b.txt.gz", gzip.compress), ("b.txt.zst", zstandard.compress), ("b.TXT", bytes)]
)
def test_compressed_files_read_as_plain_ones(tmp_path: Path, name: str, pack: type[bytes]) -> None:
    assert books(write(tmp_path, name, pack(FIRST.encode()))) == [Book("b", "b", "", FIRST)]


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (codecs.BOM_UTF8 + "Straße, père".encode(), None),
        ("Straße, père".encode("utf-16"), None),
        (codecs.BOM_UTF16_BE + "Straße, père".encode("utf-16-be"), None),
        ("Straße, père".encode("utf-32"), None),
        ("Straße, pè\0re".encode() + b" " * 99, None),
    ],
)
def test_unicode_is_read_by_its_mark(tmp_path: Path, data: bytes, note: None) -> None:
    notes: Counter[str] = Counter()
    (book,) = read_books(write(tmp_path, "b.txt", data), notes=notes)
    assert isinstance(book, Book)
    assert book.text.strip() == "Straße, père"
    assert not notes


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "“C’est ça”, dit le père à l’élève. Où est la forêt ? Der Müller wohnt in der Straße. " * 20),
        ("cp1252", "The café was full, and the naïve señor said: “Garçon!” " * 3),
        ("cp1251", "Он пришёл домой поздно вечером и долго не мог уснуть от усталости. " * 20),
    ],
)
def test_other_encodings_are_guessed_and_noted(tmp_path: Path, encoding: str, text: str) -> None:
    notes: Counter[str] = Counter()
    (book,) = read_books(write(tmp_path, "b.txt", text.encode(encoding)), notes=notes)
    assert isinstance(book, Book)
    assert book.text == text
    assert notes == {encoding: 1}


def test_a_stray_byte_in_utf8_text_does_not_spoil_it(tmp_path: Path) -> None:
    notes: Counter[str] = Counter()
    data = "Straße, père. ".encode() * 20 + b"caf\xe9 \x93so\x94"
    (book,) = read_books(write(tmp_path, "b.txt", data), notes=notes)
    assert isinstance(book, Book)
    assert book.text == "Straße, père. " * 20 + "café “so”"
    assert notes == {"UTF-8 with bytes of cp1252": 1}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \r\n\n", "empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "not text"),
        (bytes(500), "not text"),
    ],
)
def test_what_is_no_text_is_broken_and_not_fatal(tmp_path: Path, data: bytes, reason: str) -> None:
    assert list(read_books(write(tmp_path, "b.txt", data))) == [BrokenBook("b", "b", reason)]


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_each_text_in_a_zip_is_a_book_in_order_of_name(tmp_path: Path) -> None:
    path = write(tmp_path, "all.zip", zipped({"b.txt": b"Two.", "sub/a.TXT": b"", "a.txt": b"One.", "x.png": b"no"}))
    assert list(read_books(path)) == [
        Book("all/a", "all/a", "", "One."),
        Book("all/b", "all/b", "", "Two."),
        BrokenBook("all/sub/a", "all/sub/a", "empty"),
    ]


def test_a_zip_without_text_is_broken_and_a_damaged_one_is_an_error(tmp_path: Path) -> None:
    assert list(read_books(write(tmp_path, "n.zip", zipped({"a.png": b"x"})))) == [
        BrokenBook("n", "n", "no .txt in it")
    ]
    with pytest.raises(InputError, match=r"cut\.zip: the zip file is corrupt or cut off"):
        list(read_books(write(tmp_path, "cut.zip", zipped({"a.txt": b"One. " * 99})[:-30])))
    data = bytearray(zipped({"a.txt": FIRST.encode()}))
    data[60] ^= 0xFF
    with pytest.raises(InputError, match=r"at its member a\.txt"):
        list(read_books(write(tmp_path, "bad.zip", bytes(data))))


def test_an_encrypted_member_is_broken(tmp_path: Path) -> None:
    data = bytearray(zipped({"a.txt": b"One."}))
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(header) + flags] |= 1
    assert list(read_books(write(tmp_path, "e.zip", bytes(data)))) == [BrokenBook("e/a", "e/a", "encrypted")]


def test_a_cut_off_or_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cut off"):
        list(read_books(write(tmp_path, "b.txt.gz", gzip.compress(FIRST.encode())[:-9])))
    with pytest.raises(InputError, match="no such file"):
        list(read_books(str(tmp_path / "no.txt")))
    with pytest.raises(ConfigError):
        list(read_books(write(tmp_path, "b.txt", b"x"), part_bytes=0))


def test_a_long_book_is_read_in_parts_cut_at_blank_lines(tmp_path: Path) -> None:
    header = "Title: The Hall\n\nAuthor: N. N.\n\n*** START OF THE PROJECT GUTENBERG EBOOK THE HALL ***\n\n"
    body = "\n\n".join([wrap(FIRST), wrap(SECOND)] * 200)
    text = f"{header}{body}\n\n*** END OF THE PROJECT GUTENBERG EBOOK THE HALL ***\n\nLicence, a sentence.\n"
    parts = books(write(tmp_path, "b.txt", text.encode()), part_bytes=10_000)
    assert len(parts) > 5
    assert [part.id for part in parts] == ["b", *(f"b#{number}" for number in range(2, len(parts) + 1))]
    assert {(part.title, part.author) for part in parts} == {("The Hall", "N. N.")}
    assert "".join(part.text for part in parts) == text
    assert "\n\n".join(str(clean_book(part.text)) for part in parts) == "\n\n".join([FIRST, SECOND] * 200)


@pytest.mark.parametrize("ending", ["\n", "\r", " "])
def test_parts_without_blank_lines_end_at_a_line_or_word(tmp_path: Path, ending: str) -> None:
    text = (SPEECH.replace(" ", "\u00a0") + ending) * 500
    parts = books(write(tmp_path, "b.txt", text.encode()), part_bytes=3000)
    assert "".join(part.text for part in parts) == text
    assert all(part.text.endswith(ending) for part in parts)


@given(st.integers(1, 9), st.text(alphabet="aé€😀\n ", min_size=1, max_size=60))
def test_no_part_cuts_a_letter(size: int, text: str) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", text.encode())
    from bertdata.files import write_bytes

    write_bytes("memory://parts.zip", buffer.getvalue())
    found = list(read_books("memory://parts.zip", part_bytes=size))
    if text.strip():
        assert "".join(book.text for book in found if isinstance(book, Book)).rstrip() == text.rstrip()


def test_memory_is_one_part_whatever_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "b.txt.gz", gzip.compress((wrap(FIRST) + "\n\n").encode() * 100_000))
    tracemalloc.start()
    count = sum(1 for _ in read_books(path, part_bytes=1 << 20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count > 15
    assert peak < 24 << 20


def test_groups_are_sorted_whole_and_of_like_size(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{name:03}.txt", b"x" * (100 + name * 37 % 50)) for name in range(60)]
    groups = group_books(paths[::-1], 1000)
    assert [path for group in groups for path in group] == sorted(paths)
    assert all(600 < sum(Path(path).stat().st_size for path in group) < 1400 for group in groups)
    assert group_books([], 1000) == []
    with pytest.raises(ConfigError):
        group_books(paths, 0)


def test_header_and_licence_are_cut_as_the_stripped_twins_say() -> None:
    for raw in sorted(data_path("books-pairs", "raw").iterdir()):
        with_header, stripped = (
            str(clean_book(books(str(path))[0].text)) for path in (raw, data_path("books-pairs", "clean", raw.name))
        )
        assert with_header == stripped, raw.name


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
