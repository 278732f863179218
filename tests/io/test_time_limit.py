"""Work that does not end in time is given up, and what it raises is raised."""

from __future__ import annotations

import threading

import pytest

from bertdata.io.time_limit import finished_within


def test_work_that_does_not_end_in_time_is_given_up() -> None:
    go_on = threading.Event()
    assert not finished_within(0.05, go_on.wait, "waits")
    go_on.set()


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_an_error_of_the_work_is_raised(kind: type[BaseException]) -> None:
    def fail() -> None:
        raise kind("no bucket")

    with pytest.raises(kind, match="no bucket"):
        finished_within(60, fail, "fails")


def test_what_is_to_be_said_meanwhile_is_said_once_and_only_where_it_takes_so_long() -> None:
    said: list[str] = []
    ended = threading.Event()

    def tell() -> None:
        said.append("it takes long")
        ended.set()

    never = [(30.0, lambda: said.append("it takes longer"))]
    assert finished_within(60, lambda: ended.wait(60), "waits", [(0.01, tell), *never])
    assert finished_within(60, lambda: None, "nothing", never)
    assert not finished_within(0.01, threading.Event().wait, "longer", never)
    assert said == ["it takes long"]
