"""The stage drops what one process that holds everything would drop, however it is cut, in memory with a bound."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.curation.dedup import planning
from bertdata.curation.dedup import stage as stage_module
from bertdata.curation.dedup.candidates import write_candidates
from bertdata.curation.dedup.decide import find_dropped
from bertdata.curation.dedup.links import find_links
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.settings import DedupConfig
from bertdata.documents import cut_ranges
from tests.curation.dedup.plainly import Row, dropped_plainly
from tests.curation.stages import Document, parts_of, run_stage, texts_in

CONFIGS = {
    "exact": (DedupConfig("exact"), None, None),
    "near": (DedupConfig("near"), 0.8, None),
    "half alike": (DedupConfig("near", dedup_threshold=0.5), 0.5, None),
    "14 x 8": (DedupConfig("near", dedup_minhash="datatrove"), 0.0, (14, 8)),
    "40 x 2": (DedupConfig("near", dedup_minhash="40x2"), 0.0, (40, 2)),
}


@contextmanager
def cut(pieces: int, range_bytes: int, round_bytes: int) -> Iterator[None]:
    """Let the stage have so many pieces, small ranges, and hold few bytes at a time."""
    with (
        patch.object(planning, "pieces_for", lambda documents: pieces),
        patch.object(planning, "cut_ranges", lambda parts: cut_ranges(parts, range_bytes)),
        patch.object(stage_module, "find_links", partial(find_links, round_bytes=round_bytes)),
        patch.object(stage_module, "write_candidates", partial(write_candidates, held_bytes=round_bytes)),
        patch.object(stage_module, "find_dropped", partial(find_dropped, held_bytes=round_bytes)),
    ):
        yield


def dropped(folder: Path, parts: Sequence[Sequence[Document]], config: DedupConfig, rows: int = 3) -> list[Row]:
    """Return what the stage drops; compares its table with the records."""
    build_state = parts_of(folder, [part for part in parts if part], rows=rows)
    every = texts_in(build_state)
    after = run_stage(DropDuplicates(str(folder / "duplicates"), config), build_state)
    table = pq.read_table(folder / "duplicates" / "duplicates.parquet").to_pylist()
    gone: list[int] = []
    first = 0
    for (_, before), (_, record) in zip(build_state.documents, after.documents, strict=True):
        gone += [first + row for row in record.details.get("dropped", [])]
        first += before.counts["documents"]
    assert [every[number][0] for number in gone] == [row["id"] for row in table]
    assert [len(every[number][1].encode()) for number in gone] == [row["bytes"] for row in table]
    assert texts_in(after) == [document for number, document in enumerate(every) if number not in set(gone)]
    return [
        (number, row["id"], row["reason"], row["kept"], round(row["similarity"], 5))
        for number, row in zip(gone, table, strict=True)
    ]


def corpus(draw: random.Random, count: int) -> list[Document]:
    """Return documents of some books in several editions, some of them equal, with ids that may be equal."""
    books = [[f"w{draw.randrange(300)}" for _ in range(60)] for _ in range(max(1, count // 6))]
    documents = []
    for _ in range(count):
        words = list(draw.choice(books))
        for place in draw.sample(range(60), draw.choice([0, 0, 1, 2, 6])):
            words[place] = f"x{draw.randrange(4)}"
        documents.append((f"d{draw.randrange(2 * count)}", " ".join(words[: draw.choice([60, 60, 58])])))
    return [*documents, ("empty", "..."), ("empty", "!!!")]


@pytest.mark.costly
@pytest.mark.parametrize("name", CONFIGS)
@settings(max_examples=8, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.integers(1, 40),
    st.sampled_from([1, 4, 16]),
    st.sampled_from([1, 1 << 25]),
    st.sampled_from([2000, 1 << 25]),
)
def test_it_drops_what_one_process_that_holds_everything_drops(
    name: str,
    tmp_path_factory: pytest.TempPathFactory,
    draw: random.Random,
    count: int,
    pieces: int,
    range_bytes: int,
    round_bytes: int,
) -> None:
    config, threshold, buckets = CONFIGS[name]
    documents = corpus(draw, count)
    expected = dropped_plainly(documents, threshold, buckets)
    border = draw.randint(0, len(documents))
    with cut(pieces, range_bytes, round_bytes):
        dropped_ids = dropped(tmp_path_factory.mktemp("near"), [documents[:border], documents[border:]], config)
    assert dropped_ids == expected


def test_a_part_without_documents_is_passed_over(tmp_path: Path) -> None:
    documents = [("a", "One text."), ("b", "One text.")]
    build_state = parts_of(tmp_path, [[], documents])
    assert "documents" not in build_state.documents[0][1].counts
    after = run_stage(DropDuplicates(str(tmp_path / "duplicates"), DedupConfig("exact")), build_state)
    assert texts_in(after) == documents[:1]


def test_keys_of_hundreds_of_documents_are_compared_as_in_one_process(tmp_path: Path) -> None:
    draw = random.Random(1)
    words = [f"w{number}" for number in range(120)]
    documents = []
    for number in range(150):
        own = [word if draw.random() < 0.97 else f"x{draw.randrange(9)}" for word in words]
        documents.append((f"{draw.randrange(1000):04d}-{number}", " ".join(own)))
    expected = dropped_plainly(documents, 0.8)
    assert 20 < len(expected) < 140
    with cut(4, 1000, 3000):
        assert dropped(tmp_path, [documents], DedupConfig("near")) == expected
