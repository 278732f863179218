"""`bertdata show`: examples of a build as text, with the predicted tokens marked.

Static masks are read from the shards; dynamic ones are drawn as the loader draws them for an epoch. A mark shows the
token in the row and the one to predict: [MASK→word] masked, [other→word] replaced, [word=] kept.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import ConfigError, printable
from bertdata.inspect.dropped import dropped_lines, stored_texts
from bertdata.inspect.folders import describe, text_of
from bertdata.inspect.grep import counted_rows, opened, rows_with
from bertdata.inspect.summary import choice_text
from bertdata.inspect.task_figures import task_example_text, task_examples
from bertdata.io import files
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.schedule import LEVELS
from bertdata.objectives.objective import Objective
from bertdata.shards import Shards, open_shards
from bertdata.shards.packed import WORD_STARTS
from bertdata.shards.phases import phase_names
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.tasks import TaskInfo
from bertdata.tokenizers.base import Tokenizer

BYTES = "\\xE2: a byte of a character that takes several tokens"
SIMILAR = "[other→word] is a token of a similar word, too: these masks have similar words in place of [MASK]"
LEGEND = (
    ("mask", "[MASK→word]", "to predict, masked"),
    ("random", "[other→word]", "to predict, replaced by a random token"),
    ("kept", "[word=]", "to predict, kept"),
)
"""The kinds of marks, how each looks, and what it means."""

_CLOSING, _OPENING = frozenset(".,;:!?)]}%"), frozenset("([{")
_COLOURS = {"mask": "1;33", "random": "1;31", "kept": "1;32", "special": "2", "head": "1"}


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
    masker = masker_at(shards, at)
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
                masked = masker.mask(ids, offsets, example_id, epoch or 0, word_starts=row.get(WORD_STARTS))
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


def masker_at(shards: Shards, at: float | None = None) -> Masker:
    """Return what masks a split when a share `at` of the run is over; raises ConfigError where that changes nothing."""
    masker = shards.expect_pretraining().masker(shards.tokenizer(), split=shards.split, build=shards.build)
    if at is not None and not masker.config.mask_schedule:
        raise ConfigError(
            f"--at was given, but the mask rate of {shards.split} is the same in the whole run; leave --at out, or "
            "build with --mask-schedule"
        )
    if at is not None and not 0 <= at <= 1:
        raise ConfigError(f"--at is {at:g}; expected a share of the run from 0 to 1")
    return masker.at(int((at or 0) * LEVELS))


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


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> columns("salt"), columns("塩"), columns("e\u0301")
    (4, 2, 1)
    """
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def render(example: Example, total: int, width: int, *, color: bool) -> str:
    """Return one example as lines of at most `width` columns; a longer word has a line of its own."""
    label = f", {printable(example.label)}" if example.label else ""
    head = f"example {example.number} of {total:,}: {example.tokens} tokens, {example.predictions} to predict{label}"
    lines = [_painted(head, "head", color)]
    for number, segment in enumerate(example.segments):
        name = "AB"[number % 2] if len(example.segments) > 1 else " "
        lines += _wrapped(segment, f"{name}  ", width, color=color)
    return "\n".join(lines)


def _wrapped(segment: Sequence[ShownToken], name: str, width: int, *, color: bool) -> Iterator[str]:
    line, used = name, len(name)
    for word in words(segment):
        size = sum(columns(token.text) for token in word)
        space = used > len(name)
        if space and used + 1 + size > width:
            yield line
            line, used, space = " " * len(name), len(name), False
        line += " " * space + "".join(_painted(token.text, token.kind, color) for token in word)
        used += space + size
    yield line


def _painted(text: str, kind: str, color: bool) -> str:
    return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m" if color and kind in _COLOURS else text


def notations(tokenizer: Tokenizer) -> list[str]:
    """Return lines for a legend on how tokens are written: the `NOTATION`, and bytes where there are such."""
    has_bytes = any("\\x" in text for text in tokenizer.token_texts)
    return [*([tokenizer.NOTATION] if tokenizer.NOTATION else []), *([BYTES] if has_bytes else [])]


