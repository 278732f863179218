"""What the normalizer of a `tokenizer.json` makes of texts, as stages that each rewrite Arrow arrays.

Normalizers that look at characters are one stage for as many as follow each other: `tokenizers` is asked once for each
character, and once for each run of characters that depend on each other, such as a letter with its accents. Spaces at
the edges, runs of spaces and what is put before a text are stages of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import regex
from numpy.typing import NDArray

from bertdata.characters.newer import lowered
from bertdata.text_arrays import READ_AHEAD
from bertdata.tokenizers.encode.kernels import rewriting as kernel
from bertdata.tokenizers.encode.kernels.bitmaps import new_characters
from bertdata.tokenizers.encode.tables import room
from bertdata.tokenizers.encode.words import padded_texts
from bertdata.tokenizers.json_format import METASPACE
from bertdata.tokenizers.spm.charsmap import FORMER_MARKS, MARKS

Stage = Callable[[pa.Array], pa.Array]
_BY_CHARACTER = {"NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase", "StripAccents", "Precompiled", "BertNormalizer"}
_POINTS, _BODY_BYTES, _MOST_BYTES, _AT_A_TIME = 0x110000, 1 << 20, 63, 1 << 8
_MOST_FRAGMENTS = 1 << 16
_MOST_RUNS = 8
_ALONE = regex.compile(
    r"(?V1)[[\p{L}\p{N}\p{P}\p{S}\p{Z}\p{Cc}]&&[\p{GCB=Other}\p{GCB=LV}\p{GCB=LVT}\p{GCB=Control}]&&\p{ccc=0}"
    r"&&[^\p{NFC_Quick_Check=Maybe}]]|[\r\n]"
)
"""Characters that make no grapheme with others and that none before them is composed with."""
_APART = regex.compile(
    rf"\(\?<=\[(?:[^\[\]\\^&]|\\.)+\]\)\(\?=\[(?:{regex.escape(MARKS)}|{regex.escape(FORMER_MARKS)}|\n)\]\)"
)
"""The patterns of `spm.charsmap.steps`, and of files that former versions wrote."""
_REACHES = regex.compile(r"[\p{GCB=Prepend}\p{Cn}\u200d]")
"""Characters that may make a grapheme with the next one, and those that the tables of Python do not know."""
_SPACES = regex.compile(r"[\p{White_Space}]")
_WHITE = [chr(point) for point in range(0x3001) if _SPACES.match(chr(point))]
_RUNS = {" {2,}": ([" "], 2), r"\s+": (_WHITE, 1)}
"""Patterns of Replace that are runs of white space: which, and at least how many."""
_MOST_CONTENT = 32
_EDGES = {r"\A +| +\z": " ", rf"\A +|[ {METASPACE}]+\z": f" {METASPACE}"}
"""Patterns of spaces at the edges of a text, and what is taken away at its end."""


class UnknownNormalizerError(ValueError):
    """A normalizer is not known here; the message says which."""


def stages_of(parts: Sequence[Mapping[str, Any]]) -> list[Stage]:
    """Return the stages of normalizers of a `tokenizer.json`. Raises UnknownNormalizerError."""
    stages: list[Stage] = []
    for kind, group in groupby(parts, _kind_of_stage):
        some = list(group)
        if kind == "characters":
            stages.append(CharacterStage(some))
        elif kind == "strings":
            stages.append(_strings_replaced([(part["pattern"]["String"], part["content"]) for part in some]))
        else:
            stages += map(_stage, some)
    return stages


def rewritten(arrays: Iterable[pa.Array], stages: Sequence[Stage]) -> Iterator[pa.Array]:
    """Yield Arrow string arrays of UTF-8 with their texts rewritten."""
    for rows in arrays:
        yield reduce(lambda texts, stage: stage(texts), stages, rows)


def begin_with(prefix: str) -> Stage:
    """Return the stage that puts a prefix before texts that do not begin with it, unless they are empty."""
    return _prepended(prefix, twice=False)


def _kind_of_stage(part: Mapping[str, Any]) -> str:
    """Return how a normalizer goes together with others: "characters", "strings", or "alone"."""
    if keeps_marks_apart(part):
        return "characters"
    if part["type"] == "Replace" and part["pattern"].get("String"):
        return "characters" if len(part["pattern"]["String"]) == 1 else "strings"
    return "characters" if part["type"] in _BY_CHARACTER else "alone"


def keeps_marks_apart(part: Mapping[str, Any]) -> bool:
    """Tell whether a normalizer puts something between a character of a list and a mark that follows it."""
    pattern = part["pattern"].get("Regex", "") if part["type"] == "Replace" else ""
    return _APART.fullmatch(pattern) is not None


def _strings_replaced(pairs: Sequence[tuple[str, str]]) -> Stage:
    """Return the stage that replaces strings, one after another: those whose last character is in the texts."""

    lasts = [ord(pattern[-1]) for pattern, _ in pairs]

    def stage(rows: pa.Array) -> pa.Array:
        [(_, text, offsets, _)] = padded_texts([rows])
        present = np.zeros(_POINTS, np.bool_)
        kernel.mark_points(text, int(offsets[0]), int(offsets[-1]), present)
        for (pattern, content), last in zip(pairs, lasts, strict=True):
            if present[last]:
                rows = pc.replace_substring(rows, pattern, content)
                present[[ord(character) for character in content]] = True  # it may be there from now on
        return rows

    return stage


def _stage(part: Mapping[str, Any]) -> Stage:
    kind = part["type"]
    if kind == "Prepend":
        return _prepended(part["prepend"], twice=True)
    if kind == "Strip":
        return _stripped(left=part["strip_left"], right=part["strip_right"])
    if kind == "Replace":
        [(_, pattern)] = part["pattern"].items()
        content = part["content"]
        if pattern in _RUNS and len(content.encode()) <= _MOST_CONTENT:
            return _runs_replaced(*_RUNS[pattern], content)
        if pattern in _EDGES and not content:
            return lambda rows: pc.utf8_rtrim(pc.utf8_ltrim(rows, " "), _EDGES[pattern])
        raise UnknownNormalizerError(f"its normalizer replaces {pattern!r}")
    raise UnknownNormalizerError(f"its normalizer has {kind}")


def _prepended(prefix: str, *, twice: bool) -> Stage:
    """Return the stage that puts a prefix before texts that are not empty, and `twice` where they begin with it."""
    first = np.frombuffer(prefix.encode(), np.uint8)

    def stage(rows: pa.Array) -> pa.Array:
        [(_, text, offsets, _)] = padded_texts([rows])
        return _written(
            offsets, len(first) * len(rows),
            lambda out, out_offsets: kernel.prepend(text, offsets, first, twice, out, out_offsets),
        )  # fmt: skip

    return stage


def _stripped(*, left: bool, right: bool) -> Stage:
    spaces = "".join(_WHITE)
    if left and right:
        return lambda rows: pc.utf8_trim(rows, spaces)
    if left or right:
        trim = pc.utf8_ltrim if left else pc.utf8_rtrim
        return lambda rows: trim(rows, spaces)
    return lambda rows: rows


def _runs_replaced(spaces: Sequence[str], least: int, content: str) -> Stage:
    """Return the stage that replaces runs of at least so many spaces."""
    kinds, first_bytes = np.zeros(0x3001, np.bool_), np.zeros(256, np.uint8)
    kinds[[ord(space) for space in spaces]] = True
    for space in spaces:
        first_bytes[space.encode()[0]] = 1 if space.isascii() else 2
    data = np.frombuffer(content.encode(), np.uint8)

    def stage(rows: pa.Array) -> pa.Array:
        [(_, text, offsets, _)] = padded_texts([rows])
        return _written(
            offsets, 0,
            lambda out, out_offsets: kernel.replace_runs(
                text, offsets, first_bytes, kinds, least, data, out, out_offsets
            ),
        )  # fmt: skip

    return stage


class CharacterStage:
    """Normalizers that look at characters, and at those beside them only where these make something together."""

    def __init__(self, parts: Sequence[Mapping[str, Any]]) -> None:
        from tokenizers import normalizers

        steps = [_normalizer(part) for part in parts]
        lowers = any(part["type"] == "Lowercase" or part.get("lowercase") for part in parts)
        self._steps = [(_sought(part), _step(step, lowers=lowers)) for part, step in zip(parts, steps, strict=True)]
        self._all = _step(normalizers.Sequence(steps), lowers=lowers)
        self._codes, self._bodies = np.zeros(_POINTS, np.uint32), np.zeros(_BODY_BYTES + 8, np.uint8)
        self._asked, self._used, self._lock = np.zeros(_POINTS, np.uint8), 0, Lock()
        self._graphemes = any(part["type"] == "Precompiled" for part in parts)
        self._fragments: dict[bytes, bytes] = {}
        for point in range(0x80):
            self._codes[point] = self._code(chr(point))
        codes, self._plain, self._folds = self._codes[:0x80], np.zeros(256, np.bool_), np.zeros(256, np.uint8)
        self._plain[:0x80] = codes & kernel.KIND == kernel.ALONE
        single = self._plain[:0x80] & (codes >> kernel.SIZE_SHIFT & 63 == 1)
        self._most = int(max(1, (codes[self._plain[:0x80]] >> kernel.SIZE_SHIFT & 63).max(initial=1)))
        self._folds[:0x80] = np.where(single, self._bodies[codes >> kernel.BODY_SHIFT], 0)
        changes = np.diff(self._folds[:0x80] != np.arange(0x80), prepend=False, append=False)
        runs = np.flatnonzero(changes).reshape(-1, 2)
        first_and_more = np.stack([runs[:, 0], runs[:, 1] - runs[:, 0] - 1], axis=1).astype(np.uint8)
        self._changed = first_and_more[: len(runs) if len(runs) <= _MOST_RUNS else 0]

    def __call__(self, rows: pa.Array) -> pa.Array:
        """Return the rows as the normalizers make them."""
        [(_, text, offsets, _)] = padded_texts([rows])
        fragments = self._find(text, offsets)
        made = [self._made(text[start:stop].tobytes()) for start, stop in fragments.tolist()]
        ends = np.zeros(len(made) + 1, np.int64)
        np.cumsum([len(text) for text in made], out=ends[1:])
        joined = np.frombuffer(b"".join(made) + b"\0", np.uint8)
        tables = self._codes, self._bodies, self._folds, self._changed, self._most
        longer = (self._most - 1) * int(offsets[-1] - offsets[0])
        return _written(
            offsets, int(ends[-1]) + longer,
            lambda out, out_offsets: kernel.write(
                text, offsets, *tables, fragments, len(fragments), joined, ends, out, out_offsets
            ),
        )  # fmt: skip

    def _find(self, text: Any, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the fragments, after giving each character a code."""
        registers, size = np.zeros(2, np.int64), _MOST_FRAGMENTS
        fragments = np.empty((size, 2), np.int64)
        while True:
            count = int(kernel.find_fragments(text, offsets, self._codes, self._plain, fragments, registers))
            if count >= 0:
                return fragments[:count]
            if -1 - count == len(text):
                fragments = np.concatenate([fragments, np.empty_like(fragments)])
                continue
            self._learn(text, -1 - count, int(offsets[-1]))

    def _learn(self, text: Any, at: int, end: int) -> None:
        new = np.empty(_AT_A_TIME, np.int64)
        with self._lock:
            for point in new[: new_characters(text, at, end, self._asked, new)].tolist():
                self._codes[point], self._asked[point] = self._code(chr(point)), 1

    def _made(self, fragment: bytes) -> bytes:
        made = self._fragments.get(fragment)
        if made is None:
            made = self._all(fragment.decode()).encode()
            if len(fragment) < 64 and len(self._fragments) < _MOST_FRAGMENTS:
                self._fragments[fragment] = made
        return made

    def _code(self, character: str) -> int:
        """Return the code of a character, asked of the normalizers between two letters."""
        if _REACHES.match(character) or (self._graphemes and character == "\r"):
            return kernel.WHOLE_ROW
        if not _ALONE.match(character):
            return kernel.TOGETHER
        text, body = f"a{character}a", character
        for sought, normalize in self._steps:
            if sought not in text:
                continue
            text = normalize(text)
            body = text[1:-1]
            edges = text[:1] == text[-1:] == "a" and body
            if not edges or not _ALONE.match(body[0]) or _REACHES.match(body[-1]):
                return kernel.TOGETHER
        data = body.encode()
        if len(data) > _MOST_BYTES or self._used + len(data) > _BODY_BYTES:
            return kernel.TOGETHER
        place = self._used
        self._bodies[place : place + len(data)] = np.frombuffer(data, np.uint8)
        self._used += len(data)
        return kernel.ALONE | len(data) << kernel.SIZE_SHIFT | place << kernel.BODY_SHIFT


