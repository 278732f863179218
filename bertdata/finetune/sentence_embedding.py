"""Texts for sentence embeddings (Reimers and Gurevych 2019): pairs, triplets, and pairs with a score of similarity.

Each text of an example is [CLS] text [SEP], in a column of its own: `input_ids`, `input_ids_2` and, of triplets,
`input_ids_3`. Tokens over the length are cut off each text's end, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from bertdata.errors import ConfigError, InputError
from bertdata.finetune.classification import label_column
from bertdata.finetune.layout import Encoded, Segments, TaskSplit, batches, is_unlabelled, join_segments
from bertdata.finetune.settings import LEAVE_OUT, Columns, TaskConfig
from bertdata.finetune.task import Labels, Task
from bertdata.io.console import counted
from bertdata.shards.schema import ids_column
from bertdata.sources.labelled.labelled_files import (
    Row,
    column_names,
    has_column,
    has_names,
    read_rows,
    score_column,
)
from bertdata.sources.labelled.labels import Label, is_missing_number, numbers
from bertdata.sources.labelled.other_forms import JUDGEMENTS, OF_IDS
from bertdata.sources.labelled.unread_columns import SameLabel
from bertdata.sources.text_template import cell_at, names_in, value_at
from bertdata.tokenizers.base import Tokenizer

PAIR_COLUMNS = (
    ("anchor", "positive"),
    ("query", "positive"),
    ("sentence1", "sentence2"),
    ("text", "text_pair"),
    ("question", "answer"),
    ("premise", "hypothesis"),
)
TRIPLET_COLUMNS = (
    ("anchor", "positive", "negative"),
    ("query", "positive", "negative"),
    ("sentence1", "sentence2", "sentence3"),
)
COSINES = (-1.0, 1.0)


@dataclass(frozen=True)
class TextGroup:
    """The texts of an example, and how similar they are, None where that is not said.

    unlabelled: how many examples around it were left out, as they have no score.
    """

    texts: tuple[str, ...]
    score: Label
    place: str
    unlabelled: int = 0


def encode_sentences(
    tokenizer: Tokenizer,
    groups: Sequence[Sequence[str]],
    scores: Sequence[float | None] | None = None,
    *,
    max_seq_length: int = 128,
) -> Encoded:
    """Encode groups of texts, as many in each, to `input_ids`, `token_type_ids`, `input_ids_2` and so on.

    A tokenizer whose row template has no token types gives no `token_type_ids`. scores: the similarity of each group's
    texts, None where it is not known: the column `label`, float32, then NaN; without `scores` there is none. Counts
    examples, tokens (special ones included), examples with a text that was cut, and tokens cut off. Raises ConfigError
    where the groups have not as many texts, and for too short a length.

    >>> from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
    >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "sea", "salt", "water"])
    >>> encoded = encode_sentences(tokenizer, [["sea", "salt water"], ["salt", "sea"]], [0.5, None])
    >>> encoded.columns["input_ids"].to_pylist(), encoded.columns["input_ids_2"].to_pylist()
    ([[2, 5, 3], [2, 6, 3]], [[2, 6, 7, 3], [2, 5, 3]])
    >>> encoded.columns["label"].to_pylist()
    [0.5, nan]
    """
    template = tokenizer.row_template
    if max_seq_length <= (special := template.special(pair=False)):
        raise ConfigError(
            f"max_seq_length is {max_seq_length}; expected at least {special + 1}, for [CLS], a token and [SEP]"
        )
    if len({len(group) for group in groups}) > 1 or (scores is not None and len(scores) != len(groups)):
        raise ConfigError("the groups have not as many texts each, or there is not a score for each; expected that")
    columns: dict[str, pa.Array] = {}
    cut, tokens, lost = np.zeros(len(groups), np.bool_), 0, 0
    for place, texts in enumerate(zip(*groups, strict=True)):
        whole = Segments.of(tokenizer.encode_batch(list(texts)))
        lengths = np.minimum(whole.lengths, max_seq_length - special)
        rows = join_segments(whole.cut(lengths), template=template)
        columns |= rows.columns() if not place else {ids_column(place): rows.columns()["input_ids"]}
        cut |= lengths < whole.lengths
        tokens, lost = tokens + len(rows.input_ids), lost + int((whole.lengths - lengths).sum())
    if scores is not None:
        columns["label"] = label_column(scores, len(groups), regression=True)
    counts = {
        "examples": len(groups),
        "tokens": tokens,
        "truncated_examples": int(cut.sum()),
        "truncated_tokens": lost,
        "unlabelled_examples": 0 if scores is None else sum(score is None for score in scores),
    }
    return Encoded(columns, counts)


def read_groups(
    path: str, known: Sequence[tuple[str, ...]], columns: Columns, score: str | None = None, *, unlabelled: bool = False
) -> Iterator[TextGroup]:
    """Yield the texts of each example; default columns: the first of `known` that the file has.

    score: the column of the similarity; with `unlabelled` there may be none. Raises ConfigError for a missing column or
    another number of columns, InputError, with the line or row, where a text is missing or empty, and where pairs in
    columns of known names have labels that differ, and no column of the similarity is read.
    """
    header = has_names(path, columns.text_columns, score)
    there = column_names(path, header=header)
    names = columns.text_columns or _known_columns(there, known)
    if set(there) >= OF_IDS:
        raise ConfigError(JUDGEMENTS, path=path)
    if len(names) != len(known[0]) or not all(has_column(name, there, path) for name in names):
        problem = f"--text-columns names {', '.join(names)}" if names else "none of the known names are among them"
        examples = " or ".join(", ".join(usual) for usual in known)
        raise ConfigError(
            f"has the columns {', '.join(map(repr, there))}, and {problem}; expected "
            f"{counted(len(known[0]), 'column')} of texts, "
            f"as {examples}: name them with --text-columns",
            path=path,
        )
    has_score = bool(score) and has_column(score or "", there, path)
    if score and not has_score and not unlabelled:
        raise ConfigError(
            f"has no column {score!r}; its columns are {', '.join(map(repr, there))}: name the one of the scores with "
            "--label-column",
            path=path,
        )
    place = ""
    needed = names_in(name for name in (*names, score if has_score else None) if name)
    same = None if score or columns.text_columns else SameLabel(path, names, there)
    for place, row in read_rows(path, header=header, needed=needed):
        if same:
            same.check(row, place)
        texts = tuple(_text(row, name, place, path) for name in names)
        yield TextGroup(texts, value_at(row, score) if score else None, place)
    if not place:
        raise InputError("holds no rows; expected texts", path=path)


def _known_columns(there: Sequence[str], known: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return next((names for names in known if set(names) <= set(there)), ())


def group_columns(
    path: str, columns: Columns, *, known: Sequence[tuple[str, ...]], scored: bool = False
) -> tuple[str, ...]:
    """Return the columns that are read of a file of groups of texts."""
    score = (columns.label_column or score_column(path),) if scored else ()
    there = column_names(path, header=has_names(path, columns.text_columns, *score))
    return (*(columns.text_columns or _known_columns(there, known)), *score)


def _text(row: Row, name: str, place: str, path: str) -> str:
    text = cell_at(row, name)
    if isinstance(text, list):
        if keys := [key for item in text[:1] if isinstance(item, dict) for key in item]:
            field = "content" if "content" in keys else keys[0]
            raise InputError(
                f"{place} has a list of objects in {name!r}, as of messages; expected one text: join them by a "
                f"template in place of the column, '{{{name}[]:{{{field}}}}}'",
                path=path,
            )
        raise InputError(
            f"{place} has a list in {name!r}; expected one text: write a row for each, as of JSON by "
            f"jq -c '.{name}[] as $text | .{name} = $text' FILE > NEW",
            path=path,
        )
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{place} has {text!r} in {name!r}; expected a text that is not empty", path=path)
    return text


def read_sentences(
    paths: Mapping[str, str],
    tokenizer: Tokenizer,
    config: TaskConfig,
    columns: Columns,
    *,
    column_names: Sequence[tuple[str, ...]],
    scored: bool = False,
) -> tuple[Labels, dict[str, TaskSplit]]:
    """Return the splits of files of groups of texts. Only a test file may lack scores.

    Raises ConfigError where labels are given, of which there are none, or the column of one without scores.
    """
    if columns.labels or (columns.label_column and not scored):
        flag = "--labels" if columns.labels else "--label-column"
        raise ConfigError(f"--task {config.task} has no labels; leave out {flag}")
    splits = {}
    for split, path in paths.items():
        column = (columns.label_column or score_column(path)) if scored else None
        read = partial(read_groups, path, column_names, columns, column, unlabelled=is_unlabelled(split))
        if scored and config.unlabelled == LEAVE_OUT and not is_unlabelled(split):
            read = partial(_scored, read, config.scores or COSINES, path)
        scores = partial(_scores, path=path, split=split, config=config) if scored else None
        encode = partial(_encode, tokenizer=tokenizer, config=config, scores=scores)
        number, are_ids = 0, True
        for groups in batches(read(), 1000):
            number += len(groups if scores is None else scores(groups))
            are_ids = are_ids and all(text.isdecimal() for group in groups for text in group.texts)
        if are_ids:
            raise InputError(
                f"all its texts are whole numbers, as {groups[0].texts[0]}: ids of texts in another file, as those of "
                "MS MARCO's triples of ids; expected texts: put them in the places of their ids",
                path=path,
            )
        splits[split] = TaskSplit(number, read, encode)
    return (), splits


def _scores(groups: Sequence[TextGroup], *, path: str, split: str, config: TaskConfig) -> list[float | None]:
    """Return the similarity of each group: from 0 to 1 where the settings have a range, else as it is."""
    low, high = config.scores or COSINES
    placed = [(group.place, group.score) for group in groups]
    hint = "" if config.scores else "; scores in another range take --score-range, as 0 5"
    scores = numbers(placed, path, unlabelled=is_unlabelled(split), bounds=(low, high), hint=hint)
    return [(score - low) / (high - low) if score is not None and config.scores else score for score in scores]


def _encode(groups: Sequence[TextGroup], *, tokenizer: Tokenizer, config: TaskConfig, scores: object) -> Encoded:
    group_scores = scores(groups) if callable(scores) else None
    encoded = encode_sentences(tokenizer, [group.texts for group in groups], group_scores, max_seq_length=config.length)
    left_out = sum(group.unlabelled for group in groups)
    return Encoded(encoded.columns, encoded.counts | ({"left_out_unlabelled": left_out} if left_out else {}))


def _scored(read: Callable[[], Iterator[TextGroup]], bounds: tuple[float, float], path: str) -> Iterator[TextGroup]:
    """Yield the groups that have a score; how many have none is counted in `unlabelled` of the next, or the last."""
    waiting: TextGroup | None = None
    without = 0
    for group in read():
        if is_missing_number(group.score, bounds):
            without += 1
            continue
        if waiting:
            yield waiting
        waiting, without = replace(group, unlabelled=without), 0
    if not waiting:
        raise InputError("has no texts with a score; expected some", path=path)
    yield replace(waiting, unlabelled=waiting.unlabelled + without)


SENTENCE_PAIRS = Task(
    help="embeddings, from pairs of texts that belong together",
    file_columns=partial(group_columns, known=PAIR_COLUMNS),
    read=partial(read_sentences, column_names=PAIR_COLUMNS),
    columns=(),
    texts=2,
    head="SentenceEmbedding",
    metrics=("cosine_recall@1",),
    category="sentence-similarity",
)
SENTENCE_TRIPLETS = Task(
    help="embeddings, from texts, each with a similar and a dissimilar text",
    file_columns=partial(group_columns, known=TRIPLET_COLUMNS),
    read=partial(read_sentences, column_names=TRIPLET_COLUMNS),
    columns=(),
    texts=3,
    head="SentenceEmbedding",
    metrics=("cosine_accuracy",),
    category="sentence-similarity",
)
SENTENCE_SIMILARITY = Task(
    help="embeddings, from pairs of texts with a score of their similarity",
    file_columns=partial(group_columns, known=PAIR_COLUMNS, scored=True),
    read=partial(read_sentences, column_names=PAIR_COLUMNS, scored=True),
    columns=(("label", pa.float32()),),
    batch_numbers={"label": "labels"},
    texts=2,
    head="SentenceEmbedding",
    metrics=("spearman_cosine", "pearson_cosine"),
    category="sentence-similarity",
)
