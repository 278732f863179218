"""The files of a task as splits that can be encoded piece by piece, under one label set: that of the training file.

All examples of a file are held in memory, as text; their ids only a piece at a time. What this module does not do:
writing shards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import pyarrow as pa

from bertdata.examples.finetune.classification import encode_classification
from bertdata.examples.finetune.conll import Sentence, read_sentences, tags_column_of
from bertdata.examples.finetune.files import class_names
from bertdata.examples.finetune.labels import check_given, find_labels, label_ids, numbers
from bertdata.examples.finetune.layout import Encoded
from bertdata.examples.finetune.question_answering import encode_question_answering, original_examples
from bertdata.examples.finetune.settings import TaskConfig
from bertdata.examples.finetune.squad import read_questions
from bertdata.examples.finetune.texts import Texts, read_texts
from bertdata.examples.finetune.token_classification import encode_token_classification
from bertdata.shards.tasks import CLASSIFICATION, QUESTION_ANSWERING
from bertdata.wordpiece import WordPieceTokenizer


@dataclass(frozen=True)
class TaskSplit:
    """One split: how many examples its file has, a function that encodes those from one number to before another.

    originals: the examples as text, where the answers are mapped back to it.
    """

    examples: int
    encode: Callable[[int, int], Encoded]
    originals: pa.Table | None = None


@dataclass(frozen=True)
class Columns:
    """Which columns of the files are meant, and the labels in the order of their ids; empty where they are found."""

    text: tuple[str, ...] = ()
    label: str | None = None
    labels: tuple[str, ...] = ()


def read_splits(
    paths: Mapping[str, str], tokenizer: WordPieceTokenizer, config: TaskConfig, columns: Columns
) -> tuple[tuple[str, ...], dict[str, TaskSplit]]:
    """Read the files of a task, by split; returns its labels and the splits. Only a test file may have no labels.

    Raises InputError, with the line, row or place, where a file is not what it should be, and ConfigError for columns
    that are not there.
    """
    given = check_given(columns.labels) if columns.labels else ()
    if config.task == QUESTION_ANSWERING:
        return (), {split: _questions(path, split, tokenizer, config) for split, path in paths.items()}
    if config.task == CLASSIFICATION:
        column = columns.label or "label"
        texts = {
            split: read_texts(path, columns.text, column, unlabelled=split == "test") for split, path in paths.items()
        }
        labels = given or class_names(paths["train"], column)
        numbered = bool(labels)
        if not labels and not config.regression:
            labels = find_labels(texts["train"].labels, paths["train"])
        return () if config.regression else labels, {
            split: _texts(one, labels, numbered, split, paths[split], tokenizer, config) for split, one in texts.items()
        }
    words = columns.text[0] if columns.text else None
    sentences = {
        split: read_sentences(path, words, columns.label, unlabelled=split == "test") for split, path in paths.items()
    }
    tags = tags_column_of(paths["train"], columns.label)
    labels = given or (class_names(paths["train"], tags) if tags else ())
    numbered = bool(labels)
    labels = labels or find_labels((tag for one in sentences["train"] for tag in one.tags or ()), paths["train"])
    return labels, {
        split: _sentences(one, labels, numbered, split, paths[split], tokenizer, config)
        for split, one in sentences.items()
    }


def _texts(
    found: Texts,
    labels: Sequence[str],
    numbered: bool,
    split: str,
    path: str,
    tokenizer: WordPieceTokenizer,
    config: TaskConfig,
) -> TaskSplit:
    placed = list(zip(found.places, found.labels, strict=True))
    targets = (
        numbers(placed, path, unlabelled=split == "test")
        if config.regression
        else label_ids(placed, labels, path, numbered=numbered, unlabelled=split == "test")
    )

    def encode(start: int, stop: int) -> Encoded:
        return encode_classification(
            tokenizer,
            found.texts[start:stop],
            None if found.pairs is None else found.pairs[start:stop],
            targets[start:stop],
            max_seq_length=config.length,
            regression=config.regression,
        )

    return TaskSplit(len(found.texts), encode)


def _sentences(
    found: Sequence[Sentence],
    labels: Sequence[str],
    numbered: bool,
    split: str,
    path: str,
    tokenizer: WordPieceTokenizer,
    config: TaskConfig,
) -> TaskSplit:
    def ids(one: Sentence) -> list[int]:
        placed = [(f"the sentence of {one.place}", tag) for tag in one.tags or ()]
        return [tag for tag in label_ids(placed, labels, path, numbered=numbered, unlabelled=False) if tag is not None]

    targets = None if any(one.tags is None for one in found) else [ids(one) for one in found]
    documents = [one.document for one in found]

    def encode(start: int, stop: int) -> Encoded:
        encoded = encode_token_classification(
            tokenizer,
            [one.words for one in found[start:stop]],
            None if targets is None else targets[start:stop],
            max_seq_length=config.length,
        )
        before = documents[start - 1] if start else -1
        begun = sum(
            one != other for one, other in zip([before, *documents[start:stop]], documents[start:stop], strict=False)
        )
        return Encoded(encoded.columns, encoded.counts | {"documents": begun})

    return TaskSplit(len(found), encode)


def _questions(path: str, split: str, tokenizer: WordPieceTokenizer, config: TaskConfig) -> TaskSplit:
    found = read_questions(path)

    def encode(start: int, stop: int) -> Encoded:
        return encode_question_answering(
            tokenizer,
            found[start:stop],
            max_seq_length=config.length,
            doc_stride=config.doc_stride,
            max_query_length=config.max_query_length,
            stride_is=cast("Literal['overlap', 'step']", config.stride_is),
            drop_misplaced=split == "train",
        )

    return TaskSplit(len(found), encode, original_examples(found))
