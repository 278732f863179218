"""A tokenizer family as a package outside bertdata would add it: a token for each letter, `_a` where it begins a word.

Its special tokens and rows are those of RoBERTa. `TOKENIZERS.add("letters", LetterTokenizer)` makes it known.
"""

from __future__ import annotations

import os
import string
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.text_arrays import Texts, as_strings
from bertdata.tokenizers import RowTemplate, SpecialTokens, Tokenizer

SPECIAL = SpecialTokens("<pad>", "<unk>", "<s>", "</s>", "<mask>")


class LetterTokenizer(Tokenizer):
    FILES = ("letters.txt",)
    NOTATION = "_ in a mark: this letter begins a word"

    def __init__(self, letters: str = string.ascii_lowercase + ".,") -> None:
        super().__init__([*SPECIAL.names, *(f"_{letter}" for letter in letters), *letters], SPECIAL)
        self.letters = letters

    @classmethod
    def from_pretrained(cls, path: str | os.PathLike[str]) -> LetterTokenizer:
        return cls((Path(path) / "letters.txt").read_text())

    def save_pretrained(self, directory: str | os.PathLike[str]) -> None:
        Path(directory).mkdir(parents=True, exist_ok=True)
        (Path(directory) / "letters.txt").write_text(self.letters)

    def encode_batch(self, texts: Texts) -> pa.ListArray:
        rows = [self._ids_of(text) for text in as_strings(texts).to_pylist()]
        return pa.array(rows, pa.list_(self.id_type))

    def _ids_of(self, text: str) -> list[int]:
        marked = (("_" * (not place) + letter) for word in text.lower().split() for place, letter in enumerate(word))
        return [self._ids.get(token, self.unk_token_id) for token in marked]

    @cached_property
    def continuation(self) -> NDArray[np.bool_]:
        return np.arange(self.vocab_size) >= len(SPECIAL.names) + len(self.letters)

    @property
    def token_texts(self) -> tuple[str, ...]:
        return tuple(token.removeprefix("_") for token in self.tokens)

    @property
    def row_template(self) -> RowTemplate:
        begin, end = self.cls_token_id, self.sep_token_id
        return RowTemplate((begin,), (end, end), (end,), second_type=0)
