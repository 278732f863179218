"""The compiled core of training by merges: pairs of neighbouring symbols are counted, and the best are merged.

Each word is a run of symbols in one array, and symbols are joined in place. Each pair has lists of words. They are not
shortened when a merge takes the pair out of a word, so a word that no longer contains the pair is skipped. A merge
passes over the words of the pair once and collects the neighbours of the new symbol; then each pair that they form is
looked up once. All data is in `State`. Where one of its arrays may be too short, the kernel returns before it changes
anything, and is called again after `state.grow`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined, kernel
from bertdata.tokenizers.training.merging.kernels import pairs
from bertdata.tokenizers.training.merging.kernels.symbols import joined_symbol, pair_of, symbol_of
from bertdata.tokenizers.training.merging.merge_score import FREQUENCY
from bertdata.tokenizers.training.merging.state import HEADER, NO_KEY, State

_BEFORE, _AFTER = 0, 1


@inlined
def _has_room(s: State, n_pairs: Any, n_chars: Any) -> Any:
    """Tell whether there is room for more pairs and characters, and write how many into the counters."""
    c = s.counters
    c.more_pairs, c.more_chars = n_pairs, n_chars
    lists = max(c.pairs, c.lists)  # while pairs are counted they have none yet
    return c.pairs + n_pairs <= len(s.pairs) and lists + n_pairs <= len(s.lists) and c.chars + n_chars <= len(s.chars)


@inlined
def _weight(words: Any, word: Any) -> Any:
    return np.int64(words[word + 1]) << 31 | np.int64(words[word + 2])


@inlined
def _add_list(s: State, pair: Any, length: Any) -> Any:
    """Give a pair a list of `length` words, to be filled; returns where it begins."""
    start, number = s.counters.arena, s.counters.lists
    s.counters.arena += length
    s.counters.lists += 1
    new = s.lists[number]
    new.start, new.length, new.previous = start, length, pair.last_list
    pair.last_list = number
    return start


@inlined
def _count_pairs(s: State) -> Any:
    """Count the pairs of the words from `position` on; returns whether there was room for all.

    Until they are listed, `events` holds the pair at each place, and `last_list` is one less than a pair's places.
    """
    c, words = s.counters, s.words
    while c.position < len(words):
        word = c.position
        n = np.int64(words[word])
        if not _has_room(s, n, 0):
            return False
        weight = _weight(words, word)
        for i in range(word + HEADER, word + HEADER + n - 1):
            number = pair_of(s, words[i], words[i + 1])
            s.pairs[number].count += weight
            s.pairs[number].last_list += 1
            s.events[c.events] = number
            c.events += 1
        c.position += HEADER + n
    return True


@inlined
def _list_pairs(s: State) -> None:
    """List the words of each pair, and enter it into the heap."""
    c, words = s.counters, s.words
    for number in range(c.pairs):
        pair = s.pairs[number]
        length = pair.last_list + 1
        pair.last_list = -1
        _add_list(s, pair, length)
    word = event = np.int64(0)
    while word < len(words):
        n = np.int64(words[word])
        for _ in range(n - 1):
            places = s.lists[s.events[event]]
            s.arena[places.start] = word
            places.start += 1
            event += 1
        word += HEADER + n
    for number in range(c.lists):
        s.lists[number].start -= s.lists[number].length
    c.events = 0
    for number in range(c.symbols):
        pairs.change_symbol(s, s.symbols[number], 0)
        pairs.lower_floor(s, s.symbols[number])
    c.log_total = pairs.natural_log(c.total)
    for number in range(c.pairs):
        pairs.enter(s, number)


@inlined
def _join_word(s: State, word: Any, a: Any, b: Any, new: Any) -> Any:
    """Join a and b in a word, from the left, and collect the neighbours.

    Returns how often they were joined in the corpus, and how often right after another join.
    """
    c, words, begin = s.counters, s.words, word + HEADER
    end, weight = begin + np.int64(words[word]), _weight(words, word)
    joined = adjoining = 0
    after_new = False
    i = j = begin
    while i < end:
        symbol = np.int64(words[i])
        joins = symbol == a and i + 1 < end and words[i + 1] == b
        row = np.int64(-1)
        if joins:
            joined += 1
            adjoining += after_new
            i += 1
            if j > begin:
                row = 2 * np.int64(words[j - 1]) + _BEFORE
        elif after_new:
            row = 2 * symbol + _AFTER
        if row >= 0:
            side = s.sides[row]
            if side.number == 0:
                s.sides[c.seen].seen = row
                c.seen += 1
            side.number += 1
            side.weight += weight
            s.events[2 * c.events], s.events[2 * c.events + 1] = row, word
            c.events += 1
        words[j] = new if joins else symbol
        after_new = joins
        i += 1
        j += 1
    words[word] = j - begin
    return joined * weight, adjoining * weight


@inlined
def _form_pairs(s: State, a: Any, b: Any, new: Any, adjoining: Any) -> None:
    """Subtract the collected neighbours from their old pairs, form the new pairs, and enter these into the heap."""
    c = s.counters
    for i in range(c.seen):
        row = s.sides[i].seen
        side, symbol, is_before = s.sides[row], row >> 1, row & 1 == _BEFORE
        lost = side.weight - adjoining if is_before and symbol == new else side.weight
        if lost > 0:
            left, right = (symbol, a) if is_before else (b, symbol)
            pairs.change_count(s.pairs[pair_of(s, left, right)], -lost)
        left, right = (symbol, new) if is_before else (new, symbol)
        side.pair = pair_of(s, left, right)
        pairs.change_count(s.pairs[side.pair], side.weight)
        side.place = _add_list(s, s.pairs[side.pair], side.number)
    if adjoining > 0:
        pairs.change_count(s.pairs[pair_of(s, b, a)], -adjoining)
    for event in range(0, 2 * c.events, 2):
        side = s.sides[s.events[event]]
        s.arena[side.place] = s.events[event + 1]
        side.place += 1
    for i in range(c.seen):
        side = s.sides[s.sides[i].seen]
        pairs.enter(s, side.pair)
        side.number = side.weight = 0
    c.seen = c.events = 0


@inlined
def _merge(s: State, pair: Any, a: Any, b: Any) -> None:
    c = s.counters
    known = c.symbols
    new = joined_symbol(s, a, b)
    pair.rank = c.merges
    c.merges += 1
    joined = adjoining = np.int64(0)
    number = pair.last_list
    pair.last_list = -1
    while number >= 0:
        places, last = s.lists[number], np.int64(-1)
        for i in range(places.start, places.start + places.length):
            word = np.int64(s.arena[i])
            if word != last:
                weight, beside = _join_word(s, word, a, b, new)
                joined += weight
                adjoining += beside
            last = word
        number = places.previous
    pairs.change_count(pair, -joined)
    for symbol, change in ((a, -joined), (b, -joined), (new, joined)):
        pairs.change_symbol(s, s.symbols[symbol], change)
    if new == known:
        pairs.lower_floor(s, s.symbols[new])
    c.total -= joined
    c.log_total = min(c.log_total, pairs.natural_log(c.total))
    if c.criterion == FREQUENCY:
        pair.merged += joined
    _form_pairs(s, a, b, new, adjoining)
    if c.criterion != FREQUENCY:
        for symbol in (a, b):
            pairs.renew_pairs(s, symbol)


@kernel
def merge_pairs(s: State, n_tokens: int, vocab_size: int) -> Any:
    """Merge the best pair again and again until there are `vocab_size` symbols or no pair is left.

    Returns False where there is no room, to be called again. The first call begins with the `n_tokens` initial symbols.
    """
    c, heap = s.counters, s.heap
    while c.symbols < n_tokens:
        symbol = s.symbols[c.symbols]
        symbol_of(s, symbol.start, symbol.length, symbol.continues)
    if c.lists == 0:
        if not _count_pairs(s):
            return False
        _list_pairs(s)
    while c.symbols < vocab_size and c.heap > 0:
        pair, key = s.pairs[heap[0].pair], heap[0].key
        a, b = pair.symbols >> 32, pair.symbols & 0xFFFFFFFF
        is_current = is_best = pair.key == key
        if is_current:
            exact = pairs.is_exact(s, pair)
            pair.key = pairs.worth(s, pair, exact) if pairs.is_eligible(s, pair) else NO_KEY
            is_best = pair.key == key
            if is_best:
                if key <= 0.0:
                    break
                if not exact:
                    pairs.make_exact(s, heap[0].pair)
                    continue
                # A merge forms no more than two pairs at each place where it joins symbols, and with each symbol.
                n_pairs = 2 * min(pair.count, c.symbols + 1)
                if not _has_room(s, n_pairs, s.symbols[a].length + s.symbols[b].length):
                    return False
                pair.key = NO_KEY
        if is_current and pair.key != NO_KEY:
            heap[0].key = pair.key
        else:
            c.heap -= 1
            heap[0].key, heap[0].pair = heap[c.heap].key, heap[c.heap].pair
        pairs.sift_down(s, 0)
        if is_best:
            _merge(s, pair, a, b)
    return True
