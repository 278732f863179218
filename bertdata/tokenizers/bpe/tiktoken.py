r"""`TiktokenTokenizer`: a `.tiktoken` file of OpenAI's tiktoken, a token in base64 and its rank a line.

The file has neither the pattern of words nor the special tokens. tiktoken keeps both in its code, with the SHA-256 of
the file, and so does `tiktoken_encodings.json`, which `scripts/tiktoken_encodings.py` writes; a file of another digest
is refused. Oniguruma, by which `tokenizers` cuts texts, reads the patterns otherwise than tiktoken: there `{1,3}+` is a
repetition of a repetition, and `$` the end of a line. Possessive repetitions are written as plain ones here, since none
of these patterns matches otherwise with them, and `$` as nothing being ahead.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from bertdata.errors import InputError, shortened
from bertdata.io import files
from bertdata.tokenizers.bpe.ranks import check_tokens, token_of, tokenizer_json
from bertdata.tokenizers.files_beside import ADDED, CONFIG, SPECIAL, read_added, read_settings
from bertdata.tokenizers.ids import reading_json
from bertdata.tokenizers.json_tokenizer import TOKENIZER, JsonTokenizer
from bertdata.tokenizers.loading import OTHER_TIKTOKEN, find_saved

ENDING = ".tiktoken"
_TABLE = Path(__file__).with_name("tiktoken_encodings.json")
_POSSESSIVE = re.compile(r"([+*?}])\+")
_ANY_CASE = re.compile(r"\(\?i:\[([a-z]+)\]")
_END_OF_TEXT = "<|endoftext|>"


class TiktokenTokenizer(JsonTokenizer):
    """The family of such files, each of which becomes a `JsonTokenizer`."""

    FILES = ("o200k_base.tiktoken", "cl100k_base.tiktoken", "p50k_base.tiktoken", "r50k_base.tiktoken")  # type: ignore[assignment]
    EXTRA_FILES = (CONFIG, SPECIAL, ADDED)

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """Tell whether a path is a `.tiktoken` file, or a directory with one of OpenAI's and no `tokenizer.json`."""
        if path.endswith(ENDING):
            return files.exists(path)
        has_ranks = any(files.exists(files.join(path, name)) for name in cls.FILES)
        return has_ranks and not files.exists(files.join(path, TOKENIZER))

    @classmethod
    def from_pretrained(cls, path: str | os.PathLike[str]) -> JsonTokenizer:
        """Load such a file or directory; raises InputError where it is damaged, or no file of OpenAI's."""
        place = find_saved(path, [cls])[1]
        folder = place.rpartition("/")[0]
        if not place.endswith(ENDING):
            folder = place
            place = next(path for name in cls.FILES if files.exists(path := files.join(folder, name)))
        config = read_settings(folder)
        with files.open_raw(place) as file:
            data = file.read()
        try:
            encoding = encoding_of(hashlib.sha256(data).hexdigest())
            with reading_json("is not a whole .tiktoken file"):
                tokens = _tokens(data)
                contents = tokenizer_json(tokens, 0, encoding["special_tokens"], oniguruma(encoding["pattern"]))
            return JsonTokenizer(contents, {"eos_token": _END_OF_TEXT, **config}, added=read_added(folder))
        except InputError as error:
            raise InputError(str(error), path=place) from error


@cache
def encodings() -> dict[str, Any]:
    """Return what tiktoken says of its files: by name `sha256`, `pattern` and `special_tokens`.

    >>> sorted(encodings())
    ['cl100k_base', 'o200k_base', 'p50k_base', 'r50k_base']
    """
    return dict(json.loads(_TABLE.read_text(encoding="utf-8"))["encodings"])


def encoding_of(digest: str) -> dict[str, Any]:
    """Return the encoding of a file with a SHA-256; raises InputError where it is none of OpenAI's."""
    for encoding in encodings().values():
        if encoding["sha256"] == digest:
            return dict(encoding)
    raise InputError(
        f"its SHA-256, {digest}, is none of OpenAI's {', '.join(encodings())}: get the file again, or if it is of "
        f"others: {OTHER_TIKTOKEN}"
    )


def oniguruma(pattern: str) -> str:
    r"""Return a pattern of tiktoken as Oniguruma and the kernels read it.

    >>> oniguruma(r"'(?i:[sd]|ll)| ?\p{L}++|\p{N}{1,3}+|\s++$|\s")
    "'(?i:s|d|ll)| ?\\p{L}+|\\p{N}{1,3}|\\s+(?![\\s\\S])|\\s"
    """
    pattern = _ANY_CASE.sub(lambda match: "(?i:" + "|".join(match[1]), pattern)
    return _POSSESSIVE.sub(r"\1", pattern).replace("$", r"(?![\s\S])")


def _tokens(data: bytes) -> list[bytes]:
    """Return the tokens of a file, of which each line has one and its rank, in the order of the ranks."""
    tokens = []
    for place, line in enumerate(data.split(b"\n")):
        if not line:
            continue
        token, _, rank = line.partition(b" ")
        if rank != b"%d" % place:
            raise InputError(f"line {place + 1} is {shortened(line)}; expected a token and the rank {place}")
        tokens.append(token_of(token.decode("ascii"), place))
    check_tokens(tokens)
    return tokens
