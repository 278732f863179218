"""The elements of a list in a JSON file, or its values, read one after another: memory is that of about one of them.

    {"version": "1.1", "data": [ELEMENT, ELEMENT, ...]}
    [ELEMENT, ELEMENT, ...]
    VALUE VALUE ...

The text is read in chunks. If a value does not end in the text that is held, twice as much is read, so a value is
parsed about twice, whatever its length. Keys may be in any order; the values of other keys are parsed and dropped.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, BinaryIO, NoReturn

from bertdata.errors import InputError, parse_problem
from bertdata.io import compression
from bertdata.sources.labelled.other_forms import unfolding, unfolding_of_object

CHUNK = 1 << 20
_SPACE = re.compile(r"[ \t\n\r]*")
_ROWS = ("data", "annotations")
"""The lists of an object that may be its rows."""
_LONGEST_ATOM = 16
"""Characters after which a wrong value cannot be one that was cut off, as `-Infinity` or two escapes of a pair."""


def read_list(path: str, name: str, *, chunk: int = CHUNK) -> Iterator[Any]:
    r"""Yield the elements of the list under `name` in the object that a JSON file holds, compressed or not.

    A file that holds a list alone has the elements of that. They are those of `json.loads`. Raises InputError, with the
    byte of the text, where it is not JSON or cut off, and where the object has no list of that name, or two. `chunk`:
    the bytes that are read at a time.
    """
    with compression.open_decompressed(path) as file:
        text = _Window(file, path, chunk)
        if text.sign() == "[":
            yield from _elements(text)
            if text.sign():
                text.broken("more after the list; rows of JSON lines are read from a .jsonl")
            return
        if text.sign() != "{":
            raise InputError(f"has no list `{name}`; expected an object that has, or a list", path=path)
        any_list, how = False, ""
        for key in _keys(text):
            if key != name:
                value = text.value()
                how = how or unfolding_of_object(key, value)
            elif any_list:
                text.broken(f"a second `{name}`")
            else:
                any_list = True
                if text.needed() != "[":
                    raise InputError(f"has no list `{name}`, but another value there", path=path)
                yield from _elements(text)
        if text.sign():
            text.broken("more after the object; rows of JSON lines are read from a .jsonl")
    if not any_list:
        raise InputError(f"has no list `{name}`; {how or 'expected an object that has'}", path=path)


def read_values(path: str) -> Iterator[Any]:
    """Yield the values of a JSON file: one, or several one after another, as in JSON lines.

    Raises InputError as `read_list` does, and where there is none.
    """
    with compression.open_decompressed(path) as file:
        text = _Window(file, path, CHUNK)
        if not text.sign():
            raise InputError("holds white space alone; expected JSON", path=path)
        while text.sign():
            yield text.value()


def read_json_rows(path: str, *, chunk: int = CHUNK) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON file: those of a list, of the list `data` in an object, or one after another.

    The last are JSON lines, which many data sets call .json. A row may be a pair, as of `as_row`; a list `annotations`
    of these, as annotators for spaCy write it, is one of rows as well. Raises InputError as `read_list` does, and for
    another value than an object.
    """
    with compression.open_decompressed(path) as file:
        text = _Window(file, path, chunk)
        listed = text.sign() == "["
        for number, value in enumerate(_elements(text) if listed else _objects(text), 1):
            row = as_row(value)
            if row is None:
                expected = "a list of objects, an object with the list `data`, or objects one after another"
                how = unfolding(value) or f"expected {expected}"
                raise InputError(f"row {number} is not a JSON object; {how}", path=path)
            yield row
        if text.sign():
            text.broken(f"more after the {'list' if listed else 'object'}")


def as_row(value: Any) -> dict[str, Any] | None:
    """Return the row that a value of JSON is: an object, or spaCy's pair of a text and an object; None of any other.

    >>> as_row(["EU left", {"entities": [[0, 2, "ORG"]]}])
    {'text': 'EU left', 'entities': [[0, 2, 'ORG']]}
    >>> as_row(["EU left", 1])
    """
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict):
        return {"text": value[0], **value[1]}
    return value if isinstance(value, dict) else None


