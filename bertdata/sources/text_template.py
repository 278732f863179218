r"""Templates of a document's text from several columns: what `--text-column` takes beside the name of one.

    "{title}\n\n{body}"                         two columns, with a blank line between them
    "{metadata.title}: {text}"                  a place in a column of objects
    "{messages[]:{role}: {content}}"            the items of a list, each by a template of its own, as of a chat

`\n`, `\t` and `\\` are what they are in Python, `{{` and `}}` are braces. The items of a list are paragraphs. A missing
or empty field leaves nothing; a row where all fields are empty has no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bertdata.errors import ConfigError

_EXAMPLES = r'expected one as "{title}\n\n{body}", or of a chat "{messages[]:{role}: {content}}"'
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\"}
_NAME = re.compile(r"[^{}\[\]:]+")
_ITEMS = "[]"
_BETWEEN_ITEMS = "\n\n"


@dataclass(frozen=True)
class _Field:
    """One field of a template; items: the template of each item of a list, None where the field is a value."""

    name: str
    items: Template | None = None


@dataclass(frozen=True)
class Template:
    """A parsed template: texts, and the fields between them."""

    parts: tuple[str | _Field, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the fields, without those of the items of lists."""
        return tuple(dict.fromkeys(part.name for part in self.parts if isinstance(part, _Field)))

    def text_of(self, row: Mapping[str, Any]) -> str | None:
        """Return the text of a row, None where none of the fields has a value.

        Numbers are written as Python does. A field that holds an object, or a list without a template for its items,
        has no value.

        >>> parse_template("{messages[]:{role}: {content}}").text_of(
        ...     {"messages": [{"role": "user", "content": "Salt?"}, {"role": "assistant", "content": "Yes."}]}
        ... )
        'user: Salt?\\n\\nassistant: Yes.'
        """
        values = [_value(part, row) if isinstance(part, _Field) else part for part in self.parts]
        filled = any(value for part, value in zip(self.parts, values, strict=True) if isinstance(part, _Field))
        return "".join(values) if filled else None


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
        raise ConfigError(f"--text-column '{text}' names no column; {_EXAMPLES}")
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
            field, place = _parse_field(text, place)
            parts.append(field)
            literal = []
        else:
            literal.append(sign)
            place += 1
    return Template((*parts, *(["".join(literal)] if literal else []))), place


def _parse_field(text: str, start: int) -> tuple[_Field, int]:
    """Return the field whose { is at a place, and where it ends."""
    match = _NAME.match(text, start + 1)
    if not match or not match[0].strip():
        raise _refused(text, start, "has a { without the name of a column after it; write {{ for a brace")
    name, place, items = match[0].strip(), match.end(), None
    if text.startswith(_ITEMS, place):
        place += len(_ITEMS)
        if text[place : place + 1] != ":":
            raise _refused(text, place, f"has no template for the items of {name}[]; write {{{name}[]:{{content}}}}")
        items, place = _parse(text, place + 1, inside=True)
    if text[place : place + 1] != "}":
        raise _refused(text, start, "has a { that no } ends")
    return _Field(name, items), place + 1


def _refused(text: str, place: int, problem: str) -> ConfigError:
    return ConfigError(f"--text-column '{text}', character {place}: {problem}; {_EXAMPLES}")


def _value(field: _Field, row: Mapping[str, Any]) -> str:
    value = value_at(row, field.name)
    if field.items is not None:
        elements = value if isinstance(value, list) else []
        return _BETWEEN_ITEMS.join(text for text in _texts(field.items, elements) if text)
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _texts(template: Template, items: Sequence[Any]) -> Iterator[str | None]:
    return (template.text_of(item) for item in items if isinstance(item, Mapping))
