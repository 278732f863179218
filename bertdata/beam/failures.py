"""What workers of Beam say of a failure, as the error that they met."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bertdata.beam.progress import Expected
from bertdata.errors import BertDataError, error_of
from bertdata.io import files, listing, remote

_BEAM_STEP = re.compile(r" \[while running '[^']*'\]$")
_IN_TRACEBACK = re.compile(
    r"^bertdata\.errors\.(?P<kind>\w+): (?P<message>.*?)(?: \[while running '|\n\n|\n?\Z)", re.M | re.S
)


def failures_of(steps: Sequence[Expected]) -> list[str]:
    """Return the files in which workers wrote the errors of tasks of these steps, sorted."""
    expected = {record.removesuffix(".json") + ".failure" for step in steps for record in step.sizes}
    folders = sorted({folder for step in steps for folder in step.directories()})
    names = zip(folders, remote.at_once(listing.names, folders), strict=True)
    return sorted(expected & {files.join(folder, name) for folder, there in names for name in there})


def worker_error(steps: Sequence[Expected]) -> BertDataError | None:
    """Return the first error that a worker wrote into a file, in its class, and delete these files."""
    failures = [files.read_json(path) for path in failures_of(steps)]
    remove_failures(steps)
    return error_of(failures[0]["kind"], failures[0]["message"]) if failures else None


def remove_failures(steps: Sequence[Expected]) -> None:
    """Delete the files in which workers wrote the errors of tasks of these steps."""
    for path in failures_of(steps):
        files.remove(path)


def without_beam(failure: BaseException) -> BaseException:
    """Return the BertDataError in a failure: Beam adds its step, or quotes it in a traceback of another process."""
    if isinstance(failure, BertDataError):
        return error_of(type(failure).__name__, _BEAM_STEP.sub("", str(failure)))
    match = _IN_TRACEBACK.search(str(failure))
    return error_of(match["kind"], match["message"]) if match else failure
