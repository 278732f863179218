r"""Templates of a document's text from several columns: what `--text-column` takes beside the name of one.

    "{title}\n\n{body}"                         two columns, with a blank line between them
    "{metadata.title}: {text}"                  a place in a column of objects
    "{messages[]:{role}: {content}}"            the items of a list, each by a template of its own, as of a chat
    "{paragraphs[]:{}}"                         the same of a list of strings: {} is the item itself

`\n`, `\t` and `\\` are what they are in Python, `{{` and `}}` are braces. The items of a list are paragraphs. A missing
or empty field leaves nothing; a row where all fields are empty has no text. Nor has a row in which a field holds
something that the template does not take, as a list where a string is expected: its text would lack a part. A name that
comes twice, as `{content}{content[]:{text}}`, takes what either takes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from bertdata.errors import ConfigError

_EXAMPLES = r'expected one as "{title}\n\n{body}", or of a chat "{messages[]:{role}: {content}}"'
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\"}
_NAME = re.compile(r"[^{}\[\]:]+")
_ITEMS = "[]"
_ITSELF = ""
"""The name of a field that is the item of a list itself."""
_BETWEEN_ITEMS = "\n\n"
_WRITTEN = (str, int, float, Decimal, date, time, timedelta)
"""What a field writes as Python's `str` does; not true and false."""
_KINDS: tuple[tuple[Any, str], ...] = (
    (bool, "true or false"),
    (int | float, "a number"),
    (str, "a string"),
    (list, "a list"),
    (Mapping, "an object"),
)

TEMPLATE_REVISION = 2
"""Raised when a template makes another text of a row."""


def kind_of(value: Any) -> str:
    """Return what a value of a row is, in words.

    >>> kind_of(5), kind_of(["a"]), kind_of(b"a")
    ('a number', 'a list', 'bytes')
    """
    return next((name for kind, name in _KINDS if isinstance(value, kind)), type(value).__name__)


@dataclass(frozen=True)
class _Field:
    """One field of a template; items: the template of each item of a list, None where the field is a value."""

    name: str
    items: Template | None = None

    def read(self, row: Any, place: str) -> tuple[str, str]:
        """Return the text of the field in a row or an item, and what it holds instead of one; `place` is the row's."""
        if self.name != _ITSELF and not isinstance(row, Mapping):
            return "", f"{kind_of(row)} in {place}"
        value = row if self.name == _ITSELF else value_at(row, self.name)
        inside = f"{place}.{self.name}".strip(".")
        if value is None or (isinstance(value, list | Mapping) and not value):
            return "", ""
        if isinstance(value, float) and math.isnan(value):  # a missing number of pandas
            return "", ""
        if self.items is None:
            written = isinstance(value, _WRITTEN) and not isinstance(value, bool)
            return (str(value), "") if written else ("", f"{kind_of(value)} in {inside}")
        if not isinstance(value, list):
            return "", f"{kind_of(value)} in {inside}"
        read = [self.items.read(item, f"{inside}{_ITEMS}") for item in value if item is not None]
        return _BETWEEN_ITEMS.join(text for text, _ in read if text), next(
            (problem for _, problem in read if problem), ""
        )


