"""The compiled core of Gopher's rules of repetition. The reference is `repetition.reference`.

Pieces and runs of words are looked up by hashes and compared byte by byte, so that what is found never depends on a
hash. One table serves all texts: its places have the number of the pass that wrote them, so it is never emptied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.curation.quality.gopher_kernel import trimmed
from bertdata.curation.words.chunk_kernel import hash_bytes, same_bytes
from bertdata.curation.words.kernel import characters
from bertdata.kernels.characters import NEWLINE
from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.mixer import mix
from bertdata.kernels.simd import prefetch

KEPT = -1
FIRST_TOP, TOPS, FIRST_DUPLICATE, DUPLICATES = 2, 3, 5, 6
"""The runs of words: the most frequent of 2, 3 and 4, and those of 5 to 10 that occurred before."""
_BASE, _1, _32 = np.uint64(0x9E3779B97F4A7C15), np.uint64(1), np.uint64(32)
AHEAD = 16
"""How many runs before its turn a place of the table is asked for: that of a long text does not fit into a cache."""


@inlined
def _piece_end(data: Any, i: Any, end: Any, breaks: Any) -> Any:
    """Return where a piece ends: at so many line breaks or more, or with the text."""
    while i < end:
        if data[i] == NEWLINE and (breaks == 1 or (i + 1 < end and data[i + 1] == NEWLINE)):
            return i
        i += 1
    return end


@inlined
def _ends_at(data: Any, i: Any, end: Any, breaks: Any) -> bool:
    return bool(i == end or (data[i] == NEWLINE and (breaks == 1 or (i + 1 < end and data[i + 1] == NEWLINE))))


@inlined
def repeated_pieces(
    data: Any, begin: Any, end: Any, breaks: Any, table: Any, mask: Any, stamp: Any
) -> tuple[Any, Any, Any]:
    """Return how many pieces a text has, how many of them occurred before, and the characters of these."""
    pieces, again, length = 0, 0, 0
    i = begin
    while True:
        stop = _piece_end(data, i, end, breaks)
        size = stop - i
        pieces += 1
        place = hash_bytes(data, i, stop) & mask
        is_repeat = False
        while table[place, 0] == stamp and not is_repeat:
            other = np.int64(table[place, 1])
            same = other + size <= end and same_bytes(data, i, data, other, size)
            is_repeat = same and _ends_at(data, other + size, end, breaks)
            if not is_repeat:
                place = (place + np.uint64(1)) & mask
        if is_repeat:
            again += 1
            length += characters(data, i, stop)
        else:
            table[place, 0], table[place, 1] = stamp, i
        if stop >= end:
            return pieces, again, length
        i = stop
        while i < end and data[i] == NEWLINE:
            i += 1


@inlined
def _number_words(
    data: Any, starts: Any, stops: Any, first: Any, last: Any, table: Any, mask: Any, stamp: Any, ids: Any, at: Any
) -> None:
    """Give equal words equal numbers, from 0 on in the order of their first occurrence, which goes to `at`."""
    count = 0
    for word in range(first, last):
        begin = np.int64(starts[word])
        size = np.int64(stops[word]) - begin
        place = hash_bytes(data, begin, begin + size) & mask
        word_number: Any = np.int64(-1)
        while table[place, 0] == stamp and word_number < 0:
            earlier_number = np.int64(table[place, 1])
            other = first + at[earlier_number]
            if stops[other] - starts[other] == size and same_bytes(data, begin, data, starts[other], size):
                word_number = earlier_number
            else:
                place = (place + np.uint64(1)) & mask
        if word_number < 0:
            word_number = count
            table[place, 0], table[place, 1] = stamp, count
            at[count] = word - first
            count += 1
        ids[word - first] = word_number


@inlined
def _most_frequent(n: Any, words: Any, lengths: Any, table: Any, mask: Any, stamp: Any, work: Any) -> Any:
    """Return the characters of the most frequent run of n words, in all its places.

    work[1] has the numbers of the runs of n - 1 words, and gets those of n words.
    """
    ids, runs, times, at, left, right = work[0], work[1], work[2], work[4], work[5], work[6]
    count, best = 0, 0
    rows = table.reshape(-1)
    for i in range(words - n + 1):
        ahead = i + AHEAD
        if ahead + n <= words:
            soon = mix(np.uint64(runs[ahead]) << _32 | np.uint64(ids[ahead + n - 1])) & mask
            prefetch(rows, soon << _1)
        start_run, last_word = runs[i], ids[i + n - 1]
        place = mix(np.uint64(start_run) << _32 | np.uint64(last_word)) & mask
        run_number: Any = np.int64(-1)
        while table[place, 0] == stamp and run_number < 0:
            other = np.int64(table[place, 1])
            if left[other] == start_run and right[other] == last_word:
                run_number = other
            else:
                place = (place + np.uint64(1)) & mask
        if run_number < 0:
            run_number = count
            table[place, 0], table[place, 1] = stamp, count
            left[count], right[count], times[count], at[count] = start_run, last_word, 0, i
            count += 1
        times[run_number] += 1
        runs[i] = run_number
    for run in range(1, count):
        if times[run] > times[best]:
            best = run
    return (lengths[at[best] + n] - lengths[at[best]] + n - 1) * times[best]


@inlined
def _repeated_runs(
    n: Any, words: Any, lengths: Any, joined: Any, sums: Any, powers: Any, table: Any, mask: Any, stamp: Any, work: Any
) -> Any:
    """Return the characters of the runs of n words that occurred before and do not overlap each other."""
    ends, places = work[4], work[5]
    rows = table.reshape(-1)
    for i in range(words - n + 1):
        places[i] = mix(sums[i + n] - sums[i] * powers[ends[i + n] - ends[i]]) & mask
    repeated, i = 0, 0
    while i <= words - n:
        if i + AHEAD + n <= words:
            prefetch(rows, np.uint64(places[i + AHEAD]) << _1)
        begin, size = ends[i], ends[i + n] - ends[i]
        place = np.uint64(places[i])
        again = False
        while table[place, 0] == stamp and not again:
            other = np.int64(table[place, 1])
            start = ends[other]
            again = ends[other + n] - start == size and same_bytes(joined, begin, joined, start, size)
            if not again:
                place = (place + np.uint64(1)) & mask
        if again:
            repeated += lengths[i + n] - lengths[i]
            i += n
        else:
            table[place, 0], table[place, 1] = stamp, i
            i += 1
    return repeated


@inlined
def _judge(
    data: Any,
    begin: Any,
    end: Any,
    starts: Any,
    stops: Any,
    first: Any,
    last: Any,
    limits: Any,
    table: Any,
    joined: Any,
    powers: Any,
    sums: Any,
    work: Any,
    stamp: Any,
) -> tuple[Any, Any]:
    """Return the first rule that drops a text, or KEPT, and what it measured."""
    size = max(1, characters(data, begin, end))
    words, lines = last - first, 1
    for i in range(begin, end):
        lines += data[i] == NEWLINE
    places = 16
    while places < 2 * max(words, lines):
        places *= 2
    mask = np.uint64(places - 1)
    inner, outer = trimmed(data, begin, end)
    # a stamp of its own for each use of the table, which so begins empty
    for breaks in (2, 1):
        low, high = (inner, outer) if breaks == 2 else (begin, end)
        pieces, again, length = repeated_pieces(data, low, high, breaks, table, mask, stamp + breaks)
        rule = 4 - 2 * breaks
        if again / pieces > limits[rule]:
            return rule, again / pieces
        if length / size > limits[rule + 1]:
            return rule + 1, length / size
    _number_words(data, starts, stops, first, last, table, mask, stamp + 3, work[0], work[4])
    lengths = work[3]
    lengths[0] = 0
    for i in range(words):
        lengths[i + 1] = lengths[i] + characters(data, starts[first + i], stops[first + i])
        work[1, i] = work[0, i]
    for offset in range(TOPS):
        n = FIRST_TOP + offset
        if words >= n:
            most = _most_frequent(n, words, lengths, table, mask, stamp + 4 + offset, work)
            if most / size > limits[4 + offset]:
                return 4 + offset, most / size
    ends = work[4]
    ends[0] = 0
    sums[0] = 0
    for i in range(words):
        place, total = ends[i], sums[i]
        for k in range(np.int64(starts[first + i]), np.int64(stops[first + i])):
            joined[place] = data[k]
            total = total * _BASE + np.uint64(data[k]) + np.uint64(1)
            place += 1
        ends[i + 1], sums[i + 1] = place, total
    for offset in range(DUPLICATES):
        n = FIRST_DUPLICATE + offset
        rule = 4 + TOPS + offset
        # not NaN: the rule is on
        if limits[rule] == limits[rule]:
            repeated = _repeated_runs(n, words, lengths, joined, sums, powers, table, mask, stamp + 7 + offset, work)
            if repeated / size > limits[rule]:
                return rule, repeated / size
    return KEPT, 0.0


@kernel
def judge_repetition(
    data: Any,
    offsets: Any,
    begins: Any,
    ends: Any,
    borders: Any,
    limits: Any,
    table: Any,
    joined: Any,
    powers: Any,
    sums: Any,
    work: Any,
    codes: Any,
    figures: Any,
) -> None:
    """Write the number of the first rule that drops each text, -1 where it is kept, and what that rule measured.

    limits: as `repetition.RULES`, NaN where a rule is off. table: int32 (places, 2), zeros, of a power of two. joined:
    for the bytes of the words of one text; powers: for one more; sums: for one more than its words; work: int64
    (7, words + 2).
    """
    if len(powers):
        powers[0] = 1
    for i in range(1, len(powers)):
        powers[i] = powers[i - 1] * _BASE
    for text in range(len(codes)):
        begin, end = np.int64(offsets[text]), np.int64(offsets[text + 1])
        first, last = borders[text], borders[text + 1]
        stamp = 16 * text
        codes[text], figures[text] = _judge(
            data, begin, end, begins, ends, first, last, limits, table, joined, powers, sums, work, stamp
        )
