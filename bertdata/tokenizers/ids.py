"""Token ids out of files: how a number in JSON becomes an id, and how many ids of a vocabulary may have no token.

`tokenizer.json`, `tokenizer_config.json`, `added_tokens.json`, row templates and the metadata of shards are read by
these functions. A file may come from anyone, so an id is checked before it indexes anything or something is allocated
for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bertdata.errors import InputError, shortened

MOST_WITHOUT_TOKEN = 1 << 16
"""So many ids may be without a token in any vocabulary; in a larger one as many as it has tokens."""
MOST_TOKENS = 1 << 31
"""The tokens of a vocabulary at most: labels, which are ids or -100, are stored as int32."""
MOST_TYPES = 1 << 8
"""The token types at most, which shards store as uint8."""


@contextmanager
def reading_json(problem: str, path: str | None = None) -> Iterator[None]:
    """Raise InputError, which names a file, where what is read from its JSON is refused or is not there.

    problem: what a key that is missing or of another type means.
    """
    try:
        yield
    except InputError as error:
        raise InputError(str(error), path=path) from error
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{problem} ({type(error).__name__}: {error})", path=path) from error


def is_id(value: object, size: int = MOST_TOKENS) -> bool:
    """Tell whether a value out of a file is an id of a vocabulary of `size` tokens: a whole number from 0.

    >>> is_id(7), is_id(7, size=7), is_id(1.0), is_id(True), is_id(-1), is_id("7")
    (True, False, False, False, False, False)
    """
    return type(value) is int and 0 <= value < size


def read_id(value: Any, what: str, size: int = MOST_TOKENS) -> int:
    """Return an id that JSON holds as a number; raises InputError, with `what` it is, for anything else.

    >>> read_id(1.5, "the id of the token 'a'")
    Traceback (most recent call last):
    bertdata.errors.InputError: the id of the token 'a' is 1.5; expected a whole number from 0 to 2,147,483,647
    """
    if not is_id(value, size):
        raise InputError(f"{what} is {shortened(value)}; expected a whole number from 0 to {size - 1:,}")
    number: int = value
    return number


def read_id_key(key: str, what: str) -> int:
    """Return an id that JSON holds as the key of an object, in decimal digits; raises InputError for anything else.

    >>> read_id_key("50257", "the id of an added token")
    50257
    """
    digits = key.isascii() and key.isdigit() and len(key) <= len(str(MOST_TOKENS))
    return read_id(int(key) if digits else key, what)


def read_ids(ids: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens of a vocabulary with their ids; raises InputError for an id that `read_id` refuses.

    >>> read_ids({"a": 0, "b": 1})
    {'a': 0, 'b': 1}
    """
    if not are_ids(ids.values()):
        wrong = next(token for token, token_id in ids.items() if not is_id(token_id))
        read_id(ids[wrong], f"the id of the token {wrong!r}")
    return dict(ids)


def are_ids(values: Collection[object]) -> bool:
    """Tell whether all values are ids, as `is_id` tells of one; a whole vocabulary is looked through at once."""
    numbers: Any = values
    return {*map(type, values)} <= {int} and min(numbers, default=0) >= 0 and max(numbers, default=0) < MOST_TOKENS


def read_added(entry: Mapping[str, Any], key: str | None = None) -> tuple[str, int, bool]:
    """Return an added token of a tokenizer: its content, its id, and whether it is special.

    key: the id, where the entry is the value of an object whose keys are the ids. Raises InputError where the content
    is not a string or the id not an id, and KeyError or TypeError where the entry is not whole.

    >>> read_added({"id": 4, "content": "<mask>", "special": True})
    ('<mask>', 4, True)
    """
    content = entry["content"]
    if not isinstance(content, str):
        raise InputError(f"the added token {shortened(content)} is not a string")
    what = f"the id of the added token {content!r}"
    return content, read_id(entry["id"], what) if key is None else read_id_key(key, what), bool(entry["special"])


def vocabulary_size(ids: Collection[int]) -> int:
    """Return how many ids a vocabulary has, those without a token too: one more than the highest.

    Raises InputError where more are without a token than `MOST_WITHOUT_TOKEN` and than the tokens: lists and tables are
    as long as the highest id.

    >>> vocabulary_size([0, 1, 4]), vocabulary_size([])
    (5, 0)
    """
    size = max(ids, default=-1) + 1
    if size - len(ids) > max(MOST_WITHOUT_TOKEN, len(ids)):
        raise InputError(
            f"the highest id is {size - 1:,}, but there are only {len(ids):,} tokens; expected ids that follow each "
            "other: renumber them from 0"
        )
    return size
