"""Other settings of dynamic masks change the manifest, which the loader goes by, and no shard."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bertdata.beam.runner import Runner
from bertdata.corpus.dry_run import dry_run
from bertdata.corpus.settings import Settings
from bertdata.loader.collator import BatchCollator
from bertdata.loader.examples import ShardExamples
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.reader import open_shards
from bertdata.verify.build import verify
from tests.pipelines.builds import SAMPLE, SETTINGS, build, digests

RATE = MaskingConfig(masked_lm_prob=0.3, mask_unit="word")


def with_masks(masking: MaskingConfig, kind: str = "dynamic") -> Settings:
    phase = PhaseConfig(examples=ExamplesConfig(masking=kind), masking=masking)
    return replace(SETTINGS, vocab="bertdata-30k-uncased", phases=(phase,))


Before = tuple[Path, dict[str, int], dict[str, str], int]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Before:
    """Build with the default masks and then with others; returns the times and digests of the shards before."""
    output = tmp_path_factory.mktemp("masks") / "corpus"
    build(output, with_masks(MaskingConfig()))
    times = {str(path): path.stat().st_mtime_ns for path in output.glob("*/data-*.arrow")}
    before, fingerprint = digests(output), ShardExamples(output, "train").fingerprint
    build(output, with_masks(RATE))
    return output, times, before, fingerprint


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("masks") / "fresh"
    build(output, with_masks(RATE))
    return output


def test_no_shard_is_written_again(before: Before) -> None:
    output, times, sums, _ = before
    assert digests(output) == sums
    assert {str(path): path.stat().st_mtime_ns for path in output.glob("*/data-*.arrow")} == times


def test_the_loader_draws_the_new_masks(before: Before, fresh: Path) -> None:
    output = before[0]
    assert open_shards(output).expect_pretraining().masking == RATE
    batches = []
    for place in (output, fresh):
        examples = ShardExamples(place, "train")
        examples.set_epoch(1)
        batches.append(BatchCollator(examples)([examples[number] for number in range(40)]))
    assert (batches[0]["labels"] == batches[1]["labels"]).all()
    predicted = (batches[0]["labels"] >= 0).sum() / batches[0]["attention_mask"].sum()
    assert predicted == pytest.approx(0.3, abs=0.03)


def test_the_build_is_that_of_a_fresh_one_and_is_verified(before: Before, fresh: Path) -> None:
    output = before[0]
    assert digests(output) == digests(fresh)
    assert (output / "manifest.json").read_bytes() == (fresh / "manifest.json").read_bytes()
    assert verify(output) == verify(fresh)


def test_a_run_of_other_masks_is_told_from_this_one(before: Before, fresh: Path) -> None:
    output, _, _, fingerprint = before
    assert ShardExamples(output, "train").fingerprint == ShardExamples(fresh, "train").fingerprint != fingerprint


def test_a_dry_run_says_what_is_left_with_the_whole_beside_it(before: Before) -> None:
    planned = dry_run(SAMPLE, str(before[0]), with_masks(MaskingConfig(masked_lm_prob=0.2)), Runner(1, quiet=True))
    rows = dict(planned.rows)
    assert "to be made" not in rows["write shards"]
    assert "to be made again" in rows["count predictions"]
    assert planned.left is not None
    assert planned.estimate is not None
    assert [work.title for work in planned.left.stages if work.parts] == ["count predictions"]
    assert planned.left.stored == 0 < planned.estimate.stored
    assert planned.left.jobs == ("write shards",)
    assert "of what is left to do" in planned.text()
    assert planned.values()["estimate"]["left"]["stored"] == 0


def test_static_masks_are_in_the_shards_which_are_written_again(tmp_path: Path) -> None:
    build(tmp_path / "static", with_masks(MaskingConfig(), "static"))
    before = digests(tmp_path / "static")
    build(tmp_path / "static", with_masks(RATE, "static"))
    after = digests(tmp_path / "static")
    assert before.keys() == after.keys()
    assert not {*before.values()} & {*after.values()}


def test_back_to_the_masks_of_the_shards_nothing_is_counted(before: Before, tmp_path: Path) -> None:
    changed, _, sums, fingerprint = before
    output = tmp_path / "corpus"
    shutil.copytree(changed, output)
    build(output, with_masks(MaskingConfig()))
    assert digests(output) == sums
    assert ShardExamples(output, "train").fingerprint == fingerprint
    assert not (output / "stages" / "mask-counts").exists()
    verify(output)
