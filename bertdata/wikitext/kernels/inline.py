"""The fourth pass over wikitext, compiled: links, tags, entities, odd spaces. The reference is `reference/inline`."""

# ruff: noqa: PLR1714, SIM110  (numba compiles comparisons and loops well, sets and generators not)

from __future__ import annotations

import numpy as np

from bertdata.kernels import characters as char
from bertdata.kernels import utf8
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined
from bertdata.wikitext import rules
from bertdata.wikitext.kernels import buffers, common
from bertdata.wikitext.kernels.common import Ints

BREAK, BLOCK, STRIPPED = range(3)
_LONGEST_ENTITY = 34


@inlined
def inline_kernel(text: Bytes, size: int, out: Bytes, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Write text[:size] to out without inline markup; returns the bytes written, at most 2 * size."""
    n = i = 0
    limit, label_end, label_out = size, -1, 0
    while True:
        begin = i
        i = _next_special(text, i, limit)
        n = copy(text, begin, i, out, n)
        # the end of the text, or of the label of a link: after the link all of the text is read again
        if i == limit:
            if label_end < 0:
                return n
            # the label left nothing
            if n == label_out:
                out[n] = common.PLACEHOLDER
                n += 1
            i = label_end + 1
            limit, label_end = size, -1
            continue
        byte = text[i]
        end = -1
        if byte >= 128 or byte < char.SPACE:
            code, length = utf8.decode(text, i, limit)
            space = common.is_one_of(code, _ODD_SPACES)
            if space:
                out[n] = char.SPACE
                n += 1
            if space or common.is_one_of(code, _INVISIBLE):
                end = i + length
            elif code == _WIDE_UNDERSCORE:
                end = _behaviour_switch(text, i, limit, table, blob, scratch)
        elif byte == char.LEFT_BRACKET:
            if label_end < 0:
                label, end = _external_link(text, i, limit, table, blob, scratch)
                if end >= 0:
                    label_out, label_end, limit, i = n, end, end, label
                    continue
        elif byte == char.LESS_THAN:
            kind, end = _tag(text, i, limit, table, blob, scratch)
            if end >= 0:
                if kind != BREAK and end - i > _SHORTEST_HIDING and _hides(text, i, end):
                    end = _end_of_hidden(text, i, end, limit, kind == BLOCK, scratch)
                elif kind == BREAK:
                    out[n] = char.SPACE
                    n += 1
                elif kind == BLOCK:
                    out[n], out[n + 1] = char.NEWLINE, char.NEWLINE
                    n += 2
        elif byte == char.AMPERSAND:
            end, n = _entity(text, i, limit, out, n, table, blob)
        else:
            end = _behaviour_switch(text, i, limit, table, blob, scratch)
        if end < 0:
            out[n] = byte
            n += 1
            i += 1
        else:
            i = end


@inlined
def _external_link(text: Bytes, begin: int, limit: int, table: Ints, blob: Bytes, scratch: Bytes) -> tuple[Int, Int]:
    """Return where the label of an external link begins and ends; -1 twice if this is not a link."""
    i = common.end_of_url(text, begin + 1, limit, table, blob, scratch)
    if i < 0:
        return -1, -1
    while i < limit:
        code, length = utf8.decode(text, i, limit)
        if code != char.SPACE and code != char.TAB and not common.is_one_of(code, common.URL_SPACES):
            break
        i += length
    label = i
    while True:
        i = _next_in_label(text, i, limit)
        if i == limit or text[i] != char.LEFT_BRACKET:
            break
        i = _next_in_label(text, i + 1, limit)
        if i == limit or text[i] != char.RIGHT_BRACKET:
            return -1, -1
        i += 1
    return (label, i) if i < limit and text[i] == char.RIGHT_BRACKET else (-1, -1)


@inlined
def _tag(text: Bytes, begin: int, limit: int, table: Ints, blob: Bytes, scratch: Bytes) -> tuple[Int, Int]:
    """Return the kind of a tag and where it ends; an end of -1 where HTML has no such tag."""
    i = begin + 1
    if i < limit and text[i] == char.SLASH:
        i += 1
    spaced = i < limit and text[i] == char.SPACE
    if spaced:
        i += 1
    length = common.tag_name(text, i, limit, scratch)
    row = common.lookup(table, blob, common.INLINE_TAG, scratch, 0, length)
    i += length
    if row < 0 or i >= limit:
        return 0, -1
    kind = table[row, common.CODE]
    if kind == BREAK:
        if text[i] == char.UNDERSCORE:
            return 0, -1
    elif spaced or not common.ends_name(text, i, limit, char.SLASH):
        return 0, -1
    i = common.end_of_tag(text, i, limit)
    return (kind, i + 1) if i < limit and text[i] == char.GREATER_THAN else (0, -1)


@inlined
def _entity(text: Bytes, begin: int, limit: int, out: Bytes, n: int, table: Ints, blob: Bytes) -> tuple[Int, Int]:
    """Write the character that an entity stands for; returns where it ends (-1: not an entity) and what is written."""
    last = min(limit, begin + _LONGEST_ENTITY)
    end = buffers.find(text, begin, last, char.SEMICOLON)
    if end == last:
        return -1, n
    if text[begin + 1] != char.NUMBER_SIGN:
        row = common.lookup(table, blob, common.ENTITY, text, begin + 1, end)
        if row < 0:
            return -1, n
        return end + 1, copy(blob, table[row, common.VALUE_BEGIN], table[row, common.VALUE_END], out, n)
    code = char.numeric_reference(text, begin + 2, end)
    if code < 0:
        return -1, n
    if 0x80 <= code < 0xA0:
        code = _WINDOWS[code - 0x80]
    if code == char.NEWLINE or common.is_one_of(code, _ODD_SPACES):
        code = np.int64(char.SPACE)
    elif code == common.PLACEHOLDER or code == common.LINE_BREAK or common.is_one_of(code, _INVISIBLE):
        return end + 1, n
    return end + 1, utf8.encode(code, out, n)


@inlined
def _behaviour_switch(text: Bytes, begin: int, limit: int, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Return where the longest switch ends that begins here, -1 if none does."""
    i, end, edges = begin, -1, 0
    if begin + 3 < limit and text[begin + 1] == text[begin + 2] == text[begin + 3] == text[begin]:
        return end
    limit = min(limit, begin + rules.LONGEST_SWITCH)
    first = 1 if text[begin] == char.UNDERSCORE else 3
    while i < limit and text[i] != char.NEWLINE and edges < rules.MOST_UNDERSCORES:
        scratch[i - begin] = char.lower(text[i])
        i += 1
        if i - begin > first and _is_edge(text, i - 1):
            edges += 1
            is_switch = common.lookup(table, blob, common.SWITCH, scratch, 0, i - begin) >= 0
            if is_switch or common.lookup(table, blob, common.EXACT_SWITCH, text, begin, i) >= 0:
                end = i
    return end


@inlined
def _is_edge(text: Bytes, last: int) -> bool:
    """Tell whether an underscore, or a wide one, ends at a byte."""
    if text[last] == char.UNDERSCORE:
        return True
    return bool(text[last] == _WIDE[2] and text[last - 1] == _WIDE[1] and text[last - 2] == _WIDE[0])


@inlined
def _hides(text: Bytes, begin: int, end: int) -> bool:
    """Tell whether the style of a tag hides the element (`inline._HIDES`)."""
    colon = buffers.find(text, begin, end, char.COLON)
    while colon < end:
        last, value = colon, common.skip_spaces(text, colon + 1, end)
        while last > begin and char.is_space(text[last - 1]):
            last -= 1
        display = _ends_with(text, begin, last, _DISPLAY) and _begins_with(text, value, end, _NONE)
        if display or (_ends_with(text, begin, last, _VISIBILITY) and _begins_with(text, value, end, _HIDDEN)):
            return True
        colon = buffers.find(text, colon + 1, end, char.COLON)
    return False


@inlined
def _begins_with(text: Bytes, begin: int, end: int, word: Bytes) -> bool:
    """Tell whether text[begin:end] begins with a word, in any case."""
    if end - begin < word.size:
        return False
    for k in range(word.size):
        if char.lower(text[begin + k]) != word[k]:
            return False
    return True


@inlined
def _ends_with(text: Bytes, begin: int, end: int, word: Bytes) -> bool:
    """Tell whether text[begin:end] ends with a word, in any case."""
    return end - begin >= word.size and _begins_with(text, end - word.size, end, word)


@inlined
def _end_of_hidden(text: Bytes, begin: int, tag_end: int, limit: int, block: bool, scratch: Bytes) -> Int:
    """Return where the element ends whose tag is text[begin:tag_end]; `tag_end` where it is not closed."""
    if text[begin + 1] == char.SLASH or text[tag_end - 2] == char.SLASH:
        return tag_end
    length = common.tag_name(text, begin + 1, limit, scratch)
    limit = min(limit, tag_end + rules.LONGEST_HIDDEN)
    if not block:
        limit = buffers.find(text, tag_end, limit, char.NEWLINE)
    depth, i = 1, buffers.find(text, tag_end, limit, char.LESS_THAN)
    while i < limit:
        closing = i + 1 < limit and text[i + 1] == char.SLASH
        name = i + 1 + (1 if closing else 0)
        if _begins_with(text, name, limit, scratch[:length]) and common.ends_name(
            text, name + length, limit, char.SLASH
        ):
            end = common.end_of_tag(text, name + length, limit)
            if end < limit and text[end] == char.GREATER_THAN:
                depth += -1 if closing else 1
                if depth == 0:
                    return end + 1
        i = buffers.find(text, i + 1, limit, char.LESS_THAN)
    return tag_end


_DISPLAY, _NONE, _VISIBILITY, _HIDDEN = map(common.word, ("display", "none", "visibility", "hidden"))
_SHORTEST_HIDING = len("<b display:none>") - 1
_WIDE_UNDERSCORE = ord(rules.SWITCH_EDGES[1])
_WIDE = common.word(rules.SWITCH_EDGES[1])
_ODD_SPACES, _INVISIBLE = common.codes(rules.ODD_SPACES), common.codes(rules.INVISIBLE)
_WINDOWS = np.array([ord(bytes([byte]).decode("cp1252", "replace")) for byte in range(0x80, 0xA0)], np.int64)
_next_in_label = buffers.scanner(b"[]\n")
_next_special = buffers.scanner(
    b"[<&_" + bytes(mark.encode()[0] for mark in rules.ODD_SPACES + rules.INVISIBLE + rules.SWITCH_EDGES[1:])
)
