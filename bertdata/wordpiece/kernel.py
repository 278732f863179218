"""The compiled core of the vocabulary trainer: merges over flat arrays, with a heap that is always right.

`State` is everything: the text as linked lists of symbols, the pairs with linked lists of where they stand, an indexed
binary heap of pairs. `count_pairs` fills it, `merge_pairs` merges. Both stop and return GROW when the pair arrays may
be too small, and go on from there when called again with larger ones (`grow`).

How the heap stays right. A pair's key is never below its value under the criterion, and the top is valued again before
it is taken, so the pair that is taken is the best one. Under `frequency` the key is the count, renewed when it changes.
Under the others the value also rises when the count of a symbol in the pair falls, so after a merge of (a, b) all pairs
with a or b would have to be renewed. Most can wait: as f(a) and f(b) are at least f(ab), the value is at most
f(ab) log(N / f(ab)), or 1 / f(ab), and a pair has that bound for its key until it comes to the top. Then it gets its
value (is exact) and is entered into the lists of its two symbols, and only those lists are renewed after a merge. What
else happens makes values fall: N falls, and the count of the merged symbol rises if it existed before.
"""

from __future__ import annotations

import numba
import numpy as np

from bertdata.compiled import compiled_for
from bertdata.wordpiece import criteria
from bertdata.wordpiece.criteria import FREQUENCY, LIKELIHOOD
from bertdata.wordpiece.state import HEAP_SIZE, N_PAIRS, N_SYMBOLS, POSITION, TOTAL, State, empty_state

DONE, GROW = 0, 1
_LEFT_LINK, _RIGHT_LINK, _TOUCHED, _EXACT = 1, 2, 4, 8
_SLACK = 1e-9

_STATE = numba.typeof(empty_state(1, 1, 1))
_INT, _FLOAT, _BOOL, _NONE = numba.int64, numba.float64, numba.boolean, numba.void


natural_log = compiled_for(_FLOAT(_INT))(criteria.natural_log)


@compiled_for(_FLOAT(_STATE, _INT, _INT))
def _value(s: State, pair: int, criterion: int) -> float:
    n = float(s.pairs.count[pair])
    value = n
    if criterion != FREQUENCY:
        a, b = s.pairs.left[pair], s.pairs.right[pair]
        if criterion == LIKELIHOOD:
            apart = s.symbols.log_count[a] + s.symbols.log_count[b]
            value = n * ((s.pairs.log_count[pair] + s.log_total[0]) - apart)
        else:
            value = n / (float(s.symbols.count[a]) * float(s.symbols.count[b]))
    return value


@compiled_for(_FLOAT(_STATE, _INT, _INT))
def _key(s: State, pair: int, criterion: int) -> float:
    if criterion == FREQUENCY or s.pairs.marks[pair] & _EXACT:
        return _value(s, pair, criterion)
    n = float(s.pairs.count[pair])
    if criterion == LIKELIHOOD:
        return float(n * (s.log_total[0] - s.pairs.log_count[pair] + _SLACK))
    return (1.0 + _SLACK) / n


@compiled_for(_BOOL(_STATE, _INT, _INT))
def _before(s: State, p: int, q: int) -> bool:
    if s.pairs.key[p] != s.pairs.key[q]:
        return bool(s.pairs.key[p] > s.pairs.key[q])
    if s.pairs.left[p] != s.pairs.left[q]:
        return bool(s.pairs.left[p] < s.pairs.left[q])
    return bool(s.pairs.right[p] < s.pairs.right[q])


@compiled_for(_NONE(_STATE, _INT))
def _sift_up(s: State, slot: int) -> None:
    pair = s.heap[slot]
    while slot > 0:
        parent = (slot - 1) >> 1
        above = s.heap[parent]
        if not _before(s, pair, above):
            break
        s.heap[slot] = above
        s.pairs.slot[above] = slot
        slot = parent
    s.heap[slot] = pair
    s.pairs.slot[pair] = slot


@compiled_for(_NONE(_STATE, _INT))
def _sift_down(s: State, slot: int) -> None:
    size = s.counters[HEAP_SIZE]
    pair = s.heap[slot]
    while 2 * slot + 1 < size:
        child = 2 * slot + 1
        if child + 1 < size and _before(s, s.heap[child + 1], s.heap[child]):
            child += 1
        below = s.heap[child]
        if not _before(s, below, pair):
            break
        s.heap[slot] = below
        s.pairs.slot[below] = slot
        slot = child
    s.heap[slot] = pair
    s.pairs.slot[pair] = slot


