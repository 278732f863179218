"""Reading shards, by pyarrow alone and by `datasets`."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pytest

from bertdata.errors import BertDataError, ConfigError, InputError, VerificationError
from bertdata.loader import ShardExamples
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.settings import MASKINGS, ExamplesConfig
from bertdata.shards import Shards, open_shards
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.reader import open_stream
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.verify.build import verify
from tests.shards.build import TOKENIZER, write_build
from tests.shards.damage import edit, rewrite


def shard_files(build: Path, split: str = "train") -> list[Path]:
    return sorted((build / split).glob("data-*.arrow"))


def rows_of(shards: Shards) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = shards.table.to_pylist()
    return rows


def test_a_build_opens_by_its_folder_by_that_of_a_split_and_from_within(
    dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = rows_of(open_shards(dynamic_build))
    assert rows_of(open_shards(dynamic_build / "train")) == expected
    assert rows_of(open_shards(f"{dynamic_build}/train/")) == expected
    assert rows_of(open_shards(dynamic_build, "train")) == expected
    monkeypatch.chdir(dynamic_build / "train")
    assert rows_of(open_shards(".")) == expected
    monkeypatch.chdir(dynamic_build)
    assert rows_of(open_shards(".")) == rows_of(open_shards("train")) == expected


def test_the_other_split_opens_by_name_and_holds_other_examples(dynamic_build: Path) -> None:
    validation = open_shards(dynamic_build, "validation")
    assert rows_of(validation) == rows_of(open_shards(dynamic_build / "validation"))
    train = set(open_shards(dynamic_build).table["example_id"].to_pylist())
    assert train.isdisjoint(validation.table["example_id"].to_pylist())


def test_all_shards_stand_one_after_another_in_one_table(dynamic_build: Path) -> None:
    shards = open_shards(dynamic_build)
    parts = [pa.ipc.open_stream(path.read_bytes()).read_all() for path in shard_files(dynamic_build)]
    assert len(parts) > 1
    assert shards.table.equals(pa.concat_tables(parts))
    assert [Path(path) for path in shards.paths] == shard_files(dynamic_build)
    assert len(shards) == sum(part.num_rows for part in parts)


def test_an_example_is_arrays_and_numbers_and_counts_from_the_end_too(dynamic_build: Path) -> None:
    shards = open_shards(dynamic_build)
    row = rows_of(shards)[-1]
    for index in (len(shards) - 1, -1):
        example = shards[index]
        assert {name: np.asarray(value).tolist() for name, value in example.items()} == row
        assert isinstance(example["input_ids"], np.ndarray)
        assert type(example["example_id"]) is int


@pytest.mark.parametrize("beyond", [0, -1])
def test_an_example_beyond_the_last_is_an_index_error(dynamic_build: Path, beyond: int) -> None:
    shards = open_shards(dynamic_build)
    with pytest.raises(IndexError):
        shards[len(shards) if not beyond else -len(shards) - 1]


def test_shards_know_how_they_were_made(static_build: Path) -> None:
    shards = open_shards(static_build)
    assert shards.info == PretrainingInfo.from_values(shards.manifest["info"], "")
    assert shards.info.examples == ExamplesConfig(masking="static", max_seq_length=32, dupe_factor=2)
    assert shards.tokenizer() == TOKENIZER


def test_shards_pickle_to_a_path(dynamic_build: Path) -> None:
    shards = open_shards(dynamic_build)
    data = pickle.dumps(shards)
    assert len(data) < 10_000
    assert rows_of(pickle.loads(data)) == rows_of(shards)


def test_a_build_opens_from_a_url(dynamic_build: Path) -> None:
    import fsspec

    fsspec.filesystem("memory").put(str(dynamic_build), "/reader-build", recursive=True)
    assert rows_of(open_shards("memory://reader-build")) == rows_of(open_shards(dynamic_build))
    assert rows_of(open_shards("memory://reader-build/validation")) == rows_of(open_shards(dynamic_build, "validation"))


@pytest.mark.costly
@pytest.mark.parametrize("masking", MASKINGS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_datasets_reads_the_same_rows(objective: str, masking: str, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    build = write_build(tmp_path, ExamplesConfig(objective, masking, max_seq_length=32), documents=40)
    loaded = datasets.load_from_disk(str(build))
    assert list(loaded) == ["train", "validation"]
    for split in loaded:
        own = open_shards(build, split)
        assert loaded[split].column_names == own.table.column_names
        assert loaded[split].to_list() == rows_of(own)
        assert loaded[split].features.arrow_schema.types == own.table.schema.types


def test_datasets_reads_one_split_alone(dynamic_build: Path) -> None:
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_from_disk(str(dynamic_build / "validation"))
    assert loaded.to_list() == rows_of(open_shards(dynamic_build, "validation"))
    assert str(loaded.split) == "validation"


def test_a_folder_without_a_build_is_an_error_that_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no finished build: there is no manifest\.json here or one level up"):
        open_shards(tmp_path)
    with pytest.raises(InputError, match="expected the `output` of `bertdata build` or `bertdata encode-task`"):
        open_shards(tmp_path / "task")


def test_a_split_that_is_not_there_is_an_error_that_lists_the_others(dynamic_build: Path) -> None:
    with pytest.raises(InputError, match="has no split 'test'"):
        open_shards(dynamic_build, "test")


@pytest.mark.parametrize("text", ["[]", "{}", '{"splits": 3}', "{"])
def test_a_manifest_that_is_not_whole_is_an_error_that_names_it(own_build: Path, text: str) -> None:
    (own_build / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json: is not "):
        open_shards(own_build)


def test_a_shard_that_was_cut_off_is_an_error_that_names_it(own_build: Path) -> None:
    path = shard_files(own_build)[1]
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match=rf"{path.name}: has \d+ bytes, the manifest says \d+: it was cut off"):
        open_shards(own_build)


def test_a_missing_shard_is_an_error_that_names_it(own_build: Path) -> None:
    path = shard_files(own_build)[0]
    path.unlink()
    with pytest.raises(InputError, match=rf"{path.name}: there is no such file"):
        open_shards(own_build)


@pytest.mark.parametrize("data", [b"x", b"\xff\xff\xff\xff\x00\x01\x00\x00", b"\xff\xff\xff\xff\x00\x00\x00\x00"])
def test_a_shard_that_is_no_arrow_stream_is_an_error_that_names_it(own_build: Path, data: bytes) -> None:
    path = shard_files(own_build)[0]
    path.write_bytes(data.ljust(path.stat().st_size, b"\0"))
    with pytest.raises(InputError, match=rf"{path.name}: is not an Arrow stream"):
        open_shards(own_build)


def test_shards_of_another_build_are_refused(own_build: Path, static_build: Path) -> None:
    first, second = shard_files(own_build)[:2]
    shutil.copy(shard_files(static_build)[0], second)
    edit(
        own_build / "manifest.json",
        lambda value: value["splits"]["train"]["shards"][1].update(bytes=second.stat().st_size),
    )
    with pytest.raises(InputError, match=rf"{second.name}: was not built like .*{first.name}"):
        open_shards(own_build)


def test_a_manifest_that_does_not_say_how_masks_are_drawn_is_refused(own_build: Path) -> None:
    manifest = json.loads((own_build / "manifest.json").read_text())
    (own_build / "manifest.json").write_text(json.dumps({"splits": manifest["splits"]}))
    with pytest.raises(InputError, match=r"manifest\.json: does not say how masks are drawn, .* leave to it"):
        open_shards(own_build)


def test_a_manifest_of_other_settings_is_refused(own_build: Path) -> None:
    edit(own_build / "manifest.json", lambda value: value["info"]["examples"].update(seed=99))
    with pytest.raises(InputError, match="was made with other settings than its manifest"):
        open_shards(own_build)


def test_rule_20_another_tokenizer_beside_the_shards_is_refused_when_they_are_opened(own_build: Path) -> None:
    tokens = list(TOKENIZER.tokens)
    tokens[-1], tokens[-2] = tokens[-2], tokens[-1]
    WordPieceTokenizer.from_tokens(tokens).save_pretrained(own_build / "tokenizer")
    with pytest.raises(ConfigError, match="is not the one the shards were made with"):
        open_shards(own_build)


def compress(path: Path, manifest: Path) -> None:
    """Compress the record batches of a shard, and have the manifest name its new size and digest."""
    table = pa.ipc.open_stream(path.read_bytes()).read_all()
    with pa.ipc.new_stream(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    data = path.read_bytes()

    def named(value: Any) -> None:
        entry = value["splits"]["train"]["shards"][0]
        entry["bytes"], entry["sha256"] = len(data), hashlib.sha256(data).hexdigest()

    edit(manifest, named)


def test_compressed_shards_are_refused_before_they_are_decompressed(own_build: Path) -> None:
    path = shard_files(own_build)[0]
    compress(path, own_build / "manifest.json")
    for read in (open_shards, lambda build: verify(str(build)), ShardExamples):
        with pytest.raises(BertDataError, match=rf"{path.name}: .*compressed"):
            read(own_build)
    with pytest.raises(InputError, match=rf"{path.name}: .*compressed"), open_stream(str(path)) as stream:
        stream.read_all()


def with_ids_outside(table: pa.Table) -> pa.Table:
    """Return rows whose ids are not in the vocabulary."""
    place = table.schema.get_field_index("input_ids")
    ids = [[65000] * len(row) for row in table["input_ids"].to_pylist()]
    return table.set_column(place, table.schema.field(place), pa.array(ids, table.schema.field(place).type))


@pytest.mark.parametrize("damage", ["zstd", "id"])
def test_what_is_wrong_with_a_shard_in_a_store_names_it_there_and_no_copy_of_it(
    damage: str, own_build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTDATA_CACHE", str(tmp_path / "cache"))
    shard = shard_files(own_build)[0]
    if damage == "zstd":
        compress(shard, own_build / "manifest.json")
    else:
        rewrite(own_build, f"train/{shard.name}", with_ids_outside)
    url = f"memory://{damage}-build"
    fsspec.filesystem("memory").put(str(own_build), f"/{damage}-build", recursive=True)
    streamed = partial(ShardExamples, cache=tmp_path / "streamed", cache_bytes=1e9)
    for read in (lambda: open_shards(url).table, lambda: ShardExamples(url), lambda: streamed(url)[0]):
        with pytest.raises(InputError) as caught:
            read()
        assert str(caught.value).startswith(f"{url}/train/{shard.name}: ")
    with pytest.raises(VerificationError) as problems:
        verify(url)
    assert f"\ntrain/{shard.name}: " in str(problems.value)
    assert tempfile.gettempdir() not in str(problems.value)


def test_shards_open_without_a_tokenizer_beside_them(own_build: Path) -> None:
    shutil.rmtree(own_build / "tokenizer")
    assert len(open_shards(own_build)) > 0
