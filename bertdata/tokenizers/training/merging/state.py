"""The arrays of the kernels that train by merges.

In all of them -1 means none. Arrays whose largest size is known are allocated once, and take memory only where they are
written; `grow` makes the others longer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.hash_table import empty_table, rehash
from bertdata.tokenizers.training.merging.corpus import Corpus, chunks

FIRST_PAIRS, FIRST_CHARS = 1 << 16, 1 << 16

HEADER = 3
"""What comes before the symbols of a word: their number, and how often the word occurs, in two parts of 31 bits."""
NO_KEY = -np.inf
N_LINKS = 4
"""Linked lists of pairs that a symbol has: see `kernels/pairs.py`."""

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


def _record(integers: str, floats: str = "") -> np.dtype[Any]:
    """Return the type of records of int64 and float64 fields."""
    fields = [(name, np.int64) for name in integers.split()] + [(name, np.float64) for name in floats.split()]
    return np.dtype(fields, align=True)


SYMBOL = _record("start length continues count", "measure floor")
"""A symbol: where in `chars` its characters are and how many, 1 if it begins with the mark of what continues a word,
how often it occurs, what the criterion takes of that count, and a bound that the latter has not fallen below."""
PAIR = _record("symbols count merged last_list marks rank", "key log_count")
"""A pair: left << 32 | right; how often its symbols are neighbours; how often, under `frequency`, they were joined; the
last of the lists of where it occurs; flags; the number of its last merge, or -1; the key of its entry in the heap, or
NO_KEY; the logarithm of its count, or a negative number where it has to be computed."""
LIST = _record("start length previous")
"""A list of where a pair occurs: a run of `arena`, and the list of the same pair that was made before it."""
ENTRY = _record("pair", "key")
"""An entry of the heap."""
SIDE = _record("number weight pair place seen")
"""A neighbour of the symbol that a merge makes, for each symbol and side, in row 2 * symbol + side: how often it occurs
in words and in the corpus, the pair that they form, and where in `arena` its next word is written. `seen`, in the first
rows, lists the rows that occur."""
COUNTERS = _record(
    "criterion min_frequency symbols pairs lists chars heap arena position events seen total merges "
    "more_pairs more_chars",
    "log_total",
)
"""The settings; how many are used of each array; the number of symbols in the corpus, the logarithm of the least that
it was, the number of merges, and how many more pairs, lists and characters there must be room for."""


class State(NamedTuple):
    """The trainer's arrays."""

    words: Ints  # each word: HEADER, then the ids of its symbols, room for as many as it had at first
    chars: Ints  # code points of the symbols
    symbols: Any  # SYMBOL
    pairs: Any  # PAIR
    table: Longs  # the pairs and symbols by what they consist of: see `kernels/symbols.py`
    links: Longs  # for each symbol and then for each pair, N_LINKS: the first or the next pair of a list
    lists: Any  # LIST
    arena: Ints  # the lists: where in `words` each word of a pair begins, once for each time that the pair is in it
    heap: Any  # ENTRY
    events: Ints  # a merge's new neighbours, as rows of `sides`, each with the word it is in
    sides: Any  # SIDE
    counters: Any  # one COUNTERS


def state_of(corpus: Corpus, tokens: list[str], vocab_size: int, mark: str) -> State:
    """Return the state in which no pair is counted yet, of a corpus and its initial tokens.

    `mark` is what tokens begin with that continue a word, "" where none do.
    """
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    symbol_at_start = np.full(0x110000, -1, np.int32)
    symbol_inside = np.full(0x110000, -1, np.int32)
    for characters, table, before in (
        (corpus.characters, symbol_at_start, ""),
        (corpus.continuing, symbol_inside, mark),
    ):
        table[[ord(character) for character in characters]] = [ids[before + character] for character in characters]
    n_symbols = min(vocab_size, len(tokens) + len(corpus.points))
    bodies = [token.removeprefix(mark) for token in tokens]
    lengths = np.array([len(body) for body in bodies], np.int64)
    chars = np.frombuffer("".join(bodies).encode("utf-32-le"), np.uint32)

    words, n_places, counts = _words(corpus, symbol_at_start, symbol_inside, n_symbols)
    state = empty_state(words, n_places, n_symbols, FIRST_PAIRS, len(chars) + FIRST_CHARS)
    state.chars[: len(chars)] = chars
    initial = state.symbols[: len(tokens)]
    initial.start, initial.length = np.cumsum(lengths) - lengths, lengths
    initial.continues = [mark != "" and token.startswith(mark) for token in tokens]
    state.symbols.count = counts
    state.counters.chars, state.counters.total = len(chars), state.symbols.count.sum()
    return state