def _objects(text: _Window) -> Iterator[Any]:
    """Yield values that come one after another, or the elements of the first one's list `data`, if they are objects."""
    if text.sign() == "{":
        row: dict[str, Any] | None = {}
        for key in _keys(text):
            if row is None or key not in _ROWS or text.needed() != "[":
                value = text.value()
            else:
                elements = _elements(text)
                value = list(islice(elements, 1))
                if value and as_row(value[0]) is not None and (key == "data" or isinstance(value[0], list)):
                    yield from chain(value, elements)
                    row = None
                else:
                    value.extend(elements)
            if row is not None:
                row[key] = value
        if row is None:
            return
        yield row
    while text.sign():
        yield text.value()


def _keys(text: _Window) -> Iterator[str]:
    """Yield the keys of an object; the caller takes the value of each before the next."""
    sign = text.take("{")
    if text.needed() == "}":
        sign = text.take("}")
    while sign != "}":
        if text.needed() != '"':
            text.broken("no name in double quotes")
        key: str = text.value()
        text.take(":")
        yield key
        sign = text.take(",}")


def _elements(text: _Window) -> Iterator[Any]:
    sign = text.take("[")
    if text.needed() == "]":
        sign = text.take("]")
    while sign != "]":
        yield text.value()
        sign = text.take(",]")


class _Window:
    """The text of a file from the current place to the end of what has been read."""

    def __init__(self, file: BinaryIO, path: str, chunk: int) -> None:
        self._file, self._path, self._chunk = file, path, chunk
        self._text, self._at, self._bytes = "", 0, 0
        begin = file.read(4)
        self._encoding = json.detect_encoding(begin)
        self._decoder = codecs.getincrementaldecoder(self._encoding)("surrogatepass")
        self._parse = json.JSONDecoder().raw_decode
        self._add(begin)

    def sign(self) -> str:
        """Return the next character that is not white space, without taking it; "" at the end of the file."""
        while True:
            spaces = _SPACE.match(self._text, self._at)
            assert spaces is not None
            self._at = spaces.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def needed(self) -> str:
        """Return the next character that is not white space, which must be there, without taking it."""
        return self.sign() or self._cut_off()

    def take(self, signs: str) -> str:
        """Take the next character that is not white space, one of `signs`."""
        sign = self.needed()
        if sign not in signs:
            self.broken(f"{sign!r}, expected {' or '.join(signs)}")
        self._at += 1
        return sign

    def value(self) -> Any:
        """Take the next value."""
        self.needed()
        while True:
            try:
                value, end = self._parse(self._text, self._at)
            except json.JSONDecodeError as error:
                open_string = error.msg.startswith("Unterminated string")
                if (open_string or error.pos > len(self._text) - _LONGEST_ATOM) and self._more():
                    continue
                if open_string or error.pos >= len(self._text):
                    self._cut_off()
                self._at = error.pos
                self.broken(error.msg)
            except (ValueError, RecursionError) as error:
                self.broken(parse_problem(error))
            number = type(value) in (int, float)
            if not number or end < len(self._text) - _LONGEST_ATOM or not self._more():
                self._at = end
                return value

    def broken(self, problem: str) -> NoReturn:
        """Raise the error for the text at the current place."""
        raise InputError(
            f"this byte of the text is not JSON ({problem}); check how the file was made",
            path=self._path,
            offset=self._byte(),
        )

    def _cut_off(self) -> NoReturn:
        raise InputError(
            "the text ends here, inside its JSON: the file was cut off; get it again and check its size",
            path=self._path,
            offset=self._bytes,
        )

    def _more(self) -> bool:
        """Drop what was taken and read as much as is held, at least a chunk; returns whether there was more."""
        data = self._file.read(max(self._chunk, len(self._text) - self._at))
        if data:
            self._text, self._at = self._text[self._at :], 0
            self._add(data)
        elif self._decoder.getstate()[0]:
            self._cut_off()
        return bool(data)

    def _add(self, data: bytes) -> None:
        waiting = len(self._decoder.getstate()[0])
        try:
            self._text += self._decoder.decode(data)
        except UnicodeDecodeError as error:
            raise InputError(
                f"is not {self._encoding.upper()} here ({error.reason}); convert the file",
                path=self._path,
                offset=self._bytes - waiting + error.start,
            ) from error
        self._bytes += len(data)

    def _byte(self) -> int:
        """Return the byte offset of the current place, from the bytes after it."""
        plain = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}.get(self._encoding, self._encoding)
        unread = len(self._text[self._at :].encode(plain, "surrogatepass")) + len(self._decoder.getstate()[0])
        return self._bytes - unread
