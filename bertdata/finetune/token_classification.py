"""Labels for words (BERT section 5.3, CoNLL-2003): the label of a word is at its first token, -100 everywhere else.

Words are tokenized one by one, as `transformers` does with `is_split_into_words=True`. In byte-level BPE a space is
part of the token after it, so each word is given one, as by `add_prefix_space=True` in the recipe of transformers.
Without it the words of a sentence would be one. A word that the tokenizer drops has no token and no label; such words,
and the tokens over the length, are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from bertdata.arrays import Ints
from bertdata.errors import ConfigError
from bertdata.finetune.layout import Encoded, Segments, TaskSplit, join_segments
from bertdata.finetune.settings import LEAVE_OUT, Columns, TaskConfig
from bertdata.finetune.task import Labels, Task
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.sources.labelled.column_files import Sentence
from bertdata.sources.labelled.conll import read_sentences, tags_column_of
from bertdata.sources.labelled.labelled_files import class_names
from bertdata.sources.labelled.labels import Label, find_labels, label_ids
from bertdata.tokenizers.base import Tokenizer


def encode_token_classification(
    tokenizer: Tokenizer,
    sentences: Sequence[Sequence[str]],
    labels: Sequence[Sequence[int | None]] | None = None,
    *,
    max_seq_length: int = 128,
) -> Encoded:
    """Encode sentences of words to `input_ids`, `token_type_ids` and `labels`.

    A tokenizer whose row template has no token types gives no `token_type_ids`.

    labels: the id of each word's label, None of a word without; without them all are -100. Counts examples, words,
    tokens (special ones included), words without a token, truncated examples, tokens cut off, and words whose first
    token, and so their label, was cut off. Raises ConfigError where a sentence has not as many labels as words, and
    InputError for a word that has no UTF-8 form.

    >>> from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
    >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "in", "lon", "##don"])
    >>> encoded = encode_token_classification(tokenizer, [["In", "London"]], [[0, 1]])
    >>> encoded.columns["input_ids"].to_pylist(), encoded.columns["labels"].to_pylist()
    ([[2, 5, 6, 7, 3]], [[-100, 0, 1, -100, -100]])
    """
    template = tokenizer.row_template
    if max_seq_length <= (special := template.special(pair=False)):
        raise ConfigError(
            f"max_seq_length is {max_seq_length}; expected at least {special + 1}, for [CLS], a token and [SEP]"
        )
    apart = _with_space if _has_spaces(tokenizer) else str
    numbers = np.array([len(words) for words in sentences], np.int64)
    if labels is not None and (len(labels) != len(sentences) or (numbers != [len(ids) for ids in labels]).any()):
        raise ConfigError("there are not as many labels as words in every sentence; expected one for each word")
    tokens = Segments.of(tokenizer.encode_batch([apart(word) for words in sentences for word in words]))
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(tokens.lengths)])
    borders = np.concatenate([np.zeros(1, np.int64), np.cumsum(numbers)])
    starts, lengths = ends[borders[:-1]], np.diff(ends[borders])
    cut_lengths = np.minimum(lengths, max_seq_length - special)
    rows = join_segments(Segments(tokens.ids, starts, cut_lengths), template=template)
    sentence = np.repeat(np.arange(len(sentences)), numbers)
    place = tokens.starts - starts[sentence]
    empty = tokens.lengths == 0
    lost = ~empty & (place >= cut_lengths[sentence])
    targets = np.full(len(rows.input_ids), IGNORE_INDEX, np.int32)
    if labels is not None:
        there = ~empty & ~lost
        flat: Ints = np.array([IGNORE_INDEX if label is None else label for ids in labels for label in ids], np.int64)
        targets[(rows.offsets[:-1][sentence] + len(template.prefix) + place)[there]] = flat[there]
    counts = {
        "examples": len(sentences),
        "words": int(numbers.sum()),
        "tokens": len(rows.input_ids),
        "words_without_pieces": int(empty.sum()),
        "truncated_examples": int((cut_lengths < lengths).sum()),
        "truncated_tokens": int((lengths - cut_lengths).sum()),
        "truncated_words": int(lost.sum()),
        "unlabelled_examples": len(sentences) if labels is None else 0,
    }
    if without := sum(label is None for ids in labels or () for label in ids):
        counts["unlabelled_words"] = without
    return Encoded(rows.columns() | {"labels": rows.lists(targets)}, counts)


def _has_spaces(tokenizer: Tokenizer) -> bool:
    """Return whether words of a tokenizer that are encoded one by one are not the words of a text."""
    if tokenizer.IGNORES_WHITESPACE:
        return False
    in_text, alone = tokenizer.encode_batch(["a a", "a"]).to_pylist()
    return bool(in_text != alone * 2)


def _with_space(word: str) -> str:
    """Return a word behind one space, as `add_prefix_space` does: not behind other white space, as a fixed space."""
    return f" {word}" if word and not word.startswith(" ") else word


def read_token_classification(
    paths: Mapping[str, str], tokenizer: Tokenizer, config: TaskConfig, columns: Columns
) -> tuple[Labels, dict[str, TaskSplit]]:
    """Return the labels and the splits of files of tagged words. Only a test file may have no tags."""
    words, train = columns.text_columns[0] if columns.text_columns else None, paths["train"]
    read = {
        split: partial(read_sentences, path, words, columns.label_column, unlabelled=split == "test")
        for split, path in paths.items()
    }
    tags = tags_column_of(train, columns.label_column)
    given = columns.labels or (class_names(train, tags) if tags else ())
    labels = given or find_labels((tag for sentence in read["train"]() for tag in sentence.tags or ()), train)
    return labels, {
        split: _split(
            reader,
            labels,
            bool(given),
            paths[split],
            tokenizer,
            config,
            unlabelled=split == "test" or config.unlabelled == LEAVE_OUT,
        )
        for split, reader in read.items()
    }


def _split(
    read: Callable[[], Iterator[Sentence]],
    labels: Sequence[str],
    numbered: bool,
    path: str,
    tokenizer: Tokenizer,
    config: TaskConfig,
    *,
    unlabelled: bool,
) -> TaskSplit:
    numbers: dict[tuple[type, Label], int | None] = {}

    def ids(sentence: Sentence) -> list[int | None]:
        tags = (None,) * len(sentence.words) if sentence.tags is None else sentence.tags
        for word, tag in enumerate(tags):
            if (type(tag), tag) not in numbers:
                place = sentence.lines[word] if sentence.lines else f"word {word + 1} of {sentence.place}"
                [number] = label_ids([(place, tag)], labels, path, numbered=numbered, unlabelled=unlabelled)
                numbers[type(tag), tag] = number
        return [numbers[type(tag), tag] for tag in tags]

    total, tagged = 0, False
    for sentence in read():
        total, tagged = total + 1, any(number is not None for number in ids(sentence)) or tagged

    def encode(sentences: Sequence[Sentence]) -> Encoded:
        words = [sentence.words for sentence in sentences]
        targets = [ids(sentence) for sentence in sentences] if tagged else None
        encoded = encode_token_classification(tokenizer, words, targets, max_seq_length=config.length)
        documents = sum(sentence.begins_document for sentence in sentences)
        return Encoded(encoded.columns, encoded.counts | {"documents": documents})

    return TaskSplit(total, read, encode)


TOKEN_CLASSIFICATION = Task(
    help="the tag of each word, as for named entities",
    read=read_token_classification,
    columns=(("labels", pa.list_(pa.int32())),),
    batch_lists=("labels",),
    head="TokenClassification",
    metrics=("accuracy", "precision", "recall", "f1"),
    category="token-classification",
)
