"""A student with a teacher learns faster than the same student without one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch.distillation.settings import DistillationSettings
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import write_build
from tests.torch.training.small_runs import SETTINGS, SMALL, log

SIZE = replace(SMALL, num_hidden_layers=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
RUN = replace(SETTINGS, max_steps=60, batch_size=32, learning_rate=5e-3, warmup_ratio=0.1, logging_steps=12)
RANDOM: dict[str, Any] = {"student_weights": "random"}


def pairs_of_tokens(documents: int, seed: int) -> TokenBlock:
    """Return documents of sentences of three pairs of tokens; the first of a pair determines the second."""
    generator = np.random.default_rng(seed)
    first = generator.integers(0, 20, documents * 8 * 3)
    tokens = np.stack([first, 20 + first * 7 % 20], axis=1).ravel() + 5
    ends = np.arange(6, len(tokens) + 1, 6, dtype=np.int64)
    return TokenBlock(
        tokens=tokens.astype(np.uint16),
        word_start=np.ones(len(tokens), np.bool_),
        sentence_ends=ends,
        document_ends=ends[7::8].copy(),
        document_keys=generator.integers(0, 2**63, documents).astype(np.uint64),
    )


@pytest.mark.slow
def test_a_taught_student_predicts_better_after_the_same_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.torch.build.block_of", pairs_of_tokens)
    build = write_build(
        tmp_path / "build", ExamplesConfig(objective="full-sentences", max_seq_length=24), documents=150
    )
    deep = replace(SIZE, num_hidden_layers=2)
    pretrain(build, deep, tmp_path / "teacher", replace(RUN, max_steps=200, save_steps=200))
    pretrain(build, deep, tmp_path / "untrained", replace(RUN, max_steps=1))

    def loss(name: str, teacher: str = "", **settings: Any) -> float:
        """Return the masked-LM loss of the last steps of a student."""
        distillation = DistillationSettings(**settings)
        keywords: dict[str, Any] = {"teacher": tmp_path / teacher, "distillation": distillation} if teacher else {}
        pretrain(build, SIZE, tmp_path / name, RUN, **keywords)
        return float(log(tmp_path / name)[-1]["mlm_loss"])

    alone = loss("alone")
    assert loss("distilbert", "teacher", **RANDOM) < alone - 0.05
    assert loss("taught-by-noise", "untrained", **RANDOM) > alone
    weights = {"distillation_weights": ("mlm=1",)}
    assert loss("tinybert", "teacher", distillation="tinybert", **weights, **RANDOM) < alone - 0.05
    minilm = {"distillation": "minilm", "relation_heads": 4}
    assert loss("minilm", "teacher", **minilm, **weights, **RANDOM) < alone - 0.05
    begun = log(tmp_path / "distilbert")
    loss("layers", "teacher")
    assert log(tmp_path / "layers")[-1]["soft_targets_loss"] < begun[-1]["soft_targets_loss"] / 2
