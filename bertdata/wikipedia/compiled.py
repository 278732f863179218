"""The passes over wikitext as compiled kernels: the fast twin of `wikitext.extract`, with the same result.

It drives the kernels over buffers of bytes that each thread keeps, answers what they ask (the text of a call they do
not know, verse, formulas), and makes buffers larger where they say so. Nothing here reads wikitext itself.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import lru_cache
from html.entities import html5
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from bertdata.wikipedia import inline, kernel_brackets, kernel_inline, kernel_tags, tags
from bertdata.wikipedia.brackets import first_variants, recover
from bertdata.wikipedia.calls import PageContext, call_text, link_text
from bertdata.wikipedia.healing import HOLE
from bertdata.wikipedia.kernel import (
    CODE,
    ENTITY,
    FUNCTION,
    INLINE_TAG,
    LONGEST_NAME,
    PREFIX,
    PROTOCOL,
    SECTION,
    TAG,
    TEMPLATE,
    Bytes,
    Ints,
    build_table,
    hole_fits,
)
from bertdata.wikipedia.kernel_brackets import ASKED, KEPT, LITERAL, NO_ARTICLE, brackets_kernel
from bertdata.wikipedia.kernel_healing import finish_kernel, word_characters
from bertdata.wikipedia.kernel_inline import inline_kernel
from bertdata.wikipedia.kernel_lines import lines_kernel
from bertdata.wikipedia.kernel_tags import tags_kernel
from bertdata.wikipedia.parser_functions import FUNCTIONS, VARIABLES
from bertdata.wikipedia.template_functions import kept_position, literal_text
from bertdata.wikipedia.templates import Templates
from bertdata.wikipedia.wikis import PAGE_KINDS, SECTIONS_WITHOUT_PROSE, Namespaces

_REASONS = ("", *sorted(set(PAGE_KINDS.values())))
_TAGS = (*tags.SPECIAL, *sorted(tags.EXTENSIONS), *sorted(tags.FORMATTING))
_LARGEST_KEPT = 4 << 20
"""Buffers larger than this many bytes are not kept for the next page."""


class _Buffers(threading.local):
    """What one thread works in."""

    def __init__(self) -> None:
        self.first, self.second, self.third = (np.empty(1 << 16, np.uint8) for _ in range(3))
        self.frames, self.bars = np.empty((256, 4), np.int64), np.empty(4096, np.int64)
        self.scratch = np.empty(LONGEST_NAME + 8, np.uint8)
        self.tags_state = np.zeros(kernel_tags.STATE_SIZE, np.int64)
        self.state = np.zeros(kernel_brackets.STATE_SIZE, np.int64)

    def reserve(self, name: str, size: int) -> Bytes:
        """Return the buffer of this name with room for `size` items; what it held is kept."""
        held = getattr(self, name)
        if held.size < size:
            larger = np.empty(max(size, 2 * held.size), held.dtype)
            larger[: held.size] = held
            setattr(self, name, held := larger)
        return held

    def release(self) -> None:
        """Give the memory of a very large page back."""
        if (
            max(self.first.size, self.second.size, self.third.size, 8 * self.bars.size, 32 * len(self.frames))
            > _LARGEST_KEPT
        ):
            self.__init__()  # type: ignore[misc]


_buffers = _Buffers()


def extract_compiled(source: str, page: PageContext) -> tuple[str, str]:
    """Return what `wikitext.extract` returns.

    >>> extract_compiled("'''Rome''' is old.<ref>x</ref>", PageContext())
    ('Rome is old.', '')
    """
    work = _buffers
    table, blob = _table_of(page)
    try:
        size = _without_tags(source, work, table, blob)
        size, reason = _resolved(size, page, work, table, blob)
        if reason:
            return "", reason
        third = work.reserve("third", 2 * size + 64)
        size = lines_kernel(work.second, size, third, table, blob, work.scratch)
        second = work.reserve("second", 2 * size + 64)
        size = inline_kernel(third, size, second, table, blob, work.scratch)
        first, third = work.reserve("first", size + 64), work.reserve("third", size + 64)
        starts = work.reserve("bars", size + 1)
        size = finish_kernel(second, size, third, first, starts, _words())
        return str(first[:size], "utf-8", "surrogatepass"), ""
    finally:
        work.release()


def _without_tags(source: str, work: _Buffers, table: Ints, blob: Bytes) -> int:
    """Write wikitext without tags, after a line break, to `work.first`; returns the bytes."""
    data = source.encode("utf-8", "surrogatepass")
    text = np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8)
    text.flags.writeable = False
    state = work.tags_state
    state[:] = 0
    state[kernel_tags.WRITTEN] = 1
    out = work.reserve("first", len(data) + len(data) // 8 + 1024)
    out[0] = ord("\n")
    while (answer := tags_kernel(text, out, state, table, blob, work.scratch)) != kernel_tags.DONE:
        if answer == kernel_tags.GROW:
            out = work.reserve("first", 2 * out.size)
            continue
        name = _TAGS[int(table[state[kernel_tags.ROW], CODE]) >> 3]
        content = data[state[kernel_tags.BEGIN] : state[kernel_tags.END]].decode("utf-8", "surrogatepass")
        text_of = tags.content_of(name, content) or (HOLE if state[kernel_tags.HOLE_FITS] else "")
        out = _append(text_of, "first", kernel_tags.WRITTEN, state, work)
    return int(state[kernel_tags.WRITTEN])


def _resolved(size: int, page: PageContext, work: _Buffers, table: Ints, blob: Bytes) -> tuple[int, str]:
    """Resolve the brackets of `work.first[:size]` into `work.second`; returns the bytes, and why it is no article."""
    state = work.state
    state[:] = 0
    out = work.reserve("second", size + size // 4 + 1024)
    while True:
        text = work.first
        answer = brackets_kernel(text, size, out, work.frames, work.bars, state, table, blob, work.scratch)
        if answer == kernel_brackets.DONE:
            break
        if answer == kernel_brackets.GROW:
            if state[kernel_brackets.DEPTH] >= len(work.frames):
                work.frames = np.concatenate([work.frames, np.empty_like(work.frames)])
            elif state[kernel_brackets.BARS] + 1 >= work.bars.size:
                work.reserve("bars", 2 * work.bars.size)
            else:
                out = work.reserve("second", 2 * out.size)
        elif answer == kernel_brackets.VARIANTS:
            size = _replace("first", first_variants(_read(text, 1, size)), work, offset=1)
            state[:] = 0
            state[kernel_brackets.PLAIN_VARIANTS] = 1
        else:
            parts = _parts(text, out, work.bars, state)
            nested = bool(state[kernel_brackets.DEPTH])
            if answer == kernel_brackets.ASK_LINK:
                shown = link_text(parts[0], "|".join(parts[1:]) if parts[1:] else None, page, nested=nested)
            else:
                shown, kind = call_text(parts[0], parts[1:], page, nested=nested)
                if kind and not nested and not state[kernel_brackets.REASON]:
                    state[kernel_brackets.REASON] = _REASONS.index(kind)
            if shown is None:
                shown = HOLE if hole_fits(out, 0, state[kernel_brackets.WRITTEN]) else ""
            out = _append(shown, "second", kernel_brackets.WRITTEN, state, work)
    size = int(state[kernel_brackets.WRITTEN])
    if state[kernel_brackets.ORPHANS] or state[kernel_brackets.DEPTH]:
        size = _replace("second", recover(_read(out, 0, size), page), work)
    return size, _REASONS[int(state[kernel_brackets.REASON])]


def _parts(text: Bytes, out: Bytes, bars: Ints, state: Ints) -> list[str]:
    """Return what stands between the bars of the call or link that the kernel asks for."""
    begin, end = int(state[kernel_brackets.BEGIN]), int(state[kernel_brackets.END])
    if not state[kernel_brackets.IN_OUT]:
        return _read(text, begin, end).split("|")
    parts = []
    for bar in bars[state[kernel_brackets.FIRST_BAR] : state[kernel_brackets.LAST_BAR]].tolist():
        parts.append(_read(out, begin, bar))
        begin = bar + 1
    return [*parts, _read(out, begin, end)]


def _read(buffer: Bytes, begin: int, end: int) -> str:
    return str(buffer[begin:end], "utf-8", "surrogatepass")


def _append(text: str, name: str, written: int, state: Ints, work: _Buffers) -> Bytes:
    """Put text at the end of a buffer; returns the buffer."""
    state[written] = _replace(name, text, work, int(state[written]))
    return getattr(work, name)


def _replace(name: str, text: str, work: _Buffers, offset: int = 0) -> int:
    """Write text into a buffer; returns how far the buffer is written."""
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    work.reserve(name, offset + data.size + 1024)[offset : offset + data.size] = data
    return offset + data.size


def _table_of(page: PageContext) -> tuple[Ints, Bytes]:
    tables = _tables.setdefault(page.templates, {})
    if page.namespaces not in tables:
        tables[page.namespaces] = build_table(_entries(page.templates, page.namespaces))
    return tables[page.namespaces]


_tables: WeakKeyDictionary[Templates, dict[Namespaces, tuple[Ints, Bytes]]] = WeakKeyDictionary()


def _entries(templates: Templates, namespaces: Namespaces) -> Iterator[tuple[int, bytes, int, bytes]]:
    """Yield every name that the kernels know; of two entries of one name the first counts."""
    for name in VARIABLES:
        yield TEMPLATE, name.encode(), ASKED, b""
    for name in FUNCTIONS:
        yield FUNCTION, name.encode(), 0, b""
    for name, handler in templates.handlers.items():
        text = literal_text(handler)
        if text is not None and "=" not in text and len(text) < 20:
            yield TEMPLATE, name.encode(), LITERAL, text.encode()
        else:
            position = kept_position(handler)
            yield TEMPLATE, name.encode(), KEPT | position << 2 if position else ASKED, b""
    for name, kind in PAGE_KINDS.items():
        yield TEMPLATE, name.encode(), NO_ARTICLE | _REASONS.index(kind) << 2, b""
    for name in namespaces.hidden:
        yield PREFIX, name.encode(), 0, b""
    for name in SECTIONS_WITHOUT_PROSE:
        yield SECTION, name.encode(), 0, b""
    for number, name in enumerate(_TAGS):
        yield TAG, name.encode(), _tag_kind(name) | number << 3, b""
    for name in inline.PROTOCOLS:
        yield PROTOCOL, name.encode(), 0, b""
    for code, names in enumerate((inline.BREAK_TAGS, inline.BLOCK_TAGS, inline.FLAT_TAGS)):
        for name in names:
            yield INLINE_TAG, name.encode(), code, b""
    for name in html5:
        if name.endswith(";"):
            yield ENTITY, name[:-1].encode(), 0, (inline.entity_text(name[:-1]) or "").encode()


def _tag_kind(name: str) -> int:
    if name in ("poem", "math", "chem", "ce"):
        return kernel_tags.ASKED
    if name in ("ref", "nowiki"):
        return kernel_tags.REFERENCE if name == "ref" else kernel_tags.NOWIKI
    return kernel_tags.EXTENSION if name in tags.EXTENSIONS else kernel_tags.DROP


@lru_cache(1)
def _words() -> Any:
    return word_characters()


assert (kernel_inline.BREAK, kernel_inline.BLOCK, kernel_inline.FLAT) == (0, 1, 2)
