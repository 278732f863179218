"""The last pass over wikitext, compiled: placeholders, spaces, paragraphs without a word. See `reference/cleanup`."""

from __future__ import annotations

import re

import numpy as np

from bertdata.kernels import characters as char
from bertdata.kernels import utf8
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined
from bertdata.wikitext import rules
from bertdata.wikitext.kernels import buffers, common
from bertdata.wikitext.kernels.common import LINE_BREAK, PLACEHOLDER, Ints

# the kinds of tokens, a bit each; a closing bracket is its opening one shifted
_SPACE, _PAUSE, _STOP, _QUOTE, _HYPHEN, _SLASH, _DASH, _WORD, _PLACEHOLDER = (1 << bit for bit in range(9))
_PARENTHESIS, _BRACKET = 1 << 9, 1 << 10
_CLOSING = 2
_PLAIN, _KINDS = 0, 1 << 13
_OPENERS = _PARENTHESIS | _BRACKET
_CLOSERS = _OPENERS << _CLOSING
_JOINERS = _SLASH | _DASH | _WORD
_LOOSE = _SPACE | _PAUSE | _HYPHEN | _SLASH | _DASH


@inlined
def finish_kernel(
    text: Bytes,
    size: int,
    work: Bytes,
    out: Bytes,
    tokens: Ints,
    words: Bytes,
    table: Ints,
    blob: Bytes,
    scratch: Bytes,
) -> Int:
    """Write the paragraphs of text[:size] to out, cleaned up; returns the bytes written, at most size.

    `work` holds one paragraph and `tokens` its tokens: both have room for size + 1 items.
    """
    n = i = 0
    while i < size:
        begin = n
        if n:
            out[n], out[n + 1] = char.NEWLINE, char.NEWLINE
            n += 2
        start, verse = n, False
        end = _next_mark(text, i, size)
        plain = end == size or (text[end] == char.NEWLINE and end + 1 < size and text[end + 1] == char.NEWLINE)
        if plain and buffers.find_pair(text, i, end, char.SPACE, char.SPACE) == end:
            n = copy(text, i, end, out, n)
            i = end
            while i < size and _BLANKS[text[i]]:
                i += 1
        else:
            i, length, placeholders, verse = _read_paragraph(text, i, size, work)
            n = _clean_up(work, length, out, n, tokens) if placeholders else copy(work, 0, length, out, n)
        n = _strip(out, start, n, _SPACES)
        if verse:
            n = _strip(out, start, _break_lines(out, start, n), _BLANKS)
        if not _has_word(out, start, n, words) or _are_only_urls(out, start, n, table, blob, scratch):
            n = begin
    return n


@inlined
def _read_paragraph(text: Bytes, i: int, size: int, work: Bytes) -> tuple[Int, Int, bool, bool]:
    """Write a paragraph to work with single spaces; returns where it ends, its bytes, if it has placeholders, verse."""
    length, mark, placeholders, verse = 0, -1, False, False
    while i < size:
        if mark < i:
            mark = _next_mark(text, i, size)
        end = buffers.find_pair(text, i, mark, char.SPACE, char.SPACE)
        length = copy(text, i, end, work, length)
        i = end
        if i == size:
            break
        byte = text[i]
        if not _BLANKS[byte]:
            work[length] = byte
            length += 1
            placeholders |= byte == PLACEHOLDER
            verse |= byte == LINE_BREAK
            i += 1
            continue
        if length and work[length - 1] == char.SPACE:
            length -= 1
        newlines = 0
        while i < size and _BLANKS[text[i]]:
            newlines += text[i] == char.NEWLINE
            i += 1
        if newlines > 1:
            break
        work[length] = char.SPACE
        length += 1
    return i, length, placeholders, verse


@inlined
def _strip(out: Bytes, begin: int, end: int, blanks: Bytes) -> Int:
    first, last = common.strip_flagged(out, begin, end, blanks)
    return copy(out, first, last, out, begin) if first > begin else last


@inlined
def _break_lines(out: Bytes, begin: int, end: int) -> Int:
    """Turn the marks of line breaks, with the spaces around them, into line breaks; in place."""
    n = i = begin
    while i < end:
        if out[i] == LINE_BREAK or (out[i] == char.SPACE and i + 1 < end and out[i + 1] == LINE_BREAK):
            while i < end and (out[i] == char.SPACE or out[i] == LINE_BREAK):
                i += 1
            out[n] = char.NEWLINE
        else:
            out[n] = out[i]
            i += 1
        n += 1
    return n


@inlined
def _has_word(out: Bytes, begin: int, end: int, words: Bytes) -> bool:
    """Tell whether out[begin:end] has a letter, digit or underscore of the first 65,536 characters."""
    for i in range(begin, end):
        code, _ = utf8.decode(out, i, end)
        if 0 <= code < words.size and words[code]:
            return True
    return False


@inlined
def _are_only_urls(out: Bytes, begin: int, end: int, table: Ints, blob: Bytes, scratch: Bytes) -> bool:
    """Tell whether out[begin:end] is addresses with a space between them."""
    while True:
        begin = common.end_of_protocol(out, begin, end, table, blob, scratch)
        if begin < 0:
            return False
        i, printable = begin, True
        while i < end and not _BLANKS[out[i]]:
            printable = printable and char.SPACE < out[i] < PLACEHOLDER
            i += 1
        slashes = common.starts_with(out, begin, i, _SLASHES) and i - begin > 2
        if i == begin or not (slashes or printable):
            return False
        if i == end:
            return True
        if out[i] != char.SPACE:
            return False
        begin = i + 1


