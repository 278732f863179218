"""Shards in length bins, packed shards, and shards of weighted sources: the same examples, found again by verify."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from bertdata.corpus.stage import SourcedRange
from bertdata.corpus.token_slices import TokenFile
from bertdata.engine.parts import PartMetadata, Task
from bertdata.errors import ConfigError
from bertdata.inspect.examples import read_examples
from bertdata.inspect.stats import measure
from bertdata.io import files
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.settings import MASKINGS, ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.columns import CU_SEQLENS
from bertdata.shards.packed import unpacked
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.verify.build import verify
from tests.shards.blocks import block_of, blocks, info_of, infos, table_of, written
from tests.shards.build import write_build
from tests.shards.damage import disagreements, edit, put, rewrite

Row = dict[str, Any]


def examples_of(path: Path, split: str = "train") -> dict[tuple[int, str], Row]:
    """Return the examples of a split by id and tokens, packed rows taken apart."""
    shards = open_shards(path, split)
    rows = [row for number in range(len(shards)) for row in shards.examples(number)]
    plain = [{name: np.asarray(value).tolist() for name, value in row.items()} for row in rows]
    examples = {(row["example_id"], str(row["input_ids"])): row for row in plain}
    assert len(examples) == len(plain)
    return examples


def with_settings(info: PretrainingInfo, **changes: Any) -> PretrainingInfo:
    return replace(info, examples=replace(info.examples, **changes))


@settings(deadline=None)
@given(blocks(), infos())
def test_unpacking_gives_back_exactly_the_examples_of_an_unpacked_shard(
    block: TokenBlock, info: PretrainingInfo
) -> None:
    try:
        single, counters = written(block, info)
    except ConfigError:
        return
    data, packed_tally = written(block, with_settings(info, pack=True))
    apart = [row for batch in table_of(data).to_batches() for row in unpacked(batch).to_pylist()]

    def key(row: Row) -> str:
        return repr(sorted(row.items()))

    assert sorted(map(key, apart)) == sorted(map(key, table_of(single).to_pylist()))
    assert {name: number for name, number in packed_tally.counts.items() if name != "rows"} == counters.counts
    assert packed_tally.counts.get("rows", 0) == table_of(data).num_rows


def test_a_packed_shard_has_rows_of_several_examples_and_their_borders() -> None:
    info = with_settings(info_of(max_seq_length=32, short_seq_prob=0.5), pack=True, pack_length=128)
    table = table_of(written(block_of(400), info)[0])
    borders = table[CU_SEQLENS].to_pylist()
    lengths = table["input_ids"].combine_chunks().value_lengths().to_pylist()
    assert [row[0] for row in borders] == [0] * len(borders)
    assert [row[-1] for row in borders] == lengths
    assert max(lengths) <= 128
    assert [len(row) - 1 for row in borders] == table["example_id"].combine_chunks().value_lengths().to_pylist()
    assert sum(lengths) / (128 * len(lengths)) > 0.98
    assert np.mean([len(row) - 1 for row in borders]) > 3


@pytest.mark.costly
@pytest.mark.parametrize("masking", MASKINGS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_packed_build_verifies_and_holds_the_examples_of_one_that_is_not(
    objective: str, masking: str, tmp_path: Path
) -> None:
    common: dict[str, Any] = {"objective": objective, "masking": masking, "max_seq_length": 24, "dupe_factor": 2}
    plain = write_build(tmp_path / "plain", ExamplesConfig(**common), documents=40)
    packed = write_build(tmp_path / "packed", ExamplesConfig(**common, pack=True, pack_length=96), documents=40)
    rows = dict(verify(packed))
    assert " rows of 96 tokens, " in rows["  packed into"]
    for split in ("train", "validation"):
        assert examples_of(packed, split) == examples_of(plain, split)
        assert len(open_shards(packed, split)) < len(open_shards(plain, split))


@pytest.mark.costly
@pytest.mark.parametrize("masking", MASKINGS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_build_in_bins_verifies_and_each_shard_has_rows_of_one_bin(
    objective: str, masking: str, tmp_path: Path
) -> None:
    common: dict[str, Any] = {"objective": objective, "masking": masking, "max_seq_length": 28, "dupe_factor": 2}
    common["short_seq_prob"] = 0.5
    plain = write_build(tmp_path / "plain", ExamplesConfig(**common), documents=40)
    binned = write_build(tmp_path / "binned", ExamplesConfig(**common, bin_size=8), documents=40)
    verify(binned)
    for split in ("train", "validation"):
        entries = files.read_json(str(binned / "manifest.json"))["splits"][split]["shards"]
        assert [entry["longest"] for entry in entries] == [8, 16, 24, 28] * (len(entries) // 4)
        for entry in entries:
            table = pa.ipc.open_stream((binned / entry["file"]).read_bytes()).read_all()
            lengths = [len(row) for row in table["input_ids"].to_pylist()]
            assert all((entry["longest"] - 1) // 8 == (length - 1) // 8 for length in lengths)
        assert examples_of(binned, split) == examples_of(plain, split)


def test_rows_in_the_shard_of_another_bin_are_found(tmp_path: Path) -> None:
    build = write_build(tmp_path, ExamplesConfig(max_seq_length=28, bin_size=8, short_seq_prob=0.5))
    entries = files.read_json(str(build / "manifest.json"))["splits"]["train"]["shards"]
    first, second = (build / entry["file"] for entry in entries[1:3])
    second.write_bytes(first.read_bytes())
    rewrite(build, entries[2]["file"], lambda table: table)
    assert any("there are not 17 to 24 tokens in " in line for line in disagreements(build))


def test_bins_that_are_out_of_turn_are_found(tmp_path: Path) -> None:
    build = write_build(tmp_path, ExamplesConfig(max_seq_length=28, bin_size=8))
    edit(build / "manifest.json", put("splits", "train", "shards", 1, "longest", value=8))
    assert any("has not a shard for each length bin in turn: 8, 16, 24, 28" in line for line in disagreements(build))


@pytest.fixture(scope="module")
def packed_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = ExamplesConfig(max_seq_length=32, pack=True, pack_length=64)
    return write_build(tmp_path_factory.mktemp("packed"), config)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda rows: rows[CU_SEQLENS][3].__setitem__(-1, rows[CU_SEQLENS][3][-1] - 1),
            "the borders of a row do not rise",
        ),
        (lambda rows: rows[CU_SEQLENS][3].__setitem__(0, 1), "the borders of a row do not rise"),
        (lambda rows: rows["example_id"][2].append(5), "example_id has another number of values in a row"),
        (lambda rows: rows["token_type_ids"][2].pop(), "token_type_ids has another number of values in a row"),
        (lambda rows: [row.reverse() for row in rows.values()], "are not in the order drawn for copy 1 of 1"),
    ],
)
def test_packed_rows_that_are_not_what_their_borders_say_are_found(
    packed_build: Path, change: Any, words: str, tmp_path: Path
) -> None:
    build = Path(shutil.copytree(packed_build, tmp_path / "build"))

    def changed(table: pa.Table) -> pa.Table:
        rows = {name: table[name].to_pylist() for name in table.column_names}
        change(rows)
        return pa.table(rows, schema=table.schema)

    shard = files.read_json(str(build / "manifest.json"))["splits"]["train"]["shards"][0]["file"]
    rewrite(build, shard, changed)
    assert any(words in line for line in disagreements(build))


def test_show_prints_each_example_of_a_packed_row(packed_build: Path) -> None:
    shards = open_shards(packed_build)
    shown = list(read_examples(shards, [0]))
    assert len(shown) == len(shards.examples(0)) > 1
    assert [example.example_id for example in shown] == shards[0]["example_id"].tolist()
    assert f"1 of {len(shown)} in this row" in str(shown[0].label)


def test_stats_measure_packed_rows_and_the_examples_in_them(packed_build: Path) -> None:
    shards = open_shards(packed_build)
    figures, counts = measure(shards), shards.manifest["splits"]["train"]["counts"]
    measured = {"rows": figures.rows, "examples": figures.examples, "row_tokens": figures.tokens}
    assert measured == {name: counts[name] for name in measured}
    assert sum(figures.lengths) == figures.rows
    assert sum(figures.labels) == figures.examples
    assert figures.fill > 0.95


@pytest.mark.parametrize("masking", MASKINGS)
def test_a_mixture_verifies_and_the_manifest_says_the_epochs_of_each_source(masking: str, tmp_path: Path) -> None:
    config = ExamplesConfig(masking=masking, max_seq_length=32)
    build = write_build(tmp_path, config, documents=300, mix={"wikipedia": 3, "books": 1})
    rows = dict(verify(build))
    assert rows["    made of"].split(" + ")[0].endswith(" x 1")  # the last split, validation, is not mixed
    manifest = files.read_json(str(build / "manifest.json"))
    mix = manifest["mix"]
    assert mix["wikipedia"]["planned"] == pytest.approx(1.5, abs=0.05)
    assert mix["books"]["planned"] == pytest.approx(0.5, abs=0.05)
    # 140 documents, each in or out by one draw: within 0.13 of what was planned but once in 100 seeds.
    for source in ("wikipedia", "books"):
        assert mix[source]["epochs"] == pytest.approx(mix[source]["planned"], abs=0.13)
    shards = open_shards(build)
    sources = shards.table["source"].to_numpy()
    counts = manifest["splits"]["train"]["counts"]
    sizes = [int((sources == number).sum()) for number in (0, 1)]
    assert sizes == [counts["examples_of_wikipedia"], counts["examples_of_books"]]
    assert sizes[0] > 2 * sizes[1] > 0
    assert manifest["splits"]["validation"]["counts"]["tokens"] == sum(
        manifest["splits"]["validation"]["counts"][f"tokens_in_copies_of_{name}"] for name in ("wikipedia", "books")
    )


def test_a_source_of_another_name_or_number_is_found(tmp_path: Path) -> None:
    build = write_build(tmp_path)
    shard = files.read_json(str(build / "manifest.json"))["splits"]["train"]["shards"][0]["file"]

    def changed(table: pa.Table) -> pa.Table:
        place = table.column_names.index("source")
        return table.set_column(place, table.field(place), pa.array([7] * table.num_rows, pa.int8()))

    rewrite(build, shard, changed)
    lines = disagreements(build)
    assert any("the source is not one of this build" in line for line in lines)
    assert any("examples_of_books: 0 counted" in line for line in lines)


def test_an_example_is_of_the_source_of_its_first_token(tmp_path: Path) -> None:
    task = Task("t", "tokens-00000", ".arrow", "", 1, SourcedRange(None, 1))  # type: ignore[arg-type]
    record = PartMetadata("x", "f", 1, "s", 0.0, {}, {}, {"slices": [[0, 8, 9]]})
    assert [token_slice.source for _, token_slice in TokenFile.of(task, record).slices()] == [1]
    build = write_build(tmp_path, ExamplesConfig("doc-sentences", max_seq_length=32), validation_fraction=0)
    counts = files.read_json(str(build / "manifest.json"))["splits"]["train"]["counts"]
    shards = open_shards(build)
    sources = shards.table["source"].to_pylist()
    special = {shards.info.cls_token_id, shards.info.sep_token_id}
    held = [0, 0]
    for row, source in zip(shards.table["input_ids"].to_pylist(), sources, strict=True):
        held[source] += sum(token not in special for token in row)
    assert held == [counts["tokens_of_wikipedia"], counts["tokens_of_books"]]
