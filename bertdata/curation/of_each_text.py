"""A function of one text, applied to an array of texts: what a filter or a cleaner is when it is not an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from bertdata.documents import storable
from bertdata.errors import ConfigError

_TYPES: dict[type, Any] = {bool: pa.bool_(), str: pa.string()}


def of_each_text(what: str, function: Callable[[str], Any], texts: pa.StringArray, wanted: type) -> pa.Array:
    """Return what a function returns for each text, as an array of bool or of str, as `wanted` says.

    Lone surrogates, which UTF-8 cannot hold, become U+FFFD. Raises ConfigError, with the beginning of the text, where
    the function raises an exception or returns something else. `what` is what messages call the function.

    >>> of_each_text("the cleaner upper", str.upper, pa.array(["Salt.", "Sea."]), str).to_pylist()
    ['SALT.', 'SEA.']
    """
    values = []
    for text in texts.to_pylist():
        try:
            value = function(text)
        except (Exception, SystemExit) as error:
            raise ConfigError(
                f"{what} raised {type(error).__name__}: {error}, for the text that begins {text[:60]!r}; correct it"
            ) from error
        if not isinstance(value, wanted):
            raise ConfigError(
                f"{what} returned {type(value).__name__} for the text that begins {text[:60]!r}; expected "
                f"{wanted.__name__}"
            )
        values.append(storable(value) if isinstance(value, str) else value)
    return pa.array(values, _TYPES[wanted])
