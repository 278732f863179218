"""Tokens that were added to a vocabulary and are found in a text before words are: domain words, runs of spaces.

The rows of Arrow arrays are cut at them into pieces, which are encoded as texts of their own, and their ids are put
between those of the pieces. `tokenizers` looks for tokens with `normalized = false` in the text as it is, and for the
others, in the form that the normalizer gives them, in what the normalizer makes of each piece between these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import InputError
from bertdata.kernels.jit import plain
from bertdata.text_arrays import READ_AHEAD
from bertdata.tokenizers.encode.kernels import added_tokens as kernel
from bertdata.tokenizers.encode.kernels.double_array import MAX_CELLS
from bertdata.tokenizers.encode.output import Encoded
from bertdata.tokenizers.encode.tables import double_array, room
from bertdata.tokenizers.encode.words import padded_texts
from bertdata.tokenizers.json_parts import SearchedTexts

MOST_BYTES = MAX_CELLS // 4
"""Bytes of all tokens that are looked for together."""
_FEW_TAILS = 12
_HASH_BITS, _BITS_A_HASH = (12, 24), 32
_POINTS, _POINTS_AT_A_TIME = 0x110000, 1 << 8
_FLAGS = {"single_word": kernel.SINGLE_WORD, "lstrip": kernel.LSTRIP, "rstrip": kernel.RSTRIP, "special": kernel.TEXT}
MarkChanged = Callable[[Any, NDArray[np.int64], NDArray[np.bool_]], NDArray[np.bool_]]


class Cuts:
    """The tokens at which rows were cut: how many there are in each row, and the ids of all."""

    def __init__(self) -> None:
        self._counts: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        self._ids: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]

    def add(self, counts: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        """Take the next rows."""
        self._counts.append(counts)
        self._ids.append(ids)

    def merge(self, pieces: Encoded) -> Encoded:
        """Return the ids of the rows, of which one with k tokens has k + 1 of the pieces. A token is a word."""
        counts, ids = np.concatenate(self._counts), np.concatenate(self._ids)
        if not len(ids):
            return pieces
        first = np.concatenate([[0], np.cumsum(counts)])
        rows = np.repeat(np.arange(len(counts)), counts)
        places = pieces.ends[np.arange(len(ids)) + rows + 1] + np.arange(len(ids))
        of_pieces = np.ones(len(pieces.ids) + len(ids), np.bool_)
        of_pieces[places] = False
        merged = np.empty(len(of_pieces), pieces.ids.dtype)
        merged[of_pieces], merged[places] = pieces.ids, ids
        starts = pieces.word_starts
        if len(starts) == len(pieces.ids):
            starts = np.ones(len(of_pieces), np.bool_)
            starts[of_pieces] = pieces.word_starts
        return Encoded(merged, pieces.ends[first + np.arange(len(first))] + first, starts)


class TokenSet:
    """Tokens that are looked for together.

    texts: for each id what is looked for; empty ones are never found, and no two are the same. entries: for each id its
    `single_word`, `lstrip` and `rstrip`, and whether it is `special`: then it is text, in which no others are found.
    """

    def __init__(self, texts: Mapping[int, str], entries: Mapping[int, Mapping[str, Any]]) -> None:
        words = {token_id: text for token_id, text in texts.items() if text and not entries[token_id].get("special")}
        others = {token_id: text for token_id, text in texts.items() if text and token_id not in words}
        self._texts = words | _that_hide(words.values(), others)
        self._ids = np.array(list(self._texts), np.int64)
        self._flags = np.zeros(len(self._texts), np.uint8)
        for name, flag in _FLAGS.items():
            self._flags += np.fromiter(
                (entries[text].get(name, False) for text in self._texts), np.uint8, len(self._texts)
            ) * np.uint8(flag)
        self._classes = np.zeros(_POINTS if (self._flags & ~np.uint8(kernel.TEXT)).any() else 0, np.uint8)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts.values())

    @property
    def n_bytes(self) -> int:
        """Bytes of all tokens."""
        return sum(map(len, map(str.encode, self._texts.values())))

    @cached_property
    def _kernel(self) -> tuple[kernel.Automaton, kernel.Tails, kernel.Tokens]:
        """What the kernels need."""
        keys = [text.encode() for text in self._texts.values()]
        lengths = np.fromiter(map(len, keys), np.int64, len(keys))
        return *_automaton(keys), kernel.Tokens(lengths, self._flags)

    def cut(
        self, arrays: Iterable[pa.Array], cuts: Cuts, mark_changed: MarkChanged | None = None
    ) -> Iterator[pa.Array]:
        """Yield the pieces of rows of Arrow string arrays, one after another, and add the tokens between to `cuts`.

        The rows are UTF-8. mark_changed: returns which of some rows the normalizer may change; these stay whole. Raises
        InputError for a text in which `tokenizers` panics: a token with `lstrip` and without `rstrip` all of whose
        white space one with `rstrip` before it has taken.
        """
        for rows, text, offsets, _ in padded_texts(arrays):
            starts, numbers = self._find(text, offsets)
            n_rows = len(offsets) - 1
            whole = np.zeros(n_rows, np.bool_)
            if mark_changed is not None and len(starts):
                with_tokens = np.zeros(n_rows, np.bool_)
                with_tokens[np.searchsorted(offsets, starts, side="right") - 1] = True
                whole = mark_changed(text, offsets, with_tokens)
            pieces = self._pieces(text, offsets, starts, numbers, whole)
            n_cuts = int(pieces.cuts[-1])
            cuts.add(np.diff(pieces.cuts), self._ids[pieces.tokens[:n_cuts]])
            yield _copied(text, pieces, n_rows + n_cuts) if n_cuts else rows

    def _find(self, text: Any, offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where tokens begin, and their numbers, from the last to the first."""
        automaton, tails, _ = self._kernel
        begin, n = int(offsets[0]), int(offsets[-1] - offsets[0])
        marked = np.empty(n // 64 + 1, np.uint64)
        kernel.mark_ends(text, begin, n, tails, marked)
        size = 64 + n // 64
        while True:
            starts, numbers = np.empty(size, np.int64), np.empty(size, np.int64)
            count = int(kernel.find(text, offsets, automaton, tails, marked, starts, numbers))
            if count <= size:
                return starts[:count], numbers[:count]
            size = count

    def _pieces(
        self, text: Any, offsets: NDArray[np.int64], starts: Any, numbers: Any, whole: NDArray[np.bool_]
    ) -> kernel.Pieces:
        n_rows, n = len(offsets) - 1, len(starts)
        begins, stops = np.empty(n_rows + n, np.int64), np.empty(n_rows + n, np.int64)
        pieces = kernel.Pieces(begins, stops, np.empty(n, np.int64), np.empty(n_rows + 1, np.int64))
        tokens = self._kernel[2]
        while (code := kernel.cut(text, offsets, starts, numbers, n, tokens, self._classes, whole, pieces)) < 0:
            self._learn(-1 - int(code))
        if code:
            token = list(self._texts.values())[int(code) - 1]
            raise InputError(
                f"tokenizers cannot encode a text: its added token {token!r}, with lstrip, ends within the white space "
                "that a token before it took by rstrip; set rstrip of the one or lstrip of the other to false"
            )
        return pieces

    def _learn(self, point: int) -> None:
        """Ask `tokenizers` for the classes of a code point and of those beside it, as its Unicode is not Python's."""
        from tokenizers import pre_tokenizers

        pieces = pre_tokenizers.Whitespace().pre_tokenize_str  # \w+|[^\w\s]+
        first = point - point % _POINTS_AT_A_TIME
        with self._lock:
            for code_point in range(first, first + _POINTS_AT_A_TIME):
                if not 0xD800 <= code_point < 0xE000:
                    cut = pieces(f"a{chr(code_point)}")
                    kind = kernel.NEITHER if len(cut) == 2 else kernel.WORD if len(cut[0][0]) == 2 else kernel.WHITE
                    self._classes[code_point] = kind


class AddedTokens:
    """The added tokens of a `tokenizer.json`, by how they are looked for.

    searched: what is looked for in the text as it is, and what in its normal form, as `json_parts.searched_texts`
    returns it; entries: for each id its entry in the file.
    """

    def __init__(self, searched: SearchedTexts, entries: Mapping[int, Mapping[str, Any]]) -> None:
        self.raw, self.normalized = (TokenSet(texts, entries) for texts in searched)

    def __len__(self) -> int:
        return len(self.raw) + len(self.normalized)


def encode_between(
    tokens: TokenSet,
    arrays: Iterable[pa.Array],
    encode: Callable[[Iterable[pa.Array]], Encoded],
    mark_changed: MarkChanged | None = None,
) -> Encoded:
    """Return the ids of rows that are cut at tokens, and whose pieces are encoded."""
    if not len(tokens):
        return encode(arrays)
    cuts = Cuts()
    return cuts.merge(encode(tokens.cut(arrays, cuts, mark_changed)))


def _that_hide(words: Collection[str], others: Mapping[int, str]) -> dict[int, str]:
    """Return those of other texts within which one of `words` may begin, or one of the others that are returned.

    >>> _that_hide(["ask", "<<"], {0: "<mask>", 1: "<pad>", 2: "<unk>", 3: "x<", 4: "y"})
    {0: '<mask>', 3: 'x<'}
    """
    hide: dict[int, str] = {}
    hidden = [*words] if others else []
    while hidden:
        whole, begun = {*hidden}, {text[:size] for text in hidden for size in range(1, len(text))}
        lengths = sorted({len(text) for text in whole})

        def hides(text: str, at: int, whole: Any = whole, begun: Any = begun, lengths: Any = lengths) -> bool:
            within = any(text[at : at + size] in whole for size in lengths if at + size <= len(text))
            return within or (at > 0 and text[at:] in begun)

        new = {
            token_id: text
            for token_id, text in others.items()
            if token_id not in hide and any(hides(text, at) for at in range(len(text)))
        }
        hide |= new
        hidden = [*new.values()]
    return hide


def _copied(text: Any, pieces: kernel.Pieces, n: int) -> pa.Array:
    """Return pieces as an Arrow array."""
    begins, stops = pieces.begins[:n], pieces.stops[:n]
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(stops - begins, out=offsets[1:])
    data = room(int(offsets[-1]) + READ_AHEAD, np.uint8)
    kernel.copy_pieces(text, begins, stops, n, data)
    data[offsets[-1] :] = 0
    return pa.Array.from_buffers(pa.large_string(), n, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _automaton(keys: Sequence[bytes]) -> tuple[kernel.Automaton, kernel.Tails]:
    """Return the automaton of keys, which are different and not empty, each with its number, and how they end."""
    backwards = [key[::-1] for key in keys]
    order = sorted(range(len(keys)), key=backwards.__getitem__)
    backwards = [backwards[number] for number in order]
    cells = double_array(backwards, order)
    offsets = np.zeros(len(keys) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, backwards), np.int64, len(keys)), out=offsets[1:])
    data = np.frombuffer(b"".join(backwards), np.uint8)
    automaton = kernel.Automaton(cells, room(len(cells), np.uint32))
    automaton.fails[:] = 0
    states, active = np.zeros(len(keys), np.uint64), np.empty(len(keys), np.int64)
    kernel.link(data, offsets, automaton, states, active)
    return automaton, _tails(data, offsets)