def _words(
    corpus: Corpus, symbol_at_start: Ints, symbol_inside: Ints, n_symbols: int
) -> tuple[Ints, int, NDArray[np.int64]]:
    """Return the words of two symbols and more, as State has them, the number of their symbols, and counts of symbols.

    The symbols of characters are given by code point; the counts are those in all words, also in words of one symbol.
    """
    places = int(corpus.lengths[corpus.lengths > 1].sum())
    words = np.empty(places + HEADER * int((corpus.lengths > 1).sum()), np.int32)
    every, end = np.zeros(n_symbols, np.int64), 0
    for run, here in chunks(corpus.lengths):
        points, lengths, counts = corpus.points[here], corpus.lengths[run], corpus.counts[run]
        symbol = np.where(corpus.inside[here], symbol_inside[points], symbol_at_start[points])
        every += np.bincount(symbol, np.repeat(counts, lengths), n_symbols).astype(np.int64)
        longer = lengths > 1
        symbol = symbol[np.repeat(longer, lengths)]
        lengths, counts = lengths[longer], counts[longer]
        begins = np.cumsum(lengths + HEADER) - (lengths + HEADER)
        begin, end = end, end + len(symbol) + HEADER * len(lengths)
        chunk = words[begin:end]
        chunk[begins], chunk[begins + 1], chunk[begins + 2] = lengths, counts >> 31, counts & 0x7FFFFFFF
        is_symbol = np.ones(len(chunk), np.bool_)
        for i in range(HEADER):
            is_symbol[begins + i] = False
        chunk[is_symbol] = symbol
    return words, places, every


def empty_state(words: Ints, n_places: int, n_symbols: int, n_pairs: int, n_chars: int) -> State:
    """Return a state for words of `n_places` symbols in all, with room for so many symbols, pairs and characters.

    A place takes part in one pair at first and in two more with each join, of which there are fewer than places; so
    `arena` is long enough, and so are the events of one merge.
    """
    return State(
        words=words,
        chars=np.zeros(n_chars, np.int32),
        symbols=_records(n_symbols, SYMBOL),
        pairs=_records(n_pairs, PAIR),
        table=empty_table(max(n_pairs, 2 * n_symbols)),  # three quarters full at most
        links=np.full(N_LINKS * (n_symbols + n_pairs), -1, np.int64),
        lists=_records(n_pairs, LIST),
        arena=np.empty(3 * n_places, np.int32),
        heap=_records(2 * n_pairs, ENTRY),
        events=np.empty(4 * n_places, np.int32),
        sides=_records(2 * n_symbols, SIDE),
        counters=_records(1, COUNTERS)[0],
    )


def grow(arrays: dict[str, Any]) -> State:
    """Return a state with the room that its counters ask for, from the arrays of one by name.

    Each array is taken out of `arrays`, so that it is freed once it is copied if nobody else holds it.
    """
    c, symbols = arrays["counters"], len(arrays["symbols"])

    def longer(name: str, length: int) -> Any:
        return _longer(arrays.pop(name), length)

    had = len(arrays["pairs"])
    arrays["chars"] = longer("chars", c.chars + c.more_chars)
    arrays["pairs"] = longer("pairs", c.pairs + c.more_pairs)
    arrays["lists"] = longer("lists", max(c.pairs, c.lists) + c.more_pairs)
    if (room := len(arrays["pairs"])) > had:
        table = empty_table(max(room, 2 * symbols))
        rehash(arrays.pop("table"), table)
        arrays["table"] = table
        arrays["links"] = longer("links", N_LINKS * (symbols + room))
        arrays["heap"] = longer("heap", 2 * room)
    return State(**arrays)


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """Return the array if it is long enough, else a copy of at least twice its length, with zeros at the end."""
    if length <= len(array):
        return array
    result = np.zeros(max(2 * len(array), int(length)), array.dtype).view(type(array))  # takes memory where written
    result[: len(array)] = array
    return result


def _records(n: int, kind: np.dtype[Any]) -> Any:
    return np.zeros(n, kind).view(np.recarray)
