"""The kernels over wikitext, driven from Python; the result is that of `clean.extract`, the reference.

The driver gives the kernels buffers, writes what they ask for (the text of a template call they do not know, verse,
formulas), and makes buffers larger. Each call has buffers of its own: a user's template function may clean wikitext in
the middle of a page, and other threads may at the same time.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from bertdata.kernels.characters import NEWLINE, Bytes
from bertdata.wikitext import rules
from bertdata.wikitext.kernels import brackets, common, page, tags, walk
from bertdata.wikitext.kernels.cleanup import word_characters
from bertdata.wikitext.reference.brackets import recover
from bertdata.wikitext.reference.tags import content_of, placeholder_after, take_out_tags
from bertdata.wikitext.reference.variants import resolve_variants
from bertdata.wikitext.symbol_table import REASONS, table_of
from bertdata.wikitext.template_calls import PageContext, call_text, link_text

_LARGEST_KEPT = 8 << 20
"""Buffers of more bytes than this, all of one call together, are not kept for the next page."""
_MOST_KEPT = 16
"""Sets of buffers that are kept for calls to come: more calls at once make their own and drop them again."""
_TEXTS = ("source", "first", "second", "third")
_GROWING = (*_TEXTS, "frames", "bars")


class _Buffers:
    """What one call works in: the page, its text between the passes, and the state of the kernels."""

    def __init__(self) -> None:
        self.source, self.first, self.second, self.third = (np.empty(1 << 17, np.uint8) for _ in _TEXTS)
        self.frames, self.bars = np.empty((256, 4), np.int64), np.empty(1 << 16, np.int64)
        self.scratch = np.empty(common.LONGEST_NAME + 8, np.uint8)
        self.tags_state = np.zeros(page.TAGS_STATE_SIZE, np.int64)
        self.state = np.zeros(walk.STATE_SIZE, np.int64)
        self.growing_bytes = sum(getattr(self, name).nbytes for name in _GROWING)
        self.page = PageContext()
        self.table, self.blob = table_of(self.page)

    def reserve(self, name: str, size: int) -> Bytes:
        """Return the buffer of this name with room for `size` items; its content is kept."""
        buffer = getattr(self, name)
        if len(buffer) < size:
            larger = np.empty((max(size, 2 * len(buffer)), *buffer.shape[1:]), buffer.dtype)
            larger[: len(buffer)] = buffer
            self.growing_bytes += larger.nbytes - buffer.nbytes
            setattr(self, name, buffer := larger)
        return buffer

    def begin(self, data: bytes, context: PageContext) -> None:
        """Take in the wikitext of a page, make room for its text between the passes, look up the names it may use."""
        size = len(data) + len(data) // 4 + brackets.ROOM
        for name in _TEXTS:
            self.reserve(name, size)
        if context.namespaces is not self.page.namespaces or context.templates is not self.page.templates:
            self.table, self.blob = table_of(context)
        self.page = context
        self.tags_state.fill(0)
        self.state.fill(0)
        self.source.data[: len(data)] = data
        self.first[0] = NEWLINE
        self.tags_state[page.SIZE], self.tags_state[tags.WRITTEN] = len(data), 1


_idle: deque[_Buffers] = deque(maxlen=_MOST_KEPT)


def _borrow() -> _Buffers:
    """Borrow buffers exclusively, until they are given back."""
    try:
        return _idle.pop()
    except IndexError:
        return _Buffers()


def _give_back(work: _Buffers) -> None:
    """Keep buffers for another call, unless a very large page made them large."""
    if work.growing_bytes <= _LARGEST_KEPT:
        _idle.append(work)


def extract_utf8(data: bytes, context: PageContext) -> tuple[bytes, str]:
    """Return the prose of wikitext, both in UTF-8, and why the page is not an article ("" if it is one).

    The wikitext is without the characters of `rules.RESERVED`.

    >>> extract_utf8("'''Köln''' is old.<ref>x</ref>".encode(), PageContext())[0].decode()
    'Köln is old.'
    """
    work = _borrow()
    try:
        work.begin(data, context)
        while True:
            answer = page.page_kernel(
                work.source, work.first, work.second, work.third, work.frames, work.bars,
                work.tags_state, work.state, work.table, work.blob, work.scratch, _WORDS,
            )  # fmt: skip
            if answer == common.DONE:
                return work.first[: work.tags_state[page.SIZE]].tobytes(), REASONS[int(work.state[walk.REASON])]
            _ANSWERS[answer](work)
    finally:
        _give_back(work)


def _answer_tag(work: _Buffers) -> None:
    """Write the text of the tag that the kernel asks for."""
    state = work.tags_state
    name = rules.TAGS[work.table.item(state[tags.ROW], common.CODE) >> 3]
    text = content_of(name, _read(work.source, state[tags.BEGIN], state[tags.END]))
    if not text and state[tags.PLACEHOLDER_FITS]:
        text = rules.PLACEHOLDER
    state[tags.WRITTEN] = _write("first", text, work, int(state[tags.WRITTEN]))


def _answer_call(work: _Buffers) -> None:
    """Write the text of the template call that the kernel asks for."""
    state = work.state
    parts, nested = _parts(work), bool(state[walk.DEPTH])
    text, kind = call_text(parts[0], parts[1:], work.page, nested=nested, inside=bool(state[walk.INSIDE]))
    if kind and not nested and not state[walk.REASON]:
        state[walk.REASON] = REASONS.index(kind)
    _append(text, work)


def _answer_link(work: _Buffers) -> None:
    """Write the text of the link that the kernel asks for."""
    target, *labels = _parts(work)
    label = "|".join(labels) if labels else None
    _append(link_text(target, label, work.page, nested=bool(work.state[walk.DEPTH])), work)


def _take_out_tags(work: _Buffers) -> None:
    """Do the first pass in Python."""
    text = take_out_tags(_read(work.source, 0, work.tags_state[page.SIZE]))
    work.tags_state[page.STAGE] = page.BRACKETS
    work.tags_state[page.SIZE] = _write("first", _in_variant(text, work), work, 1)


def _choose_variants(work: _Buffers) -> None:
    """Replace each `-{...}-` of the page by what it shows."""
    text = _read(work.first, 1, work.tags_state[page.SIZE])
    work.tags_state[page.SIZE] = _write("first", _in_variant(text, work), work, 1)


def _in_variant(text: str, work: _Buffers) -> str:
    return resolve_variants(text, work.page.templates.locale.wiki, work.page.variant)


def _clear_unclosed(work: _Buffers) -> None:
    """Clear the marks of what never closes."""
    text = _read(work.second, 0, work.tags_state[page.SIZE])
    work.tags_state[page.SIZE] = _write("second", recover(text, work.page), work, 0)


def _enlarge_for_tags(work: _Buffers) -> None:
    work.reserve("first", 2 * work.first.size)


def _enlarge_for_brackets(work: _Buffers) -> None:
    name = "second"
    if work.state[walk.DEPTH] >= len(work.frames):
        name = "frames"
    elif work.bars.size - work.state[walk.BARS] < brackets.ROOM:
        name = "bars"
    work.reserve(name, 2 * len(getattr(work, name)))


def _enlarge_for_prose(work: _Buffers) -> None:
    for name in ("first", "second", "third", "bars"):
        work.reserve(name, 2 * int(work.tags_state[page.SIZE]) + 64)


_ANSWERS = {
    common.ASK_TAG: _answer_tag,
    common.ASK_CALL: _answer_call,
    common.ASK_LINK: _answer_link,
    common.CUT_REFERENCE: _take_out_tags,
    common.VARIANTS: _choose_variants,
    common.RECOVER: _clear_unclosed,
    common.GROW_TAGS: _enlarge_for_tags,
    common.GROW_BRACKETS: _enlarge_for_brackets,
    common.GROW_PROSE: _enlarge_for_prose,
}


def _parts(work: _Buffers) -> list[str]:
    """Return the texts between the bars of the template call or link that the kernel asks for."""
    in_out, begin, end, first_bar, last_bar = work.state[walk.IN_OUT : walk.LAST_BAR + 1].tolist()
    text = (work.second if in_out else work.first)[begin:end].tobytes()
    parts, part_begin = [], 0
    for bar in work.bars[first_bar:last_bar].tolist():
        parts.append(text[part_begin : bar - begin].decode("utf-8", "surrogatepass"))
        part_begin = bar - begin + 1
    parts.append(text[part_begin:].decode("utf-8", "surrogatepass"))
    return parts


def _read(buffer: Bytes, begin: int, end: int) -> str:
    return str(buffer[begin:end], "utf-8", "surrogatepass")


def _append(text: str | None, work: _Buffers) -> None:
    """Write what a template call or a link leaves; None is a placeholder, where it fits."""
    end = int(work.state[walk.WRITTEN])
    if text is None:
        text = placeholder_after(work.second[max(0, end - 4) : end].tobytes().decode("utf-8", "replace"))
    work.state[walk.WRITTEN] = _write("second", text, work, end)


def _write(name: str, text: str, work: _Buffers, offset: int) -> int:
    """Write text into a buffer from an offset on; returns where it ends."""
    data = text.encode("utf-8", "surrogatepass")
    end = offset + len(data)
    work.reserve(name, end + 1024).data[offset:end] = data
    return end


_WORDS = word_characters()
