"""Words of byte-level BPE and other tokenizers whose ids alone do not tell where words begin, from store to shard."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bertdata.errors import InputError
from bertdata.formats.exporting import export
from bertdata.formats.importing import import_shards
from bertdata.inspect.examples import read_examples
from bertdata.inspect.stats import measure
from bertdata.io import files
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import Shards, open_shards
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import ShardInfo, shard_schema
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.verify.build import verify
from tests.shards.blocks import TOKENIZER
from tests.shards.damage import disagreements, rewrite
from tests.small_build import write_build
from tests.tokenizers.made import KINDS, SPECIAL, assert_words, made

FLAGGED = ("byte-level", "whitespace")
"""The kinds whose ids alone do not tell where words begin."""
UNITS = ("word", "ngram", "span")
SHAPES = {
    "plain": {"max_seq_length": 48},
    "packed": {"max_seq_length": 32, "pack": True, "pack_length": 96},
    "binned": {"max_seq_length": 48, "bin_size": 16, "short_seq_prob": 0.5},
}


def segments(row: dict[str, np.ndarray], ids: np.ndarray) -> list[slice]:
    """Return the places of the texts of a row, between special tokens."""
    special = np.append(np.flatnonzero(ids < len(SPECIAL)), len(ids))
    return [slice(int(one) + 1, int(two)) for one, two in pairwise(special) if two > one + 1]


def words_of(
    kind: str, shards: Shards, row: dict[str, np.ndarray], ids: np.ndarray, *, cut: bool = False
) -> np.ndarray:
    """Return where words begin in a row, after checking it against `tokenizers`; `cut`: it may begin within a word."""
    continuation = made(kind).continuation
    starts: np.ndarray = row["word_starts"] if continuation is None else ~continuation[ids] | (ids < len(SPECIAL))
    first, *others = segments(row, ids)
    if cut:
        first = slice(first.start + int(np.argmax(np.append(starts[first], True))), first.stop)
    for part in others if first.start == first.stop else [first, *others]:
        if continuation is None:
            assert_words(kind, ids[part], starts[part])
        assert starts[part][0]
    return starts


def assert_whole(starts: np.ndarray, labels: np.ndarray) -> int:
    """Assert that of each word all tokens are predicted or none; returns how many words of several are predicted."""
    word = np.cumsum(starts)
    predicted = np.bincount(word, labels != IGNORE_INDEX)
    sizes = np.bincount(word)
    assert ((predicted == 0) | (predicted == sizes)).all()
    return int(((predicted == sizes) & (sizes > 1)).sum())


@pytest.mark.costly
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("shape", "unit"), list(zip(SHAPES, UNITS, strict=True)))
def test_static_masks_take_whole_words_at_the_rate_asked_for(kind: str, shape: str, unit: str, tmp_path: Path) -> None:
    config = ExamplesConfig("doc-sentences", "static", dupe_factor=2, **SHAPES[shape])  # type: ignore[arg-type]
    masking = MaskingConfig(masked_lm_prob=0.2, mask_unit=unit, max_ngram=2, max_span=3)
    build = write_build(tmp_path, config, masking=masking, pieces=made(kind))
    shards, several, predicted, ordinary = open_shards(build), 0, 0, 0
    for number in range(len(shards)):
        for row in shards.examples(number):
            labels = row["labels"].astype(np.int64)
            ids = np.where(labels == IGNORE_INDEX, row["input_ids"], labels)
            several += assert_whole(words_of(kind, shards, row, ids), labels)
            assert (labels[ids < len(SPECIAL)] == IGNORE_INDEX).all()
            predicted += int((labels != IGNORE_INDEX).sum())
            ordinary += int((ids >= len(SPECIAL)).sum())
    assert several > 50
    assert predicted / ordinary == pytest.approx(0.2, abs=0.02)
    assert dict(verify(str(build)))["train: shards"]


@pytest.mark.costly
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", FLAGGED)
def test_rows_are_cut_where_words_begin_and_say_it_whatever_is_masked(
    objective: str, kind: str, tmp_path: Path
) -> None:
    build = write_build(tmp_path, ExamplesConfig(objective, max_seq_length=24), pieces=made(kind))
    shards = open_shards(build)
    assert shards.table.schema.field("word_starts").type == pa.list_(pa.bool_())
    for number in range(len(shards)):
        row = shards[number]
        ids = row["input_ids"].astype(np.int64)
        starts = words_of(kind, shards, row, ids, cut=objective == "joined-chunks")
        assert starts[ids < len(SPECIAL)].all()
    verify(str(build))


def test_shards_of_a_vocabulary_whose_ids_tell_the_words_stay_as_they_are() -> None:
    info = PretrainingInfo.of(TOKENIZER, examples=ExamplesConfig(), masking=MaskingConfig())
    assert "word_starts" not in info.values()
    assert "word_starts" not in shard_schema(info).names
    flagged = replace(info, word_starts=True)
    assert set(shard_schema(flagged).names) - set(shard_schema(info).names) == {"word_starts"}
    assert ShardInfo.from_values(flagged.values(), "") == flagged
    assert ShardInfo.from_values(info.values(), "") == info
    with pytest.raises(InputError, match="build again"):
        ShardInfo.from_values(info.values() | {"word_starts": "yes"}, "")


def test_a_changed_flag_is_found_where_masks_depend_on_it(tmp_path: Path) -> None:
    config = ExamplesConfig("doc-sentences", "static", max_seq_length=48)
    masking = MaskingConfig(masked_lm_prob=0.5, mask_unit="word")
    build = write_build(tmp_path, config, masking=masking, pieces=made("byte-level"))

    def turned(table: pa.Table, places: range) -> pa.Table:
        rows = table["word_starts"].to_pylist()
        rows[0] = [start != (place in places) for place, start in enumerate(rows[0])]
        number = table.schema.get_field_index("word_starts")
        return table.set_column(number, table.schema.field(number), pa.array(rows, table.schema.field(number).type))

    shard = "train/data-00000-of-00002.arrow"
    rewrite(build, shard, lambda table: turned(table, range(1)))
    assert "a special token continues a word in 1 of" in disagreements(build)[0]
    rewrite(build, shard, lambda table: turned(turned(table, range(1)), range(1, 20)))
    assert "the mask is not the one drawn in 1 of" in disagreements(build)[0]


def test_the_last_special_token_is_found_in_a_text_where_nothing_is_unknown(tmp_path: Path) -> None:
    tokenizer = made("byte-level")
    data = json.loads(tokenizer._whole.to_str())
    late = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    data["added_tokens"].append({"id": tokenizer.vocab_size, "content": "<late>", "special": True} | late)
    build = write_build(tmp_path, ExamplesConfig("doc-sentences"), pieces=JsonTokenizer(data, {}))

    def put(table: pa.Table) -> pa.Table:
        rows, field = table["input_ids"].to_pylist(), table.schema.field("input_ids")
        rows[3][2] = tokenizer.vocab_size
        return table.set_column(table.schema.get_field_index("input_ids"), field, pa.array(rows, field.type))

    rewrite(build, "train/data-00000-of-00002.arrow", put)
    assert "a special token is in the text in 1 of" in disagreements(build)[0]


def test_static_rows_of_other_formats_have_the_masks_of_the_loader_and_come_back_without_flags(
    tmp_path: Path,
) -> None:
    pytest.importorskip("google.protobuf")
    config = ExamplesConfig("doc-sentences", max_seq_length=48)
    masking = MaskingConfig(masked_lm_prob=0.3, mask_unit="word")
    build = write_build(tmp_path / "build", config, masking=masking, pieces=made("byte-level"))
    out, back = tmp_path / "tfrecord", tmp_path / "back"
    export(str(build), "tfrecord", str(out), ["train"], epoch=2)
    import_shards({"train": [str(out / "train")]}, str(build / "tokenizer"), str(back))
    imported, examples = open_shards(back), ShardExamples(build / "train")
    assert "word_starts" not in imported.table.column_names
    batch = BatchCollator(examples, epoch=2)(examples.__getitems__(range(len(examples))))
    for row, labels in enumerate(imported.table["labels"].to_pylist()):
        assert batch["labels"][row, : len(labels)].tolist() == labels
    assert len(list(read_examples(imported, range(5)))) == 5
    assert measure(imported).predictions == int((batch["labels"] != IGNORE_INDEX).sum())


@pytest.mark.parametrize("kind", FLAGGED)
def test_exports_of_rows_have_the_flags_and_those_of_masks_are_drawn_by_them(kind: str, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    masking = MaskingConfig(masked_lm_prob=0.3, mask_unit="word")
    config = ExamplesConfig("doc-sentences", max_seq_length=48)
    build = write_build(tmp_path / "build", config, masking=masking, pieces=made(kind))
    table = open_shards(build).table
    export(str(build), "parquet", str(tmp_path / "parquet"), ["train"])
    exported = [pq.read_table(path) for path in sorted((tmp_path / "parquet" / "train").glob("*.parquet"))]
    assert [row for table in exported for row in table["word_starts"].to_pylist()] == table["word_starts"].to_pylist()
    export(str(build), "mds", str(tmp_path / "mds"), ["train"])
    index = files.read_json(str(tmp_path / "mds" / "train" / "index.json"))["shards"][0]
    encodings = dict(zip(index["column_names"], index["column_encodings"], strict=True))
    assert encodings["word_starts"] == "ndarray:uint8"
