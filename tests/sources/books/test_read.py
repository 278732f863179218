"""Files of books are read whole or in parts, whatever their packing and encoding."""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import os
import tracemalloc
import zipfile
from collections import Counter
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError
from bertdata.sources.books.long_texts import cut_at
from bertdata.sources.books.read import Book, BrokenBook, clean_book, read_books
from bertdata.sources.books.volumes import Volume, group_books
from tests.sources.books.bookish import FIRST, SECOND, SPEECH, books, wrap, write


def test_text_without_a_gap_is_cut_at_the_last_letter_that_fits() -> None:
    data = bytearray("é塩𐍈" * 9, "utf-8")
    ends = [0, *(len(data.decode("utf-8", "ignore")[:n].encode()) for n in range(1, 28))]
    cuts = {limit: cut_at(data, limit)[0] for limit in range(4, len(data))}
    assert cuts == {limit: max(end for end in ends if end <= limit) for limit in cuts}


def test_a_text_file_is_one_book_with_its_title_and_author(tmp_path: Path) -> None:
    text = "The Project Gutenberg EBook\r\n\r\nTitle: The Hall\r\n       A Story\r\n\r\nAuthor: N. N.\r\n\r\n" + FIRST
    assert books(write(tmp_path, "1184-0.txt", text.encode())) == [Book("1184-0", "The Hall A Story", "N. N.", text)]
    assert books(write(tmp_path, "plain.txt", FIRST.encode())) == [Book("plain", "plain", "", FIRST)]


@pytest.mark.parametrize(
    ("name", "pack"),
    [("b.txt.gz", gzip.compress), ("b.txt.zst", zstandard.compress), ("b.txt.xz", lzma.compress), ("b.TXT", bytes)],
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
        ("koi8_r", "Он пришёл домой поздно вечером и долго не мог уснуть от усталости. " * 20),
        ("cp1250", "Przyszedł do domu późno wieczorem i długo nie mógł zasnąć, choć było już ciemno. " * 20),
        ("iso8859_2", "Przyszedł do domu późno wieczorem i długo nie mógł zasnąć, choć było ciemno. " * 20),
        ("cp1253", "Γύρισε στο σπίτι αργά το βράδυ και δεν μπορούσε να κοιμηθεί από την κούραση. " * 20),
        ("cp1254", "Çığlık çığlığa bağırışlar, ığdır dağlarının ardındaki kışlık sığırlar. " * 20),
        ("cp1255", "הוא חזר הביתה מאוחר בערב ולא הצליח להירדם מרוב עייפות. " * 20),
        ("cp1256", "عاد إلى البيت متأخرا في المساء ولم يستطع أن ينام من التعب. " * 20),
        ("big5", "他晚上很晚才回家，因為疲倦而久久不能入睡。" * 20),
        ("gb18030", "他晚上很晚才回家，因为疲倦而久久不能入睡。" * 20),
        ("shift_jis", "彼は夜遅く家に帰り、疲れのためになかなか眠れなかった。" * 20),
        ("euc_jp", "彼は夜遅く家に帰り、疲れのためになかなか眠れなかった。" * 20),
        ("euc_kr", "그는 밤늦게 집에 돌아와 피곤해서 오랫동안 잠을 이루지 못했다. " * 20),
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
        (b"", "no text"),
        (b" \r\n\n", "no text"),
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
        BrokenBook("all/sub/a", "all/sub/a", "no text"),
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
    from bertdata.io.files import write_bytes

    write_bytes("memory://parts.zip", buffer.getvalue())
    volumes = list(read_books("memory://parts.zip", part_bytes=size))
    if text.strip():
        assert "".join(book.text for book in volumes if isinstance(book, Book)).rstrip() == text.rstrip()


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
    assert [book.path for group in groups for book in group] == sorted(paths)
    assert all(book.weight == Path(book.path).stat().st_size for group in groups for book in group)
    assert all(600 < sum(book.weight for book in group) < 1400 for group in groups)
    assert group_books([], 1000) == []
    with pytest.raises(ConfigError):
        group_books(paths, 0)


def test_a_large_zip_archive_is_cut_into_ranges_of_members_that_hold_each_book_once(tmp_path: Path) -> None:
    members = {
        f"{number:03}.txt": f"{FIRST} {number}\n".encode() + os.urandom(900).hex().encode() for number in range(60)
    }
    path = write(tmp_path, "many.zip", zipped(members | {"a.png": os.urandom(5000)}))
    small = write(tmp_path, "small.zip", zipped({"a.txt": FIRST.encode()}))
    groups = group_books([small, path], 10_000)
    volumes = [book for group in groups for book in group]
    assert volumes[-1] == Volume(small, Path(small).stat().st_size)
    assert len(volumes) > 6
    volumes_read = [book for volume in volumes[:-1] for book in read_books(volume.path, members=volume.members)]
    assert volumes_read == list(read_books(path))
    assert len(volumes_read) == 60
    assert all(4000 < volume.weight < 16_000 for volume in volumes[:-1])


def test_a_large_zip_archive_of_one_book_or_of_none_or_a_damaged_one_stays_whole(tmp_path: Path) -> None:
    data = os.urandom(20_000).hex().encode()
    for name, content in (
        ("one.zip", zipped({"a.txt": data})),
        ("none.zip", zipped({"a.png": data})),
        ("bad.zip", data),
    ):
        path = write(tmp_path, name, content)
        assert group_books([path], 1000) == [(Volume(path, len(content)),)]


@pytest.mark.parametrize(("controls", "read"), [(30, True), (31, False)])
def test_a_file_is_no_text_where_over_three_of_a_hundred_bytes_are_controls(
    tmp_path: Path, controls: int, read: bool
) -> None:
    (tmp_path / "a.txt").write_bytes(b"\x01" * controls + b"a" * (1000 - controls))
    [book] = read_books(str(tmp_path / "a.txt"))
    assert isinstance(book, Book) if read else book == BrokenBook("a", "a", "not text")


@pytest.mark.parametrize(("letters", "kept"), [(10, True), (9, False)])
def test_stray_bytes_are_cp1252_where_ten_letters_of_utf8_stand_for_each(
    tmp_path: Path, letters: int, kept: bool
) -> None:
    (tmp_path / "a.txt").write_bytes("é".encode() * letters + b" a \x96 b")
    notes: Counter[str] = Counter()
    list(read_books(str(tmp_path / "a.txt"), notes=notes))
    assert (notes == {"UTF-8 with bytes of cp1252": 1}) == kept
    assert notes.total() <= 1


def test_a_book_is_read_in_parts_of_sixteen_megabytes(tmp_path: Path) -> None:
    path = write(tmp_path, "b.txt", (FIRST + "\n\n").encode() * ((20 << 20) // len(FIRST)))
    first, second = read_books(path)
    assert isinstance(first, Book)
    assert isinstance(second, Book)
    assert 15 << 20 < len(first.text) < 17 << 20
    assert len(second.text) < 6 << 20
