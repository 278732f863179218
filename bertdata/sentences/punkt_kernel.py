"""The compiled core of segmentation: one pass over UTF-8 that finds the candidates and classifies most of them.

`find_breaks` writes records of paragraphs and breaks, `join_breaks` makes spans of them and moves closing punctuation
to the sentence it closes. A candidate is classified by the token it ends and the token after; for unusual ones (rare
characters, several marks in one word) the record is UNKNOWN, and `classifier` decides. What the kernels
find never depends on what is beyond their rows, whether or not these are UTF-8; they stop when the records are full.

`data` and `offsets` are read-only arrays. The reference is `classifier`.

6 times as fast as the reference (`benchmarks/kernels.py --only sentences`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.arrays import Bytes
from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import BLOCK, PLAIN, bits_of_ranges, lowest_bit, plain_bits_of_ranges
from bertdata.kernels.utf8 import decode
from bertdata.sentences import compiled_parameters as tables
from bertdata.sentences import words_kernel as words
from bertdata.sentences.parameters import BEGIN_LOWER, LOWER, MIDDLE_UPPER, UPPER
from bertdata.sentences.plain_words_kernel import is_plain_word, letters_before
from bertdata.sentences.words_kernel import Longs

NO, BREAK, UNKNOWN, BEGIN, END = range(5)
"""Kinds of records, and the answers of a decision."""
KIND, STOP, START, WORD_AT, CONTEXT_END = range(5)
"""Columns of a record: BREAK and UNKNOWN have the end of the mark, the next sentence's start, and their context."""
ROW, AT, INSIDE, PARAGRAPH = range(4)
"""Where `find_breaks` continues: row, byte, whether inside a paragraph, where that begins."""
SENTENCE, MARK_END, NEXT, JOIN_ROW = range(4)
"""Where `join_breaks` continues: the sentence's start, the end of its mark or -1, the next one's start, row."""
_STARTS, _STARTS_NOT, _UNSURE = 1, 0, 2
_ENDS = ((10, 10), (33, 33), (46, 46), (63, 63))
"""The bytes of the classes NEWLINE, DOT and MARK."""
_end_bits: Any = plain_bits_of_ranges(_ENDS) if PLAIN else bits_of_ranges(_ENDS)


@inlined
def _starts_sentence(c: int, flags: int, context: int) -> int:
    if c in (33, words.COMMA, 58, 59, 63):
        return _STARTS_NOT
    if flags & tables.IS_UPPER and context & LOWER and not context & MIDDLE_UPPER:
        return _STARTS
    if flags & tables.IS_LOWER and (context & UPPER or not context & BEGIN_LOWER):
        return _STARTS_NOT
    return _UNSURE


@inlined
def _decide(data: Bytes, begin: int, mark: int, after: int, end: int, index: Longs, chars: Bytes, word: Bytes) -> int:
    """Return BREAK, NO or UNKNOWN for a candidate: its word begins at `begin`, the token after it at `after`."""
    if data[after] < 0x20:
        return UNKNOWN
    if data[mark] != words.PERIOD:
        return BREAK
    if is_plain_word(data, begin, mark, index, chars):
        return BREAK  # no abbreviation, initial or number, and it begins no collocation
    start = words.last_token(data, begin, mark, chars)
    if start < 0 or mark - start > words.LONGEST:
        return UNKNOWN
    abbreviation = initial = number = ellipsis = False
    if start == mark or data[mark - 1] == words.PERIOD:
        ellipsis = start < mark
        n = max(1, mark - start)
        word[:n] = words.PERIOD
        key = words.find(word, 0, n, index, chars, tables.BEFORE)
    else:
        n = words.lower_case(data, start, mark, index, chars, word)
        if n < 0:
            return UNKNOWN
        key = words.find(word, 0, n, index, chars, tables.BEFORE)
        abbreviation = words.is_abbreviation(word, n, key, index, chars)
        initial = (
            start + decode(data, start, mark)[1] == mark
            and words.character_flags(data, start, mark, chars) & tables.LETTER != 0
        )
        number = words.is_number(word, n)
        if number:
            key = index[tables.NUMBER_BEFORE]
    first = words.value_of(key, index, chars, tables.BEFORE) & tables.FIRST != 0
    alone = not (abbreviation or ellipsis)
    # the token after it matters only to abbreviations, ellipses, initials, numbers and first words of collocations
    if alone and not (initial or number or first):
        return BREAK
    stop = words.context_end(data, mark, after, end, chars)
    plain, flags, next_key, context = words.token_after(data, after, stop, index, chars, word)
    if plain != 1:
        return UNKNOWN
    if first and next_key >= 0 and words.are_collocation(key, next_key, index):
        return NO
    starts = _starts_sentence(data[after], flags, context)
    if not initial and not alone and (starts == _STARTS or (flags & tables.IS_UPPER and context & tables.STARTER)):
        return BREAK
    if (initial or number) and (
        starts == _STARTS_NOT or (starts == _UNSURE and initial and flags & tables.IS_UPPER and not context & LOWER)
    ):
        return NO
    return BREAK if alone else NO


@inlined
def _record(
    data: Bytes,
    begin: int,
    mark: int,
    after: int,
    end: int,
    index: Longs,
    chars: Bytes,
    word: Bytes,
    records: Longs,
    n: int,
) -> int:
    """Decide a candidate and write what is not NO as record n; returns how many records there are then."""
    answer = _decide(data, begin, mark, after, end, index, chars, word)
    if answer == NO:
        return n
    records[n, KIND], records[n, STOP], records[n, START], records[n, WORD_AT] = answer, mark + 1, after, begin
    if answer == UNKNOWN:
        records[n, CONTEXT_END] = words.context_end(data, mark, after, end, chars)
    return n + 1


