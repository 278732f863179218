"""Pretraining with drawn mask rates: the weighted loss, the bound in the log, and runs that were cut off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from bertdata.errors import ConfigError
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import ElectraConfig, ModernBertConfig, PretrainingCollator, ShardDataset
from bertdata.torch.models.modernbert import ModernBertForMaskedLM
from bertdata.torch.models.places import places_taken, with_places
from bertdata.torch.training.pretrain import pretrain
from tests.shards.build import TOKENIZER, write_build
from tests.torch.training.small_runs import SETTINGS, SMALL, log, losses, stop_at

UNIFORM = MaskingConfig(0.15, 1.0, 0.0, mask_rate_draw="uniform")
VOCABULARY = {"vocab_size": len(TOKENIZER.tokens)}
BERT = replace(SMALL, vocab_size=len(TOKENIZER.tokens))
RUN = replace(SETTINGS, max_steps=6, save_steps=3, eval_steps=6, validation_rows=40)


def write(folder: Path, **masking: Any) -> Path:
    examples = ExamplesConfig("doc-chunks", max_seq_length=48)
    return write_build(folder, examples, documents=150, validation_fraction=0.3, masking=replace(UNIFORM, **masking))


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("uniform"))


@pytest.fixture(scope="module")
def whole(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("whole")
    pretrain(build, BERT, output, RUN)
    return output


@torch.no_grad()
@pytest.mark.parametrize("packing", [False, True])
def test_the_loss_is_that_of_each_masked_token_by_its_weight_over_the_tokens_that_could_be_masked(
    build: Path, packing: bool
) -> None:
    torch.manual_seed(0)
    model, dataset = ModernBertForMaskedLM(ModernBertConfig.tiny(**VOCABULARY)).eval(), ShardDataset(build)
    batch = PretrainingCollator(dataset, packing=packing)(dataset.__getitems__([(2, number) for number in range(9)]))
    output = model(**with_places(batch, dataset.info.pad_token_id, places_taken(model)))
    apart = [PretrainingCollator(dataset)(dataset.__getitems__([(2, number)])) for number in range(9)]
    weighted, plain, maskable = 0.0, [], 0
    for row in apart:
        names = ("labels", "loss_weights", "maskable", "mask_rates")
        logits = model(**{name: row[name] for name in row if name not in names}).prediction_logits[0]
        losses = functional.cross_entropy(logits, row["labels"][0], reduction="none")
        weighted += float((losses * row["loss_weights"][0]).sum())
        plain += losses[row["labels"][0] >= 0].tolist()
        maskable += int(row["maskable"][0])
    assert float(output.loss) == pytest.approx(weighted / maskable, rel=1e-4)
    assert float(output.mlm_loss) == pytest.approx(sum(plain) / len(plain), rel=1e-4)
    assert [term.name for term in output.terms] == ["weighted"]


def test_the_log_has_the_bound_beside_the_plain_loss_in_training_and_validation(whole: Path) -> None:
    records = log(whole)
    for record in records:
        assert record["loss"] == record["weighted_loss"] == record["nelbo"] > 0
        assert {"mlm_loss", "mlm_accuracy"} <= {*record}
    last = records[-1]
    assert last["validation_nelbo"] == last["validation_weighted_loss"] == last["validation_loss"]
    assert 1 < last["validation_nelbo"] < 6


@pytest.mark.parametrize("changes", [{"gradient_accumulation_steps": 4}, {"packing": True}])
def test_a_batch_in_parts_or_packed_learns_what_the_whole_one_learns(
    build: Path, whole: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    pretrain(build, BERT, tmp_path, replace(RUN, **changes))
    for ours, expected in zip(log(tmp_path), log(whole), strict=True):
        for name in ("loss", "mlm_loss", "mlm_accuracy", "nelbo"):
            assert ours[name] == pytest.approx(expected[name], abs=1e-4), name


def test_a_loss_in_chunks_learns_what_the_whole_one_learns(
    build: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bertdata.torch.training.arithmetic._MOST_LOGITS", 3 * BERT.vocab_size)
    pretrain(build, BERT, tmp_path, RUN)
    for ours, expected in zip(log(tmp_path), log(whole), strict=True):
        for name in ("loss", "mlm_loss", "mlm_accuracy", "nelbo"):
            assert ours[name] == pytest.approx(expected[name], abs=1e-4), name
    assert losses(tmp_path) != losses(whole)


def test_a_run_that_was_cut_off_goes_on_with_the_same_rates(build: Path, whole: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, BERT, tmp_path, RUN, report=stop_at(5))
    pretrain(build, BERT, tmp_path, RUN)
    assert losses(tmp_path) == losses(whole)


def test_rates_of_a_part_have_no_bound_and_validation_may_have_a_constant_rate(tmp_path: Path) -> None:
    between = write(tmp_path / "build", mask_rate_draw="0.2-0.6", eval_masked_lm_prob=0.15)
    pretrain(between, BERT, tmp_path / "run", RUN)
    last = log(tmp_path / "run")[-1]
    assert "weighted_loss" in last
    assert not {"nelbo", "validation_nelbo", "validation_weighted_loss"} & {*last}
    assert last["validation_loss"] == last["validation_mlm_loss"]


def test_rows_with_all_tokens_masked_have_a_finite_loss_in_bfloat16(tmp_path: Path) -> None:
    every = write(tmp_path / "build", mask_rate_draw="0.999-1")
    pretrain(every, BERT, tmp_path / "run", replace(RUN, bf16=True))
    for record in log(tmp_path / "run"):
        assert record["loss"] == pytest.approx(record["mlm_loss"], rel=1e-3)
        assert 0 < record["loss"] < 10


def test_models_of_transformers_take_the_weights(build: Path, tmp_path: Path) -> None:
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    pretrain(build, "bert", tmp_path, RUN, library="transformers", config_overrides=sizes)
    assert log(tmp_path)[-1]["validation_nelbo"] > 0


def test_a_loss_without_a_place_for_weights_is_refused(build: Path, tmp_path: Path) -> None:
    electra = ElectraConfig.tiny(**VOCABULARY)
    with pytest.raises(ConfigError, match="`mask_rate_draw` uniform comes with weights of the loss of masked tokens"):
        pretrain(build, electra, tmp_path, RUN)
