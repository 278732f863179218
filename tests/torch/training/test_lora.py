"""Adapters by peft: they alone and the new layers move, and folders reopen with the same logits, merged or not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertdata.errors import ConfigError, MissingExtraError
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.seeds import finetune_seeds
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.training.peer_models import KINDS, saved_peer
from tests.torch.training.test_finetune_transformers import AUTO, MADE, SETTINGS, batch_of, made, taken, tasks

peft = pytest.importorskip("peft")
__all__ = ["tasks"]
LORA = replace(SETTINGS, lora=4, learning_rate=1e-2)
pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")
"""What transformers 5 says of what peft asks it; of opening adapters in these tests."""


def logits(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return all logits of a model for a batch."""
    output = model.eval()(**batch)
    return torch.stack([output.start_logits, output.end_logits]) if "start_logits" in output else output.logits


@pytest.mark.costly
@pytest.mark.parametrize("kind", KINDS)
def test_adapters_and_new_layers_alone_move_and_reopen_with_the_same_logits(
    kind: str, tasks: dict[str, Path], tmp_path: Path
) -> None:
    """The checkpoint is of a masked language model: the head, and the pooler where there is one, begin at random."""
    model = saved_peer(tmp_path / "model", kind)
    encoder = transformers.AutoModel.from_pretrained(model).state_dict()
    for task, auto in AUTO.items():
        if kind == "eurobert" and task == "question-answering":
            continue
        out = tmp_path / task
        torch.manual_seed(7)
        ours = made(tasks[task], model, replace(LORA, lora_merge=True))
        trained = [weight for weight in ours.parameters() if weight.requires_grad]
        optimizer = torch.optim.SGD(trained, lr=0.5)
        for _ in range(3):
            optimizer.zero_grad()
            ours.train()(**batch_of(tasks[task])).loss.backward()
            optimizer.step()
        names = [name for name, weight in ours.model.named_parameters() if weight.requires_grad]
        assert all("lora_" in name or "modules_to_save" in name for name in names)
        ours.save_pretrained(out)
        merged = getattr(transformers, auto).from_pretrained(out)
        batch = batch_of(tasks[task])
        inputs = {name: value for name, value in taken(merged, batch).items() if "label" not in name}
        inputs = {name: value for name, value in inputs.items() if not name.endswith("_positions")}
        expected = logits(ours.model, inputs)
        torch.testing.assert_close(logits(merged, inputs), expected, rtol=1e-4, atol=1e-5)
        moved = [
            name
            for name, weight in merged.base_model.state_dict().items()
            if "pooler" not in name and not torch.equal(weight, encoder[name])
        ]
        assert moved
        assert all(any(f"{name.removesuffix('.weight')}." in other for other in names) for name in moved)
        config = transformers.AutoConfig.from_pretrained(out / "adapter" / "task_config.json")
        base = getattr(transformers, auto).from_pretrained(model, config=config)
        opened = peft.PeftModel.from_pretrained(base, str(out / "adapter"))
        inner = opened.base_model.model  # around it peft 0.21 drops the token types of questions
        torch.testing.assert_close(logits(inner, inputs), expected, rtol=1e-4, atol=1e-5)