@compiled_for(_NONE(_STATE, _INT, _INT))
def _rekey(s: State, pair: int, criterion: int) -> None:
    old, new = s.pairs.key[pair], _key(s, pair, criterion)
    s.pairs.key[pair] = new
    if new > old:
        _sift_up(s, s.pairs.slot[pair])
    elif new < old:
        _sift_down(s, s.pairs.slot[pair])


@compiled_for(_NONE(_STATE, _INT))
def _remove(s: State, pair: int) -> None:
    slot = s.pairs.slot[pair]
    s.pairs.slot[pair] = -1
    s.pairs.marks[pair] &= ~_EXACT
    s.counters[HEAP_SIZE] -= 1
    last = s.heap[s.counters[HEAP_SIZE]]
    if last != pair:
        s.heap[slot] = last
        s.pairs.slot[last] = slot
        _sift_up(s, slot)
        _sift_down(s, s.pairs.slot[last])


@compiled_for(_NONE(_STATE, _INT, _INT, _INT))
def _refresh(s: State, pair: int, criterion: int, min_frequency: int) -> None:
    if s.pairs.count[pair] < min_frequency or s.pairs.first_here[pair] < 0:
        if s.pairs.slot[pair] >= 0:
            _remove(s, pair)
        return
    if criterion == LIKELIHOOD:
        s.pairs.log_count[pair] = natural_log(s.pairs.count[pair])
    if s.pairs.slot[pair] >= 0:
        _rekey(s, pair, criterion)
        return
    s.pairs.key[pair] = _key(s, pair, criterion)
    slot = s.counters[HEAP_SIZE]
    s.counters[HEAP_SIZE] += 1
    s.heap[slot] = pair
    _sift_up(s, slot)


@compiled_for(_NONE(_STATE, _INT))
def _make_exact(s: State, pair: int) -> None:
    s.pairs.marks[pair] |= _EXACT
    if s.pairs.marks[pair] & _LEFT_LINK == 0:
        s.pairs.marks[pair] |= _LEFT_LINK
        s.pairs.next_left[pair] = s.symbols.first_left[s.pairs.left[pair]]
        s.symbols.first_left[s.pairs.left[pair]] = pair
    if s.pairs.marks[pair] & _RIGHT_LINK == 0:
        s.pairs.marks[pair] |= _RIGHT_LINK
        s.pairs.next_right[pair] = s.symbols.first_right[s.pairs.right[pair]]
        s.symbols.first_right[s.pairs.right[pair]] = pair


@compiled_for(_NONE(_STATE, _INT, _INT, _INT))
def _rekey_list(s: State, symbol: int, link: int, criterion: int) -> None:
    on_left = link == _LEFT_LINK
    last, pair = -1, s.symbols.first_left[symbol] if on_left else s.symbols.first_right[symbol]
    while pair >= 0:
        following = s.pairs.next_left[pair] if on_left else s.pairs.next_right[pair]
        if s.pairs.marks[pair] & _EXACT:
            _rekey(s, pair, criterion)
            last = pair
        else:
            s.pairs.marks[pair] &= ~link
            if last >= 0 and on_left:
                s.pairs.next_left[last] = following
            elif last >= 0:
                s.pairs.next_right[last] = following
            elif on_left:
                s.symbols.first_left[symbol] = following
            else:
                s.symbols.first_right[symbol] = following
        pair = following


@compiled_for(_INT(_STATE, _INT, _INT))
def _pair_place(s: State, a: int, b: int) -> int:
    mask = len(s.pair_table) - 1
    h = np.int64(a) * 1640531527 + np.int64(b) * 1013904223
    place = (h ^ (h >> 21)) & mask
    while s.pair_table[place] >= 0:
        pair = s.pair_table[place]
        if s.pairs.left[pair] == a and s.pairs.right[pair] == b:
            break
        place = (place + 1) & mask
    return int(place)


@compiled_for(_INT(_STATE, _INT, _INT))
def _pair(s: State, a: int, b: int) -> int:
    place = _pair_place(s, a, b)
    if s.pair_table[place] >= 0:
        return int(s.pair_table[place])
    pair = s.counters[N_PAIRS]
    s.counters[N_PAIRS] += 1
    s.pair_table[place] = pair
    s.pairs.left[pair], s.pairs.right[pair] = a, b
    s.pairs.count[pair] = 0
    s.pairs.first_here[pair] = s.pairs.slot[pair] = -1
    s.pairs.marks[pair] = 0
    return int(pair)


