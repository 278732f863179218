"""Requests to Google Cloud Storage that failed are tried again soon, and as often as gcsfs would in all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bertdata.io.gcs_retries import WAITS, retry_soon, with_retries


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited, without waiting."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return waited


def failing(times: int, error: Exception) -> Any:
    """Return a request that fails some times before it returns how often it was sent, and what it was sent with."""
    sent: list[tuple[Any, ...]] = []

    async def once(*args: Any, **options: Any) -> Any:
        sent.append((*args, options))
        if len(sent) <= times:
            raise error
        return len(sent), sent[-1]

    return once


def ask(times: int, error: Exception) -> Any:
    return asyncio.run(with_retries(failing(times, error), lambda error: isinstance(error, OSError), "GET", a=1))


@pytest.mark.parametrize("times", [0, 1, 3, len(WAITS)])
def test_a_request_is_sent_again_after_growing_waits(times: int, slept: list[float]) -> None:
    assert ask(times, OSError()) == (times + 1, ("GET", {"a": 1}))
    assert len(slept) == times
    assert all(least <= wait <= 1.5 * least for least, wait in zip(WAITS, slept, strict=False))


def test_one_fault_costs_a_twentieth_of_a_second_and_an_outage_of_half_a_minute_is_waited_for() -> None:
    assert WAITS[0] <= 0.05
    assert sum(WAITS) >= 30


def test_after_the_last_attempt_its_error_is_raised(slept: list[float]) -> None:
    with pytest.raises(OSError, match="away"):
        ask(len(WAITS) + 1, OSError("away"))
    assert len(slept) == len(WAITS)


def test_an_error_that_another_attempt_cannot_mend_is_raised_at_once(slept: list[float]) -> None:
    with pytest.raises(FileExistsError):
        asyncio.run(with_retries(failing(1, FileExistsError()), lambda error: False))
    assert slept == []


def test_a_file_system_of_gcsfs_retries_so() -> None:
    gcsfs = pytest.importorskip("gcsfs", reason="needs gcsfs")
    fs = gcsfs.GCSFileSystem(token="anon", endpoint_url="http://localhost:9", skip_instance_cache=True)
    retry_soon(fs)
    once = fs._request
    assert once.func is with_retries
    retry_soon(fs)
    assert fs._request is once


def test_a_file_system_with_other_private_parts_is_left_as_it_is() -> None:
    class Plain:
        async def _request(self) -> None: ...

    fs = Plain()
    retry_soon(fs)
    assert "_request" not in vars(fs)
