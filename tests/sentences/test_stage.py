"""Counts of ranges as parts, and the parameters trained from all of them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from bertdata.documents import DocumentRange, DocumentWriter, range_tasks
from bertdata.engine.parts import Counters, run_once
from bertdata.sentences import PunktCounts, PunktSettings
from bertdata.sentences.stage import (
    counts_part,
    parameters_part,
    parameters_task,
    read_counts,
    read_parameters,
)
from tests.sentences.story import STORY

TEXTS = [STORY, "Mr. Gray saw 5 ships. Dr. Gray saw none? No.", "", STORY[: len(STORY) // 2]]


@pytest.mark.parametrize("cuts", [[4], [1, 4], [1, 2, 3, 4]])
def test_ranges_give_the_parameters_of_all_their_texts(cuts: list[int], tmp_path: Path) -> None:
    ranges = []
    for number, (begin, end) in enumerate(zip([0, *cuts], cuts, strict=False)):
        path = tmp_path / f"documents-{number}.parquet"
        with path.open("wb") as file, DocumentWriter(file, Counters()) as writer:
            for place in range(begin, end):
                writer.add(str(place), "", "", "", TEXTS[place])
        ranges.append(DocumentRange(str(path), str(number), 0, 1, path.stat().st_size))
    planned = range_tasks(ranges, str(tmp_path / "counts"), "count_sentences", 1)
    parts = [(task, run_once(task, counts_part)) for task in planned]
    counts = PunktCounts()
    for text in TEXTS:
        counts.add(text)
    assert sum(record.counts["documents"] for _, record in parts) == len(TEXTS)
    assert sum(record.counts["characters"] for _, record in parts) == sum(map(len, TEXTS))
    assert sum(record.counts["tokens"] for _, record in parts) == counts.tokens.total()
    read = PunktCounts()
    for task, _ in parts:
        read.merge(read_counts(task.path))
    with pa.ipc.open_stream(parts[0][0].path) as stream:
        assert stream.schema.names == ["table", "token", "following", "count"]
    tables = ("tokens", "begin", "unknown", "pairs")
    assert [getattr(read, name) for name in tables] == [getattr(counts, name) for name in tables]
    assert len(read) == sum(len(getattr(counts, name)) for name in tables)

    settings = PunktSettings(abbreviations=frozenset({"dr", "zzz"}))
    [task] = parameters_task(str(tmp_path), settings, None, parts)
    record = run_once(task, lambda part, file: parameters_part(settings, part, file))
    trained = counts.parameters(settings)
    parameters = read_parameters(task.path, {"made_by": "a test"})
    assert parameters.fingerprint == trained.fingerprint
    assert parameters.card == {"made_by": "a test"}
    assert parameters.ortho_context == trained.ortho_context
    assert parameters.collocations == trained.collocations
    assert record.counts["entries"] == len(counts)
    assert record.counts["abbrev_types"] == len(trained.abbrev_types)
    assert "zzz" in record.details["given_not_learned"]