@compiled_for(_NONE(_STATE, _INT, _INT))
def _appear(s: State, pair: int, position: int) -> None:
    s.pairs.count[pair] += s.weight[s.text.word[position]]
    following = s.pairs.first_here[pair]
    s.text.pair_here[position] = pair
    s.text.next_here[position] = following
    s.text.last_here[position] = -1
    s.pairs.first_here[pair] = position
    if following >= 0:
        s.text.last_here[following] = position


@compiled_for(_NONE(_STATE, _INT))
def _vanish(s: State, position: int) -> None:
    pair, last, following = s.text.pair_here[position], s.text.last_here[position], s.text.next_here[position]
    s.text.pair_here[position] = -1
    if last >= 0:
        s.text.next_here[last] = following
    else:
        s.pairs.first_here[pair] = following
    if following >= 0:
        s.text.last_here[following] = last


@compiled_for(_INT(_STATE, _INT, _INT))
def _touch(s: State, pair: int, n: int) -> int:
    if s.pairs.marks[pair] & _TOUCHED == 0:
        s.pairs.marks[pair] |= _TOUCHED
        s.touched[n] = pair
        return n + 1
    return n


@compiled_for(_INT(_STATE, _INT, _INT, _INT))
def _symbol_place(s: State, start: int, length: int, continues: int) -> int:
    mask = len(s.symbol_table) - 1
    h = np.int64(continues + 1)
    for i in range(start, start + length):
        h = (h * 1000003 + np.int64(s.chars[i])) & ((1 << 40) - 1)
    place = (h ^ (h >> 19)) & mask
    while s.symbol_table[place] >= 0:
        found = s.symbol_table[place]
        if s.symbols.length[found] == length and s.symbols.continues[found] == continues:
            same = True
            for i in range(length):
                if s.chars[s.symbols.start[found] + i] != s.chars[start + i]:
                    same = False
                    break
            if same:
                break
        place = (place + 1) & mask
    return int(place)


@compiled_for(_NONE(_STATE))
def add_symbols(s: State) -> None:
    """Enter the initial symbols, 0 to N_SYMBOLS - 1, into the table of symbols."""
    for symbol in range(s.counters[N_SYMBOLS]):
        s.symbol_table[
            _symbol_place(s, s.symbols.start[symbol], s.symbols.length[symbol], s.symbols.continues[symbol])
        ] = symbol


@compiled_for(_INT(_STATE, _INT, _INT, _INT))
def _joined(s: State, position: int, a: int, b: int) -> int:
    length, continues = s.symbols.length[a] + s.symbols.length[b], s.symbols.continues[a]
    place = _symbol_place(s, position, length, continues)
    if s.symbol_table[place] >= 0:
        return int(s.symbol_table[place])
    symbol = s.counters[N_SYMBOLS]
    s.counters[N_SYMBOLS] += 1
    s.symbol_table[place] = symbol
    s.symbols.start[symbol], s.symbols.length[symbol], s.symbols.continues[symbol] = position, length, continues
    s.symbols.first_left[symbol] = s.symbols.first_right[symbol] = -1
    s.symbols.count[symbol] = 0
    return int(symbol)


@compiled_for(_NONE(_STATE))
def rehash(s: State) -> None:
    """Enter all pairs into the table of pairs, which is empty."""
    for pair in range(s.counters[N_PAIRS]):
        s.pair_table[_pair_place(s, s.pairs.left[pair], s.pairs.right[pair])] = pair


@compiled_for(_INT(_STATE, _INT, _INT))
def count_pairs(s: State, criterion: int, min_frequency: int) -> int:
    """Count the pairs from POSITION on and, at the end, put them into the heap; DONE or GROW."""
    while s.counters[POSITION] < len(s.text):
        position = s.counters[POSITION]
        if s.text.following[position] >= 0:
            if s.counters[N_PAIRS] == len(s.pairs):
                return GROW
            _appear(s, _pair(s, s.text.symbol[position], s.text.symbol[s.text.following[position]]), position)
        s.counters[POSITION] += 1
    for symbol in range(s.counters[N_SYMBOLS]):
        s.symbols.log_count[symbol] = natural_log(s.symbols.count[symbol])
    s.log_total[0] = natural_log(s.counters[TOTAL])
    for pair in range(s.counters[N_PAIRS]):
        _refresh(s, pair, criterion, min_frequency)
    return DONE


