"""Questions on contexts: SQuAD 1.1 and 2.0 JSON, and rows with the columns of the `squad` data set.

SQuAD's `is_impossible` and an empty list of answers both mean no answer. `plausible_answers` are left out.
Rows have `id`, `question`, `context` and `answers`, {"text": [...], "answer_start": [...]}. The encoder checks that an
answer is in the context at its `answer_start`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from bertdata.counter_rng import text_bits
from bertdata.errors import InputError
from bertdata.finetune.json_list import read_list
from bertdata.finetune.labelled_files import file_format, read_rows

Item = tuple[str, dict[str, Any]]
"""An object in a file, and its place there."""
Value = TypeVar("Value", str, int)


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


def read_questions(path: str) -> Iterator[Question]:
    """Yield questions of SQuAD JSON, JSON lines or Parquet; an article or some rows are held, and 8 bytes of each id.

    Raises InputError, with the place, where something is missing, and after the last one where an id is repeated.
    """
    read = _squad if file_format(path, (".json",)) == ".json" else _rows
    keys = array("Q")
    for question in read(path):
        keys.append(text_bits(question.id))
        yield question
    if not keys:
        raise InputError("holds no questions; expected SQuAD", path=path)
    ordered = np.sort(np.frombuffer(keys, np.uint64))
    if repeated := set(ordered[1:][ordered[1:] == ordered[:-1]].tolist()):
        places: dict[str, str] = {}
        for question in read(path):
            first = places.setdefault(question.id, question.place) if text_bits(question.id) in repeated else ""
            if first not in ("", question.place):
                raise InputError(
                    f"{question.place} has the id {question.id!r}, which {first} has too; ids must differ, as "
                    "predictions are named by them",
                    path=path,
                )


def _squad(path: str) -> Iterator[Question]:
    for number, article in enumerate(read_list(path, "data")):
        for place, paragraph in _items(article, "paragraphs", f"data[{number}]", path):
            context = _value(paragraph, "context", str, place, path)
            for at, entry in _items(paragraph, "qas", place, path):
                answers = [] if entry.get("is_impossible") else _items(entry, "answers", at, path, missing=True)
                yield _question(entry | {"context": context}, at, answers, path)


def _rows(path: str) -> Iterator[Question]:
    for place, row in read_rows(path):
        answers = row.get("answers")
        if isinstance(answers, str):
            raise InputError(f"{place} has a string for `answers`; take SQuAD's JSON, JSON lines or Parquet", path=path)
        texts, starts = ((answers or {}).get(name, []) for name in ("text", "answer_start"))
        if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
            raise InputError(f"{place} has not as many `answer_start` as `text` in `answers`", path=path)
        pairs = zip(texts, starts, strict=True)
        yield _question(row, place, [(place, {"text": text, "answer_start": start}) for text, start in pairs], path)


def _question(row: Mapping[str, Any], place: str, answers: Sequence[Item], path: str) -> Question:
    return Question(
        _value(row, "id", str, place, path),
        _value(row, "question", str, place, path),
        _value(row, "context", str, place, path),
        tuple(
            (_value(answer, "text", str, at, path), _value(answer, "answer_start", int, at, path))
            for at, answer in answers
        ),
        place,
    )


def _items(holder: Any, name: str, place: str, path: str, *, missing: bool = False) -> list[Item]:
    found = holder.get(name, [] if missing else None) if isinstance(holder, dict) else None
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise InputError(f"{place} has no list of objects `{name}`; expected SQuAD's JSON", path=path)
    return [(f"{place}.{name}[{number}]", one) for number, one in enumerate(found)]


def _value(holder: Mapping[str, Any], name: str, kind: type[Value], place: str, path: str) -> Value:
    found = holder.get(name)
    if type(found) is not kind:
        expected = "a string" if kind is str else "a number of characters"
        raise InputError(f"{place} has {found!r} for `{name}`; expected {expected}", path=path)
    return found
