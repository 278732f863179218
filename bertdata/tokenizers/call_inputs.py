"""What a call of a tokenizer is asked for: its texts, and how long rows may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from bertdata.errors import ConfigError
from bertdata.io.console import counted
from bertdata.tokenizers.call_rows import TextTokens, windows
from bertdata.tokenizers.pairs import TRUNCATIONS, kept

PADDINGS = (False, True, "longest", "max_length", "do_not_pad")
UNLIMITED = 1 << 30
"""A `model_max_length` from here on is none."""


@dataclass(frozen=True)
class CallTexts:
    """The texts of a call, one or two for each row; each a string, or a list of words.

    seconds: None where no row has a second text, else those of the rows, None for a row without. single: whether the
    call was given one text rather than a list.
    """

    firsts: Any
    seconds: Any
    single: bool
    split: bool

    def given_seconds(self) -> tuple[list[int], Any]:
        """Return the numbers of the rows that have a second text, and these texts."""
        if self.seconds is None:
            return [], []
        if isinstance(self.seconds, pa.Array | pa.ChunkedArray):
            return [*range(len(self.seconds))], self.seconds
        numbers = [number for number, text in enumerate(self.seconds) if text is not None]
        return numbers, [self.seconds[number] for number in numbers]


def texts_of_call(text: Any, pair: Any, *, split: bool) -> CallTexts:
    """Return the texts of a call; raises ConfigError where they do not go together.

    split: whether texts are lists of words. Items of a list may be pairs themselves, as cross-encoders give them.

    >>> texts_of_call([("a", "b"), "c"], None, split=False)
    CallTexts(firsts=['a', 'c'], seconds=['b', None], single=False, split=False)
    """
    single = not _is_batch(text, split=split)
    if single:
        second = None if pair is None or (isinstance(pair, str | list | tuple) and not len(pair)) else pair
        if second is not None and _is_batch(second, split=split):
            raise _apart()
        _check([text, second], split=split)
        return CallTexts([text], None if second is None else [second], single=True, split=split)
    if pair is not None:
        if not _is_batch(pair, split=split) or len(text) != len(pair):
            raise _apart()
        _check([*text, *pair] if split else [], split=split)
        return CallTexts(text, pair, single=False, split=split)
    if not isinstance(text, list | tuple) or all(isinstance(each, str) for each in text):
        return CallTexts(text, None, single=False, split=split)
    pairs = [_pair(item, split=split) for item in text]
    seconds = [second for _, second in pairs]
    return CallTexts([first for first, _ in pairs], None if seconds == [None] * len(pairs) else seconds, False, split)


def _is_batch(text: Any, *, split: bool) -> bool:
    """Tell whether a call is given several texts rather than one."""
    if isinstance(text, str) or text is None:
        return False
    return not split or (len(text) > 0 and not isinstance(text[0], str))


def _pair(item: Any, *, split: bool) -> tuple[Any, Any]:
    """Return the texts of an item of a list: itself, or the two that it holds."""
    holds_texts = isinstance(item, list | tuple) and len(item) > 0
    if holds_texts and isinstance(item[0], (list | tuple) if split else str):
        if len(item) != 2:
            raise ConfigError(
                f"an item of text holds {counted(len(item), 'text')}; expected a text, or two of them for a row of "
                "two texts" + ("" if split else " (lists of words go with is_split_into_words=True)")
            )
        _check(item, split=split)
        return item[0], item[1]
    _check([item], split=split)
    return item, None


def _check(texts: Sequence[Any], *, split: bool) -> None:
    for text in texts:
        if text is not None and isinstance(text, str) == split:
            wanted = "a list of words, with is_split_into_words=True" if split else "a string"
            raise ConfigError(f"expected {wanted}, found {type(text).__name__}; give each text as that")


def _apart() -> ConfigError:
    return ConfigError("text and text_pair do not go together; expected two strings, or two lists of one length")


@dataclass(frozen=True)
class Lengths:
    """How rows are cut and padded, with the settings of a call checked.

    limit: the most ids of a row, and as many as it is padded to where `padding` is "max_length".
    """

    way: Any
    padding: Any
    limit: int
    stride: int
    multiple: int | None

    def parts(self, sizes: Sequence[int], special: int, side: str, *, others: bool) -> list[list[tuple[int, int]]]:
        """Return the places of the parts of the texts of a row: what stays, and where asked for, what is cut off."""
        room = self.limit - special
        first, second = sizes[0], sizes[1] if len(sizes) > 1 else 0
        if self.way == "do_not_truncate":
            return [[(0, size)] for size in sizes]
        if room < 0:
            raise ConfigError(f"max_length is {self.limit}; {special} ids are taken by special tokens alone")
        counts = kept(first, second, room, self.way)[: len(sizes)]
        for count, size in zip(counts, sizes, strict=True):
            if self.stride >= count and 0 < count < size and self.stride:
                raise ConfigError(
                    f"stride is {self.stride}, and {count} ids of a text stay in a row; expected fewer: raise "
                    "max_length, or lower stride"
                )
        cut = [windows(size, n, self.stride, side) for size, n in zip(sizes, counts, strict=True)]
        return cut if others else [places[:1] for places in cut]


def lengths_of_call(
    padding: Any, truncation: Any, max_length: int | None, model_max_length: int, stride: int, multiple: int | None
) -> Lengths:
    """Return how rows of a call are cut and padded; raises ConfigError for a setting that is none."""
    if not any(padding is way or (isinstance(way, str) and padding == way) for way in PADDINGS):
        raise ConfigError(f"padding is {padding!r}; expected True, False or one of {', '.join(map(str, PADDINGS[2:]))}")
    for name, number in (("max_length", max_length), ("stride", stride)):
        if number is not None and number < 0:
            raise ConfigError(f"{name} is {number}; expected a number from 0")
    if max_length is not None and padding is False and truncation is None:
        truncation = "longest_first"
    ways: dict[Any, str] = {True: "longest_first", False: "do_not_truncate", None: "do_not_truncate"}
    way: Any = ways.get(truncation, truncation)
    if way not in TRUNCATIONS:
        raise ConfigError(f"truncation is {truncation!r}; expected True, False or one of {', '.join(TRUNCATIONS)}")
    limit = model_max_length if max_length is None else max_length
    if limit >= UNLIMITED:
        way, padding = "do_not_truncate", False if padding == "max_length" else padding
    padding = False if padding == "do_not_pad" else padding
    if way != "do_not_truncate" and padding and multiple and limit % multiple:
        raise ConfigError(
            f"max_length is {limit}, and rows are cut to it and padded to a multiple of {multiple}; expected a "
            "max_length that is one"
        )
    return Lengths(way, padding, limit, stride, multiple)


def part_of(text: TextTokens, places: tuple[int, int]) -> TextTokens:
    """Return the tokens of a text between two places, the text itself where these are its ends."""
    return text if places == (0, len(text.ids)) else text.part(*places)
