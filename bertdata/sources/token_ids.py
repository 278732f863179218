"""Token ids in the place of text: the documents of a row of ids, and the ids that a document keeps beside its text.

The text of ids is what their tokenizer makes of them. It need not have the same ids again: a chunk of a document may
begin inside a word, white space between paragraphs is made even, and rules may change the text. So a document keeps its
ids with a hash of its text, and a build whose tokenizer is that of the ids takes them where the text is still that.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.counter_rng import text_bits
from bertdata.documents import paragraphs
from bertdata.engine.parts import Counters
from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.io.paths import folder
from bertdata.sources.names import IdCount

TOKEN_IDS = "ids of tokens"
"""The column of documents, beside those of tables, that their ids are kept in."""
_FILE = "tokenizer.json"
_BORDERS = ("bos_token", "eos_token", "cls_token", "sep_token", "pad_token")


@dataclass(frozen=True)
class IdsOf:
    """The tokenizer of ids: its folder, or its tokenizer.json, and the SHA-256 of that."""

    path: str
    sha256: str

    @staticmethod
    def named(path: str) -> IdsOf:
        """Return that of a folder or a tokenizer.json; raises ConfigError where there is none."""
        file = _file(path)
        if not files.exists(file):
            raise ConfigError(
                f"there is no {_FILE}, which --source-tokenizer needs; save the tokenizer again, as with "
                "transformers' AutoTokenizer.from_pretrained(NAME).save_pretrained(FOLDER)",
                path=path,
            )
        return IdsOf(path, files.sha256(file))


def _file(path: str) -> str:
    return path if files.name(path) == _FILE else files.join(path, _FILE)


class IdTexts:
    """Makes documents of rows of ids by the tokenizer that they are of."""

    def __init__(self, ids_of: IdsOf) -> None:
        import tokenizers

        file = _file(ids_of.path)
        data = files.read_bytes(file)
        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_buffer(data)
            values = json.loads(data)
        except Exception as error:  # of what kind depends on the file
            raise ConfigError(f"is no tokenizer ({error}); expected one as transformers saves it", path=file) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._size = self._tokenizer.get_vocab_size(with_added_tokens=True)
        added = self._tokenizer.get_added_tokens_decoder()
        self._special = np.array([token for token, shown in added.items() if shown.special], np.int64)
        roles = _roles(files.join(folder(file), "tokenizer_config.json"))
        borders = {self._tokenizer.token_to_id(token) for token in (*roles, *_around(values.get("post_processor")))}
        self._borders = np.array(sorted(token for token in borders if token is not None), np.int64)
        self._key = ids_of.sha256[:16]

    def documents(self, ids: NDArray[Any], row: int, path: str, counters: Counters) -> Iterator[tuple[str, str]]:
        """Yield the text of each document of a row of ids, and what it keeps of them; counts what the text changes.

        Special ids that stand around texts are the borders of documents. Raises InputError for an id that the tokenizer
        does not have.
        """
        ids = np.asarray(ids).astype(np.int64)
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < self._size:
            wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
            raise InputError(
                f"sample {row} has the id {wrong}, and the tokenizer ends at {self._size - 1}: the ids are of another "
                "one; name that with --source-tokenizer",
                path=path,
            )
        counters.add(IdCount.READ, len(ids))
        is_border = np.isin(ids, self._borders)
        pieces = [piece[~np.isin(piece, self._borders)] for piece in np.split(ids, np.flatnonzero(is_border))]
        pieces = [piece for piece in pieces if len(piece)]
        left_out = int(is_border.sum())
        texts = [paragraphs(text) for text in self._tokenizer.decode_batch([piece.tolist() for piece in pieces])]
        again = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        for piece, text, encoding in zip(pieces, texts, again, strict=True):
            inside = int(np.isin(piece, self._special).sum())
            left_out += inside
            if changed := differing(piece, np.array(encoding.ids, np.int64)):
                counters.add(IdCount.CHANGED_DOCUMENTS)
                counters.add(IdCount.CHANGED, changed)
            yield text, "" if inside else packed(piece, text, self._key)
        counters.add(IdCount.SPECIAL, left_out)


def _roles(path: str) -> list[str]:
    """Return the special tokens that a tokenizer_config.json names for the borders of texts."""
    config = files.read_json(path) if files.exists(path) else {}
    tokens = [config.get(role) for role in _BORDERS] if isinstance(config, dict) else []
    contents = [token.get("content") if isinstance(token, dict) else token for token in tokens]
    return [content for content in contents if isinstance(content, str)]


def _around(processor: Any) -> Iterator[str]:
    """Yield the tokens that a post-processor of a tokenizer.json puts around texts."""
    for part in processor.get("processors", [processor]) if isinstance(processor, dict) else []:
        yield from part.get("special_tokens", {})
        yield from (part[role][0] for role in ("sep", "cls") if part.get(role))


def differing(ids: NDArray[np.int64], others: NDArray[np.int64]) -> int:
    """Return how many ids lie between what two rows have in common at their beginnings and at their ends.

    >>> differing(np.array([1, 2, 3, 4]), np.array([1, 9, 9, 4]))
    2
    """
    least = min(len(ids), len(others))
    same = ids[:least] == others[:least]
    head = least if same.all() else int(same.argmin())
    same_end = (ids[::-1][: least - head] == others[::-1][: least - head]) if least > head else np.ones(0, np.bool_)
    tail = len(same_end) if same_end.all() else int(same_end.argmin())
    return max(len(ids), len(others)) - head - tail


def packed(ids: NDArray[np.int64], text: str, key: str) -> str:
    """Return what a document keeps of its ids: the key of their tokenizer, a hash of its text, and the ids."""
    return f"{key} {text_bits(text):016x} {base64.b64encode(ids.astype('<i4').tobytes()).decode()}"


def unpacked(value: str, text: str, keys: frozenset[str]) -> NDArray[np.int64] | None:
    """Return the ids of a document, None where they are of another tokenizer, or the text has changed.

    >>> value = packed(np.array([5, 7]), "a b", "k")
    >>> unpacked(value, "a b", frozenset("k")), unpacked(value, "a c", frozenset("k"))
    (array([5, 7]), None)
    """
    key, bits, ids = value.split(" ")
    if key not in keys or int(bits, 16) != text_bits(text):
        return None
    return np.frombuffer(base64.b64decode(ids), "<i4").astype(np.int64)


@lru_cache(maxsize=2)
def id_texts(ids_of: IdsOf) -> IdTexts:
    """Return what makes documents of ids, made once in a process."""
    return IdTexts(ids_of)
