"""Questions with choices from the rows of files: what each asks, its choices, and which is right.

A file has the choices in a list (of texts, or of objects with `text` and `label`), in an object of two lists, or in a
column each. The right one is named by the choice's own label where it has one, by its number, letter or column, or is
written out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from bertdata.errors import ConfigError, InputError, shortened
from bertdata.io.console import counted
from bertdata.sources.labelled.labelled_files import Row, has_column, has_names, read_rows
from bertdata.sources.labelled.labelled_texts import LabelledText, read_texts
from bertdata.sources.labelled.labels import REMEDY, Label, is_missing, label_name
from bertdata.sources.labelled.other_forms import unfolding
from bertdata.sources.text_template import names_in, value_at

_FOUR = ("0", "1", "2", "3")
KNOWN_QUESTIONS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("sent1", "sent2"), tuple(f"ending{number}" for number in _FOUR)),  # SWAG
    (("ctx_a", "ctx_b"), ("endings",)),  # HellaSwag
    (("context", "question"), tuple(f"answer{number}" for number in _FOUR)),  # CosmosQA
    (("context", "question"), ("answerA", "answerB", "answerC")),  # Social IQa
    (("context", "question"), ("answers",)),  # ReClor
    (("premise", "question"), ("choice1", "choice2")),  # COPA: cause or effect
    (("{dialogue[]:{}}", "question"), ("choice",)),  # DREAM, of dataset hubs
    (("{context[]:{}}", "question"), ("choice",)),  # C3
    (("article", "question"), ("options",)),  # RACE, of dataset hubs
    (("article", "questions"), ("options",)),  # RACE, as it is published: refused, for a row has several questions
    (("para", "question.stem"), ("question.choices",)),  # QuaRTz, as it is published
    (("{question.para_steps[]:{}}", "question.stem"), ("question.choices",)),  # WIQA, as it is published
    (("question.stem",), ("question.choices",)),  # ARC, CommonsenseQA and OpenBookQA, as they are published
    (("{question_para_step[]:{}}", "question_stem"), ("choices",)),  # WIQA, of dataset hubs
    (("question_stem",), ("choices",)),  # OpenBookQA, of dataset hubs
    (("para", "question"), ("choices",)),  # QuaRTz, of dataset hubs
    (("question",), ("choices",)),  # ARC, CommonsenseQA and MMLU, of dataset hubs
    (("goal",), ("sol1", "sol2")),  # PIQA
    (("sentence",), ("option1", "option2")),  # WinoGrande
)
"""The columns of public data sets: the first text and what stands before each choice, and the choices."""
_NAME_THEM = (
    "name one or two of texts with --text-columns, and that of the choices, or one for each, with --choice-columns"
)
ANSWER_COLUMNS = ("label", "answerKey", "answer")


@dataclass(frozen=True)
class Choices:
    """The choices of a question, their own labels where they have any, and the label of the right one."""

    texts: tuple[str, ...]
    names: tuple[str, ...]
    answer: Label


def question_columns(
    path: str, text_columns: Sequence[str] = (), choice_columns: Sequence[str] = (), label_column: str | None = None
) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Return the columns of texts, of choices and of the right choice: the given ones, or those that a file has.

    Raises ConfigError where the file has none of the known names, InputError where it holds no rows.
    """
    header = has_names(path, text_columns, label_column)
    place, first = next(read_rows(path, header=header), ("", {}))
    if not first:
        raise InputError("holds no rows; expected questions with choices", path=path)
    there = (
        (texts, choices)
        for texts, choices in KNOWN_QUESTIONS
        if all(name in first or value_at(first, name) is not None for name in names_in((*texts, *choices)))
        and not ({*texts, *choices} & {"question", "choices"} and isinstance(first.get("question"), Mapping))
    )
    of_file = next(there, ((), ()))
    texts = tuple(text_columns) or of_file[0]
    choices = tuple(choice_columns) or of_file[1]
    if not texts or not choices or not all(has_column(name, list(first), path) for name in choices):
        missing = next((name for name in choices if not has_column(name, list(first), path)), "")
        asked = f"no column {missing!r}" if missing else "no questions with choices in columns of known names"
        raise ConfigError(
            f"has {asked}; its columns are {', '.join(map(repr, first))}: {unfolding(first) or _NAME_THEM}",
            path=path,
        )
    if len(choices) == 1:
        _of_one_column(value_at(first, choices[0]), place, path)
    default = next((name for name in ANSWER_COLUMNS if name in first), ANSWER_COLUMNS[0])
    return texts, choices, label_column or default


def read_questions(
    path: str,
    text_columns: Sequence[str] = (),
    choice_columns: Sequence[str] = (),
    label_column: str | None = None,
    *,
    unlabelled: bool = False,
) -> Iterator[LabelledText[Choices]]:
    """Yield the questions of a file; with `unlabelled` there may be no right choice.

    Raises ConfigError for a missing column, and InputError, with the line or row, for choices that are no texts.
    """
    texts, choices, label = question_columns(path, text_columns, choice_columns, label_column)
    choices_of = partial(_choices, columns=choices, label=label)
    return read_texts(path, texts, (label,), unlabelled=unlabelled, label_of=choices_of)


def _choices(row: Row, place: str, path: str, *, columns: Sequence[str], label: str) -> Choices:
    values: Any = [value_at(row, name) for name in columns]
    values, names = _of_one_column(values[0], place, path) if len(columns) == 1 else (values, [])
    for text in values:
        if not isinstance(text, str):
            raise InputError(
                f"{place} has the choice {text!r}; expected a text (choices are in {', '.join(columns)})", path=path
            )
    if len(values) < 2 or len({*names}) < len(names):
        problem = f"has {counted(len(values), 'choice')}" if len(values) < 2 else f"labels its choices {names!r}"
        raise InputError(f"{place} {problem}; expected two or more, each with a label of its own", path=path)
    answer = value_at(row, label)
    if isinstance(answer, list | Mapping):
        raise InputError(f"{place} has {answer!r} in {label!r}; expected the label of one choice", path=path)
    return Choices(tuple(values), tuple(names), answer)


