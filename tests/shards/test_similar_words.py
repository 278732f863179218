"""Builds whose masks have similar words: the table beside the shards, and everything that draws masks by it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bertdata.errors import ConfigError, InputError, VerificationError
from bertdata.inspect.examples import read_examples
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.similar_words import with_fingerprint
from bertdata.torch import DeviceCollator
from bertdata.verify.build import verify
from tests.shards.build import TOKENIZER, WORDS, write_build
from tests.statistics import bernstein

SIMILAR = {"salt": ["water", "stone"], "lamp": ["clock"], "winters": ["gardens", "river"]}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "similar.tsv"
    path.write_text("".join("\t".join([word, *others]) + "\n" for word, others in SIMILAR.items()))
    return path


@pytest.fixture(scope="module")
def masking(table: Path) -> MaskingConfig:
    return MaskingConfig(mask_unit="ngram", ngram_weights=("40", "30", "20", "10"), similar_words=str(table))


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory: pytest.TempPathFactory, masking: MaskingConfig) -> Path:
    return write_build(tmp_path_factory.mktemp("dynamic"), masking=masking)


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory, masking: MaskingConfig) -> Path:
    examples = ExamplesConfig(max_seq_length=32, masking="static")
    return write_build(tmp_path_factory.mktemp("static"), examples, masking=masking)


def test_builds_with_static_and_dynamic_masks_are_verified(static: Path, dynamic: Path) -> None:
    assert "similar or random" in dict(verify(static))["  predictions"]
    verify(dynamic)


def test_salt_becomes_water_or_stone_and_no_token_becomes_the_mask(dynamic: Path) -> None:
    examples = ShardExamples(dynamic)
    collator = BatchCollator(examples)
    batches = [collator(examples.__getitems__([(epoch, n) for n in range(len(examples))])) for epoch in range(40)]
    ids, labels = (np.concatenate([batch[name].ravel() for batch in batches]) for name in ("input_ids", "labels"))
    salt, water, stone = (TOKENIZER.encode(word)[0] for word in ("salt", "water", "stone"))
    following = np.roll(np.where(labels < 0, ids, labels), -1)
    shown = ids[(labels == salt) & (following != TOKENIZER.encode("salts")[1])]
    assert abs(np.isin(shown, [water, stone]).mean() - 0.8) < bernstein(len(shown), 0.8)
    assert len(shown) > 200
    assert (shown == water).sum() > len(shown) / 4
    assert not (ids == TOKENIZER.mask_token_id).any()


def test_the_loader_and_static_shards_have_the_same_masks(static: Path, dynamic: Path) -> None:
    examples, written = ShardExamples(dynamic), open_shards(static)
    drawn = BatchCollator(examples, epoch=0)(examples.__getitems__(range(len(examples))))
    rows = {row["example_id"]: row for row in (written[number] for number in range(len(written)))}
    for example, ids, labels in zip(examples, drawn["input_ids"], drawn["labels"], strict=True):
        row = rows[example["example_id"]]
        assert row["input_ids"].tolist() == ids[: len(row["input_ids"])].tolist()
        assert row["labels"].tolist() == labels[: len(row["labels"])].tolist()


def test_shards_name_the_table_by_its_fingerprint_and_are_read_anywhere(
    dynamic: Path, table: Path, masking: MaskingConfig, tmp_path: Path
) -> None:
    moved = Path(shutil.copytree(dynamic, tmp_path / "moved"))
    info = open_shards(moved).expect_pretraining()
    assert info.masking == with_fingerprint(masking, TOKENIZER)[0]
    assert str(table) not in (moved / "manifest.json").read_text()
    here, there = (BatchCollator(path, epoch=3) for path in (dynamic, moved))
    given = BatchCollator(dynamic, masking=masking, epoch=3)
    changed = BatchCollator(moved, masking=replace(info.masking, masked_lm_prob=0.5), epoch=3)
    examples = ShardExamples(dynamic).__getitems__(range(10))
    for other in (there, given):
        assert other(examples)["input_ids"].tolist() == here(examples)["input_ids"].tolist()
    assert (changed(examples)["labels"] >= 0).sum() > 2 * (here(examples)["labels"] >= 0).sum()


def other_table(path: Path) -> None:
    words = pa.table(
        {"word": [[9]], "similar": [[10]]},
        pa.schema([("word", pa.list_(pa.uint32())), ("similar", pa.list_(pa.uint32()))]),
    )
    with pa.ipc.new_stream(str(path), words.schema) as stream:
        stream.write_table(words)


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        (other_table, ConfigError, "are not those the shards were made with"),
        (lambda path: path.unlink(), InputError, "similar words of these shards are not there"),
        (lambda path: path.write_bytes(b"\0" * 40), InputError, "is not a table of similar words"),
    ],
)
def test_another_table_is_noticed(
    damage: Callable[[Path], None], error: type[Exception], message: str, dynamic: Path, tmp_path: Path
) -> None:
    moved = Path(shutil.copytree(dynamic, tmp_path / "moved"))
    damage(moved / "similar_words" / "table.arrow")
    with pytest.raises(error, match=message):
        BatchCollator(moved)
    with pytest.raises(VerificationError, match=r"similar_words/table\.arrow"):
        verify(moved)


def test_a_changed_table_is_another_build(masking: MaskingConfig, table: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text(table.read_text() + "bread\tlamp\n")
    configs = [with_fingerprint(replace(masking, similar_words=str(path)), TOKENIZER)[0] for path in (table, other)]
    infos = [PretrainingInfo.of(TOKENIZER, examples=ExamplesConfig(), masking=config).values() for config in configs]
    assert infos[0] != infos[1]


def test_settings_of_masks_that_were_added_later_are_not_in_the_metadata_unless_given(masking: MaskingConfig) -> None:
    def keys(config: MaskingConfig) -> set[str]:
        return {*PretrainingInfo.of(TOKENIZER, examples=ExamplesConfig(), masking=config).values()["masking"]}

    assert keys(masking) - keys(MaskingConfig()) == {"ngram_weights", "similar_words"}


def test_the_metadata_is_read_back(dynamic: Path) -> None:
    info = open_shards(dynamic).expect_pretraining()
    assert PretrainingInfo.from_values(json.loads(json.dumps(info.values())), "") == info


def test_examples_are_shown_with_their_similar_words(dynamic: Path) -> None:
    shown = [
        token
        for epoch in range(8)
        for example in read_examples(open_shards(dynamic), range(20), epoch=epoch)
        for segment in example.segments
        for token in segment
    ]
    assert {token.kind for token in shown} == {"text", "special", "random", "kept"}
    lamps = [token.token for token in shown if token.target == "lamp" and token.kind == "random"]
    assert lamps.count("clock") > len(lamps) / 2


def test_the_device_collator_refuses_them(dynamic: Path) -> None:
    with pytest.raises(ConfigError, match="similar words are looked up on the CPU; use PretrainingCollator"):
        DeviceCollator(dynamic)


def test_words_of_the_table_are_words_of_the_tests() -> None:
    assert {"salt", "water", "stone", "lamp", "clock"} <= {*WORDS}
