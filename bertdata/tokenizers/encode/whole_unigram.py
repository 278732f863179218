"""Unigram over texts that no pre-tokenizer cuts, as llm-jp's and those of SentencePiece whose pieces go over spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bertdata.tokenizers.encode.asked_model import new_words
from bertdata.tokenizers.encode.kernels import whole_unigram as kernel
from bertdata.tokenizers.encode.kernels.id_cache import MAX_KEY
from bertdata.tokenizers.encode.kernels.unigram import Path
from bertdata.tokenizers.encode.kernels.word_cache import NewWords
from bertdata.tokenizers.encode.unigram import pieces_of
from bertdata.tokenizers.encode.word_cache import Answer, WordCache
from bertdata.tokenizers.encode.word_models import ids_of_bytes
from bertdata.tokenizers.unigram_pieces import columns_as_read, names_of

_ASKED = Answer([], depends="always")


class WholeUnigram:
    """Unigram whose words are parts of a text, or whole texts.

    model: that of a `tokenizer.json`; cut: whether texts are cut into
    words where no piece goes over the cut. A row with a word that is not certain is encoded whole.
    """

    write_known: Any = staticmethod(kernel.write_known)
    whole: Mapping[bytes, int] = {}
    common: Sequence[bytes] = ()

    def __init__(self, model: Mapping[str, Any], dtype: type[Any], *, cut: bool) -> None:
        names, scores = columns_as_read(model["vocab"])
        self._pieces, self.dtype, self._cut = pieces_of(names, scores, model["unk_id"], split=True), dtype, cut
        self._fallback = np.zeros(0, np.int64)
        if model.get("byte_fallback"):
            self._fallback = ids_of_bytes(dict(zip(names, range(len(names)), strict=True)))
        worst = max(1.0, *(abs(score) for score in (self._pieces.settings[0], *self._pieces.scores)))
        self.most_bytes = int(kernel.MOST_SUM / worst)
        """The bytes of the longest row whose words are certain by themselves."""

    def arrays(self) -> kernel.Model:
        """Return what the kernels need, with room that no other call has."""
        return self._model(MAX_KEY + 1, certain=self._cut)

    def encode_left(self, cache: WordCache, new: NewWords) -> None:
        """Give ids to new words that are left."""
        entries, begins, stops = new_words(new)
        for entry, begin, stop in zip(entries.tolist(), begins.tolist(), stops.tolist(), strict=True):
            cache.give(entry, self.encode_long(new.text, new.begin + begin, new.begin + stop))

    def encode_long(self, text: Any, start: int, end: int) -> Answer:
        """Return the ids of a word of a text."""
        ids = self._ids(text, start, end, certain=self._cut)
        return _ASKED if ids is None else Answer(ids)

    def encode_row(self, row: str) -> Any:
        """Return the ids of a whole row."""
        data = np.frombuffer(row.encode(), np.uint8)
        return self._ids(data, 0, len(data), certain=False)

    def _ids(self, text: Any, start: int, end: int, *, certain: bool) -> Any:
        model = self._model(end - start, certain=certain)
        count = int(kernel.encode_part(text, start, end, model))
        return None if count < 0 else model.ids[:count]

    def _model(self, size: int, *, certain: bool) -> kernel.Model:
        starts, ids = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
        path = Path(np.empty(size, np.uint8), np.empty(size + 1), starts, ids)
        seconds = np.empty(size + 1 if certain else 0)
        return kernel.Model(self._pieces, path, seconds, certain, self._fallback, np.empty(size + 1, self.dtype))


def whole_obstacle(model: Mapping[str, Any]) -> str | None:
    """Return why kernels cannot encode whole texts with a Unigram model, a part of a sentence; None where they can."""
    names = {*names_of(model["vocab"])}
    if model.get("unk_id") is None:
        return "its pre-tokenizer does not cut texts, and its model has no unknown token"
    if model.get("byte_fallback") and not {f"<0x{byte:02X}>" for byte in range(256)} <= names:
        return "its pre-tokenizer does not cut texts, and its model has not the tokens of all bytes"
    if min(score for _, score in model["vocab"]) >= 0:
        return "its pre-tokenizer does not cut texts, and its pieces have scores that are not below 0"
    return None
