"""Replaced token detection: with ELECTRA's models and transformers', resumed exactly, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertdata.errors import ConfigError
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.torch import ElectraConfig
from bertdata.torch.models import from_transformers
from bertdata.torch.models.config import Counts
from bertdata.torch.models.electra import ElectraForReplacedTokenDetection
from bertdata.torch.models.objectives.settings import ObjectiveSettings, model_class
from bertdata.torch.models.objectives.transformers_detection import (
    TransformersForReplacedTokenDetection,
    generator_config,
)
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import tokenizer_of, write_build
from tests.torch.models.test_from_transformers import config_of
from tests.torch.training.small_runs import IDS, SETTINGS, SMALL, log, losses, stop_at, tokenizers_below

RUN = replace(SETTINGS, max_steps=4, save_steps=2)
DETECTION = replace(RUN, training_objective="replaced-token-detection")
ELECTRA = ElectraConfig.tiny(vocab_size=100, max_position_embeddings=64)


SHAPES: dict[str, dict[str, Any]] = {
    "deberta-v2": {
        "pos_att_type": ["p2c", "c2p"],
        "position_buckets": 8,
        "max_relative_positions": -1,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
    },
    "distilbert": {"n_layers": 2},
    "electra": {"embedding_size": 8},
}
"""What the configs of two layers also have; DeBERTa-v2's as DeBERTaV3's."""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of rows of single segments."""
    place = tmp_path_factory.mktemp("single")
    return write_build(place, ExamplesConfig(objective="full-sentences", max_seq_length=48))


def resumed(build: Path, config: Any, place: Path, settings: Any, library: str = "bertdata") -> Path:
    """Train once in one go and once with an interruption, compare, and return the folder of the second."""
    pretrain(build, config, place / "whole", settings, library=library)
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, config, place / "cut", settings, library=library, report=stop_at(4))
    pretrain(build, config, place / "cut", settings, library=library)
    assert losses(place / "cut") == losses(place / "whole")
    for name in ("model.safetensors", "generator/model.safetensors"):
        assert (place / "cut" / name).read_bytes() == (place / "whole" / name).read_bytes()
    last = "checkpoints/step-000000004"
    assert tokenizers_below(place / "cut") == dict.fromkeys((".", last, f"{last}/generator", "generator"), IDS)
    return place / "cut"


@pytest.mark.costly
@pytest.mark.parametrize("how", ["gdes", pytest.param("none", marks=pytest.mark.slow)])
def test_an_electra_of_other_embeddings_is_resumed_exactly_and_opened(how: str, build: Path, tmp_path: Path) -> None:
    settings = replace(RUN, embedding_sharing=how, generator_overrides=("num_hidden_layers=1",))
    saved = resumed(build, ELECTRA, tmp_path, settings)
    _, notes = transformers.ElectraForPreTraining.from_pretrained(saved, output_loading_info=True)
    assert not notes["missing_keys"]
    assert transformers.ElectraForMaskedLM.from_pretrained(saved / "generator").config.num_hidden_layers == 1
    pretrain(build, ELECTRA, tmp_path / "shared", RUN)
    assert losses(tmp_path / "shared") != losses(saved)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("kind", "generator"),
    [
        ("deberta-v2", {"num_hidden_layers": 1, "hidden_size": 16, "pos_att_type": ["p2c", "c2p"]}),
        pytest.param("modernbert", {"num_hidden_layers": 1, "hidden_size": 16}, marks=pytest.mark.slow),
        pytest.param("distilbert", {"n_layers": 1, "dim": 16}, marks=pytest.mark.slow),
        ("electra", {"num_hidden_layers": 2, "hidden_size": 4, "num_attention_heads": 1}),
    ],
)
def test_an_encoder_of_transformers_is_resumed_exactly_and_opened(
    kind: str, generator: dict[str, int], build: Path, tmp_path: Path
) -> None:
    config = config_of(tmp_path / "config", kind, num_hidden_layers=2, **SHAPES.get(kind, {}))
    saved = resumed(build, str(config), tmp_path, DETECTION, "transformers")
    last = log(saved)[-1]
    assert last["loss"] == pytest.approx(last["mlm_loss"] + 50 * last["replaced_loss"])
    assert {"replaced_accuracy", "replaced_share", "mlm_accuracy"} <= {*last}
    auto = transformers.AutoModelForPreTraining if kind == "electra" else transformers.AutoModel
    _, notes = auto.from_pretrained(saved, output_loading_info=True)
    assert not notes["missing_keys"]
    assert not notes["unexpected_keys"]
    made = transformers.AutoModelForMaskedLM.from_pretrained(saved / "generator").config
    assert {name: getattr(made, name) for name in generator} == generator
    fill = transformers.pipeline("fill-mask", str(saved / "generator"), device="cpu")
    assert {guess["token_str"] for guess in fill("w3 [MASK] w5", top_k=100)} == {*tokenizer_of().tokens}