def _written(offsets: NDArray[np.int64], more: int, write: Callable[[Any, Any], Any]) -> pa.Array:
    """Return texts that a kernel writes into room for as many bytes as there are, and some more."""
    out_offsets = np.zeros(len(offsets), np.int64)
    size = int(offsets[-1] - offsets[0]) * 9 // 8 + more + READ_AHEAD + 256
    while True:
        out = room(size, np.uint8)
        written = int(write(out, out_offsets))
        if written >= 0:
            break
        size *= 2
    out[written : written + READ_AHEAD] = 0
    buffers = [None, pa.py_buffer(out_offsets), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def _sought(part: Mapping[str, Any]) -> str:
    """Return the string without which a normalizer leaves a text as it is; an empty one where there is none."""
    return str(part["pattern"].get("String", "")) if part["type"] == "Replace" else ""


def _step(normalizer: Any, *, lowers: bool) -> Callable[[str], str]:
    """Return what a normalizer makes of a text; where capital letters become small, newer ones as well."""
    normalize: Callable[[str], str] = normalizer.normalize_str
    return (lambda text: normalize(lowered(text))) if lowers else normalize


def _normalizer(part: Mapping[str, Any]) -> Any:
    """Return a normalizer of `tokenizers`."""
    from tokenizers import Tokenizer

    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    return Tokenizer.from_str(
        json.dumps({"version": "1.0", "added_tokens": [], "normalizer": part, "model": model})
    ).normalizer
