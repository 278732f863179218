"""The folders that a run leaves: the tokenizer beside every model, its limit, and nothing of what was there before."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers import AutoTokenizer

from bertdata import load_tokenizer
from bertdata.errors import ConfigError, MissingExtraError
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import AlbertConfig, BertConfig, BertForMaskedLM, ModernBertConfig, ModernBertForMaskedLM
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.from_transformers import TransformersModel
from bertdata.torch.models.transformers_config import OFFSET, OFFSET_BY_PADDING, TransformersConfig
from bertdata.torch.models.weights import PreTrainedModel, save_with_tokenizer
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import tokenizer_of, write_build
from tests.torch.training.small_runs import IDS, SETTINGS, tokenizers_below

RUN = replace(SETTINGS, max_steps=2, save_steps=2)
SIZES: dict[str, Any] = {"vocab_size": 100, "num_hidden_layers": 1, "max_position_embeddings": 40}
LAST = "checkpoints/step-000000002"


@pytest.mark.parametrize(
    ("config", "objective"),
    [
        (BertConfig.tiny(**SIZES), "nsp"),
        pytest.param(BertConfig.tiny(**SIZES), "full-sentences", marks=pytest.mark.slow),
        pytest.param(AlbertConfig.tiny(**SIZES), "sop", marks=pytest.mark.slow),
        pytest.param(ModernBertConfig.tiny(**SIZES, local_attention=8), "full-sentences", marks=pytest.mark.slow),
    ],
)
def test_every_folder_of_a_run_fills_masks(tmp_path: Path, config: EncoderConfig, objective: str) -> None:
    """ELECTRA's is in test_replaced_tokens.py, seeds in test_seeds.py, students in tests/torch/distillation."""
    build = write_build(tmp_path / "build", ExamplesConfig(objective=objective, max_seq_length=32))
    pretrain(build, config, tmp_path / "out", RUN)
    assert tokenizers_below(tmp_path / "out") == dict.fromkeys((".", LAST), IDS)
    assert AutoTokenizer.from_pretrained(tmp_path / "out").model_max_length == 40


def test_positions_that_begin_after_the_padding_are_left_out_of_the_limit(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(objective="full-sentences", max_seq_length=32))
    sizes = {"num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
    changes = sizes | {"max_position_embeddings": 50}
    pretrain(build, "roberta", tmp_path / "out", RUN, library="transformers", config_overrides=changes)
    assert tokenizers_below(tmp_path / "out") == dict.fromkeys((".", LAST), IDS)
    assert AutoTokenizer.from_pretrained(tmp_path / "out").model_max_length == 49


def test_nothing_of_a_former_model_or_tokenizer_stays(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(max_seq_length=32))
    pretrain(build, BertConfig.tiny(**SIZES), tmp_path / "out", RUN)
    former = {"1_Pooling/config.json", "generator/config.json", "modules.json", "pretraining.safetensors"}
    former |= {"added_tokens.json", "merges.txt", "special_tokens_map.json", "spiece.model", "spm.model", "vocab.json"}
    for name in former | {"notes.md"}:
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).write_text("{}")
    pretrain(build, BertConfig.tiny(**SIZES), tmp_path / "out", RUN, restart=True)
    assert not [name for name in former if (tmp_path / "out" / name).exists()]
    assert (tmp_path / "out" / "notes.md").exists()
    assert load_tokenizer(tmp_path / "out") == tokenizer_of()


MASK_ALONE, TYPES_TOO = ["input_ids", "attention_mask"], ["input_ids", "token_type_ids", "attention_mask"]