def test_training_goes_on_from_a_saved_model_with_another_sharing(build: Path, tmp_path: Path) -> None:
    config = config_of(tmp_path / "config", "deberta-v2", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    run = replace(DETECTION, warmup_ratio=0.0, lr_scheduler_type="constant_with_warmup", max_steps=30, save_steps=30)
    pretrain(build, str(config), tmp_path / "first", run, library="transformers")
    for how in ("gdes", "shared"):
        single_step = replace(run, max_steps=1, embedding_sharing=how)
        pretrain(build, str(tmp_path / "first"), tmp_path / how, single_step, library="transformers")
    began, gdes = log(tmp_path / "first")[0], log(tmp_path / "gdes")[0]
    assert gdes["mlm_loss"] < began["mlm_loss"] - 0.1
    assert gdes["replaced_loss"] < began["replaced_loss"] - 0.1
    # "shared" begins with the tables of the generator in place of the discriminator's own
    assert log(tmp_path / "shared")[0]["mlm_loss"] == pytest.approx(gdes["mlm_loss"], rel=1e-6)


def test_the_tokens_filled_in_are_drawn_by_the_row_and_not_by_the_stream(build: Path, tmp_path: Path) -> None:
    """Without dropout, gradient accumulation changes only the rounding, also of what the discriminator sees."""
    config = config_of(tmp_path / "config", "deberta-v2", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    for parts in (1, 4):
        run = replace(DETECTION, gradient_accumulation_steps=parts)
        pretrain(build, str(config), tmp_path / str(parts), run, library="transformers")
    shares = [[record["replaced_share"] for record in log(tmp_path / name)] for name in ("1", "4")]
    assert shares[0] == shares[1]
    assert losses(tmp_path / "1") == pytest.approx(losses(tmp_path / "4"), rel=1e-5)


@pytest.mark.slow
def test_two_processes_train_a_model_of_which_some_weights_have_no_part(build: Path, tmp_path: Path) -> None:
    """In this config of DeBERTa the embedding of relative positions has none; nothing has dropout."""
    config = config_of(tmp_path / "config", "deberta-v2", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    pretrain(build, str(config), tmp_path / "one", DETECTION, library="transformers")
    code = f"""
import torch
torch.set_num_threads(1)
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
pretrain({str(build)!r}, {str(config)!r}, {str(tmp_path / "two")!r}, PretrainSettings(**{asdict(DETECTION)}),
         library="transformers")
"""
    (tmp_path / "train.py").write_text(code)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([*command, str(tmp_path / "train.py")], env=environment, check=True)
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=2e-5)


def test_the_operations_are_those_of_both_models(build: Path, tmp_path: Path) -> None:
    counts = Counts(tokens=1000, squares=40_000, labelled=150)
    own = ElectraForReplacedTokenDetection(ELECTRA)
    assert own.training_flops(counts) == ELECTRA.training_flops(counts)
    deeper = replace(ELECTRA.generator(), num_hidden_layers=9)
    assert ElectraForReplacedTokenDetection(ELECTRA, deeper).training_flops(counts) > own.training_flops(counts)
    info = open_shards(build).expect_pretraining()
    config = from_transformers.resolve_config(str(config_of(tmp_path, "deberta-v2", num_hidden_layers=2)), info)
    both = TransformersForReplacedTokenDetection(config).training_flops(counts)
    assert both == 6000 * (config.weights + generator_config(config, {}).weights)


def test_a_config_implies_its_objective(build: Path) -> None:
    info = open_shards(build).expect_pretraining()
    plain = from_transformers.TransformersModel
    assert model_class(plain, [info], ObjectiveSettings()) is plain
    own = ElectraForReplacedTokenDetection
    assert model_class(own, [info], ObjectiveSettings()) is own
    assert model_class(own, [info], ObjectiveSettings("replaced-token-detection")) is own


@pytest.mark.parametrize(
    ("config", "settings", "message"),
    [
        (SMALL, DETECTION, "BertForMaskedLM has no discriminator; take `config` electra-small, or `library` transf"),
        (
            SMALL,
            replace(RUN, embedding_sharing="gdes"),
            "`embedding_sharing` is for a generator and a discriminator, and a",
        ),
        (
            ELECTRA,
            replace(RUN, generator_overrides=("hidden_size=30", "num_attention_heads=4")),
            "the generator: hidden_size 30 is not a multiple of num_attention_heads 4; `generator_overrides` changes",
        ),
        (
            ELECTRA,
            replace(RUN, generator_overrides=("embedding_size=8",)),
            "so their embeddings cannot be shared; give both the same width",
        ),
        (ELECTRA, replace(RUN, generator_overrides=("depth=8",)), "the generator: a electra config has no 'depth'"),
    ],
)
def test_what_does_not_fit_is_refused_before_a_step(
    config: Any, settings: Any, message: str, build: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=message):
        pretrain(build, config, tmp_path / "out", settings)
    assert not (tmp_path / "out" / "log.jsonl").exists()


def test_what_does_not_fit_a_model_of_transformers_is_refused_before_a_step(
    build: Path, dynamic_build: Path, tmp_path: Path
) -> None:
    def refused(message: str, kind: str = "bert", shards: Path = build, **changes: Any) -> None:
        config = str(config_of(tmp_path / kind, kind, num_hidden_layers=2))
        with pytest.raises(ConfigError, match=message):
            pretrain(shards, config, tmp_path / "out", replace(DETECTION, **changes), library="transformers")

    refused("replaced token detection has no head for pairs, and these shards, for nsp, have a", shards=dynamic_build)
    refused("TransformersForPermutationLM has no discriminator", "xlnet")
    refused("the generator: `generator_overrides` names depth, which bert configs", generator_overrides=("depth=1",))
    refused("the generator: transformers cannot make a model", generator_overrides=("hidden_size=15",))
    refused("so their embeddings cannot be shared", generator_overrides=("hidden_size=8",))
    refused("`packing` and `compile` are for bertdata's own models", packing=True)
    with pytest.raises(ConfigError, match="`generator_overrides` 'depth' has no value"):
        replace(DETECTION, generator_overrides=("depth",))
    config = config_of(tmp_path / "plain", "deberta-v2")
    pretrain(build, str(config), tmp_path / "mlm", replace(RUN, max_steps=1), library="transformers")
    with pytest.raises(ConfigError, match="has no generator in generator/"):
        pretrain(build, str(tmp_path / "mlm"), tmp_path / "no", DETECTION, library="transformers")


def test_a_narrower_generator_needs_embeddings_of_its_own(build: Path, tmp_path: Path) -> None:
    config = str(config_of(tmp_path / "config", "bert"))
    settings = replace(DETECTION, embedding_sharing="none", generator_overrides=("hidden_size=8",))
    pretrain(build, config, tmp_path / "out", settings, library="transformers")
    saved = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "out" / "generator")
    assert saved.config.hidden_size == 8
    assert torch.isfinite(saved(torch.arange(10, 26)[None]).logits).all()
