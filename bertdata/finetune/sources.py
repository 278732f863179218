"""The files of a task as splits that are read and encoded piece by piece, under one label set: the training file's.

A file is read once or twice to find its labels and whatever is wrong with it, then once more to be encoded, so nothing
is held but what is being encoded. What this module does not do: writing shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Literal, cast

import pyarrow as pa

from bertdata.finetune.classification import encode_classification
from bertdata.finetune.conll import Sentence, read_sentences, tags_column_of
from bertdata.finetune.files import class_names
from bertdata.finetune.labels import Label, check_given, find_labels, label_ids, numbers
from bertdata.finetune.layout import Encoded
from bertdata.finetune.question_answering import Question, encode_question_answering, original_examples
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.squad import read_questions
from bertdata.finetune.texts import LabelledText, read_texts
from bertdata.finetune.token_classification import encode_token_classification
from bertdata.shards.task_info import CLASSIFICATION, QUESTION_ANSWERING
from bertdata.tokenizers.wordpiece import WordPieceTokenizer

CHECKED = 1000
"""Examples that are checked at a time."""


@dataclass(frozen=True)
class TaskSplit:
    """One split: how many examples its file has, and functions that read them anew and that encode a run of them.

    original: makes a table of examples as text, where the answers are mapped back to it.
    """

    examples: int
    read: Callable[[], Iterator[Any]]
    encode: Callable[[Sequence[Any]], Encoded]
    original: Callable[[Sequence[Any]], pa.Table] | None = None


@dataclass(frozen=True)
class Columns:
    """Which columns of the files are meant, and the labels in the order of their ids; empty where they are found."""

    text: tuple[str, ...] = ()
    label: str | None = None
    labels: tuple[str, ...] = ()


def read_splits(
    paths: Mapping[str, str], tokenizer: WordPieceTokenizer, config: TaskConfig, columns: Columns
) -> tuple[tuple[str, ...], dict[str, TaskSplit]]:
    """Check the files of a task, by split; returns its labels and the splits. Only a test file may have no labels.

    Raises InputError, with the line, row or place, where a file is not what it should be, and ConfigError for columns
    that are not there.
    """
    given = check_given(columns.labels) if columns.labels else ()
    if config.task == QUESTION_ANSWERING:
        return (), {split: _questions(path, split, tokenizer, config) for split, path in paths.items()}
    if config.task == CLASSIFICATION:
        column = columns.label or "label"
        texts = {
            split: partial(read_texts, path, columns.text, column, unlabelled=split == "test")
            for split, path in paths.items()
        }
        labels = given or class_names(paths["train"], column)
        numbered = bool(labels)
        if not labels and not config.regression:
            labels = find_labels((one.label for one in texts["train"]()), paths["train"])
        return () if config.regression else labels, {
            split: _texts(one, labels, numbered, split, paths[split], tokenizer, config) for split, one in texts.items()
        }
    words = columns.text[0] if columns.text else None
    sentences = {
        split: partial(_begun, path, words, columns.label, unlabelled=split == "test") for split, path in paths.items()
    }
    tags = tags_column_of(paths["train"], columns.label)
    labels = given or (class_names(paths["train"], tags) if tags else ())
    numbered = bool(labels)
    labels = labels or find_labels((tag for _, one in sentences["train"]() for tag in one.tags or ()), paths["train"])
    return labels, {
        split: _sentences(one, labels, numbered, split, paths[split], tokenizer, config)
        for split, one in sentences.items()
    }


def batches(examples: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield lists of `size` examples, the last one of what is left.

    >>> list(batches(iter("salty"), 2))
    [['s', 'a'], ['l', 't'], ['y']]
    """
    while batch := list(islice(examples, size)):
        yield batch


def _texts(
    read: Callable[[], Iterator[LabelledText]],
    labels: Sequence[str],
    numbered: bool,
    split: str,
    path: str,
    tokenizer: WordPieceTokenizer,
    config: TaskConfig,
) -> TaskSplit:
    def targets(found: Sequence[LabelledText]) -> list[int | None] | list[float | None]:
        placed = [(one.place, one.label) for one in found]
        if config.regression:
            return numbers(placed, path, unlabelled=split == "test")
        return label_ids(placed, labels, path, numbered=numbered, unlabelled=split == "test")

    def encode(found: Sequence[LabelledText]) -> Encoded:
        pairs = [one.pair for one in found]
        return encode_classification(
            tokenizer,
            [one.text for one in found],
            None if all(pair is None for pair in pairs) else pairs,
            targets(found),
            max_seq_length=config.length,
            regression=config.regression,
        )

    return TaskSplit(sum(len(targets(found)) for found in batches(read(), CHECKED)), read, encode)


def _begun(
    path: str, words_column: str | None, tags_column: str | None, *, unlabelled: bool
) -> Iterator[tuple[bool, Sentence]]:
    """Yield whether a document begins with a sentence, and the sentence."""
    before = -1
    for one in read_sentences(path, words_column, tags_column, unlabelled=unlabelled):
        yield one.document != before, one
        before = one.document


def _sentences(
    read: Callable[[], Iterator[tuple[bool, Sentence]]],
    labels: Sequence[str],
    numbered: bool,
    split: str,
    path: str,
    tokenizer: WordPieceTokenizer,
    config: TaskConfig,
) -> TaskSplit:
    known: dict[tuple[type, Label], int] = {}

    def ids(one: Sentence) -> list[int]:
        tags = one.tags or ()
        try:
            return [known[type(tag), tag] for tag in tags]
        except KeyError:
            placed = [(f"the sentence of {one.place}", tag) for tag in tags]
            found = label_ids(placed, labels, path, numbered=numbered, unlabelled=False)
        known.update({(type(tag), tag): number for tag, number in zip(tags, found, strict=True) if number is not None})
        return [number for number in found if number is not None]

    total, tagged = 0, True
    for _, one in read():
        total, tagged = total + 1, tagged and one.tags is not None
        ids(one)

    def encode(found: Sequence[tuple[bool, Sentence]]) -> Encoded:
        encoded = encode_token_classification(
            tokenizer,
            [one.words for _, one in found],
            [ids(one) for _, one in found] if tagged else None,
            max_seq_length=config.length,
        )
        return Encoded(encoded.columns, encoded.counts | {"documents": sum(begins for begins, _ in found)})

    return TaskSplit(total, read, encode)


def _questions(path: str, split: str, tokenizer: WordPieceTokenizer, config: TaskConfig) -> TaskSplit:
    def encode(found: Sequence[Question]) -> Encoded:
        return encode_question_answering(
            tokenizer,
            found,
            max_seq_length=config.length,
            doc_stride=config.doc_stride,
            max_query_length=config.max_query_length,
            stride_is=cast("Literal['overlap', 'step']", config.stride_is),
            drop_misplaced=split == "train",
        )

    read = partial(read_questions, path)
    return TaskSplit(sum(1 for _ in read()), read, encode, original_examples)
