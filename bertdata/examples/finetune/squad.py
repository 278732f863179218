"""Questions on contexts: SQuAD 1.1 and 2.0 JSON, and rows with the columns of the `squad` data set.

SQuAD's `is_impossible` and an empty list of answers both mean that there is none; `plausible_answers` are left out.
Rows have `id`, `question`, `context` and `answers`, {"text": [...], "answer_start": [...]}. What this module does not
do: checking that an answer stands where it says, which is done where it is encoded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bertdata import files
from bertdata.errors import InputError
from bertdata.examples.finetune.files import file_format, read_rows
from bertdata.examples.finetune.question_answering import Question


def read_questions(path: str) -> Iterator[Question]:
    """Yield questions of SQuAD JSON, which is one value and held whole, JSON lines or Parquet.

    Raises InputError, with the place, where something is missing or an id is there twice.
    """
    places: dict[str, str] = {}
    for one in _squad(path) if file_format(path, (".json",)) == ".json" else _rows(path):
        if places.setdefault(one.id, one.place) != one.place:
            raise InputError(
                f"{one.place} has the id {one.id!r}, which {places[one.id]} has too; ids must differ, as predictions "
                "are named by them",
                path=path,
            )
        yield one
    if not places:
        raise InputError("holds no questions; expected SQuAD", path=path)


def _squad(path: str) -> Iterator[Question]:
    with files.open_decompressed(path) as file:
        data = file.read()
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError) as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "the file"
        raise InputError(f"{where} is not JSON ({error}); expected SQuAD's JSON", path=path) from error
    articles = whole.get("data") if isinstance(whole, dict) else None
    if not isinstance(articles, list):
        raise InputError("has no list `data`; expected SQuAD's JSON: data, paragraphs, qas", path=path)
    for number, article in enumerate(articles):
        for place, paragraph in _items(article, "paragraphs", f"data[{number}]", path):
            context = _string(paragraph, "context", place, path)
            for at, entry in _items(paragraph, "qas", place, path):
                answers = [] if entry.get("is_impossible") else _items(entry, "answers", at, path, missing=True)
                yield Question(
                    _string(entry, "id", at, path),
                    _string(entry, "question", at, path),
                    context,
                    tuple((_string(one, "text", here, path), _start(one, here, path)) for here, one in answers),
                    at,
                )


def _items(holder: Any, name: str, place: str, path: str, *, missing: bool = False) -> list[tuple[str, dict[str, Any]]]:
    found = holder.get(name, [] if missing else None) if isinstance(holder, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise InputError(f"{place} has no list of objects `{name}`; expected SQuAD's JSON", path=path)
    return [(f"{place}.{name}[{number}]", one) for number, one in enumerate(found)]


def _string(holder: Any, name: str, place: str, path: str) -> str:
    found = holder.get(name)
    if not isinstance(found, str):
        raise InputError(f"{place} has {found!r} for `{name}`; expected a string", path=path)
    return found


def _start(answer: Any, place: str, path: str) -> int:
    found = answer.get("answer_start")
    if type(found) is not int:
        raise InputError(f"{place} has {found!r} for `answer_start`; expected a number of characters", path=path)
    return found


def _rows(path: str) -> Iterator[Question]:
    for place, row in read_rows(path):
        answers = row.get("answers")
        if isinstance(answers, str):
            raise InputError(f"{place} has a string for `answers`; take SQuAD's JSON, JSON lines or Parquet", path=path)
        texts, starts = ((answers or {}).get(name, []) for name in ("text", "answer_start"))
        if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
            raise InputError(f"{place} has not as many `answer_start` as `text` in `answers`", path=path)
        found = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]
        yield Question(
            _string(row, "id", place, path),
            _string(row, "question", place, path),
            _string(row, "context", place, path),
            tuple((_string(one, "text", place, path), _start(one, place, path)) for one in found),
            place,
        )
