"""Which encoding bytes that are not UTF-8 are in, and files of another one read as UTF-8."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from bertdata.errors import InputError
from bertdata.io.encoding_guess import guesses
from bertdata.io.encodings import BadByte, encoded, find_bad_byte, iconv_name, is_stream, open_text


@pytest.mark.parametrize("encoding", ["cp1252", "shift_jis", "utf-16", "utf-32", "koi8_r"])
def test_a_text_is_read_as_utf_8_in_any_steps(encoding: str, tmp_path: Path) -> None:
    text = {"shift_jis": "日本語の文章。\n", "koi8_r": "Это текст.\n"}.get(encoding, "Grüße – spät.\n") * 9000
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    assert not is_stream(str(path))
    with encoded({str(path): encoding}):
        assert is_stream(str(path))
        with open_text(str(path)) as stream:
            assert stream.read().decode() == text
        with open_text(str(path)) as stream:
            assert b"".join(iter(lambda: stream.read(1000), b"")).decode() == text
    assert not is_stream(str(path))


def test_a_text_that_ends_inside_a_character_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("日本".encode("shift_jis")[:-1])
    with (
        encoded({str(path): "shift_jis"}),
        open_text(str(path)) as stream,
        pytest.raises(InputError, match="is not shift"),
    ):
        stream.read()


@pytest.mark.parametrize("offset", [0, 1, (4 << 20) - 2, (4 << 20) - 1, 4 << 20, (4 << 20) + 1])
def test_the_first_bad_byte_is_found_wherever_it_is(offset: int, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    whole = "é".encode()
    path.write_bytes(whole * (offset // 2) + b"x" * (offset % 2) + b"\xff" + whole)
    assert find_bad_byte(str(path)) == BadByte(offset, 0xFF)
    path.write_bytes(whole * (offset // 2) + b"x" * (offset % 2) + whole)
    assert find_bad_byte(str(path)) is None
    path.write_bytes(b"x" * offset + whole[:1])
    assert find_bad_byte(str(path)) == BadByte(offset, whole[0])


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "We met at the river – the water was high."),
        ("cp1252", "Il était une fois à Noël, où ça se passe."),
        ("cp1252", "“Quoted” text — it’s here."),
        ("cp1252", "café"),
        ("cp1250", "Zażółć gęślą jaźń to jest zdanie."),
        ("cp1251", "Привет мир, как дела сегодня. Это текст."),
        ("koi8_r", "Это текст по-русски, и он короткий."),
        ("cp1253", "Ελληνικά κείμενα εδώ."),
        ("shift_jis", "日本語の文章です。これは短い。"),
        ("gb18030", "这是一个中文句子，很短。"),
    ],
)
def test_the_likeliest_encoding_of_short_texts_gives_the_text(encoding: str, text: str) -> None:
    encoding_guessed = guesses(text.encode(encoding))[0].encoding
    assert text.encode(encoding).decode(encoding_guessed) == text


def test_latin1_is_advised_for_no_text() -> None:
    for byte in range(0x80, 0x100):
        assert not {"latin_1", "latin1", "iso8859_1"} & {guess.encoding for guess in guesses(b"We met %c here." % byte)}


@pytest.mark.skipif(not shutil.which("iconv"), reason="no iconv")
@pytest.mark.parametrize("encoding", ["cp1252", "koi8_r", "mac_roman", "iso8859_2", "euc_jp", "utf-16", "gb18030"])
def test_the_command_that_is_advised_is_one_of_iconv(encoding: str) -> None:
    data = "abc".encode(encoding)
    done = subprocess.run(
        ["iconv", "-f", iconv_name(encoding), "-t", "utf-8"], input=data, capture_output=True, check=True
    )
    assert done.stdout == b"abc"
