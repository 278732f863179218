"""Encoders of transformers are trained by our loop: resumed, saved, opened; what does not fit is told before a step."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertdata.errors import ConfigError
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS
from bertdata.torch import ShardDataset
from bertdata.torch.models import from_transformers
from bertdata.torch.models.weight_files import read_tensors
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import write_build
from tests.torch.models.test_changed_weights import rewrite
from tests.torch.training.small_runs import SETTINGS, log, losses, stop_at

SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "vocab_size": 100,
    "pad_token_id": 0,
}
KINDS: dict[str, dict[str, Any]] = {
    "big_bird": {"attention_type": "original_full"},
    "deberta": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "deberta-v2": {"relative_attention": True, "position_biased_input": False, "type_vocab_size": 0},
    "distilbert": {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32},
    "longformer": {"attention_window": [8], "type_vocab_size": 1},
    "modernbert": {"global_attn_every_n_layers": 1},
    "mpnet": {},
    "xlm-roberta": {"type_vocab_size": 1},
    "xlnet": {"d_model": 16, "n_layer": 1, "n_head": 2, "d_inner": 32},
}
RUN = replace(SETTINGS, max_steps=4, save_steps=2)


def config_of(folder: Path, kind: str, **changes: Any) -> Path:
    """Write the config.json of a small model of a type."""
    values = SMALL | KINDS.get(kind, {}) | changes
    if kind == "xlnet":
        del values["max_position_embeddings"]
    config = transformers.AutoConfig.for_model(kind, **values)
    config.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of rows of single segments."""
    place = tmp_path_factory.mktemp("single")
    return write_build(place, ExamplesConfig(objective="full-sentences", max_seq_length=48))


@pytest.mark.costly
@pytest.mark.parametrize(
    "kind",
    [
        kind if kind in ("deberta-v2", "modernbert", "xlnet") else pytest.param(kind, marks=pytest.mark.slow)
        for kind in KINDS
    ],
)
def test_an_encoder_is_trained_resumed_and_opened_by_transformers(kind: str, build: Path, tmp_path: Path) -> None:
    config = str(config_of(tmp_path / "config", kind))
    pretrain(build, config, tmp_path / "whole", RUN, library="transformers")
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, config, tmp_path / "cut", RUN, library="transformers", report=stop_at(4))
    pretrain(build, config, tmp_path / "cut", RUN, library="transformers")
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    auto = transformers.AutoModelForCausalLM if kind == "xlnet" else transformers.AutoModelForMaskedLM
    models = [auto.from_pretrained(tmp_path / name).eval() for name in ("whole", "cut")]
    ids = torch.arange(10, 26)[None]
    outputs = [model(input_ids=ids).logits for model in models]
    torch.testing.assert_close(outputs[0], outputs[1], rtol=0, atol=0)
    assert transformers.AutoTokenizer.from_pretrained(tmp_path / "cut").vocab_size == 100


@pytest.mark.costly
def test_xlnet_learns_from_permuted_orders(build: Path, tmp_path: Path) -> None:
    """The loss falls to the entropy of the tokens, which do not depend on each other; it is the one of transformers."""
    config = config_of(tmp_path / "config", "xlnet", dropout=0.0)
    settings = replace(RUN, max_steps=80, batch_size=16, learning_rate=5e-3, save_steps=80, logging_steps=10)
    pretrain(build, str(config), tmp_path / "out", settings, library="transformers")
    dataset = ShardDataset(build)
    examples = [dataset[(0, number)] for number in range(len(dataset))]
    ids = np.concatenate([example["input_ids"] for example in examples])
    counts = np.unique(ids[ids >= len(SPECIAL_TOKENS)], return_counts=True)[1]
    shares = counts / counts.sum()
    entropy = float(-(shares * np.log(shares)).sum())
    records = log(tmp_path / "out")
    assert records[0]["mlm_loss"] > entropy + 1.5
    assert records[-1]["mlm_loss"] < entropy + 0.1
    model = from_transformers.TransformersForPermutationLM.from_pretrained(tmp_path / "out").eval()
    batch = model.collator(dataset)(examples[:4])
    output = model(**batch)
    assert output.loss.item() == pytest.approx(model.model(**batch).loss.item(), rel=1e-5)
    assert len(output.targets) == int((batch["labels"] != -100).sum()) > 10


