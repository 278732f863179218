from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers.wordpiece.vocabulary import (
    SPECIAL_TOKENS,
    check_vocabulary,
    format_vocabulary,
    is_unused,
    read_vocabulary,
    unused_tokens,
    write_vocabulary,
)
from tests.data import data_path

TOKENS = (*SPECIAL_TOKENS, "the", "##s", "\u2028", "\x85", "é")


def test_a_vocabulary_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = str(tmp_path / "vocab.txt")
    write_vocabulary(path, TOKENS)
    assert read_vocabulary(path) == TOKENS


def test_lines_may_end_in_crlf_and_the_last_one_may_have_no_end(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes("\r\n".join(TOKENS).encode())
    assert read_vocabulary(str(path)) == TOKENS


@pytest.mark.parametrize("name", ["bert-base-uncased", "bert-base-cased", "bert-base-multilingual-cased"])
def test_a_pretrained_vocabulary_is_read_and_written_to_the_same_bytes(name: str) -> None:
    path = data_path("vocab", f"{name}.txt")
    assert format_vocabulary(read_vocabulary(str(path))) == path.read_bytes()


@pytest.mark.parametrize("missing", SPECIAL_TOKENS)
def test_a_missing_special_token_is_named_with_the_file_and_the_remedy(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("".join(f"{token}\n" for token in TOKENS if token != missing), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_vocabulary(str(path))
    assert str(path) in str(caught.value)
    assert f"no {missing}, which every vocabulary of BERT has: it is not whole" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\n", "token 0 is blank"),
        ("\n".join([*SPECIAL_TOKENS, "a", "", "b"]).encode(), "token 6 is blank"),
        ("\n".join([*SPECIAL_TOKENS, "a", "b", "a"]).encode(), "'a' is there twice, as ids 5 and 7"),
        ("\n".join([*SPECIAL_TOKENS, "é"]).encode("latin-1"), "is not UTF-8 (byte 0xe9)"),
        ("\n".join(SPECIAL_TOKENS).encode("utf-16"), "is not UTF-8 (byte 0xff)"),
        ("\n".join(SPECIAL_TOKENS).encode("utf-16-le"), "byte 1: holds a zero byte, as UTF-16 does"),
        (("\ufeff" + "\n".join(SPECIAL_TOKENS)).encode(), "byte order mark"),
    ],
)
def test_a_damaged_vocabulary_is_refused_and_says_why(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_vocabulary(str(path))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_vocabulary_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_vocabulary(str(tmp_path / "vocab.txt"))


def test_a_lone_surrogate_and_what_is_no_string_are_refused() -> None:
    with pytest.raises(InputError, match="lone surrogate"):
        check_vocabulary([*SPECIAL_TOKENS, "\ud800"])
    with pytest.raises(InputError, match="expected a string"):
        check_vocabulary([*SPECIAL_TOKENS, 7])  # type: ignore[list-item]


def test_a_token_with_a_line_break_is_not_written() -> None:
    with pytest.raises(ConfigError, match="line break"):
        format_vocabulary([*SPECIAL_TOKENS, "a\nb"])


def test_unused_slots_are_known_by_their_whole_name() -> None:
    assert all(is_unused(token) for token in unused_tokens(12))
    assert not any(is_unused(token) for token in ("[unused]", "[unused1]x", "[UNUSED1]", "unused1"))
