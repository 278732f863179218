"""`Reference`: the `tokenizers.Tokenizer` of a file, whose model is opened when it is first asked about a text.

Opening a large vocabulary takes `tokenizers` longer than everything else on the way to the first ids, for which kernels
often need its normalizer and its pre-tokenizer alone. What it would refuse in a file is found without it: all but the
vocabulary and the merges are given to it with few tokens, and these are looked through here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import InputError
from bertdata.tokenizers.ids import are_ids
from bertdata.tokenizers.literal_special import kind_of
from bertdata.tokenizers.unigram_pieces import columns_of


class MergedIds(NamedTuple):
    """The merges of a BPE by ids, uint64: of which two tokens each is, and which it makes."""

    left: NDArray[np.uint64]
    right: NDArray[np.uint64]
    made: NDArray[np.uint64]


class Reference:
    """A `tokenizers.Tokenizer`: its `normalizer` and `pre_tokenizer` at once, all else of it when it is asked for.

    merges: the merges of a BPE; None of one with prefixes, and of other models. Raises InputError where `tokenizers`
    refuses the file. Threads may share one.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data, self.merges = data, None
        model, few = data["model"], dict[str, Any]()
        if _is_bpe(model):
            self.merges = merged_ids(model["vocab"], model["merges"])
            few = {} if self.merges is None else {"vocab": {}, "merges": []}
        elif kind_of(model) == "Unigram" and _is_unigram(model):
            few = {"vocab": model["vocab"][: (model["unk_id"] or 0) + 1]}
        opened = None
        if few:
            with suppress(InputError):  # which tells of a place in the file, so of the whole one
                opened = open_reference({**data, "model": {**model, **few}})
        opened = self.whole if opened is None else opened
        self.normalizer, self.pre_tokenizer = opened.normalizer, opened.pre_tokenizer

    @cached_property
    def whole(self) -> Any:
        """The `tokenizers.Tokenizer` with its model."""
        return open_reference(self._data)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.whole, name)


def open_reference(data: Mapping[str, Any]) -> Any:
    """Return the `tokenizers.Tokenizer` of a file, which takes special tokens that are spelt in a text for text."""
    from tokenizers import Tokenizer

    try:
        reference = Tokenizer.from_str(json.dumps(data))
    except BaseException as error:  # `tokenizers` raises nothing narrower
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise InputError(
            f"tokenizers cannot read it ({error}); if it was written by a newer version of tokenizers, install that"
        ) from error
    reference.encode_special_tokens = True
    reference.no_truncation()
    reference.no_padding()
    return reference


def merged_ids(vocabulary: Any, merges: Any) -> MergedIds | None:
    """Return merges, "a b" or [a, b], by ids; None where `tokenizers` refuses some, or may.

    >>> [ids.tolist() for ids in merged_ids({"a": 0, "b": 1, "ab": 2}, ["a b"])], merged_ids({"a": 0}, ["a b"])
    ([[0], [1], [2]], None)
    """
    if not (isinstance(vocabulary, dict) and isinstance(merges, list) and are_ids(vocabulary.values())):
        return None
    sides = _sides_of(merges)
    if sides is None or not _is_text(vocabulary):
        return None
    try:
        return MergedIds(
            *(
                np.fromiter(map(vocabulary.__getitem__, tokens), np.uint64, len(sides[0]))
                for tokens in (*sides, map(add, *sides))
            )
        )
    except KeyError:
        return None


def _sides_of(merges: Sequence[Any]) -> tuple[Sequence[str], Sequence[str]] | None:
    """Return the left tokens of pairs, and the right ones; None where they are not all of one form."""
    kinds = {*map(type, merges)}
    if kinds == {str}:
        pairs = [pair for pair in merges if not pair.startswith("#version")]
        tokens = " ".join(pairs).split(" ")  # many at once: one by one they take a tenth of a second
        whole = {pair.count(" ") for pair in pairs} <= {1}
        return (tokens[: 2 * len(pairs) : 2], tokens[1::2]) if whole else None
    if kinds == {list} and {*map(len, merges)} == {2}:
        left, right = zip(*merges, strict=True)
        return (left, right) if {*map(type, left), *map(type, right)} == {str} else None
    return None if merges else ([], [])


def _is_bpe(model: Mapping[str, Any]) -> bool:
    """Tell whether a model is a BPE whose merges make a token of two by putting them together."""
    return kind_of(model) == "BPE" and not model.get("continuing_subword_prefix") and "merges" in model


def _is_unigram(model: Mapping[str, Any]) -> bool:
    """Tell whether the pieces of a Unigram model are whole, and among them the one for unknown characters, if any."""
    columns = columns_of(model["vocab"]) if isinstance(model["vocab"], list) else None
    unknown = model.get("unk_id", "")
    among = unknown is None or (type(unknown) is int and 0 <= unknown < len(model["vocab"]))
    return columns is not None and among and _is_text(columns[0])


def _is_text(tokens: Any) -> bool:
    """Tell whether tokens are of characters alone, without a half of a surrogate pair."""
    try:
        "".join(tokens).encode()
    except UnicodeEncodeError:
        return False
    return True
