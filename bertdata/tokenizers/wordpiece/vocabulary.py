"""The WordPiece vocabulary: tokens in the order of their ids, read from and written to `vocab.txt`.

A vocabulary is a tuple of tokens; here are its file, its checks and its special and unused tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

from bertdata.errors import ConfigError, InputError
from bertdata.io import compression, files
from bertdata.io.contents import once_for_contents
from bertdata.io.decoding import decode_utf8
from bertdata.tokenizers.file_keys import REMEDY

PAD, UNK, CLS, SEP, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
SPECIAL_TOKENS = (PAD, UNK, CLS, SEP, MASK)
"""The five tokens a BERT vocabulary must have, in the order a new vocabulary gets them."""

CONTINUATION = "##"
MOST_TOKENS, MOST_BYTES = (1 << 21) - 1, 256 << 20
"""The tokens that the kernels can look up, and the bytes of a `vocab.txt`, at most."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNUSED = re.compile(r"\[unused\d+\]")


def unused_tokens(n: int) -> tuple[str, ...]:
    """Return the names of `n` reserved tokens.

    >>> unused_tokens(2)
    ('[unused0]', '[unused1]')
    """
    return tuple(f"[unused{i}]" for i in range(n))


def is_unused(token: str) -> bool:
    """Tell whether a token is reserved.

    >>> is_unused("[unused7]"), is_unused("unused")
    (True, False)
    """
    return _UNUSED.fullmatch(token) is not None


def check_vocabulary(tokens: Iterable[str], path: str | None = None) -> tuple[str, ...]:
    """Return the tokens as a tuple; raise InputError where they are not a BERT vocabulary.

    Refused: no tokens, a blank token, a token twice, a lone surrogate, one of `SPECIAL_TOKENS` missing. `path` is
    put in front of the message.

    >>> check_vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bertdata.errors.InputError: the vocabulary has no [MASK], which every vocabulary of BERT has: ...
    """
    result = tuple(tokens)
    if not result:
        raise InputError("the vocabulary is empty; expected one token a line", path=path)
    first: dict[str, int] = {}
    for token_id, token in () if _are_plain(result) else enumerate(result):
        if not isinstance(token, str):
            raise InputError(f"token {token_id} is {token!r}; expected a string", path=path)
        if not token or (token.isspace() and token.isascii()):
            raise InputError(f"token {token_id} is blank; delete that line, or put a token there", path=path)
        if first.setdefault(token, token_id) != token_id:
            raise InputError(
                f"the token {token!r} is there twice, as ids {first[token]} and {token_id}; "
                "delete one, or rename one to a free [unusedN]",
                path=path,
            )
        if not token.isascii() and _SURROGATE.search(token):
            raise InputError(f"token {token_id}, {token!r}, holds a lone surrogate, which UTF-8 cannot hold", path=path)
    for special in SPECIAL_TOKENS:
        if special not in result:
            raise InputError(
                f"the vocabulary has no {special}, which every vocabulary of BERT has: it is not whole, or of another "
                f"tokenizer; of that {REMEDY}",
                path=path,
            )
    return result


def _are_plain(tokens: tuple[Any, ...]) -> bool:
    r"""Tell quickly whether each of some tokens is a string, not blank, there once, and without a lone surrogate.

    >>> _are_plain(("[PAD]", "é")), _are_plain(("a", "a")), _are_plain(("\u3000",)), _are_plain(("\ud800",))
    (True, False, False, False)
    """
    try:
        return all(map(str.strip, tokens)) and len({*tokens}) == len(tokens) and bool("".join(tokens).encode())
    except (TypeError, UnicodeEncodeError):
        return False


def check_special(special_tokens: Iterable[str]) -> tuple[str, ...]:
    """Return special tokens as a tuple; raise ConfigError for one string in their place, and for what is not a token.

    >>> check_special("[ENT]")
    Traceback (most recent call last):
    bertdata.errors.ConfigError: special_tokens is the string '[ENT]'; expected a list of tokens
    """
    if isinstance(special_tokens, str):
        raise ConfigError(f"special_tokens is the string {special_tokens!r}; expected a list of tokens")
    result = tuple(special_tokens)
    for token in result:
        if not isinstance(token, str) or not token.strip() or re.search("[\r\n]", token) or _SURROGATE.search(token):
            raise ConfigError(
                f"{token!r} is not a valid special token; expected a string that a line of vocab.txt can hold"
            )
    return result


def read_vocabulary(path: str) -> tuple[str, ...]:
    """Return the tokens of a `vocab.txt`: UTF-8, one token a line, the line number is the id.

    Lines end in LF or CRLF, never at another Unicode line break. Raises InputError where the file is missing, empty,
    not UTF-8, begins with a byte order mark, holds a zero byte, or `check_vocabulary` refuses it; and, after reading
    only the beginning, where it has over `MOST_TOKENS` lines or `MOST_BYTES` bytes.
    """
    with compression.open_decompressed(path) as file:
        return _parse(path, _read(file, path))


def _read(file: BinaryIO, path: str) -> bytes:
    """Return the bytes of a `vocab.txt`; raises InputError as soon as it is too large."""
    chunks: list[bytes] = []
    lines = size = 0
    while chunk := file.read(files.CHUNK):
        chunks.append(chunk)
        lines, size = lines + chunk.count(b"\n"), size + len(chunk)
        if lines > MOST_TOKENS or size > MOST_BYTES:
            limit = f"{MOST_TOKENS:,} lines" if lines > MOST_TOKENS else f"{MOST_BYTES >> 20} MiB"
            raise InputError(
                f"has over {limit}, which no vocabulary for WordPiece has; expected one token a line", path=path
            )
    return b"".join(chunks)


@once_for_contents
def _parse(path: str, data: bytes) -> tuple[str, ...]:
    text = decode_utf8(data, path, hint="convert the vocabulary to UTF-8")
    if (zero := data.find(b"\0")) >= 0:
        raise InputError(
            "holds a zero byte, as UTF-16 does; convert the vocabulary to UTF-8, as with: iconv -f utf-16le -t utf-8",
            path=path,
            offset=zero,
        )
    if text.startswith("\ufeff"):
        raise InputError("begins with a byte order mark; save the vocabulary as UTF-8 without one", path=path)
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not lines[-1]:
        lines.pop()
    return check_vocabulary(lines, path)


def format_vocabulary(tokens: Sequence[str]) -> bytes:
    """Return the bytes of a `vocab.txt`, one token a line; raises ConfigError where a token holds a line break."""
    for token_id, token in enumerate(tokens):
        if "\n" in token or token.endswith("\r"):
            raise ConfigError(
                f"token {token_id}, {token!r}, holds a line break, which a vocab.txt cannot hold; rename it"
            )
    return "".join(f"{token}\n" for token in tokens).encode("utf-8")


def write_vocabulary(path: str, tokens: Sequence[str]) -> None:
    """Write a `vocab.txt` atomically; raises as `format_vocabulary` does, and OutputError where it cannot."""
    files.write_bytes(path, format_vocabulary(tokens))
