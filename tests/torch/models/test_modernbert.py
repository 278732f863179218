from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

from bertdata.cli import pretrain as command
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.loader.block_mask import attention_masks
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import PretrainingCollator, ShardDataset
from bertdata.torch.models import FAMILIES
from bertdata.torch.models.configs import load_config, presets, resolve_config
from bertdata.torch.models.dropout import attached
from bertdata.torch.models.heads import BertForSequenceClassification
from bertdata.torch.models.model_loading import model_class
from bertdata.torch.models.modernbert import ModernBertConfig, ModernBertForMaskedLM, ModernBertModel
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import write_build
from tests.torch.training.small_runs import SETTINGS, losses

SMALL = ModernBertConfig(
    vocab_size=100,
    hidden_size=32,
    num_hidden_layers=4,
    num_attention_heads=4,
    intermediate_size=48,
    max_position_embeddings=192,
    local_attention=6,
    pad_token_id=0,
    cls_token_id=2,
    sep_token_id=3,
)
SHORT, LONG = (40, 17, 3), (170, 47, 3)
"""Lengths of rows; in the long ones local attention is computed in blocks."""
ROWS = ExamplesConfig("full-sentences", max_seq_length=32)


def strong(model: nn.Module) -> None:
    """Draw weights so large that a wrong wire cannot hide below 1e-5."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3, generator=generator)


def rows(lengths: Sequence[int] = SHORT) -> tuple[Tensor, Tensor]:
    """Return padded ids and their attention mask."""
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    return torch.randint(5, 100, mask.shape, generator=torch.Generator().manual_seed(1)) * mask, mask


def packed(lengths: Sequence[int] = SHORT) -> dict[str, Tensor]:
    """Return the same ids in one packed row."""
    ids, mask = rows(lengths)
    ends = torch.tensor([0, *torch.tensor(lengths).cumsum(0).tolist()], dtype=torch.int32)
    positions = torch.cat([torch.arange(length) for length in lengths])[None]
    return {"input_ids": ids[mask.bool()][None], "position_ids": positions, "cu_seqlens": ends}


def test_the_models_have_as_many_parameters_as_the_published_ones() -> None:
    """149 and 395 million (the paper's table 4), and of each part what the paper's sizes give."""
    with torch.device("meta"):
        for config, millions, total in (
            (ModernBertConfig.base(), 149, 149_655_232),
            (ModernBertConfig.large(), 395, 395_881_664),
        ):
            encoder, model = ModernBertModel(config), ModernBertForMaskedLM(config)
            count = sum(parameter.numel() for parameter in encoder.parameters())
            assert round(count / 1e6) == millions
            assert sum(parameter.numel() for parameter in model.parameters()) == total
            assert f"{count:,}" in str((ModernBertConfig.base if millions == 149 else ModernBertConfig.large).__doc__)
        for config, millions in ((ModernBertConfig.mini(), 17), (ModernBertConfig.small(), 32)):
            assert round(sum(parameter.numel() for parameter in ModernBertModel(config).parameters()) / 1e6) == millions


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("lengths", [SHORT, LONG])
def test_packed_and_padded_logits_are_those_of_transformers(
    tmp_path: Path, attention: str, lengths: Sequence[int]
) -> None:
    ours = ModernBertForMaskedLM(SMALL).eval()
    strong(ours)
    ours.save_pretrained(tmp_path)
    theirs = transformers.ModernBertForMaskedLM.from_pretrained(tmp_path, attn_implementation=attention).eval()
    (ids, mask), row = rows(lengths), packed(lengths)
    blocks = attention_masks(row["cu_seqlens"].numpy(), SMALL.window)
    masks = {kind: torch.from_numpy(value) for kind, value in blocks.items()}
    with torch.no_grad():
        expected = theirs(ids, attention_mask=mask).logits[mask.bool()]
        in_blocks = theirs(row["input_ids"], position_ids=row["position_ids"], attention_mask=masks).logits[0]
        padded = ours(ids, attention_mask=mask).prediction_logits[mask.bool()]
        predicted = ours(**row).prediction_logits[0]
    assert expected.abs().max() > 1
    for logits in (padded, predicted, in_blocks):
        assert torch.allclose(logits, expected, atol=1e-5)


@pytest.mark.parametrize("lengths", [SHORT, LONG])
def test_what_is_dropped_of_a_row_is_the_same_padded_packed_and_alone(lengths: Sequence[int]) -> None:
    config = replace(SMALL, embedding_dropout=0.2, attention_dropout=0.2, mlp_dropout=0.2, initializer_range=0.2)
    model = ModernBertForMaskedLM(config).train()
    draws, (ids, mask) = attached(model), rows(lengths)

    def logits(**batch: Tensor) -> Tensor:
        draws.begin(batch, 0, 1)
        logits_there: Tensor = model(**batch).prediction_logits
        return logits_there

    expected = logits(input_ids=ids, attention_mask=mask)[mask.bool()]
    alone = [logits(input_ids=row[None, :length])[0] for row, length in zip(ids, lengths, strict=True)]
    for logits_there in (logits(**packed(lengths))[0], torch.cat(alone)):
        assert torch.allclose(logits_there, expected, atol=2e-5)
    assert not torch.allclose(model.eval()(ids, attention_mask=mask).prediction_logits[mask.bool()], expected, atol=0.1)


def test_texts_are_pooled_alike_padded_and_packed() -> None:
    for pooling in ("cls", "mean"):
        model = BertForSequenceClassification(replace(SMALL, classifier_pooling=pooling), ["no", "yes"]).eval()
        strong(model)
        ids, mask = rows()
        with torch.no_grad():
            expected = model(ids, attention_mask=mask).logits
            assert torch.allclose(model(**packed()).logits, expected, atol=1e-5)
            alone = torch.cat([model(row[None, :length]).logits for row, length in zip(ids, SHORT, strict=True)])
            assert torch.allclose(alone, expected, atol=1e-5)


def test_pretrained_weights_of_the_head_are_kept_by_a_classifier(tmp_path: Path) -> None:
    start = ModernBertForMaskedLM(SMALL)
    start.save_pretrained(tmp_path)
    model = BertForSequenceClassification.from_pretrained(tmp_path, ["no", "yes"])
    assert torch.equal(model.state_dict()["head.dense.weight"], start.state_dict()["head.dense.weight"])
    theirs = transformers.ModernBertForMaskedLM.from_pretrained(tmp_path)
    theirs.model.save_pretrained(tmp_path / "encoder")
    model = BertForSequenceClassification.from_pretrained(tmp_path / "encoder", ["no", "yes"])
    name = "model.layers.3.mlp.Wi.weight"
    assert torch.equal(model.state_dict()[name], start.state_dict()[name])


def test_weights_are_drawn_as_megatron_does() -> None:
    config = replace(SMALL, hidden_size=256, intermediate_size=384, num_hidden_layers=2, initializer_range=0.05)
    model = BertForSequenceClassification(config, ["no", "yes", "perhaps"])
    state, narrow = model.state_dict(), 0.05 / (2 * 2) ** 0.5
    expected = {
        "model.embeddings.tok_embeddings.weight": 0.05,
        "model.layers.1.attn.Wqkv.weight": 0.05,
        "model.layers.1.mlp.Wi.weight": 0.05,
        "model.layers.0.attn.Wo.weight": narrow,
        "model.layers.1.mlp.Wo.weight": narrow,
        "head.dense.weight": narrow,
        "classifier.weight": 1 / 16,
    }
    for name, deviation in expected.items():
        values = state.pop(name)
        assert 1.8 * deviation < values.abs().max() <= 2 * deviation, name
        assert values[1:].std().item() == pytest.approx(0.88 * deviation, rel=0.06), name
    name = "model.embeddings.tok_embeddings.weight"
    for drawn_model in (model, ModernBertForMaskedLM(config)):
        assert not drawn_model.state_dict()[name][0].any()
    assert all(value.eq(1).all() for name, value in state.items() if name.endswith("norm.weight"))
    assert not state["classifier.bias"].any()


OLD_KEYS = {
    "global_attn_every_n_layers": 2,
    "global_rope_theta": 12_000.0,
    "local_rope_theta": 700,
    "model_type": "modernbert",
    "num_hidden_layers": 5,
    "layer_norm_eps": 1e-5,
    "rope_parameters": None,
}
TYPES = ["full_attention", "sliding_attention"]
NEW_KEYS = {
    "layer_types": [*TYPES, *TYPES, "full_attention"],
    "rope_parameters": {
        "full_attention": {"rope_theta": 12_000.0, "rope_type": "default"},
        "sliding_attention": {"rope_theta": 700},
    },
    "num_hidden_layers": 5,
    "model_type": "modernbert",
}


@pytest.mark.parametrize(
    "values", [OLD_KEYS, NEW_KEYS, OLD_KEYS | {"global_rope_theta": 1.0, "global_attn_every_n_layers": 4} | NEW_KEYS]
)
def test_configs_of_old_and_new_versions_of_transformers_are_read(tmp_path: Path, values: dict[str, Any]) -> None:
    files.write_json(str(tmp_path / "config.json"), values)
    config = load_config(tmp_path)
    expected = {"global_attn_every_n_layers": 2, "global_rope_theta": 12_000.0, "local_rope_theta": 700}
    assert config == ModernBertConfig(num_hidden_layers=5, **expected)  # type: ignore[arg-type]
    theirs = transformers.AutoConfig.from_pretrained(tmp_path)
    assert theirs.layer_types == NEW_KEYS["layer_types"]
    assert theirs.rope_parameters["full_attention"]["rope_theta"] == 12_000


@pytest.mark.parametrize("layers", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("every", [1, 2, 3, 5])
def test_a_config_is_read_as_it_was_written(tmp_path: Path, layers: int, every: int) -> None:
    config = replace(SMALL, num_hidden_layers=layers, global_attn_every_n_layers=every, global_rope_theta=77.0)
    files.write_json(str(tmp_path / "config.json"), config.to_dict("ModernBertForMaskedLM"))
    assert ModernBertConfig.load(tmp_path) == config
    theirs = transformers.AutoConfig.from_pretrained(tmp_path)
    assert theirs.layer_types == config.layer_types
    assert theirs.rope_parameters["full_attention"]["rope_theta"] == 77.0
    ids = ("pad_token_id", "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id")
    assert [getattr(theirs, name) for name in ids] == [0, 2, 3, 2, 3]
    theirs.save_pretrained(tmp_path)
    assert ModernBertConfig.load(tmp_path).layer_types == config.layer_types


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"hidden_size": 36},
            "hidden_size 36 makes no heads of an even size.*2 x num_attention_heads, 8",
        ),
        ({"num_attention_heads": 3}, "hidden_size 32 makes no heads of an even size"),
        ({"local_attention": 0}, "local_attention is 0; expected a whole number from 1"),
        ({"local_attention": 128.0}, r"local_attention is 128\.0; expected a whole number"),
        ({"global_attn_every_n_layers": 0}, "global_attn_every_n_layers is 0"),
        ({"global_rope_theta": 0}, "global_rope_theta is 0; expected a number more than 0, as 10000"),
        ({"local_rope_theta": float("nan")}, "local_rope_theta is nan"),
        ({"initializer_cutoff_factor": 0.0}, r"initializer_cutoff_factor is 0\.0; expected a number more than 0, as 2"),
        ({"attention_dropout": 1.0}, r"attention_dropout is 1\.0; expected a number of 0 or more, and less than 1"),
        ({"mlp_dropout": -0.1}, r"mlp_dropout is -0\.1"),
        ({"norm_eps": 0}, "norm_eps is 0; expected a number more than 0"),
        ({"classifier_pooling": "max"}, "classifier_pooling is 'max'; this encoder has cls, mean"),
        ({"pad_token_id": 100}, "pad_token_id 100 is outside the vocabulary of 100"),
        ({"cls_token_id": -1}, "cls_token_id is -1; expected a whole number from 0"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        replace(SMALL, **changes)
    values = SMALL.to_dict("ModernBertForMaskedLM")
    values = {name: value for name, value in values.items() if name not in ("layer_types", "rope_parameters")}
    files.write_json(str(tmp_path / "config.json"), values | changes)
    with pytest.raises(ConfigError, match=rf"config\.json: {message}"):
        ModernBertConfig.load(tmp_path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"layer_types": ["full_attention"] * 3}, r"layer_types is \[.*; expected full_attention or sliding_attention"),
        ({"layer_types": [TYPES[1], TYPES[0], TYPES[1], TYPES[1]]}, "for each of 4 layers, the first full_attention"),
        ({"layer_types": [TYPES[0], TYPES[0], TYPES[1], TYPES[0]]}, "and from there every so many"),
        ({"layer_types": [TYPES[0], "chunked_attention"] * 2}, "layer_types is"),
        ({"layer_types": 3}, "layer_types is 3"),
        ({"rope_scaling": {"type": "linear"}}, "rope_scaling is {'type': 'linear'}; this encoder does not scale"),
        ({"rope_parameters": {"full_attention": {"rope_type": "yarn"}}}, "rope_type of full_attention is 'yarn'"),
        ({"rope_parameters": [1]}, r"rope_parameters is \[1\]; expected those of full_attention"),
        ({"rope_parameters": {"full_attention": {"rope_theta": -1}}}, "global_rope_theta is -1; expected a number"),
        ({"norm_bias": True}, "norm_bias is True; this encoder has only False"),
        ({"hidden_activation": "silu"}, "hidden_activation is 'silu'; this encoder has only 'gelu'"),
        ({"num_hidden_layers": "4"}, "layer_types is"),
    ],
)
def test_configs_of_other_kinds_of_layers_are_refused(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    files.write_json(str(tmp_path / "config.json"), SMALL.to_dict("ModernBertForMaskedLM") | values)
    with pytest.raises(ConfigError, match=f"config.json: .*{message}"):
        load_config(tmp_path)


def test_presets_fit_shards_and_shards_of_pairs_or_token_types_are_refused(tmp_path: Path) -> None:
    info = ShardDataset(write_build(tmp_path / "rows", ROWS)).shards.expect_pretraining()
    for name in FAMILIES["modernbert"].presets:
        config = resolve_config(name, info)
        assert isinstance(config, ModernBertConfig)
        assert (config.pad_token_id, config.cls_token_id, config.sep_token_id, config.vocab_size) == (0, 2, 3, 100)
        assert model_class(config, info) is ModernBertForMaskedLM
        assert name in presets()
    with pytest.raises(ConfigError, match="up to 32 tokens, padded to a multiple of 8, and the model 24 positions"):
        resolve_config(replace(SMALL, max_position_embeddings=24), info)
    for objective, has in (("nsp", "a next_sentence_label"), ("single-segment", "2 token types")):
        examples = ExamplesConfig(objective, max_seq_length=32)
        info = ShardDataset(write_build(tmp_path / objective, examples)).shards.expect_pretraining()
        message = f"neither a head for pairs nor token types, and these shards, for {objective}, have {has}; build with"
        with pytest.raises(ConfigError, match=message):
            model_class(SMALL, info)


@pytest.mark.parametrize("objective", ["full-sentences", pytest.param("doc-chunks", marks=pytest.mark.slow)])
def test_packed_shards_and_packed_batches_train_as_padded_rows(tmp_path: Path, objective: str) -> None:
    short = replace(SETTINGS, max_steps=2, batch_size=4)
    examples = ExamplesConfig(objective, max_seq_length=32)
    build = write_build(tmp_path / "rows", examples)
    for name, packing in (("padded", False), ("packed", True)):
        pretrain(build, SMALL, tmp_path / name, replace(short, packing=packing))
    assert losses(tmp_path / "packed") == pytest.approx(losses(tmp_path / "padded"), abs=1e-5)
    packed_build = write_build(tmp_path / "packed-rows", replace(examples, pack=True, pack_length=64))
    dataset = ShardDataset(packed_build)
    assert PretrainingCollator(dataset, packing=True)([dataset[0]])["cu_seqlens"].shape[0] > 2
    for name, packing in (("padded-2", False), ("packed-2", True)):
        pretrain(packed_build, SMALL, tmp_path / name, replace(short, packing=packing))
    assert losses(tmp_path / "packed-2") == pytest.approx(losses(tmp_path / "padded-2"), abs=1e-5)
    summary = pretrain(packed_build, SMALL, tmp_path / "bf16", replace(short, packing=True, bf16=True))
    assert summary["loss"] == pytest.approx(losses(tmp_path / "packed-2")[-1], rel=0.02)


def test_a_longer_phase_continues_with_another_theta(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", ROWS)
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)

    def run(*more: str) -> ModernBertConfig:
        line = f"{build} --max-steps 1 --batch-size 2 --num-workers 0 --device cpu --learning-rate 1e-9 --output "
        arguments = parser.parse_args([*line.split(), *more])
        command.run(arguments)
        config = load_config(arguments.output)
        assert isinstance(config, ModernBertConfig)
        return config

    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    begin = ("--config", "modernbert-tiny", "--config-overrides", "num_hidden_layers=2", "global_rope_theta=10000")
    config = run(first, *begin)
    assert (config.num_hidden_layers, config.global_rope_theta) == (2, 10_000.0)
    longer = run(second, "--config", first, "--config-overrides", "global_rope_theta=160000")
    assert longer == replace(config, global_rope_theta=160_000.0)
    before, after = ModernBertForMaskedLM.from_pretrained(first), ModernBertForMaskedLM.from_pretrained(second)
    pairs = list(zip(before.parameters(), after.parameters(), strict=True))
    assert all(torch.allclose(old, new, atol=1e-6) for old, new in pairs)
    theirs = transformers.AutoModel.from_pretrained(second).eval()
    ids = rows()[0][:1]
    with torch.no_grad():
        expected = theirs(ids).last_hidden_state
        assert torch.allclose(after.model.encode(ids), expected, atol=1e-5)
        assert not torch.allclose(before.model.encode(ids), expected, atol=1e-4)
    with pytest.raises(ConfigError, match="`config_overrides` 'global_rope_theta' has no value"):
        run(second, "--config-overrides", "global_rope_theta")
    with pytest.raises(ConfigError, match="a modernbert config has no 'theta'"):
        run(second, "--config", "modernbert-tiny", "--config-overrides", "theta=1")
    with pytest.raises(ConfigError, match="global_rope_theta is 'large'"):
        run(second, "--config", "modernbert-tiny", "--config-overrides", "global_rope_theta=large")


OPEN_THERE = """
import json, sys
import torch, transformers
from safetensors.torch import load_file
folder, ids, mask = json.load(sys.stdin)
theirs = transformers.ModernBertForMaskedLM.from_pretrained(folder, attn_implementation="sdpa").eval()
with torch.no_grad():
    logits = theirs(torch.tensor(ids), attention_mask=torch.tensor(mask)).logits
print(json.dumps([transformers.__version__, logits.tolist()]))
theirs.save_pretrained(folder + "/again")
"""


@pytest.mark.slow
def test_transformers_4_opens_what_we_save_and_we_what_it_saves(tmp_path: Path) -> None:
    """`BERTDATA_TRANSFORMERS_4` names the Python of an environment with "transformers<5" and torch."""
    python = os.environ.get("BERTDATA_TRANSFORMERS_4")
    if not python:
        pytest.skip("BERTDATA_TRANSFORMERS_4 names no Python")
    config = replace(SMALL, global_attn_every_n_layers=2, global_rope_theta=500.0, local_rope_theta=20.0)
    ours = ModernBertForMaskedLM(config).eval()
    strong(ours)
    ours.save_pretrained(tmp_path)
    ids, mask = rows()
    done = subprocess.run(
        [python, "-c", OPEN_THERE],
        input=json.dumps([str(tmp_path), ids.tolist(), mask.tolist()]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": ""},
    )
    version, logits = json.loads(done.stdout)
    assert version.startswith("4.")
    again = ModernBertForMaskedLM.from_pretrained(tmp_path / "again").eval()
    assert again.config == config
    for model in (ours, again):
        with torch.no_grad():
            predicted = model(ids, attention_mask=mask).prediction_logits[mask.bool()]
        assert torch.allclose(predicted, torch.tensor(logits)[mask.bool()], atol=1e-5)
