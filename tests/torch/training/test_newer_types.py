"""Encoders that transformers 5 has of its own, by `--library transformers`: a run, its folder, and a fill-mask."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

from bertdata.cli.main import dispatch
from bertdata.objectives.settings import ExamplesConfig
from tests.torch.build import write_build

TYPES: dict[str, list[str]] = {"eurobert": [], "gte": ["pad_token_id=0"], "nomic_bert": [], "ultrabert": []}
SIZES = ["num_hidden_layers=1", "hidden_size=32", "num_attention_heads=2", "intermediate_size=48"]
RUN = ["--library", "transformers", "--max-steps", "2", "--batch-size", "4", "--num-workers", "0", "--eval-steps", "0"]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of single segments."""
    config = ExamplesConfig(objective="full-sentences", max_seq_length=24)
    return write_build(tmp_path_factory.mktemp("build"), config)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.filterwarnings("ignore")
def test_a_run_opens_in_transformers_with_its_tokenizer(kind: str, build: Path, tmp_path: Path) -> None:
    if kind not in transformers.CONFIG_MAPPING:
        pytest.skip(f"this version of transformers has no {kind}")
    overrides = ["--config-overrides", *SIZES, *TYPES[kind]]
    output = str(tmp_path / "out")
    command = ["pretrain", str(build), "--config", kind, *overrides, *RUN, "--device", "cpu", "--quiet"]
    assert dispatch([*command, "--output", output]) == 0
    model = transformers.AutoModelForMaskedLM.from_pretrained(output).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(output)
    row = tokenizer(f"w7 {tokenizer.mask_token} w9", return_tensors="pt")
    row.pop("token_type_ids", None)
    with torch.no_grad():
        logits = model(**row).logits
    assert logits.shape[:2] == row["input_ids"].shape
    assert bool(torch.isfinite(logits).all())
    assert (row["input_ids"] == tokenizer.mask_token_id).sum() == 1
