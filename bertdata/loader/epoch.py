"""The epoch of a data set or a collator, set by `set_epoch`."""

from __future__ import annotations

import operator
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
        self._value = check_epoch(epoch)


class HasEpoch:
    """What has an epoch for the examples that have none of their own."""

    _epoch_type: type[Epoch] = Epoch
    _epoch: Epoch

    @property
    def epoch(self) -> int | None:
        """The epoch of examples that have none, as those that are indexed by a number alone; None until it is set."""
        return self._epoch.get()

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of examples that have none, in worker processes too.

        Accelerate calls it before each iteration of a loader that it prepared, and so does the `Trainer` of
        transformers. Raises ConfigError for what is not a number of 0 or more.
        """
        self._epoch.set(epoch)


def check_epoch(epoch: Any) -> int:
    """Return an epoch that is a whole number of 0 or more and below 2**62; raises ConfigError for another."""
    try:
        number = -1 if isinstance(epoch, bool) else operator.index(epoch)
    except TypeError:
        number = -1
    if not 0 <= number < 1 << 62:
        raise ConfigError(f"the epoch is {epoch!r}; expected a number of 0 or more, and below 2**62")
    return number
