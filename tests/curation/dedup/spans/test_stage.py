"""Repeated paragraphs and runs of sentences are left in one document, whatever the order and the files."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bertdata.curation.dedup.spans import stage as stage_module
from bertdata.curation.dedup.spans.decide import find_left_out
from bertdata.curation.dedup.spans.repeats import SPANS
from bertdata.curation.dedup.spans.rewrite import LEFT_OUT_BYTES, NOTHING_LEFT, TOO_SHORT
from bertdata.curation.settings import DedupSpansConfig
from bertdata.documents import DROPPED_TEXTS, Dropped, cut_ranges, without_rows
from bertdata.engine.byte_ranges import Stream, write_stream
from bertdata.engine.stages import BuildState
from tests.curation.dedup.spans.corpus import all_left, left, left_plainly, run_stage
from tests.curation.stages import Document, parts_of, texts_in

WORDS = ["the", "a", "boat", "sea", "harbour", "morning", "fish", "gull", "rope", "tide", "wind", "sail"]
IN_ANY_FOLDER = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def sentence(draw: random.Random, words: int = 12) -> str:
    return " ".join([*draw.choices(WORDS, k=words), f"n{draw.getrandbits(40):x}"]).capitalize() + "."


def paragraph(draw: random.Random, sentences: int = 4) -> str:
    return " ".join(sentence(draw) for _ in range(sentences))


def corpus_with_planted(seed: int, count: int = 60) -> tuple[list[Document], dict[str, list[str]]]:
    """Return documents of unique paragraphs, with shared ones planted into some, and the ids that have each."""
    draw = random.Random(seed)
    shared = [paragraph(draw) for _ in range(8)]
    holders: dict[str, list[str]] = {text: [] for text in shared}
    documents = []
    for number in range(count):
        name, own = f"row:{number:03d}", [paragraph(draw) for _ in range(4)]
        for planted in draw.sample(shared, draw.choice([0, 1, 1, 2])):
            own.insert(draw.randrange(5), planted.upper() if draw.random() < 0.5 else planted)
            holders[planted].append(name)
        documents.append((name, "\n\n".join(own)))
    return documents, holders


@pytest.mark.parametrize("kind", ["paragraphs", "sentences"])
def test_none_of_what_was_planted_is_missed_and_nothing_else_is_touched(kind: str, tmp_path: Path) -> None:
    documents, holders = corpus_with_planted(1)
    texts_left = dict(left(tmp_path, [documents[:25], documents[25:]], all_left(kind)))
    assert set(texts_left) == {name for name, _ in documents}
    for shared, names in holders.items():
        assert len(names) > 1
        assert sum(shared.lower() in text.lower() for text in texts_left.values()) == 1
    planted = {holder.lower() for holder in holders}
    for name, text in documents:
        own = [part for part in text.split("\n\n") if part.lower() not in planted]
        assert [part for part in texts_left[name].split("\n\n") if part.lower() not in planted] == own


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["paragraphs", "sentences"])
def test_the_same_is_left_in_any_order_and_for_any_cut(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents, _ = corpus_with_planted(2)
    expected = sorted(left(tmp_path / "one", [documents], all_left(kind)))
    assert expected != sorted(documents)
    shuffled = random.Random(3).sample(documents, len(documents))
    monkeypatch.setattr(stage_module, "cut_ranges", lambda parts, size=1: cut_ranges(parts, size))
    assert sorted(left(tmp_path / "small", [shuffled[:7], shuffled[7:8], shuffled[8:]], all_left(kind))) == expected
    monkeypatch.setattr(stage_module, "partitions_for", lambda size: 256)
    assert sorted(left(tmp_path / "many", [shuffled[30:], shuffled[:30]], all_left(kind))) == expected


PIECE = st.sampled_from(["One two three.", "ONE, two: three!", "Four five.", "Six.", "...", "日本。", "One", "x\0y z"])
TEXT = st.lists(st.tuples(PIECE, st.sampled_from([" ", "\n", "\n\n", "\r\n\r\n", "\n \n\n"])), max_size=8).map(
    lambda pieces: "".join(piece + border for piece, border in pieces)
)


@IN_ANY_FOLDER
@given(
    st.lists(TEXT, min_size=1, max_size=7),
    st.sampled_from(["paragraphs", "sentences"]),
    st.sampled_from([1, 3]),
    st.integers(0, 7),
)
def test_what_is_left_is_what_a_dictionary_of_all_spans_leaves(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], kind: str, least: int, cut: int
) -> None:
    documents = [(f"d{number % 5}", text) for number, text in enumerate(texts)]
    config = all_left(kind, dedup_spans_min_words=least)
    parts = [part for part in (documents[:cut], documents[cut:]) if part]
    texts_left = left(tmp_path_factory.mktemp("spans"), parts, config)
    assert texts_left == left_plainly(documents, config)


def test_every_sentence_that_was_there_is_left_somewhere(tmp_path: Path) -> None:
    draw = random.Random(5)
    pool = [sentence(draw, 4) for _ in range(5)]
    documents = [(f"{n}", " ".join(draw.choices(pool, k=draw.randrange(1, 12)))) for n in range(80)]
    texts_left = left(tmp_path, [documents], all_left("sentences"))
    every = " ".join(text for _, text in texts_left)
    assert all(one in every for one in pool if any(one in text for _, text in documents))
    assert len(every) < sum(len(text) for _, text in documents) / 2


def test_a_short_paragraph_stays_wherever_it_is(tmp_path: Path) -> None:
    draw = random.Random(0)
    documents = [(f"{n}", f"See also\n\n{paragraph(draw)}\n\nOne two three four five six seven") for n in range(4)]
    assert left(tmp_path / "10", [documents], all_left("paragraphs", dedup_spans_min_words=8)) == documents
    texts = [text for _, text in left(tmp_path / "7", [documents], all_left("paragraphs", dedup_spans_min_words=7))]
    assert sorted(text.endswith("seven") for text in texts) == [False, False, False, True]
    assert all(text.startswith("See also") for text in texts)


def test_documents_left_short_or_empty_are_dropped_with_a_reason_and_the_ledger_adds_up(tmp_path: Path) -> None:
    draw = random.Random(0)
    shared, short = paragraph(draw), sentence(draw, 8)
    rows = [("a", shared), ("b", shared), ("c", f"{short}\n\n{shared}"), ("d", "Short, and unchanged.")]
    rows += [("e", f"{paragraph(draw, 5)}\n\n{shared}")]
    config = DedupSpansConfig("paragraphs")
    build_state = parts_of(tmp_path, [rows])
    after = run_stage(tmp_path, build_state, config)
    [(_, record)], account = after.documents, after.dedup_spans
    kept = dict(texts_in(after))
    assert sum(shared in text for text in kept.values()) == 1
    assert kept["d"] == "Short, and unchanged."
    assert set(record.drops) <= {NOTHING_LEFT, TOO_SHORT}
    assert record.drops[NOTHING_LEFT] >= 1
    assert set(record.details[DROPPED_TEXTS]) == set(record.drops)
    assert sum(record.drops.values()) + len(kept) == len(rows)
    size = sum(len(text.encode()) for text in kept.values())
    assert account["text_bytes"] == sum(len(text.encode()) for _, text in rows)
    assert account["text_bytes"] - account["bytes_left_out"] - account["bytes_dropped"] == account["bytes_left"] == size
    assert record.counts["text_bytes"] == size
    assert record.counts.get(LEFT_OUT_BYTES, 0) == account["bytes_left_out"]
    assert record.counts["bytes removed, repeated paragraphs"] == account["text_bytes"] - size
    assert account["samples"][0]["text"] == shared[:300]
    every = run_stage(tmp_path / "all", build_state, all_left("paragraphs"))
    assert len(texts_in(every)) == len(rows) - every.documents[0][1].drops[NOTHING_LEFT]


def test_documents_that_were_dropped_before_neither_count_nor_come_back(tmp_path: Path) -> None:
    draw = random.Random(0)
    shared = paragraph(draw)
    rows = [(f"{n}", f"{paragraph(draw)}\n\n{shared}") for n in range(8)]
    [(task, record)] = parts_of(tmp_path, [rows], rows=3).documents
    out = [0, 4, 5, 7]
    dropped = [Dropped(n, rows[n][0], len(rows[n][1].encode()), "exact duplicate") for n in out]
    build_state = BuildState(((task, without_rows(record, dropped)),))
    after = run_stage(tmp_path, build_state, all_left("paragraphs"))
    assert texts_in(after) == left_plainly([rows[n] for n in (1, 2, 3, 6)], all_left("paragraphs"))
    [(_, record)] = after.documents
    assert record.drops == {"exact duplicate": 4}
    assert record.counts["documents"] == 4


def test_parts_without_repeats_stay_as_they_are(tmp_path: Path) -> None:
    draw = random.Random(0)
    shared = paragraph(draw)
    parts = [[("a", shared), ("b", f"{shared}\n\n{paragraph(draw)}")], [("c", paragraph(draw))]]
    build_state = parts_of(tmp_path, parts)
    after = run_stage(tmp_path, build_state, all_left("paragraphs"))
    assert after.documents[1] == build_state.documents[1]
    assert after.documents[0][0].path != build_state.documents[0][0].path


def test_a_partition_is_decided_in_rounds_with_the_same_result_in_bounded_memory(tmp_path: Path) -> None:
    draw = random.Random(0)
    streams = []
    for number in range(20):
        hashes = sorted(draw.sample(range(1 << 16), 8000))
        columns = [[digest << 48 for digest in hashes], hashes, [draw.getrandbits(64) for _ in hashes]]
        columns += [list(range(len(hashes))), [0] * len(hashes)]
        path = tmp_path / f"{number}"
        table = pa.table(
            [pa.array(values, kind.type) for values, kind in zip(columns, SPANS, strict=True)], schema=SPANS
        )
        with path.open("wb") as file:
            streams.append(Stream(str(path), "s", *write_stream(file, table)))
    once, taken = find_left_out(streams), []
    for size in (1 << 30, 1 << 18):
        tracemalloc.start()
        left_out = find_left_out(streams, round_bytes=size)
        taken.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert left_out == once
    assert sum(table.num_rows for table in once.values()) > 90_000
    assert taken[1] < 0.6 * taken[0], taken
