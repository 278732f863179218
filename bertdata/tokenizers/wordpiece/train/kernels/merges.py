"""The compiled core of the vocabulary trainer: the pairs of flat arrays of words are counted, and the best are merged.

A word is a run of symbols in one array, joined in place. A pair knows the words it was in when it was formed, once for
each time; those it has left since are passed over. A merge goes through its words once and notes each new neighbour of
the new symbol; then each pair that came of it is looked up once. `State` is everything. Where its arrays may be too
short, GROW is returned before anything is done, to be called again with larger ones (`state.grow`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined, kernel
from bertdata.tokenizers.wordpiece.state import (
    ARENA_USED,
    COUNT,
    CRITERION,
    FIRST_LIST,
    FOLLOWING,
    HEADER,
    HEAP_SIZE,
    KEY,
    LEFT,
    LENGTH,
    MERGED,
    N_CHARS,
    N_EVENTS,
    N_LISTS,
    N_PAIRS,
    N_SEEN,
    N_SYMBOLS,
    NEED_CHARS,
    NEED_LISTS,
    NEED_PAIRS,
    NO_KEY,
    POSITION,
    RIGHT,
    START,
    TOTAL,
    State,
)
from bertdata.tokenizers.wordpiece.train.kernels.pairs import (
    change_count,
    eligible,
    enter,
    is_exact,
    lower_floor,
    make_exact,
    measure_symbol,
    natural_log,
    pop,
    renew_pairs,
    replace_top,
    worth,
)
from bertdata.tokenizers.wordpiece.train.kernels.symbols import joined_symbol, pair_of
from bertdata.tokenizers.wordpiece.train.merge_score import FREQUENCY

DONE, GROW = 0, 1
_BEFORE, _AFTER = 0, 1
_NUMBER, _WEIGHT, _PAIR, _SEEN = range(4)
"""Columns of `sides`, for each side of each symbol: how often it came up in a merge, how often in the corpus, the pair
formed; and, in the rows in their order, the sides that came up."""


@inlined
def _weight(words: Any, word: Any) -> Any:
    return np.int64(words[word + 1]) << 31 | np.int64(words[word + 2])


@inlined
def _add_list(s: State, pair: Any, length: Any) -> Any:
    """Give a pair a list of `length` words, to be filled; returns where it begins."""
    start = s.counters[ARENA_USED]
    number = s.counters[N_LISTS]
    s.counters[ARENA_USED] += length
    s.counters[N_LISTS] += 1
    s.lists[number, START], s.lists[number, LENGTH] = start, length
    s.lists[number, FOLLOWING] = s.pairs[pair, FIRST_LIST]
    s.pairs[pair, FIRST_LIST] = number
    return start


@kernel
def count_pairs(s: State) -> Any:
    """Count the pairs of the words from POSITION on and, at the end, list where they are and enter them; DONE or GROW.

    Until then the first row of `events` holds the pair at each place, and FIRST_LIST tells how many places a pair has.
    """
    while s.counters[POSITION] < len(s.words):
        word = s.counters[POSITION]
        n = np.int64(s.words[word])
        s.counters[NEED_PAIRS] = s.counters[NEED_LISTS] = s.counters[N_PAIRS] + n
        if s.counters[NEED_PAIRS] > min(len(s.pairs), len(s.lists)):
            return GROW
        weight = _weight(s.words, word)
        for i in range(word + HEADER, word + HEADER + n - 1):
            pair = pair_of(s, np.int64(s.words[i]), np.int64(s.words[i + 1]))
            s.pairs[pair, COUNT] += weight
            s.pairs[pair, FIRST_LIST] += 1
            s.events[0, s.counters[N_EVENTS]] = pair
            s.counters[N_EVENTS] += 1
        s.counters[POSITION] += HEADER + n
    for pair in range(s.counters[N_PAIRS]):
        length = s.pairs[pair, FIRST_LIST] + 1
        s.pairs[pair, FIRST_LIST] = -1
        _add_list(s, pair, length)
    word = event = np.int64(0)
    while word < len(s.words):
        n = np.int64(s.words[word])
        for _ in range(n - 1):
            number = s.pairs[np.int64(s.events[0, event]), FIRST_LIST]
            s.arena[s.lists[number, START]] = word
            s.lists[number, START] += 1
            event += 1
        word += HEADER + n
    for number in range(s.counters[N_LISTS]):
        s.lists[number, START] -= s.lists[number, LENGTH]
    s.counters[N_EVENTS] = 0
    for symbol in range(s.counters[N_SYMBOLS]):
        measure_symbol(s, symbol, 0)
        lower_floor(s, symbol)
    s.log_total[0] = natural_log(s.counters[TOTAL])
    for pair in range(s.counters[N_PAIRS]):
        enter(s, pair)
    return DONE


@inlined
def _note(s: State, side: Any, weight: Any, word: Any) -> None:
    if s.sides[side, _NUMBER] == 0:
        s.sides[s.counters[N_SEEN], _SEEN] = side
        s.counters[N_SEEN] += 1
    s.sides[side, _NUMBER] += 1
    s.sides[side, _WEIGHT] += weight
    event = s.counters[N_EVENTS]
    s.events[0, event], s.events[1, event] = side, word
    s.counters[N_EVENTS] += 1


@inlined
def _join_word(s: State, word: Any, a: Any, b: Any, new: Any) -> Any:
    """Join a and b in a word, from the left, and note the neighbours; returns how many were joined, and how many of
    these stand after another.
    """
    words, begin = s.words, word + HEADER
    end, weight = begin + np.int64(words[word]), _weight(words, word)
    joined = adjoining = 0
    behind_new = False
    i = j = begin
    while i < end:
        symbol = np.int64(words[i])
        if symbol == a and i + 1 < end and words[i + 1] == b:
            if j > begin:
                _note(s, 2 * np.int64(words[j - 1]) + _BEFORE, weight, word)
                adjoining += behind_new
            words[j] = new
            joined += 1
            behind_new = True
            i += 2
        else:
            if behind_new:
                _note(s, 2 * symbol + _AFTER, weight, word)
            words[j] = symbol
            behind_new = False
            i += 1
        j += 1
    words[word] = j - begin
    return joined * weight, adjoining * weight


@inlined
def _form_pairs(s: State, a: Any, b: Any, new: Any, adjoining: Any) -> None:
    """Take the noted neighbours from their old pairs and form the new ones."""
    for i in range(s.counters[N_SEEN]):
        side = s.sides[i, _SEEN]
        symbol, weight = side >> 1, s.sides[side, _WEIGHT]
        before = side & 1 == _BEFORE
        lost = weight - adjoining if before and symbol == new else weight
        if lost > 0:
            old = pair_of(s, symbol, a) if before else pair_of(s, b, symbol)
            change_count(s, old, -lost)
        formed = pair_of(s, symbol, new) if before else pair_of(s, new, symbol)
        change_count(s, formed, weight)
        s.sides[side, _PAIR] = formed
        s.sides[side, _WEIGHT] = _add_list(s, formed, s.sides[side, _NUMBER])
    if adjoining > 0:
        change_count(s, pair_of(s, b, a), -adjoining)
    for event in range(s.counters[N_EVENTS]):
        side = np.int64(s.events[0, event])
        s.arena[s.sides[side, _WEIGHT]] = s.events[1, event]
        s.sides[side, _WEIGHT] += 1


@inlined
def _merge(s: State, pair: Any) -> None:
    a, b = s.pairs[pair, LEFT], s.pairs[pair, RIGHT]
    known = s.counters[N_SYMBOLS]
    new = joined_symbol(s, a, b)
    joined = adjoining = np.int64(0)
    number = s.pairs[pair, FIRST_LIST]
    s.pairs[pair, FIRST_LIST] = -1
    while number >= 0:
        last = np.int64(-1)
        for i in range(s.lists[number, START], s.lists[number, START] + s.lists[number, LENGTH]):
            word = np.int64(s.arena[i])
            if word != last:
                here, behind = _join_word(s, word, a, b, new)
                joined += here
                adjoining += behind
            last = word
        number = s.lists[number, FOLLOWING]
    change_count(s, pair, -joined)
    if s.counters[CRITERION] == FREQUENCY:
        s.pairs[pair, MERGED] += joined
    measure_symbol(s, a, -joined)
    measure_symbol(s, b, -joined)
    measure_symbol(s, new, joined)
    if new == known:
        lower_floor(s, new)
    s.counters[TOTAL] -= joined
    s.log_total[0] = min(s.log_total[0], natural_log(s.counters[TOTAL]))
    _form_pairs(s, a, b, new, adjoining)
    for i in range(s.counters[N_SEEN]):
        side = s.sides[i, _SEEN]
        enter(s, s.sides[side, _PAIR])
        s.sides[side, _NUMBER] = s.sides[side, _WEIGHT] = 0
    s.counters[N_SEEN] = s.counters[N_EVENTS] = 0
    if s.counters[CRITERION] != FREQUENCY:
        renew_pairs(s, a)
        if a != b:
            renew_pairs(s, b)


@inlined
def _has_room(s: State, pair: Any) -> Any:
    """Tell whether a merge fits; it forms a pair or two for each place, and no more than two for each symbol."""
    places, number = np.int64(0), s.pairs[pair, FIRST_LIST]
    while number >= 0:
        places += s.lists[number, LENGTH]
        number = s.lists[number, FOLLOWING]
    more = 2 * min(places, s.counters[N_SYMBOLS] + 1)
    s.counters[NEED_PAIRS], s.counters[NEED_LISTS] = s.counters[N_PAIRS] + more, s.counters[N_LISTS] + more
    length = s.symbols[s.pairs[pair, LEFT], LENGTH] + s.symbols[s.pairs[pair, RIGHT], LENGTH]
    s.counters[NEED_CHARS] = s.counters[N_CHARS] + length
    return (
        s.counters[NEED_PAIRS] <= len(s.pairs)
        and s.counters[NEED_LISTS] <= len(s.lists)
        and s.counters[NEED_CHARS] <= len(s.chars)
    )


@kernel
def merge_pairs(s: State, vocab_size: Any) -> Any:
    """Merge the best pair again and again until there are `vocab_size` symbols or no pair is left; DONE or GROW."""
    while s.counters[N_SYMBOLS] < vocab_size and s.counters[HEAP_SIZE] > 0:
        pair, key = np.int64(s.heap_pair[0]), s.heap_key[0]
        if s.keys[pair, KEY] != key:
            pop(s)
            continue
        if not eligible(s, pair):
            s.keys[pair, KEY] = NO_KEY
            pop(s)
            continue
        exact = is_exact(s, pair)
        now = worth(s, pair, exact)
        if now < key:
            replace_top(s, now)
        elif key <= 0.0:
            break
        elif not exact:
            make_exact(s, pair)
        elif not _has_room(s, pair):
            return GROW
        else:
            s.keys[pair, KEY] = NO_KEY
            pop(s)
            _merge(s, pair)
    return DONE
