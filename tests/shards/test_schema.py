"""The columns of a shard and what its schema says of itself."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa
import pytest

from bertdata.errors import BertDataError, InputError
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.settings import MASKINGS
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import FORMAT, features, id_type, shard_schema
from tests.shards.blocks import TOKENIZER, info_of


def with_metadata(values: Any) -> pa.Schema:
    return shard_schema(info_of()).with_metadata({"bertdata": json.dumps(values)})


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("masking", MASKINGS)
def test_a_schema_says_how_its_shard_was_made(objective: str, masking: str) -> None:
    info = info_of(objective, masking, max_seq_length=77, dupe_factor=3, seed=5)
    assert PretrainingInfo.from_schema(shard_schema(info), "x.arrow") == info


@pytest.mark.parametrize(
    ("objective", "masking", "names"),
    [
        ("nsp", "dynamic", ["input_ids", "token_type_ids", "next_sentence_label", "example_id"]),
        ("sop", "dynamic", ["input_ids", "token_type_ids", "sentence_order_label", "example_id"]),
        ("nsp", "static", ["input_ids", "token_type_ids", "next_sentence_label", "example_id", "labels"]),
        ("full-sentences", "dynamic", ["input_ids", "token_type_ids", "example_id"]),
        ("doc-sentences", "static", ["input_ids", "token_type_ids", "example_id", "labels"]),
    ],
)
def test_columns_follow_the_objective_and_the_masking(objective: str, masking: str, names: list[str]) -> None:
    assert shard_schema(info_of(objective, masking)).names == names


def test_ids_past_65535_get_a_wider_type() -> None:
    assert (id_type(1 << 16), id_type((1 << 16) + 1)) == (pa.uint16(), pa.uint32())


def test_labels_of_a_large_vocabulary_get_a_wider_type() -> None:
    info = info_of(masking="static")
    types = [shard_schema(replace(info, vocab_size=size)).field("labels").type for size in (1 << 15, (1 << 15) + 1)]
    assert types == [pa.list_(pa.int16()), pa.list_(pa.int32())]


def test_the_metadata_holds_the_features_and_nothing_of_the_machine() -> None:
    info = info_of()
    schema = shard_schema(info)
    assert set(schema.metadata) == {b"huggingface", b"bertdata"}
    assert json.loads(schema.metadata[b"huggingface"]) == {"info": {"features": features(schema)}}
    assert json.loads(schema.metadata[b"bertdata"]) == info.values()
    assert info.tokenizer == TOKENIZER.fingerprint


def test_features_name_the_types_of_columns() -> None:
    assert features(shard_schema(info_of("doc-sentences"))) == {
        "input_ids": {"_type": "Sequence", "feature": {"_type": "Value", "dtype": "uint16"}},
        "token_type_ids": {"_type": "Sequence", "feature": {"_type": "Value", "dtype": "uint8"}},
        "example_id": {"_type": "Value", "dtype": "int64"},
    }


def test_an_arrow_file_of_others_is_refused() -> None:
    with pytest.raises(InputError, match=r"^x\.arrow: is an Arrow file, but not a bertdata shard"):
        PretrainingInfo.from_schema(pa.schema([pa.field("input_ids", pa.int64())]), "x.arrow")


def test_a_shard_of_another_format_is_refused() -> None:
    with pytest.raises(InputError, match=rf"has shard format {FORMAT + 1}; this version reads {FORMAT}: build again"):
        PretrainingInfo.from_schema(with_metadata(asdict(info_of()) | {"format": FORMAT + 1}), "x.arrow")


@pytest.mark.parametrize(
    "change",
    [
        {"examples": None},
        {"masking": {"masked_lm_prob": 7}},
        {"vocab_size": "87"},
        {"pad_token_id": None},
        {"tokenizer": 5},
        {"something": "else"},
    ],
)
def test_damaged_metadata_is_an_error_that_names_the_file(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^x\.arrow: does not say .*; build again$"):
        PretrainingInfo.from_schema(with_metadata(asdict(info_of()) | change), "x.arrow")


def test_an_objective_that_is_not_there_is_named_with_what_may_add_it() -> None:
    schema = with_metadata(asdict(info_of()) | {"examples": {"objective": "guess"}})
    with pytest.raises(BertDataError, match=r"^x\.arrow: there is no objective 'guess'; .* in BERTDATA_PLUGINS$"):
        PretrainingInfo.from_schema(schema, "x.arrow")


@pytest.mark.parametrize("text", ["{", "[]", "null"])
def test_metadata_that_is_no_json_object_is_an_error(text: str) -> None:
    schema = shard_schema(info_of()).with_metadata({"bertdata": text})
    with pytest.raises(InputError, match=r"^x\.arrow: has "):
        PretrainingInfo.from_schema(schema, "x.arrow")