def test_rows_of_two_token_types_are_refused_for_a_model_that_knows_one(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(objective="single-segment", max_seq_length=48))
    config = config_of(tmp_path / "config", "bert", type_vocab_size=1)
    message = r"the model knows 1 token type, and rows of single-segment have 2; take a config with type_vocab_size 2"
    with pytest.raises(ConfigError, match=message):
        pretrain(build, str(config), tmp_path / "out", RUN, library="transformers")


@pytest.mark.parametrize(("kind", "objective"), [("bert", "nsp"), ("albert", "sop")])
def test_pairs_are_learnt_with_the_head_that_transformers_has_for_them(
    kind: str, objective: str, tmp_path: Path
) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(objective=objective, max_seq_length=48))
    config = config_of(tmp_path / "config", kind, embedding_size=8)
    pretrain(build, str(config), tmp_path / "out", RUN, library="transformers")
    assert {"mlm_loss", "pair_loss", "pair_accuracy"} <= {*log(tmp_path / "out")[-1]}
    again = transformers.AutoModelForPreTraining.from_pretrained(tmp_path / "out")
    assert type(again).__name__ == f"{kind.capitalize()}ForPreTraining"


def test_the_weights_of_a_folder_are_where_a_run_begins(build: Path, tmp_path: Path) -> None:
    config = config_of(tmp_path / "config", "deberta-v2", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    run = replace(RUN, save_total_limit=0, warmup_ratio=0.0, lr_scheduler_type="constant_with_warmup")
    pretrain(build, str(config), tmp_path / "first", run, library="transformers")
    pretrain(build, str(tmp_path / "first"), tmp_path / "again", replace(run, max_steps=1), library="transformers")
    began, went_on = log(tmp_path / "first")[0]["loss"], log(tmp_path / "again")[0]["loss"]
    assert went_on < began
    branch = tmp_path / "first" / "checkpoints" / "step-000000002"
    pretrain(build, "", tmp_path / "branch", replace(run, max_steps=2), library="transformers", branch=branch)
    assert losses(tmp_path / "branch") == losses(tmp_path / "first")[2:]


@pytest.mark.parametrize("layout", ["several files", "a pickle"])
def test_weights_of_other_layouts_are_where_a_run_begins_as_well(layout: str, build: Path, tmp_path: Path) -> None:
    """With dropout at 0 and a rate of almost 0, the loss of a first step tells which weights it began with."""
    still = replace(RUN, max_steps=1, save_steps=9, learning_rate=1e-12)
    config = config_of(tmp_path / "config", "deberta-v2", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    pretrained = tmp_path / "first"
    pretrain(
        build, str(config), pretrained, replace(still, learning_rate=1e-2, warmup_ratio=0.0), library="transformers"
    )
    for other in ("whole", layout):
        shutil.copytree(pretrained, tmp_path / other)
    rewrite(tmp_path / layout, read_tensors(str(pretrained / "model.safetensors")), layout)
    for other in ("whole", layout):
        pretrain(
            build, str(tmp_path / other), tmp_path / f"from {other}", replace(still, seed=7), library="transformers"
        )
    assert losses(tmp_path / f"from {layout}") == losses(tmp_path / "from whole") != losses(pretrained)


def test_weights_that_a_folder_does_not_have_are_told(
    build: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = transformers.AutoConfig.from_pretrained(config_of(tmp_path / "config", "bert"))
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path / "encoder")
    run = replace(RUN, max_steps=1)
    pretrain(build, str(tmp_path / "encoder"), tmp_path / "out", run, library="transformers", quiet=True)
    assert "has no weights for cls.predictions.bias, " in caplog.text


def test_a_model_type_by_name_gets_the_vocabulary_of_the_shards(build: Path) -> None:
    info = open_shards(build).expect_pretraining()
    config = from_transformers.resolve_config("distilbert", info)
    assert (config.vocab_size, config.pad_token_id, config.max_position_embeddings) == (100, info.pad_token_id, 512)
    assert 42e6 < config.weights < 43e6
    assert from_transformers.model_class(config, info).auto == "AutoModelForMaskedLM"


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("bert", {"vocab_size": 90}, "the config is for 90 tokens with padding 0, the shards have 100 with padding 0"),
        ("bert", {"pad_token_id": 3}, "with padding 3, the shards have 100 with padding 0"),
        (
            "bert",
            {"max_position_embeddings": 32},
            "the rows have up to 48 tokens, .* and the model takes 32; build",
        ),
        ("roberta", {"max_position_embeddings": 48}, "and the model takes 47"),
        ("gpt2", {"n_embd": 16, "n_layer": 1, "n_head": 2}, "transformers has no gpt2 model for masked tokens"),
        ("bert", {"hidden_size": 15}, "transformers cannot make a model of this bert config"),
    ],
)
def test_a_config_that_does_not_fit_is_refused_before_the_first_step(
    kind: str, changes: dict[str, Any], message: str, build: Path, tmp_path: Path
) -> None:
    config = config_of(tmp_path / "config", kind, **changes)
    with pytest.raises(ConfigError, match=message):
        pretrain(build, str(config), tmp_path / "out", RUN, library="transformers")


