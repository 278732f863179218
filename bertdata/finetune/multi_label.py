"""Classification of texts and text pairs with any number of labels each: a row has the ids of its labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa

from bertdata.errors import ConfigError, InputError
from bertdata.finetune.classification import encode_classification, read_labelled, text_splits
from bertdata.finetune.layout import Encoded, TaskSplit, is_unlabelled
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.task import Labels, Task
from bertdata.io.console import counted
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.sources.labelled.label_lists import COLUMNS, known_column, number_of_flags, read_label_lists
from bertdata.sources.labelled.labelled_files import class_names
from bertdata.sources.labelled.labelled_texts import LabelledText, text_columns_in
from bertdata.sources.labelled.labels import find_labels, label_ids
from bertdata.tokenizers.base import Tokenizer


def encode_multi_label(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    pairs: Sequence[str | None] | None = None,
    labels: Sequence[Sequence[int] | None] | None = None,
    *,
    max_seq_length: int = 128,
) -> Encoded:
    """Encode texts, each with a second one where `pairs` has it, to `input_ids`, `token_type_ids` and `label_ids`.

    labels: the ids of each text's labels, [] of one that has none; None where they are not known, and `label_ids` is
    then -100 alone. Counts and errors are those of `encode_classification`, and how many labels the texts have.

    >>> from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
    >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "good", "bad"])
    >>> encoded = encode_multi_label(tokenizer, ["good", "bad", "good bad"], labels=[[2, 0], [], None])
    >>> encoded.columns["label_ids"].to_pylist()
    [[0, 2], [], [-100]]
    """
    has_labels = None if labels is None else [0 if ids is not None else None for ids in labels]
    encoded = encode_classification(tokenizer, texts, pairs, has_labels, max_seq_length=max_seq_length)
    given = [None] * len(texts) if labels is None else labels
    ids = [[IGNORE_INDEX] if ids is None else sorted(ids) for ids in given]
    columns = {name: column for name, column in encoded.columns.items() if name != "label"}
    counts = encoded.counts | {"labels": sum(len(ids) for ids in given if ids is not None)}
    return Encoded(columns | {"label_ids": pa.array(ids, pa.list_(pa.int32()))}, counts)


def read_multi_label(
    paths: Mapping[str, str], tokenizer: Tokenizer, config: TaskConfig, columns: Columns
) -> tuple[Labels, dict[str, TaskSplit]]:
    """Return the labels and the splits of files of texts with lists of labels. Only a test file may lack these."""

    train = paths["train"]
    names = [columns.label_column] if columns.label_column else COLUMNS
    of_file = next(filter(None, (class_names(train, name) for name in names)), ())
    one_column = not (columns.label_columns or columns.label_separator or of_file)
    flags = number_of_flags(train, columns.text_columns, columns.label_column) if one_column else 0
    if flags and columns.labels and len(columns.labels) != flags:
        raise ConfigError(
            f"has lists of {flags} times 0 or 1, and --labels names {counted(len(columns.labels), 'label')}; expected "
            "as many, in the order of the lists",
            path=train,
        )

    def read(split: str, path: str) -> Iterator[LabelledText[Any]]:
        return read_label_lists(
            path,
            columns.text_columns,
            columns.label_column,
            each_column=columns.label_columns,
            separator=columns.label_separator,
            flags=flags,
            unlabelled=is_unlabelled(split),
        )

    given = columns.labels or columns.label_columns or of_file or tuple(map(str, range(flags)))
    labels = given or find_labels(chain.from_iterable(text.label or () for text in read("train", train)), train)
    ids_of = partial(_ids, paths=paths, labels=labels, numbered=bool(given))
    labelled = read_labelled(read, lambda text: text.label is None, config)
    return tuple(labels), text_splits(paths, labelled, ids_of, tokenizer, config, encode_multi_label)


def _ids(
    split: str,
    texts: Sequence[LabelledText[Any]],
    *,
    paths: Mapping[str, str],
    labels: Sequence[str],
    numbered: bool,
) -> list[list[int] | None]:
    """Return the ids of the labels of each text, None where these are not known."""
    rows: list[list[int] | None] = []
    for text in texts:
        if text.label is None:
            if not is_unlabelled(split):
                label_ids([(text.place, None)], labels, paths[split], numbered=numbered, unlabelled=False)
            rows.append(None)
            continue
        placed = [(text.place, label) for label in text.label]
        numbers = label_ids(placed, labels, paths[split], numbered=numbered, unlabelled=False)
        ids = [number for number in numbers if number is not None]
        if len({*ids}) < len(ids):
            raise InputError(
                f"{text.place} has one label twice ({text.label!r}); expected each once", path=paths[split]
            )
        rows.append(ids)
    return rows


def _file_columns(path: str, columns: Columns) -> tuple[str, ...]:
    labels = columns.label_columns or (columns.label_column or known_column(path, columns.text_columns),)
    return (*text_columns_in(path, columns.text_columns, labels), *labels)


MULTI_LABEL = Task(
    help="any number of labels of a text or a text pair",
    file_columns=_file_columns,
    read=read_multi_label,
    columns=(("label_ids", pa.list_(pa.int32())),),
    batch_sets={"label_ids": "labels"},
    head="MultiLabelClassification",
    metrics=("micro_f1", "macro_f1", "exact_match"),
    category="text-classification",
)
