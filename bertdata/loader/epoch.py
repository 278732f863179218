"""`Epoch`: the epoch of a data set or a collator, set by `set_epoch`."""

from __future__ import annotations

from typing import Any

from bertdata.errors import ConfigError


class Epoch:
    """A number of 0 or more that can be set, None until then.

    >>> epoch = Epoch()
    >>> epoch.set(3)
    >>> epoch.get()
    3
    """

    def __init__(self) -> None:
        self._value: int | None = None

    def get(self) -> int | None:
        """Return the epoch, or None where none was set."""
        return self._value

    def set(self, epoch: int) -> None:
        """Set the epoch; raises ConfigError for what is not a number of 0 or more."""
        self._value = checked(epoch)


def checked(epoch: Any) -> int:
    """Return an epoch that is a number of 0 or more and below 2**62; raises ConfigError for another."""
    if not isinstance(epoch, int) or isinstance(epoch, bool) or not 0 <= epoch < 1 << 62:
        raise ConfigError(f"the epoch is {epoch!r}; expected a number of 0 or more, and below 2**62")
    return epoch
