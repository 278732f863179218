"""A small model, the settings of short runs on the CPU, and what their logs say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, pipeline

from bertdata.torch import BertConfig
from bertdata.torch.training.metrics_log import LogRecord
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings

SMALL = BertConfig(
    vocab_size=100,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=64,
    max_position_embeddings=64,
)
SETTINGS = PretrainSettings(
    max_steps=12,
    batch_size=8,
    learning_rate=2e-3,
    warmup_ratio=0.2,
    save_steps=5,
    logging_steps=1,
    num_workers=0,
    device="cpu",
)


def log(output: Path) -> list[LogRecord]:
    """Return the records of a run."""
    return [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]


def losses(output: Path) -> list[float]:
    """Return the losses of a run."""
    return [record["loss"] for record in log(output)]


def tokenizers_below(place: Path) -> dict[str, list[int]]:
    """Return what AutoTokenizer makes of a text, by folder, in each folder with the config of a model.

    Each tokenizer cuts rows to what the model takes, and where there are weights `pipeline` fills masks by both.
    """
    folders = {}
    for config in sorted(place.rglob("config.json")):
        values = json.loads(config.read_text())
        if "model_type" in values:
            tokenizer = AutoTokenizer.from_pretrained(config.parent)
            folders[str(config.parent.relative_to(place))] = tokenizer("w3 w94").input_ids
            if (config.parent / "model.safetensors").exists():
                assert fills_a_long_row(str(config.parent))
    return folders


def fills_a_long_row(folder: str) -> bool:
    """Tell whether fill-mask of transformers opens a folder, and puts a word into the longest row the model takes."""
    fill = pipeline("fill-mask", model=folder, tokenizer_kwargs={"truncation": True})
    with torch.no_grad():
        filled = fill("w3 [MASK] " + "w5 " * 1000, top_k=1)[0]["sequence"].split()
    return (filled[0], filled[2]) == ("w3", "w5") and filled[1] != "[MASK]"


IDS = [2, 8, 99, 3]
"""What `tokenizer_of` makes of it."""


def stop_at(step: int) -> Callable[[LogRecord], None]:
    """Return a report that interrupts the run at the record of a step."""

    def report(record: LogRecord) -> None:
        if record["step"] == step:
            raise KeyboardInterrupt

    return report


def run(tmp_path: Path, build: Path, name: str = "run", **changes: Any) -> list[float]:
    """Return the losses of a run."""
    pretrain(build, SMALL, tmp_path / name, replace(SETTINGS, **changes))
    return losses(tmp_path / name)
