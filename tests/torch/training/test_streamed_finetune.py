"""Fine-tuning on shards at a URL, streamed through a cache: the scores of a run on the same shards on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from bertdata.cli.main import main
from bertdata.errors import ConfigError
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.finetune_settings import FinetuneSettings
from tests.many_shards import bytes_in
from tests.torch.build import tokenizer_of
from tests.torch.training.test_finetune import model, questions, texts

__all__ = ["model"]
SETTINGS = FinetuneSettings(epochs=2, batch_size=16, learning_rate=3e-3, device="cpu", shuffle_window=2)
MAKERS: dict[str, Callable[[int, int], str]] = {"classification": texts, "question-answering": questions}


def encoded(folder: Path, task: str) -> tuple[Path, str, int]:
    """Encode a task in many shards, and return its folder, its URL and the bytes of its largest shard."""
    folder.mkdir()
    paths = {
        split: folder / f"{split}.{'json' if task == 'question-answering' else 'jsonl'}"
        for split in ("train", "validation")
    }
    for seed, path in enumerate(paths.values()):
        path.write_text(MAKERS[task](80, seed))
    tokenizer_of().save_pretrained(folder / "vocab")
    config = TaskConfig(task=task, max_seq_length=12, doc_stride=2, shard_examples=9)
    shards = folder / "shards"
    encode_task(shards, str(folder / "vocab"), {split: str(path) for split, path in paths.items()}, config)
    fsspec.filesystem("memory").put(str(shards), f"/streamed-{folder.name}", recursive=True)
    return shards, f"memory://streamed-{folder.name}", max(path.stat().st_size for path in shards.rglob("*.arrow"))


@pytest.mark.costly
@pytest.mark.parametrize("task", MAKERS)
def test_scores_and_losses_are_those_of_local_shards(task: str, model: Path, tmp_path: Path) -> None:
    shards, url, largest = encoded(tmp_path / task, task)
    room = 4 * largest
    local = finetune(shards, model, tmp_path / "local", SETTINGS)
    place: dict[str, Any] = {"cache": tmp_path / "cache", "cache_bytes": room}
    streamed = finetune(url, model, tmp_path / "streamed", SETTINGS, **place)
    assert {**streamed, "output": ""} == {**local, "output": ""}
    assert losses(tmp_path / "streamed") == losses(tmp_path / "local")
    assert 0 < bytes_in(tmp_path / "cache") <= room < sum(path.stat().st_size for path in shards.rglob("*.arrow"))


def losses(output: Path) -> list[float]:
    return [record["loss"] for record in map(json.loads, (output / "log.jsonl").read_text().splitlines())]


@pytest.mark.costly
def test_a_cache_that_does_not_hold_a_shuffle_over_all_is_refused_with_the_remedy(
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, url, largest = encoded(tmp_path / "refused", "classification")
    place: dict[str, Any] = {"cache": tmp_path / "cache", "cache_bytes": 4 * largest}
    with pytest.raises(ConfigError, match="give `shuffle_window`"):
        finetune(url, model, tmp_path / "out", replace(SETTINGS, shuffle_window=0), **place)
    command = [
        "finetune",
        url,
        "--model",
        str(model),
        "--output",
        str(tmp_path / "out"),
        "--epochs",
        "1",
        "--batch-size",
        "16",
    ]
    command += ["--device", "cpu", "--cache", str(tmp_path / "cache"), "--cache-bytes", str(4 * largest)]
    assert main([*command, "--seeds", "2", "--quiet"]) == 1
    assert "give --shuffle-window" in capsys.readouterr().err
    assert main([*command, "--seeds", "2", "--quiet", "--shuffle-window", "2"]) == 0
    assert {"seed-0", "seed-1", "model.safetensors"} <= {path.name for path in (tmp_path / "out").iterdir()}
