"""What a process and the worker processes beside it say to each other: pickled values, each after its length."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from bertdata.errors import set_naming_flags
from bertdata.plugins import adopt
from bertdata.registry import handed_over

_LENGTH = struct.Struct("<Q")
BEGIN = "begin"
"""To a worker: a run begins; with its `Run`, pickled."""
GIVE = "give"
"""To a worker: the number of a step, and tasks of it."""
END = "end"
"""To a worker: all that was begun of a step is to be done; with its number, and no tasks."""
READY = "ready"
"""A worker can take tasks; without a value."""
TOOK = "took"
"""It has done, or begun, the tasks that it was given; with the records that are there by now, by path."""
ENDED = "ended"
"""It has done all that it began; with the records of the last parts, by path."""
FAILED = "failed"
"""A part could not be made, or a worker is lost; with the error."""
COMPILING = b"[bertdata: this worker compiles kernels]\n"
"""What a worker writes to its standard error, so that its parent knows."""


@dataclass(frozen=True)
class Run:
    """What worker processes need to know of a run: the functions of its steps, and what registries do not find there.

    objects: by kind and name (`bertdata.registry.handed_over`); consent: to import modules (`bertdata.plugins`);
    names_flags: whether messages name flags or arguments.
    """

    makes: Sequence[Any]
    objects: Mapping[tuple[str, str], object] = field(default_factory=dict)
    consent: Any = None
    names_flags: bool = True

    def packed(self) -> bytes:
        """Return it pickled, what the main module or no module has by value."""
        import cloudpickle

        data: bytes = cloudpickle.dumps(self)
        return data

    def begin(self) -> None:
        """Make this process one of the run's."""
        set_naming_flags(self.names_flags)
        if self.consent is not None:
            adopt(self.consent)
        for name, item in self.objects.items():
            handed_over.setdefault(name, item)


def write_message(stream: BinaryIO | Any, message: tuple[str, Any]) -> None:
    """Write a message: its length, 8 bytes, and the message pickled."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def read_data(stream: BinaryIO | Any) -> bytes | None:
    """Return the next message pickled, None where the other side has closed the pipe, also within one."""
    length = stream.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    [size] = _LENGTH.unpack(length)
    data: bytes = stream.read(size)
    return data if len(data) == size else None


def message_of(data: bytes) -> tuple[str, Any]:
    """Return a message that `read_data` gave; raises what unpickling does where it names what is not there."""
    kind, value = pickle.loads(data)
    return kind, value