def test_a_run_leaves_adapters_that_open_with_their_tokenizer_and_has_nothing_to_do_again(
    tasks: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out, task = saved_peer(tmp_path / "model", "roberta"), tmp_path / "out", tasks["classification"]
    finetune(task, model, out, SETTINGS, quiet=True)
    summary = finetune(task, model, out, LORA)
    assert {path.name for path in out.iterdir() if not path.name.startswith(".")} == {
        *("adapter_config.json", "adapter_model.safetensors", "task_config.json"),
        *("log.jsonl", "run.json", "scores.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt"),
    }
    values = json.loads((out / "adapter_config.json").read_text())
    assert (values["r"], values["lora_alpha"], sorted(values["target_modules"])) == (4, 8, ["query", "value"])
    assert values["base_model_name_or_path"] == str(model)
    opened = peft.AutoPeftModelForSequenceClassification.from_pretrained(str(out))
    config = transformers.AutoConfig.from_pretrained(out / "task_config.json")
    assert config.id2label == {0: "with", 1: "without"}
    direct = transformers.AutoModelForSequenceClassification.from_pretrained(out, config=config)
    batch = {name: batch_of(task)[name] for name in ("input_ids", "attention_mask")}
    torch.testing.assert_close(logits(opened, batch), logits(direct, batch), rtol=1e-6, atol=1e-6)
    assert transformers.AutoTokenizer.from_pretrained(out)("w3 w94").input_ids == [2, 8, 99, 3]
    capsys.readouterr()
    assert finetune(task, model, out, LORA) == summary
    assert "nothing to do" in capsys.readouterr().err
    finetune(task, model, out, replace(LORA, lora_merge=True), quiet=True)
    assert not (out / "adapter_config.json").exists()
    assert (out / "adapter" / "adapter_config.json").exists()
    transformers.AutoModelForSequenceClassification.from_pretrained(out)
    finetune(task, model, out, SETTINGS, quiet=True)
    assert not (out / "adapter").exists()


def test_seeds_keep_the_adapters_of_the_best(tasks: dict[str, Path], tmp_path: Path) -> None:
    model, task = saved_peer(tmp_path / "model", "deberta-v2"), tasks["classification"]
    scores = finetune_seeds(task, model, tmp_path / "out", [0, 1], LORA, quiet=True)
    assert (tmp_path / "out" / "adapter_model.safetensors").exists()
    assert not [*(tmp_path / "out").glob("seed-*/*.safetensors")]
    assert finetune_seeds(task, model, tmp_path / "out", [0, 1], LORA, quiet=True) == scores


def test_a_model_of_bertdatas_types_gets_adapters_as_one_of_transformers(
    tasks: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved_peer(tmp_path / "model", "bert")
    for task in MADE:
        finetune(tasks[task], model, tmp_path / task, replace(LORA, lora_dropout=0.1, lora_targets=("all-linear",)))
        assert "adapters are for models of transformers" in capsys.readouterr().err
        assert (tmp_path / task / "adapter_model.safetensors").exists()
    with pytest.raises(ConfigError, match="`lora` is for models of transformers, and `library` is bertdata"):
        finetune(tasks["classification"], model, tmp_path / "no", LORA, library="bertdata", quiet=True)
    with pytest.raises(ConfigError, match="has an adapter of peft"):
        finetune(tasks["classification"], tmp_path / "regression", tmp_path / "no", SETTINGS, quiet=True)
    with pytest.raises(ConfigError, match="`output` is the folder of the model that the adapters belong to"):
        finetune(tasks["classification"], model, model, LORA, quiet=True)
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("library", ["bertdata", "transformers"])
@pytest.mark.parametrize("whole", [True, False])
def test_adapters_are_not_pretrained_on_nor_taught_by(
    tasks: dict[str, Path], dynamic_build: Path, tmp_path: Path, library: str, whole: bool
) -> None:
    """With a config.json beside them transformers opens them, frozen, and without weights there all begin at random."""
    model, place = saved_peer(tmp_path / "model", "bert"), tmp_path / "adapters"
    finetune(tasks["classification"], model, place, LORA, quiet=True)
    for name in ("config.json", "model.safetensors") if whole else ("config.json",):
        (place / name).write_bytes((model / name).read_bytes())
    steps = PretrainSettings(max_steps=1, batch_size=8, num_workers=0, device="cpu")
    with pytest.raises(ConfigError, match="has an adapter of peft"):
        pretrain(dynamic_build, str(place), tmp_path / "out", steps, library=library, quiet=True)
    with pytest.raises(ConfigError, match="has an adapter of peft"):
        pretrain(dynamic_build, str(model), tmp_path / "out", steps, library=library, teacher=place, quiet=True)


def test_targets_that_there_are_not_are_refused_with_those_there_are(tasks: dict[str, Path], tmp_path: Path) -> None:
    model = saved_peer(tmp_path / "model", "roberta")
    with pytest.raises(
        ConfigError, match=r"`lora_targets` q_proj do not go with Roberta.* end in dense, key, out_proj,"
    ):
        finetune(tasks["classification"], model, tmp_path / "out", replace(LORA, lora_targets=("q_proj",)), quiet=True)


def test_settings_of_adapters_without_a_rank_and_a_missing_peft_are_refused(
    tasks: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="`lora_alpha` is for adapters"):
        replace(SETTINGS, lora_alpha=8.0)
    model = saved_peer(tmp_path / "model", "roberta")
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    with pytest.raises(MissingExtraError, match=r"peft is not installed; .*\[lora\]"):
        finetune(tasks["classification"], model, tmp_path / "out", LORA, quiet=True)