def _of_one_column(value: Any, place: str, path: str) -> tuple[list[Any], list[str]]:
    """Return the choices that a column holds, and their labels."""
    if isinstance(value, Mapping) and isinstance(value.get("text"), list):
        labels = value.get("label")
        if not isinstance(labels, list) or len(labels) != len(value["text"]):
            raise InputError(f"{place} has choices with the labels {labels!r}; expected one for each", path=path)
        return value["text"], list(map(label_name, labels))
    if isinstance(value, list) and value and all(isinstance(choice, Mapping) for choice in value):
        labels = [choice.get("label") for choice in value]
        return [choice.get("text") for choice in value], list(map(label_name, labels)) if all(labels) else []
    if isinstance(value, list) and value and all(isinstance(choice, list) for choice in value):
        raise InputError(
            f"{place} has the choices of several questions; expected a question in each row, as of the files of RACE "
            "by jq -c '. as $passage | range(.questions | length) as $at | {article, question: .questions[$at], "
            "options: .options[$at], answer: .answers[$at]}' FILES > NEW.jsonl",
            path=path,
        )
    if not isinstance(value, list):
        raise InputError(
            f"{place} has {value!r} for the choices; expected a list of texts, or a column for each choice "
            "(--choice-columns)",
            path=path,
        )
    return value, []


def names_of_choices(questions: Iterable[Choices], number: int, columns: Sequence[str], path: str) -> tuple[str, ...]:
    """Return what so many choices are called by their places: letters, their columns, or numbers from 0 or from 1.

    columns: those of the choices. None where right choices are written out. Raises InputError where it cannot be told
    what a right choice is named by.

    >>> names_of_choices([Choices(("a", "b"), (), "B"), Choices(("a", "b"), (), "A")], 2, ["options"], "x.jsonl")
    ('A', 'B')
    >>> names_of_choices([Choices(("a", "b"), (), 2), Choices(("a", "b"), (), 1)], 2, ["o1", "o2"], "x.jsonl")
    ('1', '2')
    >>> names_of_choices([Choices(("a", "b"), (), "b")], 2, ["choice"], "x.jsonl")
    ()
    >>> names_of_choices([Choices(("x", "y"), (), "b")], 2, ["choice"], "x.jsonl")
    ('a', 'b')
    >>> names_of_choices([Choices(("x", "y"), (), "second")], 2, ["first", "second"], "x.csv")
    ('first', 'second')
    """
    numbers: set[int] = set()
    last = letters = small = of_columns = written = total = 0
    for question in questions:
        if question.names:
            first = question.names[0]
            return _numbers(int(first), number) if first in ("0", "1") else _letters(number)
        if is_missing(question.answer):
            continue
        total, name = total + 1, label_name(question.answer)
        written += isinstance(question.answer, str) and name in question.texts
        letters += len(name) == 1 and name in ascii_uppercase
        small += len(name) == 1 and name in ascii_lowercase
        of_columns += name in columns and not name.isdecimal()
        if name.isdecimal():
            numbers.add(int(name))
            last += int(name) == len(question.texts)
    is_named = letters == total or (numbers and max(numbers) <= number)
    if written == total and total and not is_named:
        return ()
    if total and of_columns == total and len(columns) == number:
        return tuple(columns)
    if total and small == total:
        return tuple(ascii_lowercase[:number])
    doubt = "the right choices may be written out or numbered" if written == total and total else ""
    if numbers and 0 not in numbers and not last and columns[0].endswith("1"):
        doubt = "no right choice has the number 0 or that of the last one, and the choices are numbered from 1"
    if doubt:
        examples = " or ".join(f"--labels {' '.join(_numbers(first, number))}" for first in (0, 1))
        raise InputError(
            f"{doubt} ({', '.join(columns)}): it cannot be told which choice is meant; name the choices by their "
            f"places, as {examples}",
            path=path,
        )
    return _letters(number) if letters and not numbers else _numbers(int(bool(last) and 0 not in numbers), number)


def _numbers(first: int, number: int) -> tuple[str, ...]:
    return tuple(map(str, range(first, first + number)))


def _letters(number: int) -> tuple[str, ...]:
    return tuple(ascii_uppercase[:number])


def place_of_answer(
    question: LabelledText[Choices], names: Sequence[str], path: str, *, unlabelled: bool
) -> int | None:
    """Return the place of the right choice, from 0; None where it is not said, if `unlabelled` allows it.

    names: what choices that have no labels of their own are called, none where right ones are written out. Raises
    InputError, with the place, where no choice is meant, or two are.
    """
    choices = question.label
    of_choices = choices.names or tuple(names[: len(choices.texts)]) or choices.texts
    name = "" if choices.answer is None else label_name(choices.answer)
    if of_choices.count(name) == 1 and not (of_choices is choices.texts and is_missing(choices.answer)):
        return of_choices.index(name)
    missing, shown = is_missing(choices.answer), ", ".join(map(shortened, of_choices))
    if missing and unlabelled:
        return None
    problem = "no label" if missing else f"the label {choices.answer!r}"
    remedy = REMEDY if missing else "name the choices by their places with --labels"
    raise InputError(f"{question.place} has {problem}; expected one of {shown}: {remedy}", path=path)
