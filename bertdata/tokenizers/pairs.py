"""Two texts in one row: how many tokens of each are kept, and the row with special tokens around them and padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

from bertdata.errors import ConfigError, InputError

Truncation = Literal["longest_first", "only_first", "only_second", "do_not_truncate"]
TRUNCATIONS = ("longest_first", "only_first", "only_second", "do_not_truncate")


@dataclass(frozen=True)
class RowTemplate:
    """The special ids around the texts of a row: prefix a suffix, or prefix a between b suffix.

    second_type: the token type of b and of the suffix after it; all else has type 0. last_type: that of the last id of
    the suffix, where it has one of its own. BERT's is [CLS] a [SEP] b [SEP] with type 1; RoBERTa's has two separators
    between the texts and type 0, so no token types; XLNet's is a <sep> b <sep> <cls>, of which <cls> has type 2.

    >>> RowTemplate((2,), (3,), (3,)).special(pair=True)
    3
    """

    prefix: tuple[int, ...]
    between: tuple[int, ...]
    suffix: tuple[int, ...]
    second_type: int = 1
    last_type: int | None = None

    @property
    def has_types(self) -> bool:
        """Whether rows have token types; the models of templates without them take none."""
        return bool(self.second_type or self.last_type)

    def suffix_types(self, *, pair: bool) -> list[int]:
        """Return the token types of the suffix, after one text or two."""
        types = [self.second_type if pair else 0] * len(self.suffix)
        if types and self.last_type is not None:
            types[-1] = self.last_type
        return types

    @property
    def separator(self) -> tuple[int, ...]:
        """What stands between two texts that are no pair, as two documents in a row: the first id of `between`."""
        return self.between[:1]

    def special(self, *, pair: bool) -> int:
        """Return how many special ids a row of one text has, or of two."""
        return len(self.prefix) + len(self.suffix) + (len(self.between) if pair else 0)

    def room(self, length: int, *, pair: bool) -> int:
        """Return how many ids of one text, or of two, fit into a row of a length.

        >>> RowTemplate((0,), (2, 2), (2,), second_type=0).room(512, pair=True)
        508
        """
        return length - self.special(pair=pair)


@dataclass(frozen=True)
class SingleTemplate(RowTemplate):
    """The special ids around one text, of a tokenizer whose rows of two texts are of another form.

    no_pairs: why. A row of two texts raises ConfigError.
    """

    no_pairs: str = ""

    def special(self, *, pair: bool) -> int:
        """Return how many special ids a row of one text has; raises ConfigError for one of two."""
        if pair:
            raise ConfigError(f"this tokenizer gives no rows of two texts for training: {self.no_pairs}")
        return super().special(pair=False)

    @property
    def plain(self) -> RowTemplate:
        """The template of rows of one text, as shards store it."""
        return RowTemplate(self.prefix, self.between, self.suffix, self.second_type, self.last_type)


def bert_template(cls_token_id: int, sep_token_id: int) -> RowTemplate:
    """Return BERT's row template: [CLS] a [SEP] b [SEP] with token type 1 from b on."""
    return RowTemplate((cls_token_id,), (sep_token_id,), (sep_token_id,))


def kept(n_first: int, n_second: int, room: int, truncation: Truncation = "longest_first") -> tuple[int, int]:
    """Return how many ids of two texts are kept so that both fit into `room`.

    Raises InputError where the text to be cut is no longer than what has to go, as `tokenizers` does.

    >>> kept(7, 2, 6), kept(7, 2, 6, "only_first"), kept(7, 2, 6, "do_not_truncate")
    ((4, 2), (4, 2), (7, 2))
    """
    over = n_first + n_second - room
    if over <= 0 or truncation == "do_not_truncate":
        return n_first, n_second
    if room == 0:
        return 0, 0
    if truncation == "longest_first":
        return longest_first(n_first, n_second, room)
    cut = n_first if truncation == "only_first" else n_second
    if cut <= over:
        raise InputError(
            f"the {truncation.removeprefix('only_')} text has {cut} ids and {over} have to go, which {truncation} "
            "cannot do; raise max_length, or truncate by longest_first"
        )
    return (n_first - over, n_second) if truncation == "only_first" else (n_first, n_second - over)


def longest_first(n_first: int, n_second: int, room: int) -> tuple[int, int]:
    """Return how many ids of two texts are kept so that both fit: the longer one gives way, down to equal halves.

    >>> longest_first(7, 2, 6), longest_first(7, 7, 5), longest_first(1, 2, 6)
    ((4, 2), (2, 3), (1, 2))
    """
    if n_first + n_second <= room:
        return n_first, n_second
    shorter, half = min(n_first, n_second), room // 2
    if shorter <= half:
        return (shorter, room - shorter) if n_first <= n_second else (room - shorter, shorter)
    return (half, room - half) if n_first <= n_second else (room - half, half)


def check_pair_settings(max_length: Any, truncation: str, pad_to_multiple_of: Any) -> None:
    """Raise ConfigError where a setting of `encode_pair` is not one."""
    if not isinstance(max_length, Integral):
        raise ConfigError(f"max_length is {max_length!r}; expected a whole number, or truncation='do_not_truncate'")
    if truncation not in TRUNCATIONS:
        raise ConfigError(f"truncation is {truncation!r}; expected one of {', '.join(TRUNCATIONS)}")
    if pad_to_multiple_of is not None and (not isinstance(pad_to_multiple_of, Integral) or pad_to_multiple_of < 1):
        raise ConfigError(f"pad_to_multiple_of is {pad_to_multiple_of!r}; expected a whole number from 1, or None")


def row_of(
    first: Sequence[int],
    second: Sequence[int] | None,
    *,
    template: RowTemplate,
    pad_token_id: int,
    pad_to_multiple_of: int | None = None,
) -> dict[str, list[int]]:
    """Return `input_ids`, `token_type_ids` and `attention_mask` of the ids of one text or two in a template.

    A template without token types gives no `token_type_ids`.

    >>> row_of([7], [8], template=RowTemplate((2,), (3,), (3,)), pad_token_id=0, pad_to_multiple_of=4)["input_ids"]
    [2, 7, 3, 8, 3, 0, 0, 0]
    """
    head = [*template.prefix, *first]
    tail: list[int] = []
    if second is not None:
        head, tail = [*head, *template.between], list(second)
    length = len(head) + len(tail) + len(template.suffix)
    padding = -length % (pad_to_multiple_of or 1)
    types = [0] * len(head) + [template.second_type] * len(tail) + template.suffix_types(pair=second is not None)
    row = {"input_ids": [*head, *tail, *template.suffix, *[pad_token_id] * padding]}
    if template.has_types:
        row["token_type_ids"] = types + [0] * padding
    return row | {"attention_mask": [1] * length + [0] * padding}
