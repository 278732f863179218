"""Checkpoints by words seen: when, with which weights, resumed, counted again; and the cap of epochs."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from bertdata import load_tokenizer
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.torch import ResumableBatchSampler, ShardDataset, pretrain
from bertdata.torch.training.words import words_number, words_of_rows
from tests.torch.build import write_build
from tests.torch.training.small_runs import SETTINGS, SMALL, losses, stop_at


def words_of_row(dataset: ShardDataset, number: int) -> int:
    """Return the words of a row, whose tokens are words but for special ones."""
    return int((np.asarray(dataset[number]["input_ids"]) > 4).sum())


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build with an account, of a source whose documents have as many words as tokens, half of them in its rows."""
    place = write_build(tmp_path_factory.mktemp("words"), documents=40)
    dataset = ShardDataset(place)
    tokens = sum(words_of_row(dataset, number) for number in range(len(dataset)))
    manifest = files.read_json(str(place / "manifest.json"))
    manifest["splits"]["train"]["counts"] = {
        "tokens_in_examples": tokens, "tokens_in_copies": 2 * tokens, "tokens_in_copies_of_web": 2 * tokens
    }  # fmt: skip
    files.write_json(str(place / "manifest.json"), manifest | {"accounts": "accounts"})
    entry = {"values": {"a": [30, 3 * tokens, 3 * tokens]}, "none": [1, tokens, tokens], "other": [0, 0, 0]}
    account = {"columns": {"title": {"web": {"train": entry, "left_out": entry}}}, "scores": {}}
    files.write_json(str(place / "accounts" / "accounts.json"), account)
    return place


def test_a_number_of_words_has_a_unit() -> None:
    assert [words_number(text) for text in ("7", "500K", "1M", "2B")] == [7, 500_000, 1_000_000, 2_000_000_000]
    for wrong in ("1.5M", "M", "0", "-3M", "1m"):
        with pytest.raises(ConfigError, match="expected numbers of words"):
            words_number(wrong)


@pytest.mark.costly
def test_the_model_is_saved_after_the_step_that_passes_a_number_of_words(corpus: Path, tmp_path: Path) -> None:
    dataset = ShardDataset(corpus)
    words = words_of_rows(dataset.shards)
    assert words == sum(words_of_row(dataset, number) for number in range(len(dataset)))
    asked = ("600", "1K", str(words))
    settings = replace(SETTINGS, epochs=1.5, max_steps=0, save_steps=1, save_total_limit=0, checkpoint_words=asked)
    pretrain(corpus, SMALL, tmp_path / "run", settings, quiet=True)
    records = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    seen = [0, *(record["words"] for record in records)]
    assert seen == [round(step * SETTINGS.batch_size / len(dataset) * words) for step in range(len(seen))]
    for text in asked:
        due = next(step for step, (old, new) in enumerate(pairwise(seen), 1) if old < words_number(text) <= new)
        model = tmp_path / "run" / f"chck_{text}" / "model.safetensors"
        same = tmp_path / "run" / "checkpoints" / f"step-{due:09d}" / "model.safetensors"
        assert model.read_bytes() == same.read_bytes()
        assert load_tokenizer(model.parent) == load_tokenizer(corpus)
    pretrain(corpus, SMALL, tmp_path / "without", replace(settings, checkpoint_words=()), quiet=True)
    assert losses(tmp_path / "without") == losses(tmp_path / "run")


def test_a_resumed_run_saves_the_same_models(corpus: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, checkpoint_words=("400", "900", "1K"))
    pretrain(corpus, SMALL, tmp_path / "whole", settings, quiet=True)
    with pytest.raises(KeyboardInterrupt):
        pretrain(corpus, SMALL, tmp_path / "stopped", settings, report=stop_at(7))
    pretrain(corpus, SMALL, tmp_path / "stopped", settings, quiet=True)
    for name in ("chck_400", "chck_900", "chck_1K"):
        of_both = [(tmp_path / run / name / "model.safetensors").read_bytes() for run in ("whole", "stopped")]
        assert of_both[0] == of_both[1]


def test_words_of_a_part_of_an_epoch_are_near_those_of_its_rows(tmp_path: Path, corpus: Path) -> None:
    dataset = ShardDataset(corpus)
    words, rows = words_of_rows(dataset.shards), len(dataset)
    sampler = ResumableBatchSampler(dataset, 8, epochs=1, seed=0)
    counted, position, errors = 0, 0, []
    lengths = [words_of_row(dataset, number) for number in range(rows)]
    for batch in sampler:
        counted += sum(lengths[number] for _, number in batch)
        position += len(batch)
        spread = float(np.std(lengths)) * np.sqrt(position * (1 - position / rows))
        errors.append(abs(counted - words * position / rows) / max(spread, 1e-9) if position < rows else 0.0)
    assert counted == words
    assert max(errors) < 4  # standard deviations of a sum of rows drawn without replacement


def test_what_cannot_be_counted_is_refused(corpus: Path, tmp_path: Path) -> None:
    plain = write_build(tmp_path / "plain")
    asked = replace(SETTINGS, checkpoint_words=("500",))
    with pytest.raises(ConfigError, match="build again with `account` of any column"):
        pretrain(plain, SMALL, tmp_path / "a", asked, quiet=True)
    with pytest.raises(ConfigError, match="has 1M, and the run sees"):
        pretrain(corpus, SMALL, tmp_path / "b", replace(SETTINGS, checkpoint_words=("1M",)), quiet=True)
    pretrain(corpus, SMALL, tmp_path / "c", replace(SETTINGS, max_steps=2), quiet=True)
    with pytest.raises(ConfigError, match="`branch` goes on from another run"):
        pretrain(corpus, "base", tmp_path / "d", asked, branch=tmp_path / "c", quiet=True)


def test_a_run_never_passes_the_cap_of_epochs(corpus: Path, tmp_path: Path) -> None:
    rows = len(ShardDataset(corpus))
    capped = replace(SETTINGS, max_steps=0, max_epochs=2.0)
    most = int(2 * rows / SETTINGS.batch_size)
    for epochs in (0.0, 2.0, 7.5):
        plan = pretrain(corpus, SMALL, tmp_path / "a", replace(capped, epochs=epochs), dry_run=True)
        assert plan["steps"] == most
        assert plan["epochs"] <= 2
    assert pretrain(corpus, SMALL, tmp_path / "a", replace(capped, epochs=1.0), dry_run=True)["epochs"] < 1.1
    with pytest.raises(ConfigError, match=f"more often than `max_epochs` 2; take at most {most} steps"):
        pretrain(corpus, SMALL, tmp_path / "a", replace(capped, max_steps=most + 1), dry_run=True)
    assert pretrain(corpus, SMALL, tmp_path / "a", replace(capped, max_steps=most), dry_run=True)["steps"] == most