def legend(notations: Sequence[str] = (), *, color: bool) -> str:
    """Return the meaning of the marks, a line each, and after them how tokens are written."""
    width = max(len(mark) for _, mark, _ in LEGEND)
    lines = [_painted(mark, kind, color) + " " * (width - len(mark)) + "  " + text for kind, mark, text in LEGEND]
    return "\n".join([*lines, *notations])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata show` to a parser."""
    parser.add_argument(
        "shards", metavar="DIR", help="a finished build, one of its splits, a task, or another folder of bertdata"
    )
    parser.add_argument("--split", help="train or validation (default: train)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--index", type=int, metavar="N", help="only this example; negative numbers count from the end")
    which.add_argument(
        "--count",
        type=int,
        default=3,
        metavar="N",
        help="the first N examples, with --dropped N of each reason (default: 3)",
    )
    parser.add_argument("--epoch", type=int, metavar="N", help="draw dynamic masks of this epoch (default: 0)")
    parser.add_argument(
        "--at",
        type=float,
        metavar="SHARE",
        help="draw masks of this share of the run, with --mask-schedule (default: 0)",
    )
    parser.add_argument(
        "--dropped",
        metavar="REASON",
        nargs="?",
        const="",
        help="in place of examples, samples of the documents that rules dropped and what these measured, for all "
        "reasons or for one",
    )
    parser.add_argument(
        "--grep", metavar="TEXT", help="count the rows of all splits that have these words, and show the first of them"
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")


def run(arguments: argparse.Namespace) -> int:
    """Print examples as parsed arguments say."""
    if arguments.count < 1:
        raise ConfigError(f"--count is {arguments.count}; expected at least 1")
    if not arguments.split and (folder := describe(arguments.shards)):
        print(text_of(folder, arguments.shards))
        return 0
    if arguments.grep is not None:
        for found in opened(arguments.shards, arguments.split):
            rows = rows_with(found, arguments.grep).tolist()
            print(counted_rows(found, arguments.grep, len(rows)))
            if rows:
                _print_examples(found, rows[: arguments.count], arguments)
        return 0
    folder_of_phase, note = _of_phases(arguments.shards)
    if note:
        print(note)
    shards = open_shards(folder_of_phase, arguments.split)
    numbers = [arguments.index] if arguments.index is not None else range(min(arguments.count, len(shards)))
    if isinstance(shards.info, TaskInfo):
        shown = (task_example_text(one, len(shards)) for one in task_examples(shards, shards.info, numbers))
        print("\n\n".join(shown) or f"{shards.split} holds no examples")
        return 0
    if arguments.dropped is not None:
        width = shutil.get_terminal_size((100, 24)).columns
        texts_of = partial(stored_texts, shards.build)
        print("\n".join(dropped_lines(shards.manifest, arguments.dropped, arguments.count, texts_of, width)))
        return 0
    if not len(shards):
        print(f"{shards.split} holds no examples")
        return 0
    _print_examples(shards, numbers, arguments)
    return 0


def _print_examples(shards: Shards, numbers: Sequence[int], arguments: argparse.Namespace) -> None:
    """Print examples, a legend before them."""
    color = arguments.color == "always" or (arguments.color == "auto" and wants_color())
    width = shutil.get_terminal_size((100, 24)).columns
    for place, example in enumerate(read_examples(shards, numbers, epoch=arguments.epoch, at=arguments.at)):
        if not place:
            similar = [SIMILAR] if shards.expect_pretraining().masking.similar_words else []
            print(legend([*notations(shards.tokenizer()), *similar], color=color))
            if schedule := shards.expect_pretraining().masking.rate_text:
                rate = masker_at(shards, arguments.at).config.masked_lm_prob
                print(f"{rate:.1%} of the tokens are predicted here; in train the rate is {schedule}")
            if choice := choice_text(asdict(shards.expect_pretraining().masking.for_split(shards.split))):
                print(f"Tokens to predict are {choice}")
        print("\n" + render(example, len(shards), width, color=color))


def _of_phases(build: str) -> tuple[str, str]:
    """Return the folder of the first phase of a build, and a line that names the others; `build`, "" without phases."""
    names = phase_names(files.read_json_if_there(files.join(build, "manifest.json")))
    if not names:
        return build, ""
    others = ", ".join(files.join(build, name) for name in names[1:])
    return files.join(build, names[0]), f"The phase {names[0]}, the first. The others: {others}"


def wants_color() -> bool:
    """Return whether standard output is a terminal with colours and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