@dataclass(frozen=True)
class Template:
    """A parsed template: texts, and the fields between them."""

    parts: tuple[str | _Field, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the fields, without those of the items of lists."""
        return tuple(dict.fromkeys(part.name for part in self.parts if isinstance(part, _Field)))

    def text_of(self, row: Mapping[str, Any]) -> str | None:
        """Return the text of a row; None where no field has a value, or one has what the template does not take.

        Numbers and dates are written as Python does.

        >>> parse_template("{messages[]:{role}: {content}}").text_of(
        ...     {"messages": [{"role": "user", "content": "Salt?"}, {"role": "assistant", "content": "Yes."}]}
        ... )
        'user: Salt?\\n\\nassistant: Yes.'
        """
        text, not_taken = self.read(row)
        return text if text and not not_taken else None

    def not_taken(self, row: Mapping[str, Any]) -> str:
        """Return what a row has where the template expects something else, and in which field; "" where all fits.

        >>> parse_template("{title} {tags}").not_taken({"title": "Salt", "tags": ["sea", "white"]})
        'a list in tags'
        """
        return self.read(row)[1]

    def read(self, row: Any, place: str = "") -> tuple[str, str]:
        """Return the text of a row or an item ("" where no field has a value), and what it holds that is not taken."""
        texts: list[str] = []
        filled, problems = False, dict[str, str]()
        for part in self.parts:
            if isinstance(part, str):
                texts.append(part)
                continue
            text, problem = part.read(row, place)
            texts.append(text)
            filled = filled or bool(text)
            problems[part.name] = problem and problems.get(part.name, problem)
        return "".join(texts) if filled else "", next(filter(None, problems.values()), "")


def is_template(text_column: str) -> bool:
    """Return whether what names the text is a template, not the name of a column.

    >>> is_template("{title} {body}"), is_template("text")
    (True, False)
    """
    return "{" in text_column or "}" in text_column


@lru_cache(maxsize=64)
def parse_template(text: str) -> Template:
    r"""Parse a template; raises ConfigError, with the place, for what is not one.

    >>> parse_template(r"{title}\n\n{metadata.body}").columns
    ('title', 'metadata.body')
    >>> parse_template(r"{title}\n\n{metadata.body}").text_of({"title": "Salt", "metadata": {"body": "It is white."}})
    'Salt\n\nIt is white.'
    """
    template, end = _parse(text, 0, inside=False)
    if end != len(text):
        raise _refused(text, end, "has a } without a {; write }} for a brace")
    if not template.columns:
        raise ConfigError(f"the template '{text}' names no column; {_EXAMPLES}")
    return template


def value_at(row: Mapping[str, Any], name: str) -> Any:
    """Return what a row has at a name, which is a column, or a place in a column of objects; None where nothing is.

    >>> value_at({"metadata": {"score": 3}}, "metadata.score"), value_at({"a.b": 1}, "a.b"), value_at({}, "a")
    (3, 1, None)
    """
    value: Any = row
    for key in name.split(".") if name not in row else [name]:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def cell_at(row: Mapping[str, Any], column: str) -> Any:
    """Return what a row has at a name, as `value_at`, or the text of a template; None where nothing is.

    >>> cell_at({"word": "run", "text": "She ran."}, "{word}: {text}"), cell_at({"word": "run"}, "word")
    ('run: She ran.', 'run')
    """
    if column not in row and is_template(column):
        return parse_template(column).text_of(row)
    return value_at(row, column)


def names_in(columns: Iterable[str], names: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of columns, of a template those of its fields, each once; `names` are never templates.

    >>> names_in(["{word}: {text}", "label"])
    ('word', 'text', 'label')
    """
    each = ((name,) if name in names or not is_template(name) else parse_template(name).columns for name in columns)
    return tuple(dict.fromkeys(name for of_column in each for name in of_column))


def text_at(row: Mapping[str, Any], text_column: str) -> str | None:
    """Return the text of a row, in a column or by a template; None where it has none."""
    if text_column not in row and is_template(text_column):
        return parse_template(text_column).text_of(row)
    value = row.get(text_column)
    return value if isinstance(value, str) else None


def columns_of_text(text_column: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that hold the text: one, or those of a template; `names` are those of the file.

    >>> columns_of_text("text", ["text"]), columns_of_text("{meta.title} {body}", ["meta", "body"])
    (('text',), ('meta', 'body'))
    """
    if text_column in names or not is_template(text_column):
        return (text_column,)
    columns = parse_template(text_column).columns
    return tuple(dict.fromkeys(name if name in names else name.partition(".")[0] for name in columns))


def _parse(text: str, start: int, *, inside: bool) -> tuple[Template, int]:
    """Return the template that begins at a place, and where it ends; `inside` one of items ends before its }."""
    parts: list[str | _Field] = []
    literal: list[str] = []
    place = start
    while place < len(text):
        sign = text[place]
        if sign == "\\" and text[place + 1 : place + 2] in _ESCAPES:
            literal.append(_ESCAPES[text[place + 1]])
            place += 2
        elif text[place : place + 2] == "{{" or (text[place : place + 2] == "}}" and not inside):
            literal.append(sign)
            place += 2
        elif sign == "}":
            break
        elif sign == "{":
            parts += ["".join(literal)] if literal else []
            field, place = _parse_field(text, place, inside=inside)
            parts.append(field)
            literal = []
        else:
            literal.append(sign)
            place += 1
    return Template((*parts, *(["".join(literal)] if literal else []))), place


def _parse_field(text: str, start: int, *, inside: bool) -> tuple[_Field, int]:
    """Return the field whose { is at a place, and where it ends; `inside` a template of items {} is the item."""
    if inside and text.startswith("{}", start):
        return _Field(_ITSELF), start + 2
    match = _NAME.match(text, start + 1)
    if not match or not match[0].strip():
        raise _refused(text, start, "has a { without the name of a column after it; write {{ for a brace")
    name, place, items = match[0].strip(), match.end(), None
    if text.startswith(_ITEMS, place):
        place += len(_ITEMS)
        if text[place : place + 1] != ":":
            written = f"write {{{name}[]:{{content}}}}, of strings {{{name}[]:{{}}}}"
            raise _refused(text, place, f"has no template for the items of {name}[]; {written}")
        items, place = _parse(text, place + 1, inside=True)
    if text[place : place + 1] != "}":
        raise _refused(text, start, "has a { that no } ends")
    return _Field(name, items), place + 1


def _refused(text: str, place: int, problem: str) -> ConfigError:
    return ConfigError(f"the template '{text}', character {place}: {problem}; {_EXAMPLES}")
