"""Which of many files are not what they were."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bertdata.io.digests import damaged


@pytest.mark.parametrize("cores", [{0}, {0, 1, 2}])
def test_damaged_files_come_in_order_with_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: set[int]
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: cores, raising=False)
    expected = []
    for number in range(5):
        path = tmp_path / f"part-{number}"
        path.write_bytes(b"%d" % number)
        expected.append((str(path), hashlib.sha256(b"%d" % number).hexdigest()))
    assert list(damaged(expected, "checking")) == []
    (tmp_path / "part-1").unlink()
    (tmp_path / "part-3").write_bytes(b"33")
    (first, problem), other = damaged(expected, "checking")
    assert (first, problem) == (expected[1][0], "there is no such file; check the path")
    digest = hashlib.sha256(b"33").hexdigest()[:12]
    assert other == (expected[3][0], f"its SHA-256 is {digest}, expected {expected[3][1][:12]}")


def test_of_no_files_none_is_damaged() -> None:
    assert list(damaged([], "checking")) == []


def test_a_terminal_is_shown_how_far_a_long_reading_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bertdata.io.digests.SHOW_AFTER", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    path = tmp_path / "part"
    path.write_bytes(b"")
    assert list(damaged([(str(path), hashlib.sha256().hexdigest())], "checking")) == []
    shown = capsys.readouterr().err
    assert "checking:" in shown
    assert "/1 [" in shown