def test_a_misspelt_model_type_is_refused_at_once_with_the_nearest(
    build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info, asked = open_shards(build).expect_pretraining(), []

    def look_up(name: str, *, local_files_only: bool, trust_remote_code: bool) -> None:
        assert not trust_remote_code
        asked.append((name, local_files_only))
        raise OSError("there is no such model")

    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", look_up)
    with pytest.raises(ConfigError, match=r"'distillbert', which is no model type; .* did you mean 'distilbert'\?"):
        from_transformers.resolve_config("distillbert", info)
    for name in ("bert-base-uncased", "modernbert-base", "me/distillbert"):
        with pytest.raises(ConfigError, match="of which transformers makes nothing"):
            from_transformers.resolve_config(name, info)
    assert asked == [
        ("distillbert", True), ("bert-base-uncased", False), ("modernbert-base", False), ("me/distillbert", False)
    ]  # fmt: skip


def test_a_config_of_the_other_library_names_the_flag(build: Path, tmp_path: Path) -> None:
    for name, hint in (
        ("distilbert", "distilbert is a model type of transformers: add `library` transformers"),
        ("modernbert-bse", "did you mean 'modernbert-base'?"),
    ):
        with pytest.raises(ConfigError, match=re.escape(hint)):
            pretrain(build, name, tmp_path / "out", RUN)
    config = config_of(tmp_path / "config", "deberta-v2")
    with pytest.raises(ConfigError, match=r"model_type is 'deberta-v2'; expected one of .*, or `library` transformers"):
        pretrain(build, str(config), tmp_path / "out", RUN)
    assert not (tmp_path / "out").exists()


def test_a_refusal_is_short_where_the_value_that_it_quotes_is_not(build: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "x" * 5000}))
    with pytest.raises(ConfigError, match="of which transformers makes nothing") as refusal:
        pretrain(build, str(tmp_path), tmp_path / "run", RUN, library="transformers")
    assert len(str(refusal.value)) < 1000 + len(str(tmp_path))


def test_what_is_no_config_a_missing_head_and_packing_are_refused(
    build: Path, dynamic_build: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"`config` is 'nowhere/at all', of which transformers makes nothing"):
        pretrain(build, "nowhere/at all", tmp_path / "a", RUN, library="transformers")
    config = str(config_of(tmp_path / "config", "deberta-v2"))
    with pytest.raises(ConfigError, match="no deberta-v2 model with a head for next_sentence_label, which these"):
        pretrain(dynamic_build, config, tmp_path / "b", RUN, library="transformers")
    with pytest.raises(ConfigError, match="`packing` and `compile` are for bertdata's own models"):
        pretrain(build, config, tmp_path / "c", replace(RUN, packing=True), library="transformers")
    with pytest.raises(ConfigError, match="there is no library 'jax'"):
        pretrain(build, config, tmp_path / "d", RUN, library="jax")
