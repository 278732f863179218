"""A finished build counted again: it passes as it was written, and no change to it goes unseen."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bertdata.cli import command_line
from bertdata.cli.verify import add_arguments, run
from bertdata.errors import InputError, VerificationError
from bertdata.io import files
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.settings import MASKINGS, ExamplesConfig
from bertdata.shards import open_shards
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.verify.build import verify
from tests.shards.build import TOKENIZER, write_build
from tests.shards.damage import Change, claim, disagreements, edit, put, rewrite

TRAIN = "train/data-00000-of-00002.arrow"


@pytest.mark.costly
@pytest.mark.parametrize("masking", MASKINGS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_build_verifies_as_it_was_written(objective: str, masking: str, tmp_path: Path) -> None:
    config = ExamplesConfig(objective, masking, max_seq_length=24, dupe_factor=2)
    build = write_build(tmp_path, config, documents=40, masking=MaskingConfig(max_predictions_per_seq=2))
    rows = dict(verify(build))
    examples = len(open_shards(build)), len(open_shards(build, "validation"))
    assert rows["train: shards"].startswith("2 of ")
    assert rows["validation: shards"].startswith("1 of ")
    assert f"{examples[1]:,}" == rows["  examples"]


def test_the_table_gives_what_the_manifest_says(static_build: Path) -> None:
    rows = verify(static_build)
    counts = files.read_json(str(static_build / "manifest.json"))["splits"]["train"]["counts"]
    train = dict(rows[: len(rows) // 2])
    examples, ones = counts["examples"], counts["labels_1"]
    assert train["  examples"] == f"{examples:,}"
    assert train["  labels"] == f"{examples - ones:,} IsNext, {ones:,} NotNext"
    special = counts["row_tokens"] - counts["tokens_in_examples"]
    assert train["  tokens"] == f"{counts['tokens_in_examples']:,} and {special:,} special"
    assert special == 3 * examples
    masked, kept = counts["predictions_mask"], counts["predictions_kept"]
    random = counts["predictions"] - masked - kept
    assert train["  predictions"] == f"{counts['predictions']:,}: {masked:,} [MASK], {random:,} random, {kept:,} kept"
    assert train["    made of"].startswith(f"{counts['tokens']:,} x 2 + {counts['tokens_borrowed']:,} borrowed - ")


def test_every_shard_is_reported_when_it_is_done(dynamic_build: Path) -> None:
    reported: list[str] = []
    verify(str(dynamic_build), report=reported.append)
    assert sorted(reported) == sorted(
        str(path.relative_to(dynamic_build)) for path in dynamic_build.glob("*/data-*.arrow")
    )


def test_a_build_verifies_without_its_stages_and_with_an_edited_card(own_build: Path) -> None:
    shutil.rmtree(own_build / "stages")
    (own_build / "README.md").write_text("Our corpus.")
    verify(own_build)


def test_a_build_without_validation_verifies(tmp_path: Path) -> None:
    names = [name for name, _ in verify(write_build(tmp_path, validation_fraction=0))]
    assert "train: shards" in names
    assert "validation: shards" not in names


def test_a_build_verifies_at_a_url(dynamic_build: Path) -> None:
    import fsspec

    fsspec.filesystem("memory").put(str(dynamic_build), "/verify-build", recursive=True)
    assert verify("memory://verify-build") == verify(dynamic_build)


def test_any_flipped_byte_of_a_shard_is_found(own_build: Path) -> None:
    path = own_build / open_shards(own_build).manifest["splits"]["train"]["shards"][1]["file"]
    data = path.read_bytes()
    for place in range(0, len(data), len(data) // 25):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        [line] = disagreements(own_build)
        assert line.startswith(f"train/{path.name}: its SHA-256 is ")


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data[:40], lambda data: data + b"\0"])
def test_a_shard_of_another_size_is_found(own_static_build: Path, change: Callable[[bytes], bytes]) -> None:
    path = own_static_build / TRAIN
    path.write_bytes(change(path.read_bytes()))
    [line] = disagreements(own_static_build)
    assert line.startswith(f"{TRAIN}: has {path.stat().st_size:,} bytes, manifest.json says ")


def test_a_size_that_is_a_text_is_not_a_whole_manifest(own_static_build: Path) -> None:
    path = own_static_build / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest.pop("checksum", None)
    manifest["splits"]["train"]["shards"][0]["bytes"] = "many"
    path.write_text(json.dumps(manifest))
    with pytest.raises(VerificationError, match="is not a whole manifest"):
        verify(str(own_static_build))


def test_a_missing_shard_is_found(own_static_build: Path) -> None:
    (own_static_build / TRAIN).unlink()
    assert disagreements(own_static_build) == [f"{TRAIN}: there is no such file; check the path"]


@pytest.mark.parametrize("folder", ["train", "validation"])
def test_a_shard_too_many_is_found(own_static_build: Path, folder: str) -> None:
    shutil.copy(own_static_build / TRAIN, own_static_build / folder / "data-00007-of-00009.arrow")
    [line] = disagreements(own_static_build)
    assert line.startswith(f"{folder}/data-00007-of-00009.arrow: is not a shard that manifest.json names")


def test_the_shards_of_a_split_that_is_gone_are_found(tmp_path: Path) -> None:
    build = write_build(tmp_path, validation_fraction=0)
    (build / "validation").mkdir()
    shutil.copy(build / TRAIN, build / "validation" / "data-00000-of-00001.arrow")
    [line] = disagreements(build)
    assert line.startswith("validation/data-00000-of-00001.arrow: is not a shard")


def test_shards_that_changed_places_are_found(own_static_build: Path) -> None:
    names = [own_static_build / f"train/data-0000{number}-of-00002.arrow" for number in range(2)]
    first, second = (name.read_bytes() for name in names)
    names[0].write_bytes(second)
    names[1].write_bytes(first)
    assert [line.split(": ")[0] for line in disagreements(own_static_build)] == [f"train/{name.name}" for name in names]


def test_another_tokenizer_is_found(own_static_build: Path) -> None:
    tokens = list(TOKENIZER.tokens)
    tokens[-1], tokens[-2] = tokens[-2], tokens[-1]
    other = WordPieceTokenizer.from_tokens(tokens)
    other.save_pretrained(own_static_build / "tokenizer")
    [line] = disagreements(own_static_build)
    assert line.startswith(f"tokenizer: is not the tokenizer of these shards: {other.fingerprint[:12]} with ")


def test_a_tokenizer_of_another_case_is_found(own_static_build: Path) -> None:
    WordPieceTokenizer.from_tokens(TOKENIZER.tokens, do_lower_case=False).save_pretrained(
        own_static_build / "tokenizer"
    )
    assert disagreements(own_static_build)[0].startswith("tokenizer: is not the tokenizer of these shards")


def test_a_vocabulary_file_that_contradicts_the_tokenizer_is_found(own_static_build: Path) -> None:
    path = own_static_build / "tokenizer" / "vocab.txt"
    path.write_text(path.read_text().replace("lamp", "lantern"))
    [line] = disagreements(own_static_build)
    assert line.startswith("tokenizer: ")
    assert "its tokens differ from tokenizer.json" in line


def test_a_missing_tokenizer_is_found(own_static_build: Path) -> None:
    shutil.rmtree(own_static_build / "tokenizer")
    assert disagreements(own_static_build)[0].startswith("tokenizer: there is no such tokenizer")


def test_a_shard_made_with_another_tokenizer_is_found(own_static_build: Path, tmp_path: Path) -> None:
    other = WordPieceTokenizer.from_tokens([*TOKENIZER.tokens, "lantern"])
    config = ExamplesConfig(masking="static", max_seq_length=32, dupe_factor=2)
    foreign = write_build(tmp_path / "other", config, tokenizer=other)
    shutil.copy(foreign / TRAIN, own_static_build / TRAIN)
    claim(own_static_build, TRAIN)
    [line] = disagreements(own_static_build)
    assert line.startswith(f"{TRAIN}: was made with the tokenizer {other.fingerprint[:12]}, manifest.json says ")


def test_a_shard_made_with_other_settings_is_found(own_static_build: Path, tmp_path: Path) -> None:
    config = ExamplesConfig(masking="static", max_seq_length=32, dupe_factor=2, seed=9)
    shutil.copy(write_build(tmp_path / "other", config) / TRAIN, own_static_build / TRAIN)
    claim(own_static_build, TRAIN)
    assert disagreements(own_static_build) == [
        f"{TRAIN}: its schema is not that of the settings in manifest.json; build again"
    ]


def test_a_shard_with_another_column_is_found(own_static_build: Path) -> None:
    rewrite(own_static_build, TRAIN, lambda table: table.append_column("more", pa.array([0] * table.num_rows)))
    assert "its schema is not that of the settings" in disagreements(own_static_build)[0]


def test_an_arrow_file_of_others_under_the_name_of_a_shard_is_found(own_static_build: Path) -> None:
    rewrite(own_static_build, TRAIN, lambda table: table.replace_schema_metadata({}))
    [line] = disagreements(own_static_build)
    assert line.startswith(f"{TRAIN}: is an Arrow file, but not a bertdata shard")


def test_bytes_that_are_no_arrow_stream_are_found_even_where_the_manifest_knows_them(own_static_build: Path) -> None:
    path = own_static_build / TRAIN
    path.write_bytes(path.read_bytes()[:2000])
    claim(own_static_build, TRAIN)
    [line] = disagreements(own_static_build)
    assert line.startswith(f"{TRAIN}: ")


def test_rows_that_are_missing_are_found_even_where_the_manifest_knows_the_bytes(own_static_build: Path) -> None:
    rewrite(own_static_build, TRAIN, lambda table: table.slice(0, 5))
    assert any(line.startswith(f"{TRAIN}: examples: 5 counted, ") for line in disagreements(own_static_build))


def test_rows_that_break_a_rule_are_found_even_where_the_manifest_knows_the_bytes(own_static_build: Path) -> None:
    def swap_types(table: pa.Table) -> pa.Table:
        name = "token_type_ids"
        rows = [[1 - flag for flag in row] for row in table[name].to_pylist()]
        place = table.column_names.index(name)
        return table.set_column(place, table.field(name), pa.array(rows, table.field(name).type))

    rewrite(own_static_build, TRAIN, swap_types)
    assert any("token_type_ids do not follow the separators in" in line for line in disagreements(own_static_build))


def test_repeated_example_ids_are_found_unless_documents_share_an_id(own_build: Path) -> None:
    shard = open_shards(own_build).manifest["splits"]["train"]["shards"][0]["file"]
    rewrite(own_build, shard, lambda table: table.take([0, *range(table.num_rows)]))
    lines = disagreements(own_build)
    assert f"{shard}: 1 example id is there more than once, but no documents share an id" in lines

    def admit(manifest: Any) -> None:
        split = manifest["splits"]["train"]
        for counts in (split["counts"], split["shards"][0]["counts"]):
            counts["documents_sharing_id"] += 1

    edit(own_build / "manifest.json", admit)
    assert not any("example ids" in line for line in disagreements(own_build))


@pytest.mark.parametrize(
    "name",
    ["dataset_dict.json", "train/state.json", "train/dataset_info.json", "validation/state.json"],
)
@pytest.mark.parametrize("damage", ["changed", "cut off", "missing"])
def test_files_for_datasets_that_do_not_fit_are_found(own_static_build: Path, name: str, damage: str) -> None:
    path = own_static_build / name
    if damage == "changed":
        path.write_text(
            path.read_text().replace("data-00000", "data-00009").replace("uint16", "int64").replace("valid", "")
        )
    elif damage == "cut off":
        path.write_text(path.read_text()[:-9])
    else:
        path.unlink()
    words = {"changed": "does not say what", "cut off": "is not valid JSON", "missing": "there is no such file"}
    [line] = disagreements(own_static_build)
    assert line.startswith(f"{name}: {words[damage]}")


def test_all_disagreements_are_told_at_once(own_static_build: Path) -> None:
    edit(own_static_build / "manifest.json", put("vocabulary", "pieces", value=1))
    (own_static_build / TRAIN).unlink()
    (own_static_build / "dataset_dict.json").unlink()
    files_named = [line.split(": ")[0] for line in disagreements(own_static_build)]
    assert files_named == ["manifest.json", "dataset_dict.json", TRAIN]


def test_a_folder_without_a_finished_build_is_an_error(own_build: Path) -> None:
    (own_build / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"holds no finished build: there is no manifest\.json here"):
        verify(own_build)


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.pop("splits"),
        lambda value: value.pop("tokens"),
        put("sources", "books", "drops", value=[]),
        put("splits", "train", "counts", "examples", value="many"),
        put("splits", "train", "shards", 0, "counts", value=[]),
        lambda value: value["splits"]["train"]["shards"][0].pop("sha256"),
    ],
)
def test_a_manifest_that_is_not_whole_is_an_error_that_names_it(own_build: Path, change: Change) -> None:
    edit(own_build / "manifest.json", change)
    with pytest.raises(VerificationError, match=r"manifest\.json: is not a whole manifest"):
        verify(own_build)


@pytest.mark.parametrize("change", [put("info", "format", value=1), put("info", "examples", value=None)])
def test_a_manifest_that_does_not_say_how_shards_were_made_is_an_error(own_build: Path, change: Change) -> None:
    edit(own_build / "manifest.json", change)
    with pytest.raises(InputError, match=r"manifest\.json: .* build again"):
        verify(own_build)


def command(build: Path) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return command_line.run(lambda: run(parser.parse_args([str(build)])))


def test_the_command_prints_what_was_counted(static_build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(static_build) == 0
    printed = capsys.readouterr()
    assert "train: shards" in printed.out
    assert printed.out.endswith(f"verified: {static_build} holds what its manifest says\n")
    assert printed.err == ""


def test_the_command_prints_every_disagreement_on_a_line_and_fails(
    own_static_build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (own_static_build / TRAIN).unlink()
    (own_static_build / "dataset_dict.json").unlink()
    assert command(own_static_build) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: 2 disagreements in {own_static_build}:\n")
    assert [line.split(": ")[0] for line in printed.err.splitlines()] == [
        "error",
        "dataset_dict.json",
        TRAIN,
    ]
