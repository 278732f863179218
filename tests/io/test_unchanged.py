"""A file that changes while it is read is an error that names it and says what changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.unchanged import GONE, changed, file_states, is_same_version, require_unchanged, unchanged


def overwrite(path: str) -> None:
    """Write other bytes of the same length."""
    size = files.size(path)
    files.write_bytes(path, b"y" * size)


def restore_time(path: str) -> None:
    """Write other bytes of the same length, and set the time of modification to what it was."""
    status = os.stat(path)
    Path(path).write_bytes(b"y" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def cut_off(path: Path) -> None:
    """Cut a file off, and raise the error of a reader that finds it so."""
    os.truncate(path, 1)
    raise ValueError("cut off")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: os.truncate(path, 2), "it had 5 bytes and has 2 now"),
        (lambda path: Path(path).write_bytes(b"xxxxx and more"), "it had 5 bytes and has 14 now"),
        (overwrite, "it was written again at 2"),
        (restore_time, "it was replaced, or its time was set, at 2"),
        (os.unlink, "was deleted or moved while it was read"),
    ],
)
def test_what_changed_is_named(change, words: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path, other = str(tmp_path / "rows.jsonl"), str(tmp_path / "other.jsonl")
    for each in (path, other):
        Path(each).write_bytes(b"xxxxx")
    os.utime(path, ns=(10**18, 10**18))
    states = file_states([path, other])
    require_unchanged(states)
    change(path)
    assert list(changed(states)) == [path]
    with pytest.raises(InputError, match=f"rows.jsonl: .*{words}"):
        require_unchanged(states)


def test_a_file_that_is_read_keeps_its_state(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 9)
    states = file_states([str(path)])
    with unchanged(states):
        path.read_bytes()
    assert not changed(states)


def test_a_change_is_told_in_the_place_of_the_error_that_it_caused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"xxxxx")
    with pytest.raises(InputError, match="has 1 now") as raised, unchanged(file_states([str(path)])):
        cut_off(path)
    assert isinstance(raised.value.__cause__, ValueError)
    with pytest.raises(ValueError, match="another"), unchanged(file_states([str(path)])):
        raise ValueError("another")


def test_a_file_of_a_store_is_known_by_its_version() -> None:
    files.write_bytes("memory://unchanged/a.txt", b"xxxxx")
    states = file_states(["memory://unchanged/a.txt", "memory://unchanged/none"])
    assert states["memory://unchanged/none"] == GONE
    require_unchanged(states)
    files.write_bytes("memory://unchanged/a.txt", b"yyyyy")
    with pytest.raises(InputError, match="the store has another version of it"):
        require_unchanged(states)


def test_parts_are_known_by_size_and_time_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"xxxxx")
    before = file_states([str(path)])[str(path)]
    restore_time(str(path))
    assert is_same_version(before, file_states([str(path)])[str(path)])
    path.write_bytes(b"xxxxx and more")
    assert not is_same_version(before, file_states([str(path)])[str(path)])
