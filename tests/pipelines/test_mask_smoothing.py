"""Builds whose masks favour rare tokens: counts of the store beside the shards, and everything that draws by them."""

from __future__ import annotations

import argparse
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from bertdata.cli.show import run as show
from bertdata.corpus.summary import build_rows
from bertdata.errors import ConfigError, InputError, VerificationError
from bertdata.io import files
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.smoothing import NEVER
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.mask_tables import save
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.settings import SelectionConfig
from bertdata.shards.token_counts import FOLDER, TokenCounts, delays_for, load_counts
from bertdata.torch import DeviceCollator, PretrainingCollator
from bertdata.verify.accounts import Build, check_token_counts
from bertdata.verify.build import verify
from tests.pipelines.builds import SETTINGS, build, digests

SMOOTHED = MaskingConfig(mask_smoothing=0.7)
ROWS = ExamplesConfig("doc-sentences", max_seq_length=32)
PHASES = (
    PhaseConfig(ROWS, SMOOTHED, name="dynamic"),
    PhaseConfig(replace(ROWS, masking="static", dupe_factor=2), SMOOTHED, name="static"),
    PhaseConfig(ROWS, SMOOTHED, selection=SelectionConfig(where="tokens >= 2000"), name="long"),
    PhaseConfig(ROWS, name="plain"),
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("smoothing") / "corpus"
    build(output, replace(SETTINGS, phases=PHASES))
    return output


def ids_of(phase: Path) -> NDArray[np.int64]:
    """Return how often each id is in the rows of train, as they were before masking."""
    shards = open_shards(phase)
    ids, size = [], shards.info.vocab_size
    for number in range(len(shards)):
        row = shards[number]
        row_ids = np.asarray(row["input_ids"]).astype(np.int64)
        ids.append(np.where(row["labels"] < 0, row_ids, row["labels"]) if "labels" in row else row_ids)
    return np.bincount(np.concatenate(ids), minlength=size)


@pytest.mark.costly
def test_the_counts_beside_the_shards_are_those_of_the_rows_of_train(built: Path) -> None:
    for name, copies in (("dynamic", 1), ("static", 2), ("long", 1)):
        info = open_shards(built / name).expect_pretraining()
        counts, ids = load_counts(str(built / name), info.token_counts).counts, ids_of(built / name)
        ids[[info.cls_token_id, info.sep_token_id]] = 0
        assert ids.tolist() == (counts * copies).tolist()
    assert (built / "dynamic" / FOLDER / "table.arrow").read_bytes() != (
        built / "long" / FOLDER / "table.arrow"
    ).read_bytes()
    assert not (built / "plain" / FOLDER).exists()
    verify(built)


@pytest.mark.costly
def test_static_and_dynamic_masks_and_those_of_the_device_are_the_same(built: Path) -> None:
    examples, written = ShardExamples(built / "dynamic"), open_shards(built / "static")
    given = examples.__getitems__([(0, number) for number in range(len(examples))])
    drawn, device = BatchCollator(examples)(given), DeviceCollator(examples)
    on_device = device.finish(device(given))
    assert on_device["input_ids"].tolist() == drawn["input_ids"].tolist()
    assert on_device["labels"].tolist() == drawn["labels"].tolist()
    assert PretrainingCollator(examples)(given)["labels"].tolist() == drawn["labels"].tolist()
    rows = {written[number]["example_id"]: written[number] for number in range(len(written))}
    same = [rows[example["example_id"]] for example in given if example["example_id"] in rows]
    assert len(same) > len(given) / 2
    for example, ids, labels in zip(given, drawn["input_ids"], drawn["labels"], strict=True):
        if row := rows.get(example["example_id"]):
            length = len(row["input_ids"])
            assert row["input_ids"].tolist() == ids[:length].tolist()
            assert row["labels"].tolist() == labels[:length].tolist()


def test_rare_tokens_are_predicted_more_often_than_frequent_ones(built: Path) -> None:
    examples = ShardExamples(built / "dynamic")
    ids = ids_of(built / "dynamic")
    plain = BatchCollator(examples, masking=MaskingConfig(), epoch=0)(examples.__getitems__(range(len(examples))))
    smoothed = BatchCollator(examples, epoch=0)(examples.__getitems__(range(len(examples))))
    often = np.argsort(ids)[-30:-2]
    shares = []
    for batch in (plain, smoothed):
        predicted = batch["labels"][batch["labels"] >= 0]
        shares.append(np.isin(predicted, often).mean())
    assert shares[0] > 0.2
    assert shares[1] < shares[0] / 3
    assert (plain["labels"] >= 0).sum() == (smoothed["labels"] >= 0).sum()


def test_shards_without_counts_are_refused_where_masks_need_them(built: Path) -> None:
    with pytest.raises(ConfigError, match="built without `mask_smoothing`, so they have no counts"):
        BatchCollator(built / "plain", masking=SMOOTHED)
    BatchCollator(built / "dynamic", masking=MaskingConfig(mask_smoothing=0.3), epoch=0)


def test_sets_whose_counts_differ_are_not_read_together(built: Path) -> None:
    with pytest.raises(ConfigError, match="token_counts"):
        ShardExamples([str(built / "dynamic"), str(built / "long")])


def test_missing_and_other_counts_are_noticed(built: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(built / "dynamic", tmp_path / "moved"))
    info = open_shards(moved).expect_pretraining()
    counts = load_counts(str(moved), info.token_counts).counts
    save(TokenCounts(counts + 1), str(moved), FOLDER)
    with pytest.raises(ConfigError, match="these token counts are not those the shards were made with"):
        BatchCollator(moved)
    with pytest.raises(VerificationError, match=r"token_counts/table\.arrow"):
        verify(moved)
    files.remove(str(moved / FOLDER))
    with pytest.raises(InputError, match="the token counts of these shards are not there"):
        BatchCollator(moved)


def test_verify_recounts_the_tokens(built: Path, tmp_path: Path) -> None:
    manifest = files.read_json(str(built / "static" / "manifest.json"))
    claims, ids = Build.read(str(built / "static"), manifest), ids_of(built / "static")
    ids[[claims.info.cls_token_id, claims.info.sep_token_id]] = 0
    check_token_counts(claims, ids)
    assert claims.problems == []
    ids[[20, 21]] += np.array([1, -1])
    check_token_counts(claims, ids)
    assert claims.problems == [
        "token_counts/table.arrow: has not the counts of the rows: 1 tokens more and 1 fewer are in these"
    ]
    claims.problems.clear()
    ids[[20, 21]] += np.array([-1, 1])
    claims.splits["train"].counts["tokens"] += 1
    check_token_counts(claims, ids)
    assert [problem.partition(" tokens; ")[2][:27] for problem in claims.problems] == ["expected those of train in "]


def test_special_tokens_have_weight_zero(built: Path) -> None:
    shards = open_shards(built / "dynamic")
    info, tokenizer = shards.expect_pretraining(), shards.tokenizer()
    later = delays_for(SMOOTHED, tokenizer, shards.build, info.token_counts)
    assert later is not None
    assert sorted(np.flatnonzero(later == NEVER).tolist()) == sorted(tokenizer.special_ids.tolist())
    assert tokenizer.unk_token_id in tokenizer.special_ids


def test_show_and_the_summary_say_how_tokens_are_drawn(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = {"grep": None, "split": None, "index": 0, "count": 1, "epoch": None, "at": None, "color": "never"}
    show(argparse.Namespace(dropped=None, shards=str(built / "dynamic"), **options))
    assert "Tokens to predict are drawn by frequency in train to the power of -0.7" in capsys.readouterr().out
    manifest = files.read_json(str(built / "dynamic" / "manifest.json"))
    assert ("  tokens to predict", "drawn by frequency in train to the power of -0.7") in build_rows(manifest)


def test_another_smoothing_keeps_shards_of_dynamic_masks_and_counts_nothing_again(built: Path, tmp_path: Path) -> None:
    output = Path(shutil.copytree(built, tmp_path / "corpus"))
    stages = [path for kind in ("tokens", "id-counts") for path in (output / "stages" / kind).glob("*.arrow")]
    before, times = digests(output / "dynamic"), [path.stat().st_mtime_ns for path in stages]
    phases = [replace(PHASES[0], masking=MaskingConfig(mask_smoothing=0.5)), *PHASES[1:]]
    build(output, replace(SETTINGS, phases=tuple(phases)))
    assert len(stages) >= 2
    assert [path.stat().st_mtime_ns for path in stages] == times
    assert digests(output / "dynamic") == before
    assert files.read_json(str(output / "dynamic" / "manifest.json"))["info"]["masking"]["mask_smoothing"] == 0.5
    assert digests(output / "static") == digests(built / "static")
    build(output, replace(SETTINGS, phases=(PHASES[3],)))
    assert not (output / FOLDER).exists()


def test_what_is_no_table_of_counts_is_refused() -> None:
    with pytest.raises(ValueError, match="is not of whole numbers"):
        TokenCounts.from_arrow(pa.table({"count": [1, -1]}))
