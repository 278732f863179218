"""Logits of windows to answers as text (BERT section 4.2 and 4.3): the best span over all windows of a question.

A span's score is the sum of its start and its end logit. A question may have no answer where a threshold is given
(SQuAD 2.0): then no answer is a candidate with the score of [CLS], the smallest over the windows, as in BERT's code and
the question-answering recipe of `transformers`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.documents import open_parquet
from bertdata.errors import ConfigError, InputError
from bertdata.finetune.task_info import TaskInfo
from bertdata.io import files
from bertdata.io.arrow_data import checked, reading_arrow
from bertdata.io.console import counted
from bertdata.shards import Shards

_OF_WINDOWS = ["question_id", "offsets_start", "offsets_end"]


@dataclass(frozen=True)
class Span:
    """A candidate: text, its characters in the context, the sum of its logits, its probability among the candidates.

    No answer is the text "" with start and end -1.
    """

    text: str
    start: int
    end: int
    score: float
    probability: float = 0.0


@dataclass(frozen=True)
class Answer:
    """The answer to a question: text ("" is no answer), and the best candidates, best first.

    null_score_diff: how much more no answer scores than the best span; None where every question has an answer.
    """

    text: str
    candidates: tuple[Span, ...]
    null_score_diff: float | None = None


def answers_from_logits(
    start_logits: NDArray[np.floating],
    end_logits: NDArray[np.floating],
    features: Shards | pa.Table,
    contexts: Mapping[str, str] | None = None,
    *,
    n_best: int = 20,
    max_answer_length: int = 30,
    null_threshold: float | None = None,
) -> dict[str, Answer]:
    """Return the answer to each question, by its id, in the order of the rows.

    start_logits, end_logits: (N, L), a row for each row of `features` in their order; padding is ignored.
    features: shards of a task, or a table with their columns; then `contexts` gives the text by question id.
    `max_answer_length` is in tokens. With `null_threshold`, a question has no answer where no answer scores over that
    much more than the best span. Raises ConfigError where logits and features do not go together.

    >>> offsets = {"offsets_start": [[-1, -1, 0, 4, -1]], "offsets_end": [[-1, -1, 3, 7, -1]]}
    >>> table = pa.table({"question_id": ["q"], **offsets})
    >>> logits = np.array([[0.5, 9, 1, 2, 9]])
    >>> found = answers_from_logits(logits, logits, table, {"q": "the sea"})["q"]
    >>> found.text, found.candidates[0].score
    ('sea', 4.0)
    """
    if n_best < 1 or max_answer_length < 1:
        raise ConfigError(f"n_best is {n_best} and max_answer_length {max_answer_length}; expected at least 1 of each")
    table = features.columns(_OF_WINDOWS) if isinstance(features, Shards) else features
    texts = read_contexts(features) if contexts is None and isinstance(features, Shards) else contexts
    if texts is None:
        raise ConfigError("features are a table, but no contexts were given; give the text of each question's context")
    if start_logits.shape != end_logits.shape or start_logits.ndim != 2 or len(start_logits) != table.num_rows:
        raise ConfigError(
            f"logits are {start_logits.shape} and {end_logits.shape} for {table.num_rows} rows; expected as many "
            "rows of each, in the order of the features"
        )
    spans: dict[str, list[Span]] = {}
    null_scores: dict[str, float] = {}
    for number, (question, starts, ends) in enumerate(_windows(table)):
        if len(starts) > start_logits.shape[1]:
            raise ConfigError(
                f"row {number} has {counted(len(starts), 'token')}, but {start_logits.shape[1]} logits; expected one "
                "for each"
            )
        if question not in texts:
            raise ConfigError(f"the question {question!r} has no context; give a context for each question")
        first, last = (logits[number, : len(starts)].astype(np.float64) for logits in (start_logits, end_logits))
        null = float(first[0] + last[0])
        null_scores[question] = min(null_scores.get(question, null), null)
        best = _best_spans(first, last, starts, ends, texts[question], n_best, max_answer_length)
        spans.setdefault(question, []).extend(best)
    return {
        question: _chosen(candidates, null_scores[question], n_best, null_threshold)
        for question, candidates in spans.items()
    }


def read_contexts(shards: Shards) -> dict[str, str]:
    """Return the context of each question by its id, from the examples that are kept beside the shards.

    Raises InputError where two examples have the same id.
    """
    table = read_originals(shards)
    ids = table["id"].to_pylist()
    if len(set(ids)) < len(ids):
        repeated = next(name for name, number in Counter(ids).items() if number > 1)
        raise InputError(f"two examples of {shards.split} have the id {repeated!r}; ids must differ", path=shards.build)
    return dict(zip(ids, table["context"].to_pylist(), strict=True))


def read_originals(shards: Shards) -> pa.Table:
    """Return the examples of a split as text: id, question, context, answers, as in the `squad` data set.

    Raises ConfigError where the shards hold no questions, InputError where the examples are missing.
    """
    if not isinstance(shards.info, TaskInfo) or not shards.info.definition.windows:
        raise ConfigError(f"holds {shards.info.purpose}; expected shards of questions", path=shards.build)
    path = files.join(shards.build, "examples", f"{shards.split}.parquet")
    if not files.exists(path):
        raise InputError("is missing, so answers have no text; restore it, or encode again", path=path)
    with files.open_raw(path) as raw, reading_arrow(path, "cannot be read", "restore it, or encode again"):
        return checked(open_parquet(raw, path).read())


def _windows(table: pa.Table) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    for batch in table.select(_OF_WINDOWS).to_batches():
        for question, starts, ends in zip(*(batch[name] for name in batch.schema.names), strict=True):
            yield question.as_py(), starts.values.to_numpy(), ends.values.to_numpy()


def _best_spans(
    start_logits: NDArray[np.float64],
    end_logits: NDArray[np.float64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    context: str,
    n_best: int,
    max_answer_length: int,
) -> list[Span]:
    """Return the best spans of one window among its `n_best` first and last tokens, inside the context, best first."""
    first, last = (np.argsort(logits)[::-1][:n_best] for logits in (start_logits, end_logits))
    inside = (starts[first] >= 0)[:, None] & (starts[last] >= 0)
    lengths = last - first[:, None] + 1
    pairs = np.argwhere(inside & (lengths >= 1) & (lengths <= max_answer_length))
    first, last = first[pairs[:, 0]], last[pairs[:, 1]]
    scores = start_logits[first] + end_logits[last]
    best = np.argsort(-scores, kind="stable")[:n_best]
    places = zip(starts[first[best]].tolist(), ends[last[best]].tolist(), scores[best].tolist(), strict=True)
    return [Span(context[begin:end], begin, end, score) for begin, end, score in places]


def _chosen(spans: list[Span], null_score: float, n_best: int, threshold: float | None) -> Answer:
    best = sorted(spans, key=lambda span: span.score, reverse=True)
    null = Span("", -1, -1, null_score)
    if threshold is None:
        candidates = best[:n_best] or [null]
        return Answer(candidates[0].text, _with_probabilities(candidates))
    candidates = sorted([*best, null], key=lambda span: span.score, reverse=True)[:n_best]
    if null not in candidates:
        candidates.append(null)
    difference = null_score - best[0].score if best else float("inf")
    text = "" if difference > threshold else best[0].text
    return Answer(text, _with_probabilities(candidates), difference)


def _with_probabilities(spans: list[Span]) -> tuple[Span, ...]:
    exponents = np.exp(np.array([span.score for span in spans]) - max(span.score for span in spans))
    shares = (exponents / exponents.sum()).tolist()
    return tuple(replace(span, probability=share) for span, share in zip(spans, shares, strict=True))


def predictions_json(answers: Mapping[str, Answer]) -> str:
    """Return answers as the predictions file that SQuAD's own scorer reads: the text by question id.

    >>> predictions_json({"q": Answer("sea", ())})
    '{"q": "sea"}'
    """
    return json.dumps({question: answer.text for question, answer in answers.items()}, ensure_ascii=False)
