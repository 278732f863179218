"""The third pass over wikitext, compiled: prose by lines, and quote marks. The reference is `reference/paragraphs`."""

# ruff: noqa: PLR1714  (numba compiles comparisons well, sets not)

from __future__ import annotations

from bertdata.kernels import characters as char
from bertdata.kernels import utf8
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined
from bertdata.wikitext import rules
from bertdata.wikitext.kernels import buffers, common
from bertdata.wikitext.kernels.buffers import find
from bertdata.wikitext.kernels.common import LINE_BREAK, LONGEST_NAME, PLACEHOLDER, Ints

# what the table says of a section without prose, and of a tag of a block
OTHERS, NOTES = range(2)
BEGINS, ENDS = range(2)
# what the tags say of the lines to come: whether they are inside a block, inside a quotation
_INSIDE, _QUOTED = 1, 2


@inlined
def lines_kernel(text: Bytes, size: int, out: Bytes, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Write the prose of text[:size] to out, a paragraph a line; returns the bytes written, at most 2 * size + 4."""
    n = block = line_start = 0  # block: lines in the paragraph that is being written
    skipped = 0  # the level of the section without prose that is being skipped
    undecided = False  # whether it may have prose after all
    around: Int = 0  # what the lines are inside of
    paragraphs = False
    begin = 0
    while begin <= size:
        body = begin
        while body < size and _EDGES[text[body]]:
            body += 1
        first = text[body] if body < size else char.NEWLINE
        if first != char.NEWLINE and first != char.EQUALS and ((skipped and not undecided) or _LIST_MARKS[first]):
            begin, block, undecided = find(text, body, size, char.NEWLINE) + 1, 0, False
            continue
        line_end, quotes, placeholder, tag = begin, False, False, -1
        while True:
            line_end = _next_special(text, line_end, size)
            if line_end == size or text[line_end] == char.NEWLINE:
                break
            if text[line_end] == PLACEHOLDER:
                placeholder = True
            elif text[line_end] == char.LESS_THAN:
                tag = line_end if tag < 0 else tag
            else:
                quotes = quotes or (line_end + 1 < size and text[line_end + 1] == char.APOSTROPHE)
            line_end += 1
        line = begin
        begin = line_end + 1
        body, end = common.strip_flagged(text, line, line_end, _EDGES)
        first = text[body] if body < end else 0
        if first == char.EQUALS:
            level, title, title_end, rest = _heading(text, body, end)
            if level:
                undecided = False
                if skipped == 0 or level <= skipped:
                    section = _section(text, title, title_end, table, blob, scratch)
                    skipped = level if section >= 0 else 0
                    undecided = section == NOTES
                body, end = common.strip_flagged(text, rest, end, _EDGES)
                line, line_end = body, end
                first = text[body] if body < end else 0
                block, around = 0, around & _QUOTED
        elif common.starts_with(text, body, end, _RULE):
            block, around = 0, around & _QUOTED
            while body < end and text[body] == char.HYPHEN:
                body += 1
            body, end = common.strip_flagged(text, body, end, _EDGES)
            line, line_end = body, end
        elif body == end and placeholder and block and not _ends_sentence(out, line_start, n):
            continue
        if undecided and body < end:
            undecided = False
            if _begins_notes(text, line, body, end):
                skipped = 0
        if skipped or body == end or _LIST_MARKS[first]:
            block = 0
            continue
        tagged = False
        if tag >= 0:
            tagged, around = _read_block_tags(text, max(tag, body), end, around, table, blob, scratch)
        code = text[line] == char.SPACE and not tagged and around == 0
        if (code and _is_preformatted(text, body, end)) or (
            text[body] == char.EXCLAMATION_MARK and _is_table_header(text, body, end)
        ):
            block = 0
            continue
        if block:
            out[n] = char.SPACE
            n += 1
        elif paragraphs:
            out[n], out[n + 1] = char.NEWLINE, char.NEWLINE
            n += 2
        block += 1
        paragraphs = True
        line_start = n
        if first == char.COMMA or first == char.PERIOD or first == char.RIGHT_PARENTHESIS:
            out[n] = PLACEHOLDER
            n += 1
            line, line_end = body, end
        n = copy(text, line, line_end, out, n)
        if quotes:
            n = _strip_quotes_of_lines(out, line_start, n, table, blob, scratch)
    return n


@inlined
def _is_preformatted(text: Bytes, begin: int, end: int) -> bool:
    if not _ends_sentence(text, begin, end):
        return True
    spaces = 0
    for i in range(begin, end):
        spaces += text[i] == char.SPACE
    return spaces < rules.SPACES_OF_PROSE


@inlined
def _begins_notes(text: Bytes, line: int, body: int, end: int) -> bool:
    """Tell whether the first line below a heading such as "Notes" is prose (`reference.paragraphs._begins_notes`)."""
    code, _ = utf8.decode(text, line, end)
    if not (char.is_letter(text[line]) or _FIRST_LETTER <= code <= _LAST_LETTER) or not _ends_sentence(text, body, end):
        return False
    spaces = digits = 0
    for i in range(body, end):
        spaces += text[i] == char.SPACE
        digits = digits + 1 if char.is_digit(text[i]) else 0
        if digits >= 4 and (i + 1 == end or text[i + 1] != char.SPACE):
            return False
    return spaces >= rules.SPACES_OF_NOTES


@inlined
def _read_block_tags(
    text: Bytes, begin: int, end: int, around: int, table: Ints, blob: Bytes, scratch: Bytes
) -> tuple[bool, Int]:
    """Return whether text[begin:end] has tags of blocks, and what the lines after it are inside of."""
    tagged, inside, quoted = False, True, around & _QUOTED
    i = find(text, begin, end, char.LESS_THAN)
    while i < end:
        k = i + 1
        closing = k < end and text[k] == char.SLASH
        k += closing
        length = common.tag_name(text, k, end, scratch)
        k += length
        if length and not (k < end and text[k] == char.UNDERSCORE):
            if scratch[0] == _BLOCKQUOTE[0] and common.is_word(scratch, 0, length, _BLOCKQUOTE):
                quoted = 0 if closing else _QUOTED
            if closing:
                for place in range(length, 0, -1):
                    scratch[place] = scratch[place - 1]
                scratch[0] = char.SLASH
                length += 1
            row = common.lookup(table, blob, common.BLOCK_TAG, scratch, 0, length)
            if row >= 0:
                tagged = True
                inside = inside and table[row, common.CODE] == BEGINS
        i = find(text, i + 1, end, char.LESS_THAN)
    if not tagged:
        return False, around
    return True, quoted | (_INSIDE if inside else 0)


@inlined
def _is_table_header(text: Bytes, begin: int, end: int) -> bool:
    spaced = begin + 1 < end and text[begin + 1] == char.SPACE
    return bool(spaced or buffers.find_pair(text, begin, end, char.EXCLAMATION_MARK, char.EXCLAMATION_MARK) < end)


@inlined
def _ends_sentence(text: Bytes, begin: int, end: int) -> bool:
    """Tell whether a sentence ends with the last character of text[begin:end]."""
    return common.is_one_of(utf8.decode_last(text, begin, end)[0], _SENTENCE_ENDS)


@inlined
def _heading(text: Bytes, begin: int, end: int) -> tuple[int, int, int, int]:
    """Split a line into (level, title begin, title end, rest begin); level 0 if it is no heading."""
    opening = 0
    while begin + opening < end and text[begin + opening] == char.EQUALS:
        opening += 1
    closing = 0
    while end - closing > begin and text[end - 1 - closing] == char.EQUALS:
        closing += 1
    level = min(opening, 6)
    if closing:
        level = max(1, min(closing, level, (end - begin - 1) // 2))
        return level, begin + level, max(begin + level, end - level), end
    if level < 2:
        return 0, begin, begin, begin
    run = 0
    for i in range(begin + level, end):
        run = run + 1 if text[i] == char.EQUALS else 0
        if run == level:
            return level, begin + level, i + 1 - level, i + 1
    return 0, begin, begin, begin


@inlined
def _section(text: Bytes, begin: int, end: int, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Return what the table says of a title, without placeholders, quote marks and tags; -1: the section has prose."""
    length = 0
    for i in range(begin, end):
        if text[i] != PLACEHOLDER:
            if length == LONGEST_NAME:
                return -1
            scratch[length] = char.lower(text[i])
            length += 1
    written = i = 0
    while i < length:
        run = _quotes(scratch, i, length)
        if run >= 2:
            i += run
            continue
        if scratch[i] == char.LESS_THAN:
            close = common.end_of_tag(scratch, i + 1, length)
            if close < length and scratch[close] == char.GREATER_THAN:
                i = close + 1
                continue
        scratch[written] = scratch[i]
        written += 1
        i += 1
    begin, end = common.strip_flagged(scratch, 0, written, _TITLE_EDGES)
    row = common.lookup(table, blob, common.SECTION, scratch, begin, end)
    return table[row, common.CODE] if row >= 0 else -1


@inlined
def _strip_quotes_of_lines(out: Bytes, begin: int, end: int, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Take the bold and italic marks out of each line of verse of out[begin:end] in place; returns its new end."""
    n = begin
    while True:
        line_end = find(out, begin, end, LINE_BREAK)
        n = copy(out, begin, _strip_quotes(out, begin, line_end, table, blob, scratch), out, n)
        if line_end == end:
            return n
        out[n] = LINE_BREAK
        n += 1
        begin = line_end + 1


@inlined
def _strip_quotes(out: Bytes, begin: int, end: int, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Take the bold and italic marks out of the line out[begin:end] in place; returns its new end."""
    bold = italic = 0
    i = begin
    while True:
        i = find(out, i, end, char.APOSTROPHE)
        if i == end:
            break
        run = _quotes(out, i, end)
        if run >= 2:
            bold += run != 2
            italic += run == 2 or run >= 5
        i += run
    apostrophe = _bold_that_is_an_apostrophe(out, begin, end) if bold % 2 and italic % 2 else -1
    n = i = written = begin  # written: the end of what the last marks left
    while i < end:
        quote = find(out, i, end, char.APOSTROPHE)
        n = copy(out, i, quote, out, n)
        run = _quotes(out, quote, end)
        apostrophes = run
        if run >= 2:
            apostrophes = run - 5 if run > 5 else (run == 4) + (quote == apostrophe)
        for _ in range(apostrophes):
            out[n] = char.APOSTROPHE
            n += 1
        if run >= 2 and _ends_with_address(out, written, n, table, blob, scratch):
            out[n] = char.SPACE
            n += 1
        written = n if run >= 2 else written
        i = quote + run
    return n


@inlined
def _ends_with_address(out: Bytes, begin: int, end: int, table: Ints, blob: Bytes, scratch: Bytes) -> bool:
    """Tell whether out[begin:end] ends inside the address of an external link, which quote marks end."""
    bracket = end - 1
    while bracket >= begin and out[bracket] != char.LEFT_BRACKET:
        bracket -= 1
    return bool(bracket >= begin and common.end_of_url(out, bracket + 1, end, table, blob, scratch) == end)


@inlined
def _quotes(out: Bytes, begin: int, end: int) -> Int:
    i = begin
    while i < end and out[i] == char.APOSTROPHE:
        i += 1
    return i - begin


@inlined
def _bold_that_is_an_apostrophe(out: Bytes, begin: int, end: int) -> Int:
    """Return where the bold mark is that is an apostrophe and an italic mark (see `reference.paragraphs`)."""
    word = space = -1
    segment = i = begin
    while i < end:
        run = _quotes(out, i, end)
        if run == 3 or run == 4:
            last = i - 1
            if run == 3:
                if last >= segment and out[last] == char.SPACE:
                    space = i if space < 0 else space
                    segment = i + run
                    i += run
                    continue
                while last > segment and (out[last] & 0xC0) == 0x80:
                    last -= 1
                last -= 1
            if last >= segment and out[last] == char.SPACE:
                return i
            if word < 0:
                word = i
        if run >= 2:
            segment = i + run
        i += max(run, 1)
    return word if word >= 0 else space


_EDGES = buffers.flags(rules.LINE_EDGES.encode())
_TITLE_EDGES = buffers.flags(rules.TITLE_EDGES.encode())
_LIST_MARKS = buffers.flags(rules.LIST_MARKS.encode())
_SENTENCE_ENDS = common.codes(rules.SENTENCE_ENDS)
_RULE, _BLOCKQUOTE = map(common.word, ("----", "blockquote"))
_FIRST_LETTER, _LAST_LETTER = map(ord, rules.LETTERS)
_next_special = buffers.scanner([char.NEWLINE, PLACEHOLDER, char.APOSTROPHE, char.LESS_THAN])
