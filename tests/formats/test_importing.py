"""Import and export: what goes out comes back, and files that do not fit the vocabulary or are damaged are named."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, InputError
from bertdata.formats import EXPORT_FORMATS, IMPORT_FORMATS, ImportFormat, export, hdf5
from bertdata.formats.example import encode_examples
from bertdata.formats.importing import checked, import_shards
from bertdata.formats.shard import ExportedShard
from bertdata.formats.static import FIELDS, static_rows
from bertdata.formats.tfrecord import frame
from bertdata.loader import numpy_batches
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from tests.shards.build import TOKENIZER, write_build

FORMATS = [name for name in EXPORT_FORMATS if EXPORT_FORMATS[name].static and name in IMPORT_FORMATS]
assert len(FORMATS) >= 2


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = ExamplesConfig(masking="static", max_seq_length=32, dupe_factor=2)
    return write_build(tmp_path_factory.mktemp("build"), config)


def exported(build: Path, to: str, out: Path) -> Path:
    if to == "hdf5":
        pytest.importorskip("h5py")
    export(str(build), to, str(out))
    return out


def imported(source: Path, out: Path, **options: Any) -> Path:
    sources = {split: [str(source / split)] for split in ("train", "validation")}
    import_shards(sources, str(source / "tokenizer"), str(out), **options)
    return out


@pytest.mark.parametrize("to", FORMATS)
def test_shards_come_back_with_the_same_rows(build: Path, tmp_path: Path, to: str) -> None:
    back = imported(exported(build, to, tmp_path / "out"), tmp_path / "back")
    for split in ("train", "validation"):
        ours, theirs = (open_shards(folder, split).table for folder in (build, back))
        assert theirs.drop(["example_id"]).equals(ours.drop(["example_id", "source"]))
        assert len(set(theirs["example_id"].to_pylist())) == len(theirs)
        counts = [open_shards(folder, split).manifest["splits"][split]["counts"] for folder in (build, back)]
        for name in ("examples", "tokens_in_examples", "row_tokens", "labels_1", "predictions", "predictions_mask"):
            assert counts[1][name] == counts[0][name], name


@pytest.mark.parametrize("to", FORMATS)
def test_files_come_back_with_the_same_bytes(build: Path, tmp_path: Path, to: str) -> None:
    first = exported(build, to, tmp_path / "first")
    second = exported(imported(first, tmp_path / "back"), to, tmp_path / "second")
    paths = sorted(path.relative_to(first) for path in first.rglob(f"*.{to}"))
    assert len(paths) == 3
    for path in paths:
        assert (first / path).read_bytes() == (second / path).read_bytes()


@pytest.mark.costly
@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("objective", ["sop", "doc-sentences", "full-sentences"])
def test_rows_with_another_pair_label_or_none_come_back(tmp_path: Path, objective: str, to: str) -> None:
    config = ExamplesConfig(objective=objective, max_seq_length=32)
    source = exported(write_build(tmp_path / "build", config), to, tmp_path / "out")
    back = open_shards(imported(source, tmp_path / "back", objective="sop" if objective == "sop" else ""))
    assert back.info.label == ("sentence_order_label" if objective == "sop" else None)
    [batch] = numpy_batches(back, 1000)
    built = open_shards(tmp_path / "build")
    [fields] = [
        np.concatenate(
            [field["input_ids"] for field in ExportedShard(path, built.table.schema, static_rows([built])).fields()]
        )
        for path in built.paths[:1]
    ]
    width = batch["input_ids"].shape[1]
    assert {tuple(row) for row in fields[:, :width].tolist()} <= {tuple(row) for row in batch["input_ids"].tolist()}


def fields(**changes: Any) -> dict[str, Any]:
    """Return one row as Google writes it, with some fields changed."""
    row = {
        "input_ids": [2, 12, 4, 3, 14, 3, 0, 0],
        "input_mask": [1, 1, 1, 1, 1, 1, 0, 0],
        "segment_ids": [0, 0, 0, 0, 1, 1, 0, 0],
        "masked_lm_positions": [2, 0],
        "masked_lm_ids": [13, 0],
        "masked_lm_weights": [1.0, 0.0],
        "next_sentence_labels": [0],
    } | changes
    return {name: np.array([value]) for name, value in row.items() if value is not None}


def written(folder: Path, *rows: dict[str, Any], name: str = "a.tfrecord") -> str:
    (folder / name).write_bytes(frame([message for row in rows for message in encode_examples(row)]))
    return str(folder / name)


@pytest.fixture
def vocab(tmp_path: Path) -> str:
    TOKENIZER.save_pretrained(tmp_path / "vocab")
    return str(tmp_path / "vocab")


def test_a_row_of_google_becomes_one_of_ours(tmp_path: Path, vocab: str) -> None:
    import_shards({"train": [written(tmp_path, fields())]}, vocab, str(tmp_path / "out"))
    shards = open_shards(tmp_path / "out")
    assert shards.table.to_pylist() == [
        {
            "input_ids": [2, 12, 4, 3, 14, 3],
            "token_type_ids": [0, 0, 0, 0, 1, 1],
            "next_sentence_label": 0,
            "example_id": 0,
            "labels": [-100, -100, 13, -100, -100, -100],
        }
    ]
    assert shards.info.max_seq_length == 8
    assert shards.manifest["splits"]["train"]["counts"]["predictions_mask"] == 1


def test_names_of_the_model_garden_and_further_fields_are_understood(tmp_path: Path, vocab: str) -> None:
    row = fields()
    other = {
        "input_word_ids": row.pop("input_ids"),
        "input_type_ids": row.pop("segment_ids"),
        "unique": np.array([[9]]),
    }
    for name, given in (("a", fields()), ("b", other | row)):
        import_shards({"train": [written(tmp_path, given)]}, vocab, str(tmp_path / name))
    assert open_shards(tmp_path / "a").table.equals(open_shards(tmp_path / "b").table)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input_ids": [2, 12, 4, 3, 99, 3, 0, 0]}, "row 1 has the id 99, and the vocabulary ends at 22"),
        ({"masked_lm_ids": [99, 0]}, "row 1 has the id 99"),
        ({"input_ids": [1, 12, 4, 3, 14, 3, 0, 0]}, "row 1 begins with the id 1 .* rows begin with 2 .* another one"),
        ({"input_ids": [2, 12, 4, 3, 14, 9, 0, 0]}, "ends with 9; in this vocabulary .* end with 3: "),
        ({"input_mask": [1, 1, 0, 1, 1, 1, 0, 0]}, "row 1 has an input_mask that is not ones, then zeros"),
        ({"segment_ids": [0, 0, 0, 0, 2, 1, 0, 0]}, "segment_ids other than 0 and 1"),
        ({"masked_lm_positions": [7, 0]}, "predicts a token outside its text"),
        ({"masked_lm_positions": [2, 2], "masked_lm_weights": [1.0, 1.0]}, "predicts one token twice"),
        ({"next_sentence_labels": [2]}, "pair label other than 0 and 1"),
        ({"input_ids": [2, 12, 4, 3, 23, 3, 0, 0]}, "row 1 has the id 23, and the vocabulary ends at 22"),
        ({"input_ids": [2, 3, 0, 0, 0, 0, 0, 0], "input_mask": [1, 1, 0, 0, 0, 0, 0, 0]}, "row 1 has an input_mask"),
        ({"masked_lm_positions": [0, 0]}, "row 1 predicts a token outside its text"),
        ({"masked_lm_positions": [5, 0]}, "row 1 predicts a token outside its text"),
        ({"next_sentence_labels": None}, "has the fields"),
        ({"masked_lm_positions": [2, 0, 0]}, "lists of different lengths"),
    ],
)
def test_a_row_that_does_not_fit_is_named(tmp_path: Path, vocab: str, changes: dict[str, Any], message: str) -> None:
    path = written(tmp_path, fields(), fields(**changes))
    with pytest.raises(InputError, match=message) as caught:
        import_shards({"train": [path]}, vocab, str(tmp_path / "out"))
    assert path in str(caught.value)
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input_ids": [2, -1, 4, 3, 14, 3, 0, 0]}, "row 7 has the id -1, and the vocabulary ends at 22"),
        ({"masked_lm_ids": [-7, 0]}, "row 7 has the id -7"),
        ({"segment_ids": [0, 0, 0, 0, 1, -1, 0, 0]}, "row 7 has segment_ids other than 0 and 1"),
        ({"next_sentence_labels": [-1]}, "row 7 has a pair label other than 0 and 1"),
        ({"masked_lm_positions": [-1, 0]}, "row 7 predicts a token outside its text"),
    ],
)
def test_numbers_below_zero_are_named(tmp_path: Path, vocab: str, changes: dict[str, Any], message: str) -> None:
    import_shards({"train": [written(tmp_path, fields())]}, vocab, str(tmp_path / "out"))
    info = open_shards(tmp_path / "out").expect_pretraining()
    assert list(checked(fields(), info, "a.hdf5", 7)) == list(fields())
    with pytest.raises(InputError, match=message):
        checked(fields(**changes), info, "a.hdf5", 7)


@pytest.mark.parametrize(
    "changes",
    [
        {"input_ids": [2, 22, 3, 0, 0, 0, 0, 0], "input_mask": [1] * 3 + [0] * 5, "masked_lm_positions": [1, 0]},
        {"input_ids": [2, 12, 4, 3, 14, 9, 9, 3], "input_mask": [1] * 8, "masked_lm_positions": [6, 0]},
        {"masked_lm_ids": [22, 0], "masked_lm_positions": [4, 1], "masked_lm_weights": [1.0, 1.0]},
        {"masked_lm_weights": [0.0, 0.0], "masked_lm_positions": [7, 7], "next_sentence_labels": [1]},
    ],
)
def test_the_ends_of_what_a_row_can_be_are_taken(tmp_path: Path, vocab: str, changes: dict[str, Any]) -> None:
    row = fields(**changes)
    import_shards({"train": [written(tmp_path, row)]}, vocab, str(tmp_path / "out"))
    [back] = open_shards(tmp_path / "out").table.to_pylist()
    length = int(row["input_mask"].sum())
    assert back["input_ids"] == row["input_ids"][0, :length].tolist()
    assert back["token_type_ids"] == row["segment_ids"][0, :length].tolist()
    assert back["next_sentence_label"] == row["next_sentence_labels"][0, 0]
    predicted = row["masked_lm_weights"][0] > 0
    places = dict(zip(row["masked_lm_positions"][0, predicted], row["masked_lm_ids"][0, predicted], strict=True))
    assert back["labels"] == [places.get(place, -100) for place in range(length)]


def test_rows_are_counted_and_numbered_from_file_to_file_and_split_to_split(tmp_path: Path, vocab: str) -> None:
    kept = fields(masked_lm_positions=[1, 2], masked_lm_ids=[12, 13], masked_lm_weights=[1.0, 1.0])
    other = fields(masked_lm_positions=[1, 4], masked_lm_ids=[3, 13], masked_lm_weights=[1.0, 1.0])
    train = [
        written(tmp_path, fields(), fields(next_sentence_labels=[1]), kept, name="a.tfrecord"),
        written(tmp_path, other, name="b.tfrecord"),
    ]
    held = written(tmp_path, fields(), name="held.tfrecord")
    manifest = import_shards({"train": train, "validation": [held]}, vocab, str(tmp_path / "out"))
    shards = open_shards(tmp_path / "out")
    assert shards.table["example_id"].to_pylist() == [0, 1, 2, 3]
    assert open_shards(tmp_path / "out", "validation").table["example_id"].to_pylist() == [4]
    assert manifest["splits"]["train"]["counts"] == {
        "examples": 4,
        "documents": 0,
        "labels_1": 1,
        "row_tokens": 24,
        "tokens_in_examples": 11,  # of each row three, but where a [SEP] is what was hidden
        "predictions": 6,
        "predictions_mask": 3,
        "predictions_kept": 1,
        "predictions_capped_rows": 0,
    }
    assert [shard["counts"]["examples"] for shard in manifest["splits"]["train"]["shards"]] == [3, 1]
    names = ["train/data-00000-of-00002.arrow", "train/data-00001-of-00002.arrow"]
    assert [shard["file"] for shard in manifest["splits"]["train"]["shards"]] == names
    [shard] = manifest["splits"]["validation"]["shards"]
    data = (tmp_path / "out" / "validation" / "data-00000-of-00001.arrow").read_bytes()
    assert (shard["bytes"], shard["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    sizes = [{"name": Path(path).name, "bytes": Path(path).stat().st_size} for path in [*train, held]]
    assert manifest["sources"] == {"imported": {"inputs": sizes, "counts": {"rows": 5}, "drops": {}, "broken": []}}
    assert manifest["imported"] is True
    assert manifest["vocabulary"] == {"pieces": TOKENIZER.vocab_size}
    assert shards.expect_pretraining().masking.max_predictions_per_seq == 2
    assert not shards.info.draws_masks


def test_a_new_import_replaces_the_splits_of_the_old_one(tmp_path: Path, vocab: str) -> None:
    path = written(tmp_path, fields())
    import_shards({"train": [path], "validation": [path]}, vocab, str(tmp_path / "out"))
    import_shards({"train": [path]}, vocab, str(tmp_path / "out"))
    assert list(open_shards(tmp_path / "out").manifest["splits"]) == ["train"]
    assert not (tmp_path / "out" / "validation").exists()


def test_the_command_counts_files_without_rows(tmp_path: Path, vocab: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.tfrecord").touch()
    path = written(tmp_path, *[fields()] * 2)
    flags = ["--vocab", vocab, "--output", str(tmp_path / "out")]
    assert dispatch(["import", str(tmp_path / "empty.tfrecord"), path, *flags]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "train           2 rows in 2 shards",
        "  without rows  1 file",
        "  predictions   33.333% of the tokens",
    ]
    with pytest.raises(InputError, match=r"the files of train \(\d+ in all\) have no rows"):
        dispatch(["import", str(tmp_path / "empty.tfrecord"), *flags])


def test_of_several_rows_that_do_not_fit_the_first_is_named(tmp_path: Path, vocab: str) -> None:
    wrong = fields(next_sentence_labels=[2])
    path = written(tmp_path, fields(), fields(), wrong, fields(), wrong)
    with pytest.raises(InputError, match="row 2 has a pair label"):
        import_shards({"train": [path]}, vocab, str(tmp_path / "out"))


def test_files_of_two_kinds_are_not_mixed(tmp_path: Path, vocab: str) -> None:
    first_kind = written(tmp_path, fields())
    other = written(
        tmp_path, fields(masked_lm_positions=[2], masked_lm_ids=[3], masked_lm_weights=[1.0]), name="b.tfrecord"
    )
    with pytest.raises(
        InputError, match=r"b\.tfrecord: has rows of 8 tokens and 1 predictions at most, the first file 8"
    ):
        import_shards({"train": [first_kind, other]}, vocab, str(tmp_path / "out"))


def test_fields_that_are_missing_and_objectives_that_do_not_fit_are_told(tmp_path: Path, vocab: str) -> None:
    path = written(tmp_path, fields(segment_ids=None))
    with pytest.raises(InputError, match="has no field 'segment_ids', it has input_ids, input_mask"):
        import_shards({"train": [path]}, vocab, str(tmp_path / "out"))
    path = written(tmp_path, fields())
    with pytest.raises(ConfigError, match=r"has a pair label .* `objective` full-sentences does not go with"):
        import_shards({"train": [path]}, vocab, str(tmp_path / "out"), "full-sentences")


def test_another_vocabulary_of_the_same_size_is_found_by_its_special_tokens(build: Path, tmp_path: Path) -> None:
    source = exported(build, "tfrecord", tmp_path / "out")
    others = [f"w{number}" for number in range(TOKENIZER.vocab_size - 5)]
    WordPieceTokenizer.from_tokens([*others, *SPECIAL_TOKENS]).save_pretrained(tmp_path / "other")
    with pytest.raises(InputError, match="it was made with another one; give that with `vocab`"):
        import_shards({"train": [str(source / "train")]}, str(tmp_path / "other"), str(tmp_path / "back"))


@pytest.mark.parametrize("to", FORMATS)
def test_a_file_that_was_cut_off_is_named(build: Path, tmp_path: Path, to: str) -> None:
    source = exported(build, to, tmp_path / "out")
    path = sorted((source / "train").iterdir())[1]
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match=path.name + (r", byte \d+: .* cut off" if to == "tfrecord" else ": ")):
        imported(source, tmp_path / "back")
    assert not (tmp_path / "back" / "manifest.json").exists()


def test_an_hdf5_file_of_another_layout_is_told(tmp_path: Path, vocab: str) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        file["images"] = np.zeros((3, 4))
    with pytest.raises(InputError, match="has no data set 'input_ids', it has images; expected NVIDIA's layout"):
        import_shards({"train": [str(tmp_path / "a.hdf5")]}, vocab, str(tmp_path / "out"))


@pytest.mark.parametrize("sizes", [[3, 3, 3, 3, 3], [8, 8, 8], [20, 1], [7, 7], [1, 30, 2], [4]])
def test_rows_of_hdf5_are_written_a_chunk_of_the_file_at_a_time_whatever_batches_they_come_in(
    sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hdf5, "_CHUNK_ROWS", 7)
    begins = np.cumsum([0, *sizes])
    batches = ({"input_ids": np.arange(begin, end)} for begin, end in pairwise(begins))
    blocks = [block["input_ids"] for block in hdf5._blocks(batches)]
    assert np.concatenate(blocks).tolist() == list(range(sum(sizes)))
    assert {len(block) for block in blocks[:-1]} <= {7}


def test_hdf5_has_the_types_of_nvidia(build: Path, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(sorted((exported(build, "hdf5", tmp_path / "out") / "train").iterdir())[0]) as file:
        types = {name: (str(file[name].dtype), file[name].ndim, file[name].compression) for name in file}
    assert types == {
        "input_ids": ("int32", 2, "gzip"),
        "input_mask": ("int8", 2, "gzip"),
        "segment_ids": ("int8", 2, "gzip"),
        "masked_lm_positions": ("int32", 2, "gzip"),
        "masked_lm_ids": ("int32", 2, "gzip"),
        "next_sentence_labels": ("int8", 1, "gzip"),
    }


def test_the_commands_say_what_they_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = write_build(tmp_path / "build", masking=MaskingConfig(max_predictions_per_seq=4))
    flags = ["--to", "tfrecord", "--epoch", "2", "--output", str(tmp_path / "out")]
    assert dispatch(["export", str(build), *flags]) == 0
    assert "room for 4 in a row" in capsys.readouterr().out
    train, held = (str(tmp_path / "out" / split) for split in ("train", "validation"))
    flags = ["--vocab", str(tmp_path / "out" / "tokenizer"), "--output", str(tmp_path / "back"), "--validation", held]
    assert dispatch(["import", train, *flags]) == 0
    shown = capsys.readouterr().out
    assert f"train          {len(open_shards(build)):,} rows in 2 shards" in shown
    assert len(open_shards(tmp_path / "back", "validation")) == len(open_shards(build, "validation"))


@pytest.mark.parametrize("name", ["input_ids", "input_mask", "masked_lm_positions", "masked_lm_weights"])
@pytest.mark.parametrize("shape", [(3,), (3, 7), (2, 4)])
def test_fields_of_other_shapes_are_told(tmp_path: Path, name: str, shape: tuple[int, ...]) -> None:
    fields = {field: np.zeros((3, 8), np.int64) for field in FIELDS[:3]}
    fields |= {field: np.zeros((3, 4), np.int64) for field in FIELDS[3:-1]} | {name: np.zeros(shape, np.int64)}
    toy = ImportFormat(help="", suffixes=(".toy",), read=lambda path: iter([fields]), signature=b"toy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(IMPORT_FORMATS._items, "toy", toy)
        (tmp_path / "a.toy").write_bytes(b"toy")
        TOKENIZER.save_pretrained(tmp_path / "vocab")
        with pytest.raises(InputError, match=rf"has fields of the shapes .*{name} .*expected \(rows, tokens\)"):
            import_shards({"train": [str(tmp_path / "a.toy")]}, str(tmp_path / "vocab"), str(tmp_path / "out"))


@pytest.mark.parametrize("names", [FIELDS[:3], FIELDS[3:-1]])
@pytest.mark.parametrize("shape", [(2,), (2, 3, 1)])
def test_fields_that_agree_on_no_shape_of_rows_are_refused(names: tuple[str, ...], shape: tuple[int, ...]) -> None:
    fields = {name: np.zeros((2, 8 if name in FIELDS[:3] else 4), np.int64) for name in FIELDS[:-1]}
    info = PretrainingInfo.of(TOKENIZER, examples=ExamplesConfig(masking="static"), masking=MaskingConfig())
    with pytest.raises(InputError, match="has fields of the shapes"):
        checked(fields | {name: np.zeros(shape, np.int64) for name in names}, info, "x.tfrecord", 0)