@inlined
def _next_end(data: Bytes, i: int, end: int, chars: Bytes) -> int:
    """Return the place of the next line feed or mark, `end` where there is none before it."""
    while i < end:
        if i + BLOCK <= len(data):
            step: Any = np.int64(lowest_bit(_end_bits(data, i)))
            i += step
            if step < BLOCK:
                break
        elif chars[data[i]] < tables.NEWLINE:
            i += 1
        else:
            break
    return min(i, end)


@kernel
def find_breaks(
    data: Bytes, offsets: Longs, index: Longs, chars: Bytes, state: Longs, records: Longs, word: Bytes
) -> int:
    """Write records for the rows of `data` from where `state` says; returns how many, 0 when all is done.

    Row r is data[offsets[r]:offsets[r + 1]]; `records` has room for four records at least, `word` LONGEST bytes. Of
    the candidates of a word between ASCII spaces the last counts, as in `Go!!!`, and one that begins it.
    """
    n = 0
    while state[ROW] < len(offsets) - 1:
        end, i = offsets[state[ROW] + 1], state[AT]
        if n + 3 > len(records):
            return n
        if not state[INSIDE]:
            i = words.strip_left(data, i, end, chars)
            if i >= end:
                state[ROW] += 1
                state[AT] = end
                continue
            state[INSIDE], state[PARAGRAPH] = 1, i
            records[n, KIND], records[n, START], records[n, STOP] = BEGIN, i, state[ROW]
            n += 1
        begin = state[PARAGRAPH]
        # room for three records: a word has two at most, and the paragraph an end
        while n + 3 <= len(records):
            i = _next_end(data, i, end, chars)
            if i >= end:
                break
            if data[i] == words.NEWLINE_BYTE:
                if i + 1 < end and data[i + 1] == words.NEWLINE_BYTE:
                    break
                i += 1
                continue
            after = words.token_after_mark(data, i, end, chars)
            if after < 0:
                i += 1
                continue
            # the word around the mark begins at `at`
            at = max(begin, i - np.int64(letters_before(data, i)))
            while at > begin and not tables.SPACE <= chars[data[at - 1]] <= tables.NEWLINE:
                at -= 1
            mark = i
            i += 1
            while i < end and not tables.SPACE <= chars[data[i]] <= tables.NEWLINE:
                later = words.token_after_mark(data, i, end, chars) if chars[data[i]] >= tables.DOT else -1
                if later >= 0:
                    if mark == at:
                        n = _record(data, at, mark, after, end, index, chars, word, records, n)
                    mark, after = i, later
                i += 1
            n = _record(data, at, mark, after, end, index, chars, word, records, n)
        state[AT] = i
        if n + 3 <= len(records):
            records[n, KIND], records[n, STOP] = END, words.strip_right(data, begin, i, chars)
            n += 1
            state[INSIDE], state[AT] = 0, min(i + 2, end)
    return n


@inlined
def _closing(data: Bytes, i: int, end: int, chars: Bytes) -> tuple[int, int]:
    """Return the ends of the closing punctuation at byte i and of the white space after it; (-1, -1) for none."""
    start = i
    while i < end:
        if data[i] in (34, 39, 41, 93, 125):
            i += 1
        elif chars[data[i]] == tables.HIGH and words.character_flags(data, i, end, chars) & tables.IS_QUOTE:
            i += decode(data, i, end)[1]
        else:
            break
    if i == start:
        return -1, -1
    if i == end or (i + 1 < end and data[i] == words.DASH and data[i + 1] == words.DASH):
        return i, i
    stop = i
    while i < end:
        length = words.space_length(data, i, end, chars)
        if length == 0:
            break
        i += length
    return (stop, i) if i > stop else (-1, -1)


@kernel
def join_breaks(
    data: Bytes, records: Longs, n: int, chars: Bytes, state: Longs, starts: Longs, stops: Longs, counts: Longs
) -> int:
    """Write the spans that the first n records make, and count those of each row; returns how many.

    No record may be UNKNOWN. `starts` and `stops` have room for n + 1: the first may end a sentence of the call before.
    """
    written = 0
    for i in range(n):
        kind, stop = records[i, KIND], records[i, STOP]
        if kind == BEGIN:
            state[SENTENCE], state[MARK_END], state[JOIN_ROW] = records[i, START], -1, stop
            continue
        if kind == NO:
            continue
        for last in range(2 if kind == END else 1):
            begin, end = state[SENTENCE], stop
            if not last:
                if state[MARK_END] < 0:
                    continue
                end, state[SENTENCE] = state[MARK_END], state[NEXT]
                closed, after = _closing(data, state[NEXT], stop, chars)
                if closed >= 0:
                    end, state[SENTENCE] = closed, after
            begin = words.strip_left(data, begin, end, chars)
            if begin < end:
                starts[written], stops[written] = begin, words.strip_right(data, begin, end, chars)
                counts[state[JOIN_ROW]] += 1
                written += 1
        state[MARK_END], state[NEXT] = stop, records[i, START]
    return written


@kernel
def count_characters(data: Bytes, starts: Longs, stops: Longs) -> None:
    """Turn the byte offsets of spans, in order, into offsets in characters, in place."""
    at = characters = 0
    for i in range(len(starts)):
        for positions in (starts, stops):
            for j in range(at, positions[i]):
                characters += data[j] & 0xC0 != 0x80
            at = positions[i]
            positions[i] = characters
