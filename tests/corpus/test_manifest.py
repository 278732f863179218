"""What stands beside the shards: manifest, card, and the files for `datasets`."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bertdata import __version__
from bertdata.corpus.manifest import build_manifest, dataset_files, source_entry, write_dataset_files
from bertdata.corpus.plan import ShardPlan
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import PartMetadata
from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import FORMAT
from tests.shards.blocks import info_of
from tests.shards.build import TOKENIZER, write_build


def record(name: str, counts: dict[str, int], drops: dict[str, int] | None = None, **details: Any) -> PartMetadata:
    return PartMetadata(name, "mark", 100 * len(name), name * 64, 1.5, counts, drops or {}, details)


def manifest_of(info: PretrainingInfo) -> dict[str, Any]:
    """Return a manifest of three shards, the first of them for validation."""
    counts = {"documents": 4, "examples": 10, "tokens": 300, "tokens_in_examples": 300, "labels_1": 5}
    shards = [
        record(name, {key: value * number for key, value in counts.items()}) for number, name in enumerate("abc", 1)
    ]
    cleaned = [record("p", {"pages": 30, "documents": 24}, {"redirect": 6})]
    tokens = [
        record("t", {"documents": 20, "tokens": 1500}, {"no tokens": 3}),
        record("u", {"documents": 4, "tokens": 300}, {"no tokens": 1}),
    ]
    plan = ShardPlan((700, 30_000, 65_536), 1, ("a note",))
    sources = {"wikipedia": source_entry([("wiki.xml.bz2", 12_345)], cleaned)}
    return build_manifest({"sources": sources, "vocabulary": {"pieces": 87, "asked": 100}}, tokens, plan, info, shards)


def card_of(info: PretrainingInfo) -> str:
    return info.card(manifest_of(info))


def test_counts_of_a_source_are_sums_over_its_parts() -> None:
    parts = [
        record("a", {"pages": 5, "documents": 3}, {"redirect": 2}),
        record("b", {"pages": 2}, {"redirect": 1, "empty": 1}),
    ]
    entry = source_entry([("wiki.xml", 7)], parts)
    assert entry == {
        "inputs": [{"name": "wiki.xml", "bytes": 7}],
        "bytes": 7,
        "counts": {"documents": 3, "pages": 7},
        "drops": {"empty": 1, "redirect": 3},
        "broken": [],
    }


def test_broken_pieces_are_named_without_the_folder_they_lay_in() -> None:
    broken = [{"path": "/home/someone/wiki.xml", "offset": 12, "title": "Salt", "reason": "no end"}]
    entry = source_entry([], [record("a", {}, broken=broken)])
    assert entry["broken"] == [{"path": "wiki.xml", "offset": 12, "title": "Salt", "reason": "no end"}]


def test_a_manifest_sums_shards_into_splits_and_tokens_into_a_whole() -> None:
    info = info_of()
    manifest = manifest_of(info)
    assert (manifest["format"], manifest["bertdata"], manifest["info"]) == (FORMAT, __version__, info.values())
    assert manifest["tokens"] == {"counts": {"documents": 24, "tokens": 1800}, "drops": {"no tokens": 4}}
    assert manifest["notes"] == ["a note"]
    validation, train = (manifest["splits"][split] for split in ("validation", "train"))
    assert [shard["file"] for shard in validation["shards"]] == ["validation/data-00000-of-00001.arrow"]
    assert [shard["file"] for shard in train["shards"]] == [f"train/data-0000{n}-of-00002.arrow" for n in range(2)]
    assert [shard["sha256"] for shard in train["shards"]] == ["b" * 64, "c" * 64]
    assert validation["counts"]["examples"] == 10
    assert train["counts"]["examples"] == 50


def test_a_build_without_validation_has_one_split(tmp_path: Path) -> None:
    build = write_build(tmp_path, validation_fraction=0)
    manifest = files.read_json(str(build / "manifest.json"))
    assert list(manifest["splits"]) == ["train"]
    assert files.read_json(str(build / "dataset_dict.json")) == {"splits": ["train"]}
    assert not (build / "validation").exists()


def test_files_for_datasets_name_the_shards_and_their_columns() -> None:
    info = info_of("sop", "static")
    written_files = dataset_files(manifest_of(info)["splits"], info)
    assert list(written_files) == [
        "dataset_dict.json",
        "train/state.json",
        "train/dataset_info.json",
        "validation/state.json",
        "validation/dataset_info.json",
    ]
    names = [data_file["filename"] for data_file in written_files["train/state.json"]["_data_files"]]
    assert names == ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
    assert written_files["train/state.json"]["_fingerprint"] == fingerprint(["b" * 64, "c" * 64])[:16]
    columns = ["input_ids", "token_type_ids", "sentence_order_label", "example_id", "labels"]
    assert list(written_files["train/dataset_info.json"]["features"]) == columns


def test_a_changed_shard_changes_the_fingerprint_that_datasets_caches_by() -> None:
    info = info_of()
    splits = manifest_of(info)["splits"]
    before = dataset_files(splits, info)["train/state.json"]["_fingerprint"]
    splits["train"]["shards"][0]["sha256"] = "d" * 64
    assert dataset_files(splits, info)["train/state.json"]["_fingerprint"] != before


@pytest.mark.parametrize(
    ("objective", "masking", "columns"),
    [
        ("nsp", "dynamic", {"next_sentence_label": "of a pair: 0 IsNext, 1 NotNext"}),
        (
            "sop",
            "static",
            {
                "sentence_order_label": "of a pair: 0 in order, 1 swapped",
                "labels": "the id to predict, -100 where nothing is predicted",
            },
        ),
        ("full-sentences", "dynamic", {}),
    ],
)
def test_the_card_describes_the_columns_there_are(objective: str, masking: str, columns: dict[str, str]) -> None:
    card = card_of(info_of(objective, masking))
    described = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", card, re.MULTILINE))
    names = [field.name for field in info_of(objective, masking).columns()]
    assert list(described) == names
    assert {*names} == {"input_ids", "token_type_ids", "example_id", *columns}
    assert columns.items() <= described.items()
    assert f"# {objective.upper()} pretraining examples of 32 tokens" in card


def test_the_card_numbers_the_sources_of_rows() -> None:
    card = card_of(replace(info_of(), sources=("books", "notes", "wikipedia")))
    assert "| `source` | the number of the source of the first token: 0 books, 1 notes, 2 wikipedia |" in card


def test_the_card_gives_the_numbers_of_splits_and_sources() -> None:
    card = card_of(info_of())
    assert "| train | 2 | 20 | 50 | 1,500 | 200 |" in card
    assert "| validation | 1 | 4 | 10 | 300 | 100 |" in card
    assert "| wikipedia | 30 | 24 | redirect: 6 |" in card


def test_the_card_begins_with_metadata_that_hubs_read() -> None:
    card = card_of(info_of())
    head = re.fullmatch(r"---\n(.*?)\n---\n.*", card, re.DOTALL)
    assert head
    assert head[1].splitlines()[:6] == [
        "task_categories: [fill-mask]",
        "tags: [bert, pretraining, bertdata]",
        "license: unknown",
        'size_categories: ["n<1K"]',
        "configs:",
        '- config_name: "default"',
    ]


def test_the_same_manifest_writes_the_same_files(tmp_path: Path) -> None:
    info = info_of()
    written = []
    for name in ("a", "b"):
        write_dataset_files(str(tmp_path / name), manifest_of(info), info)
        paths = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        written.append([(str(path.relative_to(tmp_path / name)), path.read_bytes()) for path in paths])
    assert written[0] == written[1]
    assert len(written[0]) == 7


def test_a_build_is_the_same_in_another_folder_and_says_nothing_of_either(tmp_path: Path) -> None:
    config = ExamplesConfig(masking="static", max_seq_length=32)
    builds = [write_build(tmp_path / name, config) for name in ("one", "two")]
    for build in builds:
        shutil.rmtree(build / "stages")
    contents = [
        {str(path.relative_to(build)): path.read_bytes() for path in build.rglob("*") if path.is_file()}
        for build in builds
    ]
    assert contents[0] == contents[1]
    assert not any(str(tmp_path).encode() in data for data in contents[0].values())


def test_the_manifest_is_what_readers_see(tmp_path: Path) -> None:
    shards = open_shards(write_build(tmp_path))
    assert shards.manifest == files.read_json(str(tmp_path / "manifest.json"))
    assert shards.manifest["info"]["tokenizer"] == TOKENIZER.fingerprint
    assert shards.manifest["splits"]["train"]["counts"]["examples"] == len(shards)
