"""The passes over wikitext as compiled kernels: the fast twin of `clean.extract`, with the same result.

It drives the kernels over buffers of bytes, answers what they ask (the text of a call they do not know, verse,
formulas), and makes buffers larger where they say so. Each call has buffers to itself: a user's template function may
clean wikitext in the middle of a page, and other threads meanwhile. Nothing here reads wikitext itself.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from bertdata.kernels.jit import plain
from bertdata.sources.wikipedia.dump.unescape_kernel import unescape_kernel
from bertdata.sources.wikipedia.wikitext.kernels import frames as frames_kernel
from bertdata.sources.wikipedia.wikitext.kernels import page as passes
from bertdata.sources.wikipedia.wikitext.kernels import tags as tags_kernel
from bertdata.sources.wikipedia.wikitext.kernels.cleanup import word_characters
from bertdata.sources.wikipedia.wikitext.kernels.common import CODE, LONGEST_NAME, Bytes, Ints, hole_fits
from bertdata.sources.wikipedia.wikitext.kernels.page import SIZE, TAGS_STATE_SIZE, page_kernel
from bertdata.sources.wikipedia.wikitext.reference import tags
from bertdata.sources.wikipedia.wikitext.reference.brackets import first_variants, recover
from bertdata.sources.wikipedia.wikitext.reference.cleanup import HOLE
from bertdata.sources.wikipedia.wikitext.symbol_table import REASONS, TAGS, table_of
from bertdata.sources.wikipedia.wikitext.template_calls import PageContext, call_text, link_text

_LARGEST_KEPT = 4 << 20
"""Buffers of more bytes than this, all of one call together, are not kept for the next page."""
_MOST_KEPT = 16
"""Sets of buffers that are kept for calls to come: more calls at once make their own and drop them again."""


class _Buffers:
    """What one call works in."""

    source: Bytes
    first: Bytes
    second: Bytes
    third: Bytes

    def __init__(self) -> None:
        for name in _TEXTS:
            setattr(self, name, np.empty(1 << 17, np.uint8))
        self.frames, self.bars = np.empty((256, 4), np.int64), np.empty(1 << 16, np.int64)
        self.scratch = np.empty(LONGEST_NAME + 8, np.uint8)
        self.tags_state = np.zeros(TAGS_STATE_SIZE, np.int64)
        self.state = np.zeros(frames_kernel.STATE_SIZE, np.int64)
        self.page, self.names = PageContext(), table_of(PageContext())

    def reserve(self, name: str, size: int) -> Bytes:
        """Return the buffer of this name with room for `size` items; what it held is kept."""
        held = getattr(self, name)
        if held.size < size:
            larger = np.empty(max(size, 2 * held.size), held.dtype)
            larger[: held.size] = held
            setattr(self, name, held := larger)
        return held

    def begin(self, page: PageContext, size: int) -> tuple[Ints, Bytes]:
        """Make room for a page of so many bytes, and return the names it may use."""
        if min(self.source.size, self.first.size, self.second.size, self.third.size) < size + size // 4 + 1024:
            for name in _TEXTS:
                self.reserve(name, size + size // 4 + 1024)
        if page.namespaces is not self.page.namespaces or page.templates is not self.page.templates:
            self.page, self.names = page, table_of(page)
        self.tags_state.fill(0)
        self.state.fill(0)
        return self.names

    def held(self) -> int:
        """Return the bytes of all buffers."""
        return sum(getattr(self, name).nbytes for name in _GROWING)


_TEXTS = ("source", "first", "second", "third")
_GROWING = (*_TEXTS, "frames", "bars")
_idle: deque[_Buffers] = deque(maxlen=_MOST_KEPT)


def _take() -> _Buffers:
    """Return buffers that are nobody else's until they are given back."""
    try:
        return _idle.pop()
    except IndexError:
        return _Buffers()


def _give_back(work: _Buffers) -> None:
    """Keep buffers for another call, unless a very large page made them large."""
    if work.held() <= _LARGEST_KEPT:
        _idle.append(work)


def extract_utf8(data: bytes, page: PageContext) -> tuple[bytes, str]:
    """Return the prose of wikitext, both in UTF-8, and why the page is no article ("" if it is one).

    >>> extract_utf8("'''Köln''' is old.<ref>x</ref>".encode(), PageContext())[0].decode()
    'Köln is old.'
    """
    work = _take()
    try:
        table, blob = work.begin(page, len(data))
        reason = _run(np.frombuffer(data, np.uint8), page, work, table, blob)
        return work.first[: work.tags_state[SIZE]].tobytes(), reason
    finally:
        _give_back(work)


def _run(text: Bytes, page: PageContext, work: _Buffers, table: Ints, blob: Bytes) -> str:
    """Let the kernel do one page, answering what it asks; returns why it is no article."""
    while True:
        answer = page_kernel(
            text, work.source, work.first, work.second, work.third, work.frames, work.bars,
            work.tags_state, work.state, table, blob, work.scratch, _WORDS,
        )  # fmt: skip
        if answer == passes.DONE:
            return REASONS[int(work.state[frames_kernel.REASON])]
        _ANSWERS[answer](page, work, table)