@pytest.mark.parametrize(
    ("config", "class_name", "expected"),
    [
        (BertConfig.tiny(**SIZES), "BertTokenizer", TYPES_TOO),
        (BertConfig.tiny(**SIZES), "DistilBertTokenizer", TYPES_TOO),
        (BertConfig.tiny(**SIZES, type_vocab_size=1), "BertTokenizer", MASK_ALONE),
        (ModernBertConfig.tiny(**SIZES, local_attention=8), "BertTokenizer", MASK_ALONE),
        ("distilbert", "BertTokenizer", MASK_ALONE),
    ],
)
def test_tokenizers_beside_models_give_the_inputs_that_these_take(
    tmp_path: Path, config: EncoderConfig | str, class_name: str, expected: list[str]
) -> None:
    """A model of one type has no row for the type of a second text, and transformers 4 raises for inputs not taken."""
    tokenizer_of().save_pretrained(tmp_path / "given")
    settings = tmp_path / "given" / "tokenizer_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"tokenizer_class": class_name}))
    if isinstance(config, str):
        sizes = {"vocab_size": 100, "dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32, "pad_token_id": 0}
        peer = transformers.AutoConfig.for_model(config, **sizes, max_position_embeddings=40)
        model: PreTrainedModel = TransformersModel(TransformersConfig.of(peer))
    elif isinstance(config, ModernBertConfig):
        model = ModernBertForMaskedLM(config)
    else:
        assert isinstance(config, BertConfig)
        model = BertForMaskedLM(config)
    save_with_tokenizer(model, tmp_path / "out", load_tokenizer(tmp_path / "given"))
    names = json.loads((tmp_path / "out" / "tokenizer_config.json").read_text()).get("model_input_names", TYPES_TOO)
    assert names == expected == load_tokenizer(tmp_path / "out").model_input_names
    theirs = AutoTokenizer.from_pretrained(tmp_path / "out")("sea", "shore", return_tensors="pt")
    assert list(theirs) == expected
    transformers.AutoModel.from_pretrained(tmp_path / "out")(**theirs)


@pytest.mark.slow
def test_the_models_whose_positions_begin_later_are_those_of_transformers() -> None:
    """Their position embeddings have a padding_idx, after which `create_position_ids_from_input_ids` begins."""
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    small |= {"vocab_size": 50, "max_position_embeddings": 40, "pad_token_id": 3}
    later: dict[str, int] = {}
    looked_at = 0
    for kind, config in transformers.CONFIG_MAPPING.items():
        if config not in transformers.MODEL_FOR_MASKED_LM_MAPPING:
            continue
        try:
            with torch.device("meta"):
                model = transformers.AutoModelForMaskedLM.from_config(transformers.AutoConfig.for_model(kind, **small))
        except Exception:
            continue
        looked_at += 1
        offsets = {
            module.padding_idx + 1
            for name, module in model.named_modules()
            if name.endswith(".embeddings.position_embeddings") and module.padding_idx is not None
        }
        for offset in offsets:
            later[kind] = offset
    assert looked_at > 30
    expected = dict.fromkeys(OFFSET_BY_PADDING, 4) | OFFSET
    assert later == {kind: expected[kind] for kind in later}
    assert {*expected} - {*later} <= {"ibert"}, "ibert is in older versions only, or needs other sizes"


@pytest.mark.parametrize(("kind", "length"), [("bert", 40), ("roberta", 36), ("mpnet", 38), ("xlnet", 1 << 24)])
def test_the_longest_row_of_a_config_of_transformers(kind: str, length: int, tmp_path: Path) -> None:
    values = {} if kind == "xlnet" else {"max_position_embeddings": 40}
    transformers.AutoConfig.for_model(kind, **values, pad_token_id=3).save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["pad_token_id"] == 3
    assert TransformersConfig.load(tmp_path).max_position_embeddings == length


def test_what_saves_a_model_is_missed_before_the_first_step(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(max_seq_length=32))
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    with pytest.raises(MissingExtraError, match="safetensors is not installed"):
        pretrain(build, "tiny", tmp_path / "out", RUN)
    with pytest.raises(MissingExtraError, match="safetensors is not installed"):
        finetune(build, "m", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("library", "name"), [("bertdata", "tiny"), ("transformers", "bert")])
def test_a_folder_called_as_a_config_is_not_taken_for_one_nor_passed_over(
    library: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(objective="full-sentences", max_seq_length=32))
    monkeypatch.chdir(tmp_path)
    small = BertConfig.tiny(**SIZES, hidden_size=16, intermediate_size=32, type_vocab_size=1)
    pretrain(build, small, name, RUN)
    with pytest.raises(ConfigError, match=f"here of a folder with a model; write ./{name} to begin with"):
        pretrain(build, name, "out", RUN, library=library)
    plan = pretrain(build, f"./{name}", "out", RUN, library=library, dry_run=True)
    assert plan["parameters"] == pretrain(build, small, "again", RUN, dry_run=True)["parameters"]
    assert pretrain(build, "tiny", "tiny", RUN, restart=True, dry_run=True)["parameters"] > plan["parameters"]
