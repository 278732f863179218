"""Fingerprints of JSON-like values, and values that are written with theirs, as a checksum that tells damage."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from bertdata.engine.int_rows import IntArray

CHECKSUM = "checksum"
_DIGITS = 32


def fingerprint(*parts: Any) -> str:
    """Return 32 hexadecimal digits that identify JSON-like values, the same on every machine; `IntArray`s are lists.

    >>> fingerprint("clean", {"a": 1, "b": 2}) == fingerprint("clean", {"b": 2, "a": 1})
    True
    """
    return _digest(_canonical(parts))


def _canonical(value: Any) -> bytes:
    """Return the one form in JSON that a value has."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_listed).encode()


def _digest(canonical: bytes) -> str:
    return hashlib.sha256(canonical).hexdigest()[:_DIGITS]


def _listed(value: Any) -> list[Any]:
    if isinstance(value, IntArray):
        numbers: list[Any] = value.array.tolist()
        return numbers
    raise TypeError(f"{type(value).__name__} is no JSON value")


def sealed(values: dict[str, Any]) -> dict[str, Any]:
    """Return JSON-like values with their checksum, under "checksum".

    >>> sealed({"documents": 3})
    {'documents': 3, 'checksum': '14946792190ca09ae74d4a2a703f205f'}
    """
    plain = _without_checksum(values)
    return plain | {CHECKSUM: fingerprint(json.loads(json.dumps(plain)))}


def is_sealed(values: Any) -> bool:
    """Return whether values read from JSON are those that `sealed` returned.

    >>> is_sealed(sealed({"documents": 3})), is_sealed(sealed({"documents": 3}) | {"documents": 4}), is_sealed({})
    (True, False, False)
    """
    if not isinstance(values, dict) or CHECKSUM not in values:
        return False
    return bool(fingerprint(_without_checksum(values)) == values[CHECKSUM])


def sealed_line(values: dict[str, Any]) -> bytes:
    """Return what `sealed` returns of one value or more as a line of JSON, the checksum last; they are encoded once.

    >>> sealed_line({"documents": 3})
    b'{"documents":3,"checksum":"14946792190ca09ae74d4a2a703f205f"}\\n'
    """
    plain = _without_checksum(values)
    if not _has_only_names(plain):
        plain = json.loads(json.dumps(plain, default=_listed))
    canonical = _canonical([plain])
    return canonical[1:-2] + _end_of_line(_digest(canonical))


def is_sealed_line(line: bytes) -> bool:
    """Tell whether bytes are a line as `sealed_line` returns it, without reading its values.

    >>> is_sealed_line(sealed_line({"documents": 3})), is_sealed_line(sealed_line({"documents": 3}).replace(b"3", b"4"))
    (True, False)
    """
    size = len(line) - len(_end_of_line("0" * _DIGITS))
    return line[size:] == _end_of_line(_digest(b"[" + line[:size] + b"}]"))


def _end_of_line(checksum: str) -> bytes:
    return f',"{CHECKSUM}":"{checksum}"}}\n'.encode()


def _has_only_names(value: Any) -> bool:
    """Tell whether all keys in a JSON-like value are strings, as those that are read again are."""
    if isinstance(value, dict):
        return all(type(name) is str for name in value) and all(map(_has_only_names, value.values()))
    return not isinstance(value, list | tuple) or all(map(_has_only_names, value))


def _without_checksum(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != CHECKSUM}