def _tails(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> kernel.Tails:
    """Return how keys end, of which `data` and `offsets` have the bytes backwards."""
    lengths = np.diff(offsets)
    ends = np.zeros((len(lengths), kernel.LONG_TAIL), np.uint8)
    for place in range(kernel.LONG_TAIL):
        ends[lengths > place, place] = data[offsets[:-1][lengths > place] + place]
    last, seconds = np.unique(ends[:, 0]), np.unique(ends[lengths > 1, 1])
    second = seconds if lengths.min() > 1 else seconds[:0]
    pairs = np.zeros((256, 256), np.uint64)
    words = ends[:, ::-1].copy().view("<u8")[:, 0]
    if len(last) + len(second) <= _FEW_TAILS:
        nothing = _hashes(words[:0])
        return kernel.Tails(last, second, pairs[:0, 0], nothing, nothing, nothing)
    pairs[ends[lengths == 1, 0]] = 1
    short, long = lengths < kernel.TAIL, lengths >= kernel.LONG_TAIL
    pairs[ends[short & (lengths > 1), 0], ends[short & (lengths > 1), 1]] = 1
    return kernel.Tails(
        last[:0],
        last[:0],
        pairs.reshape(-1) if short.any() else pairs[:0, 0],
        _hashes(plain(kernel.hash_tail)(words[~short])),
        _hashes(plain(kernel.hash_tail)(words[~short & ~long])),
        _hashes(plain(kernel.hash_long_tail)(words[long])),
    )


def _hashes(values: NDArray[np.uint64]) -> kernel.Hashes:
    """Return a set of hashes."""
    n_bits = min(max(_HASH_BITS[0], (_BITS_A_HASH * len(values)).bit_length()), _HASH_BITS[1])
    shift = np.uint64(64 - n_bits)
    bits = np.zeros(1 << n_bits if len(values) else 0, np.uint8)
    bits[(values >> shift).astype(np.int64)] = 1
    return kernel.Hashes(np.packbits(bits, bitorder="little").view(np.uint64), shift)
