"""Pretraining in phases with causal rows: the log, runs that were cut off, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoModelForMaskedLM

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import ElectraConfig
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
from tests.shards.build import TOKENIZER, write_build
from tests.torch.training.small_runs import SETTINGS, SMALL, log, losses, stop_at

BERT = replace(SMALL, vocab_size=len(TOKENIZER.tokens))
RUN = replace(SETTINGS, max_steps=8, save_steps=3, eval_steps=8, validation_rows=20, phase_shares=("0.5", "0.5"))
SIZES = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}


def write(folder: Path, **masking: Any) -> Path:
    examples = ExamplesConfig("doc-chunks", max_seq_length=48)
    return write_build(folder, examples, documents=60, validation_fraction=0.3, masking=MaskingConfig(**masking))


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build with a causal phase, then a masked one."""
    place = tmp_path_factory.mktemp("phases")
    write(place / "causal", training="causal")
    write(place / "masked")
    files.write_json(str(place / "manifest.json"), {"phases": ["causal", "masked"]})
    return place


@pytest.fixture(scope="module")
def whole(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("whole")
    pretrain(build, BERT, output, RUN)
    return output


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("mixed"), training="0.4")


ONE = replace(RUN, max_steps=5, eval_steps=5, phase_shares=())


def test_a_phase_is_causal_and_the_next_masked(whole: Path) -> None:
    records = log(whole)
    for record in records[:4]:
        assert record["loss"] == record["clm_loss"]
        assert "mlm_loss" not in record
    for record in records[4:]:
        assert record["loss"] == record["mlm_loss"]
        assert "clm_loss" not in record
    assert records[0]["loss"] > records[3]["loss"]
    assert records[-1]["validation_loss"] == records[-1]["validation_mlm_loss"]
    assert records[-1]["validation_causal/loss"] == records[-1]["validation_causal/clm_loss"]


@pytest.mark.costly
@pytest.mark.parametrize("step", [3, 5, 7])
def test_a_run_that_was_cut_off_in_a_causal_phase_or_after_it_has_the_same_losses(
    build: Path, whole: Path, tmp_path: Path, step: int
) -> None:
    every = replace(RUN, save_steps=2)
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, BERT, tmp_path, every, report=stop_at(step))
    pretrain(build, BERT, tmp_path, every)
    assert losses(tmp_path) == losses(whole)


def test_a_flag_says_what_phases_are_trained_for_in_place_of_the_build(
    build: Path, whole: Path, tmp_path: Path
) -> None:
    flags = replace(RUN, phase_training=("masked", "causal"))
    pretrain(build, BERT, tmp_path, flags)
    assert ["clm_loss" in record for record in log(tmp_path)] == [False] * 4 + [True] * 4
    with pytest.raises(ConfigError, match="training was"):
        pretrain(build, BERT, tmp_path, replace(RUN, max_steps=10))
    with pytest.raises(ConfigError, match="is for 1 phase, and these shards have 2"):
        pretrain(build, BERT, tmp_path, replace(RUN, phase_training=("causal",)))
    with pytest.raises(ConfigError, match="`phase_training` is 'clm'"):
        PretrainSettings(phase_training=("clm",))


@pytest.fixture(scope="module")
def mix(mixed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("mix")
    pretrain(mixed, BERT, output, ONE)
    return output


def test_a_mix_has_both_losses_weighted_by_the_share(mix: Path) -> None:
    for record in log(mix):
        assert record["loss"] == pytest.approx(0.6 * record["mlm_loss"] + 0.4 * record["clm_loss"])
    last = log(mix)[-1]
    both = 0.6 * last["validation_mlm_loss"] + 0.4 * last["validation_clm_loss"]
    assert last["validation_loss"] == pytest.approx(both)


@pytest.mark.parametrize("changes", [{"gradient_accumulation_steps": 4}, {"packing": True}])
def test_a_mix_in_parts_or_packed_learns_what_the_whole_batch_learns(
    mixed: Path, mix: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    pretrain(mixed, BERT, tmp_path, replace(ONE, **changes))
    for ours, expected in zip(log(tmp_path), log(mix), strict=True):
        for name in ("loss", "mlm_loss", "clm_loss", "mlm_accuracy", "clm_accuracy"):
            assert ours[name] == pytest.approx(expected[name], abs=1e-4), name


def test_a_mix_that_was_cut_off_has_the_same_causal_rows(mixed: Path, mix: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        pretrain(mixed, BERT, tmp_path, ONE, report=stop_at(5))
    pretrain(mixed, BERT, tmp_path, ONE)
    assert losses(tmp_path) == losses(mix)


def test_models_of_transformers_are_trained_on_causal_rows_and_open_there(mixed: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"library": "transformers", "config_overrides": SIZES}
    pretrain(mixed, "bert", tmp_path, replace(ONE, bf16=True), **given)
    assert {"clm_loss", "mlm_loss"} <= {*log(tmp_path)[-1]}
    assert type(AutoModelForMaskedLM.from_pretrained(tmp_path)).__name__ == "BertForMaskedLM"


def test_a_model_that_was_trained_on_causal_rows_opens_in_transformers(whole: Path) -> None:
    _, about = AutoModelForMaskedLM.from_pretrained(whole, output_loading_info=True)
    assert not about["missing_keys"]


@pytest.mark.parametrize(
    ("config", "settings", "others", "message"),
    [
        (ElectraConfig.tiny(vocab_size=BERT.vocab_size), {}, {}, "replaced-token-detection learns which tokens were"),
        (BERT, {"training_objective": "span-boundary"}, {}, "span-boundary learns masked spans from both"),
        ("fnet", {}, {"library": "transformers"}, "FNetForMaskedLM of transformers takes no attention_mask"),
        ("xlnet", {}, {"library": "transformers"}, "TransformersForPermutationLM learns tokens in orders"),
    ],
)
def test_models_without_a_place_for_causal_rows_are_refused_by_name(
    tmp_path: Path, config: Any, settings: dict[str, Any], others: dict[str, Any], message: str
) -> None:
    spans = write(tmp_path / "build", training="0.4", mask_unit="span")
    small = {"hidden_size": 32, "num_hidden_layers": 1, "intermediate_size": 64}
    if config == "xlnet":
        small = {"d_model": 32, "n_layer": 1, "n_head": 2, "d_inner": 64}
    more = others | ({"config_overrides": small} if others else {})
    with pytest.raises(ConfigError, match=message):
        pretrain(spans, config, tmp_path / "run", replace(ONE, **settings), **more)


def test_a_student_of_a_teacher_is_refused(mixed: Path, mix: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a student of `teacher` learns what a teacher says"):
        pretrain(mixed, BERT, tmp_path, ONE, teacher=mix)


def test_static_masks_are_refused_for_a_causal_phase(tmp_path: Path) -> None:
    examples = ExamplesConfig("doc-chunks", max_seq_length=48, masking="static")
    static = write_build(tmp_path / "build", examples, documents=20)
    with pytest.raises(ConfigError, match="causal was given with `masking` static"):
        pretrain(static, BERT, tmp_path / "run", replace(ONE, phase_training=("causal",)))