def unescape_compiled(data: bytes) -> bytes:
    """Return what `reader.unescape` returns.

    >>> unescape_compiled(b"AT&amp;amp;T &lt;b&gt; &#233;").decode()
    'AT&amp;T <b> é'
    """
    if b"&" not in data and b"\r" not in data:
        return data
    work = _take()
    out = work.reserve("source", len(data))
    plain: bytes = out[: unescape_kernel(np.frombuffer(data, np.uint8), out)].tobytes()
    _give_back(work)
    return plain


def _answer_tag(page: PageContext, work: _Buffers, table: Ints) -> None:
    """Write the text of the tag that the kernel asks for."""
    state = work.tags_state
    name = TAGS[int(table[state[tags_kernel.ROW], CODE]) >> 3]
    content = _read(work.source, state[tags_kernel.BEGIN], state[tags_kernel.END])
    text = tags.content_of(name, content) or (HOLE if state[tags_kernel.HOLE_FITS] else "")
    _append(text, "first", tags_kernel.WRITTEN, state, work)


def _answer_call(page: PageContext, work: _Buffers, table: Ints) -> None:
    """Write the text of the call that the kernel asks for."""
    state = work.state
    parts, nested = _parts(work), bool(state[frames_kernel.DEPTH])
    text, kind = call_text(parts[0], parts[1:], page, nested=nested)
    if kind and not nested and not state[frames_kernel.REASON]:
        state[frames_kernel.REASON] = REASONS.index(kind)
    _append_or_hole(text, work)


def _answer_link(page: PageContext, work: _Buffers, table: Ints) -> None:
    """Write the text of the link that the kernel asks for."""
    target, *labels = _parts(work)
    label = "|".join(labels) if labels else None
    _append_or_hole(link_text(target, label, page, nested=bool(work.state[frames_kernel.DEPTH])), work)


def _choose_variants(page: PageContext, work: _Buffers, table: Ints) -> None:
    """Put the first of its variants for each `-{...}-` of the page, and let the walk over brackets begin anew."""
    size = int(work.tags_state[SIZE])
    work.tags_state[SIZE] = _replace("first", first_variants(_read(work.first, 1, size)), work, offset=1)
    work.state[:] = 0
    work.state[frames_kernel.PLAIN_VARIANTS] = 1


def _clear_unclosed(page: PageContext, work: _Buffers, table: Ints) -> None:
    text = _read(work.second, 0, work.tags_state[SIZE])
    work.tags_state[SIZE] = _replace("second", recover(text, page), work)


def _enlarge_for_tags(page: PageContext, work: _Buffers, table: Ints) -> None:
    work.reserve("first", 2 * work.first.size)


def _enlarge_for_brackets(page: PageContext, work: _Buffers, table: Ints) -> None:
    if work.state[frames_kernel.DEPTH] >= len(work.frames):
        work.frames = np.concatenate([work.frames, np.empty_like(work.frames)])
    elif work.state[frames_kernel.BARS] + 1 >= work.bars.size:
        work.reserve("bars", 2 * work.bars.size)
    else:
        work.reserve("second", 2 * work.second.size)


def _enlarge_for_prose(page: PageContext, work: _Buffers, table: Ints) -> None:
    for name in ("first", "second", "third", "bars"):
        work.reserve(name, 2 * int(work.tags_state[SIZE]) + 64)


_ANSWERS = (
    *(_answer_tag, _answer_tag, _answer_call, _answer_link, _choose_variants, _clear_unclosed),
    *(_enlarge_for_tags, _enlarge_for_brackets, _enlarge_for_prose),
)
"""From what `page_kernel` returns to what answers it."""


def _parts(work: _Buffers) -> list[str]:
    """Return what stands between the bars of the call or link that the kernel asks for."""
    state = work.state
    begin, end = state[frames_kernel.BEGIN], state[frames_kernel.END]
    if not state[frames_kernel.IN_OUT]:
        return _read(work.first, begin, end).split("|")
    out, parts = work.second, []
    for bar in work.bars[state[frames_kernel.FIRST_BAR] : state[frames_kernel.LAST_BAR]].tolist():
        parts.append(_read(out, begin, bar))
        begin = bar + 1
    return [*parts, _read(out, begin, end)]


def _read(buffer: Bytes, begin: int, end: int) -> str:
    return str(buffer[begin:end], "utf-8", "surrogatepass")


def _append_or_hole(text: str | None, work: _Buffers) -> None:
    if text is None:
        text = HOLE if plain(hole_fits)(work.second, 0, work.state[frames_kernel.WRITTEN]) else ""
    _append(text, "second", frames_kernel.WRITTEN, work.state, work)


def _append(text: str, name: str, written: int, state: Ints, work: _Buffers) -> None:
    """Put text at the end of a buffer."""
    state[written] = _replace(name, text, work, int(state[written]))


def _replace(name: str, text: str, work: _Buffers, offset: int = 0) -> int:
    """Write text into a buffer; returns how far the buffer is written."""
    data = text.encode("utf-8", "surrogatepass")
    end = offset + len(data)
    work.reserve(name, end + 1024)[offset:end] = np.frombuffer(data, np.uint8)
    return end


_WORDS = word_characters()
