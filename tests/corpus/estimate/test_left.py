"""What is left of a build: the parts of each step that are not there, and what the others took."""

from __future__ import annotations

import pytest

from bertdata.corpus.estimate.figures import Estimate, Work
from bertdata.corpus.estimate.left import Left, left_of, left_parts
from bertdata.engine.run_stages import State

WHOLE = Estimate(
    documents=100,
    text_bytes=10_000,
    tokens=3_000,
    examples=90,
    ranges=4,
    token_files=4,
    shards=2,
    references=8,
    stages=(
        Work("clean books", 4, 400, 8.0, 3.0),
        Work("tokenize", 4, 200, 4.0, 1.0),
        Work("write shards", 2, 100, 2.0, 1.0),
    ),
    worker_memory=10,
    driver_memory=10,
    requests=1000,
    jobs=("clean books", "write shards"),
)


def test_steps_of_one_title_are_taken_together_and_unknown_ones_left_out() -> None:
    states = [
        State("tokenize", "B", done=3, stale=1),
        State("tokenize", "B", missing=2),
        State("count tokens", "file", done=2),
        State("count tokens"),
    ]
    assert left_parts(states) == {"tokenize": Left(3, 6)}


def test_what_is_there_needs_nothing_and_the_rest_its_share() -> None:
    left = left_of(WHOLE, {"clean books": Left(0, 4), "tokenize": Left(1, 4)})
    assert left is not None
    assert left.stages == (Work("clean books", 0, 0, 0.0, 0.0), Work("tokenize", 1, 50, 1.0, 1.0), WHOLE.stages[2])
    assert left.seconds == 3.0
    assert left.requests == 300
    assert left.jobs == ("write shards",)
    assert left.documents == WHOLE.documents


def test_predictions_of_kept_shards_are_counted_by_the_job_that_writes_shards() -> None:
    left = left_of(
        WHOLE,
        {
            "clean books": Left(0, 4),
            "tokenize": Left(0, 4),
            "write shards": Left(0, 2),
            "count predictions": Left(2, 2),
        },
    )
    assert left is not None
    assert left.stages[-1] == Work("count predictions", 2, 0, 2.0, 1.0)
    assert left.stored == 0
    assert left.jobs == ("write shards",)


@pytest.mark.parametrize("parts", [{}, {"clean books": Left(4, 4)}])
def test_of_a_build_of_which_nothing_is_there_all_is_left(parts: dict[str, Left]) -> None:
    assert left_of(WHOLE, parts) is None
