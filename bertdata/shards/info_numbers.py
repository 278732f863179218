"""The ranges of the numbers that shards and manifests say of themselves, checked where they are read.

A manifest may come from anyone: a number in it that is out of its range would index something later, or size it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from bertdata.errors import InputError, shortened
from bertdata.tokenizers.ids import MOST_TOKENS, MOST_TYPES, is_id, read_id
from bertdata.tokenizers.pairs import RowTemplate

Number = tuple[str, Any, str, bool]
"""What a number is, the number, what is expected, and whether it is that."""
_MOST = 1 << 63
"""Above every count and number of bytes, and every seed."""


def read_template_ids(values: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the ids of a row template in JSON by their places; raises InputError for what are not ids."""
    return {
        name: tuple(read_id(token_id, f"an id of the {name} of its template") for token_id in values[name])
        for name in ("prefix", "between", "suffix")
    }


def check_numbers(numbers: Iterable[Number], path: str) -> None:
    """Raise InputError for the first number of shards that is out of its range."""
    for name, value, expected, is_right in numbers:
        if not is_right:
            raise InputError(
                f"says that {name} is {shortened(value)}; expected {expected}: restore it, or build again",
                path=path,
            )


def id_numbers(size: int, ids: Mapping[str, int], optional: Container[str], template: RowTemplate) -> Iterator[Number]:
    """Yield the size of a vocabulary, and the ids of roles and of a row template in it, each with what is expected.

    optional: the roles that may have no id, which is -1.
    """
    yield "vocab_size", size, f"a whole number from 1 to {MOST_TOKENS:,}", type(size) is int and 0 < size <= MOST_TOKENS
    for role, value in ids.items():
        lacks = role in optional
        expected = f"an id of the vocabulary, 0 to {size - 1:,}" + (", or -1 for none" if lacks else "")
        is_none = lacks and type(value) is int and value == -1
        yield f"{role}_token_id", value, expected, is_none or is_id(value, size)
    for token_id in (*template.prefix, *template.between, *template.suffix):
        yield "an id of its template", token_id, f"an id of the vocabulary, 0 to {size - 1:,}", is_id(token_id, size)
    types = f"a whole number from 0 to {MOST_TYPES - 1}"
    yield "second_type of its template", template.second_type, types, is_id(template.second_type, MOST_TYPES)
    last = template.last_type
    yield "last_type of its template", last, f"{types}, or null", last is None or is_id(last, MOST_TYPES)


def check_counts(manifest: Mapping[str, Any]) -> None:
    """Raise ValueError where a number of a manifest is not finite, or a count in it is not a whole number from 0."""
    pending: list[tuple[str, Any]] = [("", manifest)]
    while pending:
        where, value = pending.pop()
        if isinstance(value, Mapping):
            pending += [(f"{where}.{name}".lstrip("."), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            pending += [(where, inner) for inner in value]
        elif isinstance(value, int | float) and not abs(value) < 2 * _MOST:  # NaN is not less either
            raise ValueError(f"{where} is {shortened(value)}, expected a finite number")
    for where, value in _counts(manifest):
        if type(value) is not int or not 0 <= value < _MOST:
            raise ValueError(f"{where} is {shortened(value)}, expected a whole number from 0")


def _counts(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the counts and the numbers of bytes of a manifest, each with where it is."""
    sources, splits = (_object(manifest.get(name)) for name in ("sources", "splits"))
    counted = [(f"sources.{name}", source) for name, source in sources.items()]
    counted += [(f"splits.{name}", entry) for name, entry in splits.items()] + [("tokens", manifest.get("tokens"))]
    for name, split in splits.items():
        shards = _object(split).get("shards")
        counted += [(f"splits.{name}.shards", shard) for shard in (shards if isinstance(shards, list) else [])]
    for where, entry in counted:
        for group in ("counts", "drops"):
            yield from (
                (f"{where}.{group}.{name}", value) for name, value in _object(_object(entry).get(group)).items()
            )
        if "bytes" in _object(entry):
            yield f"{where}.bytes", entry["bytes"]


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
