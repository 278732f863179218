"""Classification of texts and text pairs, and regression (BERT section 4.1): [CLS] a [SEP] or [CLS] a [SEP] b [SEP].

Tokens over the length are cut off the end of the longer text, as `transformers` does with
`truncation="longest_first"`, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.errors import ConfigError, InputError
from bertdata.finetune.layout import Encoded, Layout, Segments, TaskSplit, batches, is_unlabelled, join_segments
from bertdata.finetune.settings import LEAVE_OUT, Columns, TaskConfig
from bertdata.finetune.task import Labels, Task
from bertdata.io.console import counted
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.sources.labelled.labelled_files import class_names, score_column
from bertdata.sources.labelled.labelled_texts import LabelledText, read_classes, text_columns_in
from bertdata.sources.labelled.labels import (
    FLOAT32,
    find_labels,
    is_missing,
    is_missing_number,
    label_ids,
    label_name,
    numbers,
    require_single,
)
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.pairs import RowTemplate


def encode_classification(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    pairs: Sequence[str | None] | None = None,
    labels: Sequence[int | None] | Sequence[float | None] | None = None,
    *,
    max_seq_length: int = 128,
    regression: bool = False,
) -> Encoded:
    """Encode texts, each with a second one where `pairs` has it, to `input_ids`, `token_type_ids` and `label`.

    A tokenizer whose row template has no token types gives no `token_type_ids`.

    labels: the id of each text's class, or in regression a number; None where it is not known, and it is then -100 or
    NaN. Counts examples, pairs, tokens (special ones included), unlabelled examples, truncated examples and tokens cut
    off. Raises ConfigError for another number of pairs or labels than texts, and
    InputError for a text that has no UTF-8 form.

    >>> from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
    >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "good", "bad"])
    >>> encoded = encode_classification(tokenizer, ["good", "bad bad bad"], labels=[1, 0], max_seq_length=4)
    >>> encoded.columns["input_ids"].to_pylist(), encoded.columns["label"].to_pylist()
    ([[2, 5, 3], [2, 6, 6, 3]], [1, 0])
    >>> encoded.counts["truncated_examples"], encoded.counts["truncated_tokens"]
    (1, 1)
    """
    for name, values in (("pairs", pairs), ("labels", labels)):
        if values is not None and len(values) != len(texts):
            raise ConfigError(f"{counted(len(texts), 'text')}, but {len(values)} {name} were given; expected as many")
    first = Segments.of(tokenizer.encode_batch(list(texts)))
    second, has = None, np.zeros(len(texts), np.bool_)
    if pairs is not None:
        has = np.array([pair is not None for pair in pairs], np.bool_)
        second = Segments.of(tokenizer.encode_batch([pair or "" for pair in pairs]))
    rows, lost = joined_pairs(first, second, has, tokenizer.row_template, max_seq_length)
    label = label_column(labels, len(texts), regression)
    counts = {
        "examples": len(texts),
        "pairs": int(has.sum()),
        "tokens": len(rows.input_ids),
        "truncated_examples": int((lost > 0).sum()),
        "truncated_tokens": int(lost.sum()),
        "unlabelled_examples": len(texts) if labels is None else sum(label is None for label in labels),
    }
    return Encoded(rows.columns() | {"label": label}, counts)


def joined_pairs(
    first: Segments,
    second: Segments | None,
    has_second: NDArray[np.bool_] | None,
    template: RowTemplate,
    max_seq_length: int,
) -> tuple[Layout, NDArray[np.int64]]:
    """Return rows of one text, or of two where `has_second` says so (None: all), and how many tokens of each are cut.

    Raises ConfigError where the length has no room for the special tokens.
    """
    if max_seq_length < (least := template.special(pair=True)):
        raise ConfigError(f"max_seq_length is {max_seq_length}; expected at least {least}, for [CLS] a [SEP] b [SEP]")
    lengths = np.zeros(len(first.lengths), np.int64) if second is None else second.lengths
    has = np.ones(len(first.lengths), np.bool_) if has_second is None else has_second
    room = max_seq_length - np.where(has, least, template.special(pair=False))
    first_lengths, second_lengths = longest_first(first.lengths, lengths, room)
    cut_second = None if second is None else second.cut(second_lengths)
    rows = join_segments(first.cut(first_lengths), cut_second, has, template=template)
    return rows, first.lengths + lengths - first_lengths - second_lengths


def longest_first(n_first: Ints, n_second: Ints, room: NDArray[np.int64]) -> tuple[Ints, Ints]:
    """Return how many ids of each two texts are kept: `tokenizers.pairs.longest_first` for whole arrays.

    >>> longest_first(np.array([7, 7, 1]), np.array([2, 7, 2]), np.array([6, 5, 6]))
    (array([4, 2, 1]), array([2, 3, 2]))
    """
    shorter, half = np.minimum(n_first, n_second), room // 2
    small = np.minimum(shorter, half)
    large = room - small
    first_is_short = n_first <= n_second
    fits = n_first + n_second <= room
    kept_first = np.where(fits, n_first, np.where(first_is_short, small, large))
    kept_second = np.where(fits, n_second, np.where(first_is_short, large, small))
    return kept_first, kept_second


def label_column(
    labels: Sequence[int | None] | Sequence[float | None] | None, number: int, regression: bool
) -> pa.Array:
    """Return labels as the column of a shard: int64 with -100, or float32 with NaN, where one is not known."""
    unknown, kind = (np.nan, np.float32) if regression else (IGNORE_INDEX, np.int64)
    given = [None] * number if labels is None else labels
    return pa.array(np.array([unknown if label is None else label for label in given], kind))


def read_classification(
    paths: Mapping[str, str], tokenizer: Tokenizer, config: TaskConfig, columns: Columns
) -> tuple[Labels, dict[str, TaskSplit]]:
    """Return the labels and the splits of files of texts with classes. Only a test file may have no labels."""
    train, column = paths["train"], columns.label_column or "label"
    given = columns.labels or class_names(train, column)
    labels = given
    if not given:
        labels = find_labels((text.label for text in read_classes(train, columns.text_columns, column)), train)
        require_single(labels, train)
    read = partial(_read, columns=columns.text_columns, label=column)
    return labels, class_splits(paths, read, labels, tokenizer, config, numbered=bool(given))


def read_regression(
    paths: Mapping[str, str], tokenizer: Tokenizer, config: TaskConfig, columns: Columns
) -> tuple[Labels, dict[str, TaskSplit]]:
    """Return the splits of files of texts with numbers, which have no label set. Only a test file may lack numbers."""
    read = partial(_read, columns=columns.text_columns, label=columns.label_column)
    return (), number_splits(paths, read, tokenizer, config)


def class_columns(path: str, columns: Columns) -> tuple[str, ...]:
    """Return the columns that are read of a file of texts with classes."""
    label = columns.label_column or "label"
    return (*text_columns_in(path, columns.text_columns, [label]), label)


def number_columns(path: str, columns: Columns) -> tuple[str, ...]:
    """Return the columns that are read of a file of texts with numbers."""
    label = columns.label_column or score_column(path)
    return (*text_columns_in(path, columns.text_columns, [label]), label)


def _read(split: str, path: str, *, columns: Sequence[str], label: str | None) -> Iterator[LabelledText[Any]]:
    column = label or score_column(path)
    return read_classes(path, columns, column, unlabelled=is_unlabelled(split))


ReadSplit = Callable[[str, str], Iterator[LabelledText[Any]]]
"""Reads the file of a split, given (split, path)."""


def class_splits(
    paths: Mapping[str, str],
    read: ReadSplit,
    labels: Sequence[str],
    tokenizer: Tokenizer,
    config: TaskConfig,
    *,
    numbered: bool,
) -> dict[str, TaskSplit]:
    """Return the splits of texts with classes; `numbered` as in `label_ids`.

    Raises InputError, with the line, for a label that is missing or not in the set, and where all training texts have
    the same.
    """

    learned: set[int | None] = set()
    is_class = frozenset(labels)

    def is_unlabelled_text(text: LabelledText[Any]) -> bool:
        return is_missing(text.label) and (text.label is None or label_name(text.label) not in is_class)

    def ids(split: str, texts: Sequence[LabelledText[Any]]) -> list[int | None]:
        placed = [(text.place, text.label) for text in texts]
        ids_of_labels = label_ids(placed, labels, paths[split], numbered=numbered, unlabelled=is_unlabelled(split))
        learned.update(ids_of_labels if split == "train" else ())
        return ids_of_labels

    splits = text_splits(paths, read_labelled(read, is_unlabelled_text, config), ids, tokenizer, config)
    if len(learned) < 2:
        [only] = learned
        name = labels[only or 0]
        raise InputError(f"all have the label {name!r}; expected examples of two labels or more", path=paths["train"])
    return splits


def number_splits(
    paths: Mapping[str, str],
    read: ReadSplit,
    tokenizer: Tokenizer,
    config: TaskConfig,
    bounds: tuple[float, float] | None = None,
) -> dict[str, TaskSplit]:
    """Return the splits of texts with numbers, within `bounds` or the range of the settings where there are any."""
    within = config.scores or bounds or FLOAT32

    def values(split: str, texts: Sequence[LabelledText[Any]]) -> list[float | None]:
        placed = [(text.place, text.label) for text in texts]
        return numbers(placed, paths[split], unlabelled=is_unlabelled(split), bounds=within)

    def is_unlabelled_text(text: LabelledText[Any]) -> bool:
        return is_missing_number(text.label, within)

    labelled = read_labelled(read, is_unlabelled_text, config)
    return text_splits(paths, labelled, values, tokenizer, config, partial(encode_classification, regression=True))


def read_labelled(read: ReadSplit, without: Callable[[LabelledText[Any]], bool], config: TaskConfig) -> ReadSplit:
    """Return a reader that leaves out, of training and validation, the texts `without` a label, if the settings do.

    They are counted in `unlabelled` of the next text, or the last one, and so are the damaged lines around them.
    """

    def read_split(split: str, path: str) -> Iterator[LabelledText[Any]]:
        if config.unlabelled != LEAVE_OUT or is_unlabelled(split):
            yield from read(split, path)
            return
        waiting: LabelledText[Any] | None = None
        unlabelled = damaged = 0
        for text in read(split, path):
            if without(text):
                unlabelled, damaged = unlabelled + 1, damaged + text.left_out
                continue
            if waiting:
                yield waiting
            waiting = replace(text, unlabelled=unlabelled, left_out=text.left_out + damaged)
            unlabelled = damaged = 0
        if not waiting:
            raise InputError("has no text with a label; expected some", path=path)
        yield replace(waiting, unlabelled=waiting.unlabelled + unlabelled, left_out=waiting.left_out + damaged)

    return read_split


def text_splits(
    paths: Mapping[str, str],
    read: ReadSplit,
    targets: Callable[[str, Sequence[LabelledText[Any]]], Sequence[Any]],
    tokenizer: Tokenizer,
    config: TaskConfig,
    encode_texts: Callable[..., Encoded] = encode_classification,
) -> dict[str, TaskSplit]:
    """Return the splits; `targets` gives what is predicted of texts of a split, and checks it.

    encode_texts: encodes (tokenizer, texts, pairs, what is predicted of each), with `max_seq_length`.
    """

    def encode(split: str, texts: Sequence[LabelledText[Any]]) -> Encoded:
        pairs = [text.pair for text in texts]
        encoded = encode_texts(
            tokenizer,
            [text.text for text in texts],
            None if all(pair is None for pair in pairs) else pairs,
            targets(split, texts),
            max_seq_length=config.length,
        )
        empty = sum(not text.text.strip() or (text.pair is not None and not text.pair.strip()) for text in texts)
        others = {
            "empty_texts": empty,
            "left_out_lines": sum(text.left_out for text in texts),
            "left_out_unlabelled": sum(text.unlabelled for text in texts),
        }
        return Encoded(encoded.columns, encoded.counts | {name: count for name, count in others.items() if count})

    splits = {}
    for split, path in paths.items():
        number = sum(len(targets(split, texts)) for texts in batches(read(split, path), 1000))
        splits[split] = TaskSplit(number, partial(read, split, path), partial(encode, split))
    return splits


CLASSIFICATION = Task(
    help="the class of a text or a text pair",
    file_columns=class_columns,
    read=read_classification,
    columns=(("label", pa.int64()),),
    batch_numbers={"label": "labels"},
    head="SequenceClassification",
    metrics=("accuracy", "macro_f1"),
    category="text-classification",
)
REGRESSION = Task(
    help="a number for a text or a text pair",
    file_columns=number_columns,
    read=read_regression,
    columns=(("label", pa.float32()),),
    batch_numbers={"label": "labels"},
    head="SequenceClassification",
    metrics=("pearson", "spearman"),
    category="text-classification",
)
