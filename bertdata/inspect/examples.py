"""Examples of a build as tokens, with those to predict: what `show` and the report print.

Static masks are read from the shards; dynamic ones are drawn as the loader draws them for an epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.schedule import LEVELS
from bertdata.objectives.objective import Objective
from bertdata.shards import Shards
from bertdata.shards.columns import WORD_STARTS
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.base import Tokenizer

_CLOSING, _OPENING = frozenset(".,;:!?)]}%"), frozenset("([{")


@dataclass(frozen=True)
class ShownToken:
    """A token of an example, the token to predict in its place (None: nothing), and its kind.

    kind: text, special, mask, random or kept; a random token that happens to be the right one counts as kept. plain:
    the text of a token of kind text, if it differs from the token. continues: whether the token before masking
    continues a word, False where that is not known.
    """

    token: str
    target: str | None
    kind: str
    plain: str | None = None
    continues: bool = False

    @property
    def original(self) -> str:
        """The token before masking."""
        return self.token if self.target is None else self.target

    @property
    def text(self) -> str:
        """The token as it is shown.

        >>> [ShownToken("[MASK]", "salt", "mask").text, ShownToken("salt", "salt", "kept").text]
        ['[MASK→salt]', '[salt=]']
        >>> ShownToken("##y", None, "text", "y").text
        'y'
        """
        if self.kind == "mask":
            return f"[MASK→{_printable(self.original)}]"
        if self.kind == "random":
            return f"[{_printable(self.token)}→{_printable(self.original)}]"
        if self.kind == "kept":
            return f"[{_printable(self.token)}=]"
        return _printable(self.token if self.plain is None else self.plain)


@dataclass(frozen=True)
class Example:
    """One example: its number in the split, its id, its label and source in words, and its segments."""

    number: int
    example_id: int
    label: str | None
    segments: tuple[tuple[ShownToken, ...], ...]

    @property
    def tokens(self) -> int:
        """The number of its tokens, special ones included."""
        return sum(map(len, self.segments))

    @property
    def predictions(self) -> int:
        """The number of tokens to predict."""
        return sum(token.target is not None for segment in self.segments for token in segment)


def read_examples(
    shards: Shards, numbers: Iterable[int], *, epoch: int | None = None, at: float | None = None
) -> Iterator[Example]:
    """Yield examples of a split by number, masked as in `epoch` (default: 0), all examples of a packed row.

    at: the share of the run that is over, where the masks follow a schedule (default: 0). Raises ConfigError for a
    number that does not exist, for an epoch where the masks are static, and for `at` where no schedule changes them.
    """
    info = shards.expect_pretraining()
    static = not info.draws_masks
    if static and epoch is not None:
        raise ConfigError(
            "--epoch was given, but the masks of these shards are static: written into them; leave --epoch out"
        )
    tokenizer = shards.tokenizer()
    level = level_at(shards, at)
    masker = info.masker(tokenizer, split=shards.split, build=shards.build)
    for number in numbers:
        if not -len(shards) <= number < len(shards):
            raise ConfigError(
                f"there is no example {number}; {shards.split} has {len(shards):,}, 0 to {len(shards) - 1}"
            )
        packed = shards.examples(number)
        for place, row in enumerate(packed):
            ids = row["input_ids"]
            if static:
                labels = row["labels"]
            else:
                offsets, example_id = np.array([0, len(ids)]), np.array([row["example_id"]])
                starts = row.get(WORD_STARTS)
                masked = masker.mask(ids, offsets, example_id, epoch or 0, levels=level, word_starts=starts)
                ids, labels = masked.input_ids, masked.labels
            remarks = []
            if info.label:
                value = row[info.label]
                remarks.append(f"{label_texts(info.objective)[value]} ({info.label} {value})")
            if len(info.sources) > 1:
                remarks.append(f"from {info.sources[row['source']]}")
            if info.packed:
                remarks.append(f"{place + 1} of {len(packed)} in this row")
            tokens = list(_shown_tokens(tokenizer, info.mask_token_id, ids, labels, row.get(WORD_STARTS)))
            segments = _segments(tokens, info)
            yield Example(number % len(shards), row["example_id"], ", ".join(remarks) or None, segments)


def level_at(shards: Shards, at: float | None = None) -> int:
    """Return the level of the run, 0 to 1000, when a share `at` of it is over, 0 if not given.

    Raises ConfigError where that changes nothing of the masks of the split, and for what is not a share.
    """
    masking = shards.expect_pretraining().masking.for_split(shards.split)
    if at is not None and not masking.mask_schedule:
        raise ConfigError(
            f"--at was given, but the mask rate of {shards.split} is the same in the whole run; leave --at out, or "
            "build with --mask-schedule"
        )
    if at is not None and not 0 <= at <= 1:
        raise ConfigError(f"--at is {at:g}; expected a share of the run from 0 to 1")
    return int((at or 0) * LEVELS)


def _segments(tokens: Sequence[ShownToken], info: PretrainingInfo) -> tuple[tuple[ShownToken, ...], ...]:
    """Return the tokens of a row in one part, or of a pair in two, where the second text begins."""
    template = info.row_template
    inside = range(len(template.prefix), len(tokens) - len(template.suffix))
    first = next((place for place in inside if tokens[place].kind == "special"), None)
    if info.objective.token_types < 2 or first is None:
        return (tuple(tokens),)
    border = first + len(template.between)
    return tuple(tokens[:border]), tuple(tokens[border:])


def label_texts(objective: Objective) -> list[str]:
    """Return what each value of an objective's label means.

    >>> from bertdata.objectives.objective import find_objective
    >>> label_texts(find_objective("sop"))
    ['in order: B follows A', 'swapped: A follows B']
    """
    return [f"{name}: {text}" for name, text in zip(objective.label_names, objective.label_meanings, strict=True)]


def _shown_tokens(
    tokenizer: Tokenizer,
    mask_token_id: int,
    ids: NDArray[np.integer],
    labels: NDArray[np.integer],
    word_starts: NDArray[np.bool_] | None,
) -> Iterator[ShownToken]:
    """Yield the tokens of a row; those in marks are as in the vocabulary where a legend explains how it writes them."""
    special = frozenset(tokenizer.special_ids.tolist()) - {tokenizer.unk_token_id}
    texts = tokenizer.token_texts
    tokens = tokenizer.tokens if tokenizer.NOTATION else texts
    continues = np.zeros(len(ids), np.bool_)
    if word_starts is not None:
        continues = ~word_starts
    elif tokenizer.continuation is not None:
        continues = tokenizer.continuation[np.where(labels == IGNORE_INDEX, ids.astype(np.int64), labels)]
    for token_id, label, joined in zip(ids.tolist(), labels.tolist(), continues.tolist(), strict=True):
        token = tokens[token_id]
        if label == IGNORE_INDEX:
            if token_id in special:
                yield ShownToken(token, None, "special")
            else:
                plain = texts[token_id] if joined else texts[token_id].removeprefix(" ")
                yield ShownToken(token, None, "text", plain, joined)
        else:
            kind = "mask" if token_id == mask_token_id else "kept" if token_id == label else "random"
            yield ShownToken(token, tokens[label], kind, continues=joined)


def words(tokens: Iterable[ShownToken]) -> Iterator[list[ShownToken]]:
    """Yield the tokens that are written without a space between them: words, with the punctuation after them.

    >>> masked = ShownToken("[MASK]", "##y", "mask", None, True)
    >>> row = [ShownToken("salt", None, "text"), masked, ShownToken(".", None, "text")]
    >>> ["".join(token.text for token in word) for word in words(row)]
    ['salt[MASK→##y].']
    """
    word: list[ShownToken] = []
    for token in tokens:
        joined = token.continues or token.original in _CLOSING
        if word and not (joined or word[-1].original in _OPENING):
            yield word
            word = []
        word.append(token)
    if word:
        yield word


def _printable(token: str) -> str:
    return token if token.isprintable() else "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in token)
