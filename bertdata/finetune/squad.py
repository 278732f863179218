"""Questions on contexts: SQuAD 1.1 and 2.0 JSON, and rows with the columns of the `squad` data set.

SQuAD's JSON is an object with the list `data`, whose items are articles with `paragraphs`, or rows. A row has `id`,
`question`, `context` and `answers`: {"text": [...], "answer_start": [...]}, {"text": "...", "answer_start": 1}, or a
list of such answers. An answer without text, at -1 or elsewhere, is none. A row may also be a paragraph (`context` and
`qas`) or an article. `is_impossible` and an empty list of answers both mean no answer; a question without `answers` is
refused but in a test file. `plausible_answers` are left out. A whole number as an id is its decimal form. The encoder
checks that an answer is in the context at its `answer_start`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from bertdata.counter_rng import text_bits
from bertdata.errors import InputError, shortened
from bertdata.sources.labelled.json_list import read_list
from bertdata.sources.labelled.labelled_files import JSON, file_format, read_rows
from bertdata.sources.labelled.other_forms import unfolding

Item = tuple[str, dict[str, Any]]
"""An object in a file, and its place there."""
Value = TypeVar("Value", str, int)
_MOST = 1 << 31
"""Above every place in a text, as Arrow counts them."""
_FORMS = 'a list of objects, or {"text": [...], "answer_start": [...]}, as SQuAD has them'


@dataclass(frozen=True)
class Question:
    """One question on a context; answers are (text, first character in the context), none where there is no answer.

    place: where it is in its file, for messages.
    """

    id: str
    question: str
    context: str
    answers: tuple[tuple[str, int], ...] = ()
    place: str = field(default="", compare=False)


def read_questions(path: str, *, unlabelled: bool = False) -> Iterator[Question]:
    """Yield questions of SQuAD JSON, JSON lines or Parquet; an article or some rows are held, and 8 bytes of each id.

    With `unlabelled` a question may lack `answers`. Raises InputError, with the place, where something is missing, and
    after the last one where an id is repeated.
    """
    keys = array("Q")
    for question in _read(path, unlabelled):
        keys.append(text_bits(question.id))
        yield question
    if not keys:
        raise InputError("holds no questions; expected SQuAD", path=path)
    ordered = np.sort(np.frombuffer(keys, np.uint64))
    if repeated := set(ordered[1:][ordered[1:] == ordered[:-1]].tolist()):
        places: dict[str, str] = {}
        for question in _read(path, unlabelled):
            first = places.setdefault(question.id, question.place) if text_bits(question.id) in repeated else ""
            if first not in ("", question.place):
                raise InputError(
                    f"{question.place} has the id {shortened(question.id)}, which {first} has too; ids must differ, as "
                    "predictions are named by them",
                    path=path,
                )


def _read(path: str, unlabelled: bool) -> Iterator[Question]:
    is_json = file_format(path) == JSON
    rows = ((f"data[{number}]", row) for number, row in enumerate(read_list(path, "data"))) if is_json else None
    for number, (place, row) in enumerate(rows or read_rows(path)):
        if not number and (how := unfolding(row)):
            raise InputError(f"{place} is no question: {how}", path=path)
        yield from _questions(row, place, path, unlabelled, article=is_json)


def _questions(row: Any, place: str, path: str, unlabelled: bool, *, article: bool) -> Iterator[Question]:
    """Yield the questions of an item: an article, a paragraph, or a question with its context."""
    is_row = isinstance(row, Mapping)
    if is_row and "question" in row and "paragraphs" not in row:
        yield _question(row, place, path, unlabelled)
    elif is_row and "qas" in row and "paragraphs" not in row:
        context = _value(row, "context", str, place, path)
        for at, entry in _items(row, "qas", place, path):
            yield _question(entry | {"context": context}, at, path, unlabelled)
    elif article or (is_row and "paragraphs" in row):
        for at, paragraph in _items(row, "paragraphs", place, path):
            _items(paragraph, "qas", at, path)
            yield from _questions(paragraph, at, path, unlabelled, article=False)
    else:
        yield _question(row, place, path, unlabelled)


def _question(row: Mapping[str, Any], place: str, path: str, unlabelled: bool) -> Question:
    if "answers" not in row and not (unlabelled or row.get("is_impossible")):
        raise InputError(
            f"{place} has no `answers`; expected {_FORMS}, an empty list where the context has no answer", path=path
        )
    identity = row.get("id")
    named = dict(row) | {"id": str(identity)} if type(identity) is int else row
    answers = [
        (_value(answer, "text", str, at, path), _value(answer, "answer_start", int, at, path))
        for at, answer in ([] if row.get("is_impossible") else _answers(row.get("answers"), place, path))
    ]
    return Question(
        _value(named, "id", str, place, path),
        _value(row, "question", str, place, path),
        _value(row, "context", str, place, path),
        tuple((text, start) for text, start in answers if text.strip()),
        place,
    )


def _answers(answers: Any, place: str, path: str) -> list[Item]:
    """Return the answers of a question in any of their forms."""
    if answers is None:
        return []
    if isinstance(answers, str):
        raise InputError(f"{place} has a string for `answers`; take SQuAD's JSON, JSON lines or Parquet", path=path)
    if isinstance(answers, list):
        return _items({"answers": answers}, "answers", place, path)
    if not isinstance(answers, Mapping):
        raise InputError(f"{place} has {shortened(answers)} for `answers`; expected {_FORMS}", path=path)
    texts, starts = (answers.get(name, []) for name in ("text", "answer_start"))
    if isinstance(texts, str) and type(starts) is int:
        texts, starts = [texts], [starts]
    if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
        raise InputError(f"{place} has not as many `answer_start` as `text` in `answers`", path=path)
    return [(place, {"text": text, "answer_start": start}) for text, start in zip(texts, starts, strict=True)]


def _items(holder: Any, name: str, place: str, path: str) -> list[Item]:
    listed = holder.get(name) if isinstance(holder, Mapping) else None
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise InputError(f"{place} has no list of objects `{name}`; expected SQuAD's JSON", path=path)
    return [(f"{place}.{name}[{number}]", item) for number, item in enumerate(listed)]


def _value(holder: Mapping[str, Any], name: str, kind: type[Value], place: str, path: str) -> Value:
    value = holder.get(name)
    if type(value) is not kind or (isinstance(value, int) and not -_MOST <= value < _MOST):
        expected = "a string" if kind is str else "a number of characters"
        raise InputError(f"{place} has {shortened(value)} for `{name}`; expected {expected}", path=path)
    return value
