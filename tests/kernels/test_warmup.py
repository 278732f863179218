"""A compilation is told to who listens, and in one line where nobody does."""

from __future__ import annotations

import logging

import pytest

from bertdata.kernels import warmup
from bertdata.kernels.warmup import compilation_begins


def test_a_first_compilation_that_nobody_listens_to_is_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(warmup, "_said", False)
    heard: list[int] = []
    with caplog.at_level(logging.WARNING, "bertdata"):
        monkeypatch.setattr(warmup, "listeners", [lambda: heard.append(1)])
        compilation_begins()
        assert (heard, caplog.messages) == ([1], [])
        monkeypatch.setattr(warmup, "listeners", [])
        for _ in range(3):
            compilation_begins()
    assert len(caplog.messages) == 1
    assert "compiling kernels" in caplog.messages[0]
    assert "`bertdata compile` does it beforehand" in caplog.messages[0]
