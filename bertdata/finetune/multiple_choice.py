"""Questions with choices: each choice is a row of its own, [CLS] a [SEP] b [SEP], and an example has all of them.

The second text is the choice, behind what stands before all choices where the file has that, as the `sent2` of SWAG.
Tokens over the length are cut off the end of the longer text, as `transformers` does with `truncation="longest_first"`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from bertdata.errors import ConfigError
from bertdata.finetune.classification import joined_pairs, label_column, read_labelled, text_splits
from bertdata.finetune.layout import Encoded, Segments, TaskSplit, is_unlabelled
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.task import Labels, Task
from bertdata.io.console import counted
from bertdata.shards.choices import CHOICE_LENGTHS
from bertdata.sources.labelled.choices import (
    Choices,
    names_of_choices,
    place_of_answer,
    question_columns,
    read_questions,
)
from bertdata.sources.labelled.labelled_texts import LabelledText
from bertdata.sources.labelled.labels import is_missing
from bertdata.tokenizers.base import Tokenizer


def encode_multiple_choice(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    choices: Sequence[Sequence[str]],
    labels: Sequence[int | None] | None = None,
    *,
    max_seq_length: int = 128,
) -> Encoded:
    """Encode texts with their choices to `input_ids`, `token_type_ids`, `choice_lengths` and `label`.

    The lists of an example hold its choices one after another, each with its special tokens and at most
    `max_seq_length` long; `choice_lengths` says how long each is. labels: the place of each right choice, from 0; None
    where it is not known, and it is then -100. Counts examples, choices, tokens (special ones included), unlabelled
    examples, examples with a choice that was truncated, and tokens cut off. Raises ConfigError for another number of
    choices or labels than texts, for fewer than two choices, and for too short a length.

    >>> from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
    >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "sea", "salt", "wet"])
    >>> encoded = encode_multiple_choice(tokenizer, ["sea"], [["salt wet", "wet"]], [1])
    >>> encoded.columns["input_ids"].to_pylist(), encoded.columns["choice_lengths"].to_pylist()
    ([[2, 5, 3, 6, 7, 3, 2, 5, 3, 7, 3]], [[6, 5]])
    """
    for name, values in (("choices", choices), ("labels", labels)):
        if values is not None and len(values) != len(texts):
            raise ConfigError(f"{counted(len(texts), 'text')}, but {len(values)} {name} were given; expected as many")
    numbers = np.fromiter(map(len, choices), np.int64, len(texts))
    if int(numbers.min(initial=2)) < 2:
        raise ConfigError("a text has fewer than two choices; expected two or more of each")
    first = Segments.of(tokenizer.encode_batch(list(texts))).take(np.repeat(np.arange(len(texts)), numbers))
    second = Segments.of(tokenizer.encode_batch([choice for of_text in choices for choice in of_text]))
    rows, lost = joined_pairs(first, second, None, tokenizer.row_template, max_seq_length)
    ends = np.concatenate([[0], np.cumsum(numbers)])
    offsets = pa.array(rows.offsets[ends].astype(np.int32))
    columns = {name: pa.ListArray.from_arrays(offsets, lists.values) for name, lists in rows.columns().items()}
    lengths = pa.array(np.diff(rows.offsets).astype(np.int32))
    columns[CHOICE_LENGTHS] = pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), lengths)
    counts = {
        "examples": len(texts),
        "choices": len(lost),
        "tokens": len(rows.input_ids),
        "truncated_examples": len(np.unique(np.repeat(np.arange(len(texts)), numbers)[lost > 0])),
        "truncated_tokens": int(lost.sum()),
        "unlabelled_examples": len(texts) if labels is None else sum(label is None for label in labels),
    }
    return Encoded(columns | {"label": label_column(labels, len(texts), regression=False)}, counts)


def read_multiple_choice(
    paths: Mapping[str, str], tokenizer: Tokenizer, config: TaskConfig, columns: Columns
) -> tuple[Labels, dict[str, TaskSplit]]:
    """Return the labels of choices by their places, and the splits. Only a test file may lack the right choices."""

    def read(split: str, path: str) -> Iterator[LabelledText[Choices]]:
        named = (columns.text_columns, columns.choice_columns, columns.label_column)
        return read_questions(path, *named, unlabelled=is_unlabelled(split))

    train = paths["train"]
    number = max(len(question.label.texts) for split, path in paths.items() for question in read(split, path))
    if 0 < len(columns.labels) < number:
        raise ConfigError(
            f"--labels names {len(columns.labels)} choices, and an example has {number}; expected a name for each place"
        )
    choice_columns = question_columns(train, columns.text_columns, columns.choice_columns, columns.label_column)[1]
    questions = (question.label for question in read("train", train))
    names = columns.labels or names_of_choices(questions, number, choice_columns, train)

    def targets(split: str, texts: Sequence[LabelledText[Choices]]) -> list[tuple[LabelledText[Choices], int | None]]:
        unlabelled = is_unlabelled(split)
        return [(text, place_of_answer(text, names, paths[split], unlabelled=unlabelled)) for text in texts]

    labelled = read_labelled(read, lambda text: is_missing(text.label.answer), config)
    return names or tuple(map(str, range(number))), text_splits(paths, labelled, targets, tokenizer, config, _encode)


def _encode(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    pairs: Sequence[str | None] | None,
    questions: Sequence[tuple[LabelledText[Choices], int | None]],
    *,
    max_seq_length: int,
) -> Encoded:
    del pairs
    choices = [second_texts(question) for question, _ in questions]
    return encode_multiple_choice(
        tokenizer, texts, choices, [place for _, place in questions], max_seq_length=max_seq_length
    )


def second_texts(question: LabelledText[Any]) -> list[str]:
    """Return the choices of a question behind what stands before each."""
    choices: Choices = question.label
    return [choice if question.pair is None else f"{question.pair} {choice}" for choice in choices.texts]


def _file_columns(path: str, columns: Columns) -> tuple[str, ...]:
    named = (columns.text_columns, columns.choice_columns, columns.label_column)
    texts, choices, label = question_columns(path, *named)
    return (*texts, *choices, label)


MULTIPLE_CHOICE = Task(
    help="which of several choices goes with a text",
    file_columns=_file_columns,
    read=read_multiple_choice,
    columns=((CHOICE_LENGTHS, pa.list_(pa.int32())), ("label", pa.int64())),
    batch_numbers={"label": "labels"},
    choices=True,
    head="MultipleChoice",
    metrics=("accuracy",),
    category="multiple-choice",
)