@compiled_for(_NONE(_STATE, _INT, _INT))
def _add_count(s: State, symbol: int, change: int) -> None:
    s.symbols.count[symbol] += change
    s.symbols.log_count[symbol] = natural_log(s.symbols.count[symbol])


@compiled_for(_INT(_STATE, _INT, _INT, _INT, _INT))
def _join(s: State, position: int, new: int, criterion: int, touched: int) -> int:
    pair, second = s.text.pair_here[position], s.text.following[position]
    before, after = s.text.preceding[position], s.text.following[second]
    weight = s.weight[s.text.word[position]]
    _vanish(s, position)
    if criterion != FREQUENCY:
        s.pairs.count[pair] -= weight
    if before >= 0:
        old = s.text.pair_here[before]
        s.pairs.count[old] -= weight
        touched = _touch(s, old, touched)
        _vanish(s, before)
        formed = _pair(s, s.text.symbol[before], new)
        _appear(s, formed, before)
        touched = _touch(s, formed, touched)
    s.text.symbol[position], s.text.following[position] = new, after
    if after >= 0:
        old = s.text.pair_here[second]
        s.pairs.count[old] -= weight
        touched = _touch(s, old, touched)
        _vanish(s, second)
        s.text.preceding[after] = position
        formed = _pair(s, new, s.text.symbol[after])
        _appear(s, formed, position)
        touched = _touch(s, formed, touched)
    return int(touched)


@compiled_for(_INT(_STATE, _INT, _INT, _INT))
def _merge_all(s: State, pair: int, n: int, criterion: int) -> int:
    a, b = s.pairs.left[pair], s.pairs.right[pair]
    new = _joined(s, s.scratch[0], a, b)
    touched, merged = _touch(s, pair, 0), 0
    for i in range(n):
        position = s.scratch[i]
        before = s.text.preceding[position]
        if before >= 0 and s.text.pair_here[before] == pair:
            continue  # inside a run of this pair, which is joined from its left end
        while position >= 0 and s.text.pair_here[position] == pair:
            merged += s.weight[s.text.word[position]]
            touched = _join(s, position, new, criterion, touched)
            position = s.text.following[position]
    _add_count(s, a, -merged)
    _add_count(s, b, -merged)
    _add_count(s, new, merged)
    s.counters[TOTAL] -= merged
    s.log_total[0] = min(s.log_total[0], natural_log(s.counters[TOTAL]))
    return touched


@compiled_for(_INT(_STATE, _INT, _INT, _INT))
def merge_pairs(s: State, vocab_size: int, criterion: int, min_frequency: int) -> int:
    """Merge the best pair again and again until there are `vocab_size` symbols or no pair is left; DONE or GROW."""
    while s.counters[N_SYMBOLS] < vocab_size and s.counters[HEAP_SIZE] > 0:
        pair = s.heap[0]
        if criterion != FREQUENCY and s.pairs.marks[pair] & _EXACT == 0:
            _make_exact(s, pair)
        if _key(s, pair, criterion) < s.pairs.key[pair]:
            _rekey(s, pair, criterion)
            continue
        if s.pairs.key[pair] <= 0.0:
            break
        n = 0
        position = s.pairs.first_here[pair]
        while position >= 0:
            s.scratch[n] = position
            n += 1
            position = s.text.next_here[position]
        if s.counters[N_PAIRS] + min(2 * n, 2 * s.counters[N_SYMBOLS] + 2) > len(s.pairs):
            return GROW
        a, b = s.pairs.left[pair], s.pairs.right[pair]
        touched = _merge_all(s, pair, n, criterion)
        for i in range(touched):
            s.pairs.marks[s.touched[i]] &= ~_TOUCHED
            _refresh(s, s.touched[i], criterion, min_frequency)
        if criterion != FREQUENCY:
            for link in (_LEFT_LINK, _RIGHT_LINK):
                _rekey_list(s, a, link, criterion)
                if a != b:
                    _rekey_list(s, b, link, criterion)
    return DONE


def grow(s: State, n_pairs: int) -> State:
    """Return the state with room for `n_pairs` pairs."""
    larger = empty_state(0, 0, n_pairs)
    larger.pairs[: len(s.pairs)], larger.heap[: len(s.heap)] = s.pairs, s.heap
    names = ("pairs", "heap", "touched", "pair_table")
    result = s._replace(**{name: getattr(larger, name) for name in names})
    rehash(result)
    return result