@inlined
def _clean_up(work: Bytes, length: int, out: Bytes, n: int, tokens: Ints) -> Int:
    """Clean up around the placeholders of a paragraph, token by token (see `reference.cleanup.clean_up`).

    `tokens` is the stack of the tokens written since the last word that is settled: where each begins, and its kind.
    """
    depth = i = 0
    placeholder = -1
    after = spaced = False  # whether the text since the last placeholder may still change, whether it had a space
    while i < length:
        if not after and i > placeholder:
            placeholder = buffers.find(work, i, length, PLACEHOLDER)
            settled = _last_word(work, i, placeholder, length)
            if settled > i:
                n = copy(work, i, settled, out, n)
                depth, i = 0, settled
                continue
        begin = i
        i, kind = _token(work, i, length)
        if kind == _PLACEHOLDER:
            popped, depth, n = _pop(tokens, depth, n, _SPACE)
            spaced = popped or (after and spaced)
            after = True
            continue
        if after:
            if kind == _SPACE:
                spaced = True
                continue
            last = _top(tokens, depth)
            opening = depth == 0 or last & _OPENERS != 0
            partner = 0  # the token on the stack that goes together with this one
            if (kind == _PAUSE and (opening or last == _PAUSE)) or (kind & _JOINERS != 0 and last & _OPENERS != 0):
                continue
            if kind == _QUOTE:
                partner = 0 if spaced else _QUOTE
            elif kind & _CLOSERS:
                _, depth, n = _pop(tokens, depth, n, _LOOSE)
                partner = kind >> _CLOSING
            elif kind == _STOP:
                _, depth, n = _pop(tokens, depth, n, _PAUSE)
                if work[begin] == char.PERIOD and _top(tokens, depth) == _STOP:
                    continue
            if partner and _top(tokens, depth) == partner:
                depth -= 1
                n = tokens[depth] // _KINDS
                spaced, depth, n = _pop(tokens, depth, n, _SPACE)
                continue
            if kind & (_CLOSERS | _STOP | _PAUSE) == 0 and spaced and not opening:
                tokens[depth] = n * _KINDS + _SPACE
                depth += 1
                out[n] = char.SPACE
                n += 1
            after = False
        tokens[depth] = n * _KINDS + kind
        depth += 1
        n = copy(work, begin, i, out, n)
    return n


@inlined
def _top(tokens: Ints, depth: int) -> Int:
    """Return the kind of the last token written."""
    return tokens[depth - 1] % _KINDS if depth else _PLAIN


@inlined
def _pop(tokens: Ints, depth: int, n: int, kinds: int) -> tuple[bool, Int, Int]:
    """Take back the last tokens of these kinds; returns whether there were any, and what is left."""
    popped = False
    while depth and tokens[depth - 1] & kinds:
        depth -= 1
        n = tokens[depth] // _KINDS
        popped = True
    return popped, depth, n


@inlined
def _last_word(work: Bytes, begin: int, placeholder: int, length: int) -> Int:
    """Return where the last word before a placeholder begins; `begin` where none does after a space, else `length`.

    Cleaning up takes back marks and spaces, never a word: what is before this word is not looked at again.
    """
    if placeholder == length:
        return length
    i = placeholder - 2
    while i >= begin:
        if work[i] == char.SPACE and _DELIMITER[work[i + 1]] == 0 and _token(work, i + 1, length)[1] == _PLAIN:
            return i + 1
        i -= 1
    return begin


@inlined
def _token(work: Bytes, begin: int, length: int) -> tuple[Int, Int]:
    """Return where the token at `begin` ends, and its kind."""
    kind = _DELIMITER[work[begin]]
    end = begin + 1
    if kind & (_PAUSE | _STOP):
        code, _ = utf8.decode(work, min(end, length - 1), length)
        if end == length or common.is_one_of(code, _AFTER_MARK):
            return end, kind
    elif kind:
        return end, kind
    while end < length and _DELIMITER[work[end]] == 0:
        end += 1
    if end - begin > 3:
        return end, _PLAIN
    if end - begin == 1:
        return end, _KIND[work[begin]]
    if common.is_word(work, begin, end, _AND) or common.is_word(work, begin, end, _OR):
        return end, _WORD
    code, _ = utf8.decode(work, begin, end)
    return end, _DASH if end - begin == 3 and common.is_one_of(code, _DASHES) else _PLAIN


_next_mark = buffers.scanner([char.NEWLINE, PLACEHOLDER, LINE_BREAK])
_BLANKS, _SPACES = buffers.flags(b" \n"), buffers.flags(b" ")
_SLASHES, _AND, _OR = map(common.word, ("//", *rules.JOINING_WORDS))
_DELIMITER = np.zeros(256, np.int64)
for _kind, _characters in (
    *((_SPACE, " "), (_PAUSE, rules.PAUSES), (_STOP, rules.STOPS), (_QUOTE, '"'), (_PLACEHOLDER, rules.PLACEHOLDER)),
    *zip((_PARENTHESIS, _BRACKET), rules.OPENERS, strict=True),
    *zip((_PARENTHESIS << _CLOSING, _BRACKET << _CLOSING), rules.CLOSERS, strict=True),
):
    _DELIMITER[list(_characters.encode())] = _kind
_KIND = _DELIMITER.copy()
_KIND[list(b"-/")] = _HYPHEN, _SLASH
_DASHES, _AFTER_MARK = common.codes(rules.DASHES), common.codes(rules.AFTER_MARK)


def word_characters() -> Bytes:
    """Return, for each of the first 65,536 characters, whether it is a letter, digit or underscore."""
    table = np.zeros(1 << 16, np.uint8)
    for match in re.finditer(r"\w", "".join(map(chr, range(1 << 16)))):
        table[match.start()] = 1
    return table
