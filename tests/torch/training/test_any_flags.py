"""Combinations of flags of a pretraining run: what only splits or repeats its arithmetic changes no loss.

A run is drawn by flags that decide what is learned, and made twice: as it is, and with flags that do not. Both are
refused alike, or have the same losses; in half precision, losses that are near.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import BertDataError
from bertdata.objectives.settings import ExamplesConfig
from tests.torch.build import write_build

SIZES = ["num_hidden_layers=2", "hidden_size=32", "num_attention_heads=2", "intermediate_size=48"]
NO_DROPOUT = ["hidden_dropout_prob=0", "attention_probs_dropout_prob=0"]
OBJECTIVES = ("full-sentences", "nsp", "sop")
MODELS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "tiny": (("full-sentences", "nsp"), SIZES),
    "albert-tiny": (("sop",), [*SIZES, "embedding_size=16"]),
    "electra-tiny": (("full-sentences",), [*SIZES, "embedding_size=16"]),
    "modernbert-tiny": (("full-sentences",), SIZES),
    "roberta": (("full-sentences",), SIZES),
    "transformers bert": (("full-sentences", "nsp"), [*SIZES, *NO_DROPOUT]),
    "transformers deberta-v2": (("full-sentences",), [*SIZES, *NO_DROPOUT]),
    "transformers modernbert": (("full-sentences",), SIZES),
}
"""The objectives of rows that each config is for, and its overrides; models of others draw dropout by the part."""
PLAIN = (
    "--device cpu --max-steps 3 --batch-size 8 --num-workers 0 --eval-steps 0 --logging-steps 1 --learning-rate 1e-3"
)
LEARNED = (
    "--optim muon", "--optim stable_adamw", "--phase-training causal", "--phase-training 0.5", "--pad-vocab-to 64",
    "--lr-scheduler-type cosine", "--max-grad-norm 0", "--spike-ratio 50", "--shuffle-window 2",
    "--training-objective replaced-token-detection",
)  # fmt: skip
OF_OWN_MODELS = ("--packing", "--packing --batch-tokens 192")
WITHOUT_EFFECT = (
    "--gradient-checkpointing", "--gradient-accumulation-steps 4", "--attention-dropout-by-row",
    "--precision reference", "--save-steps 1", "--on-spike rewind", "--gradient-accumulation-steps 2 --save-steps 2",
)  # fmt: skip
HALF = ("", "", "--bf16", "--fp16")


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds of each objective."""
    place = tmp_path_factory.mktemp("builds")
    for objective in OBJECTIVES:
        write_build(place / objective, ExamplesConfig(objective=objective, max_seq_length=24))
    return place


def drawn(seed: int) -> tuple[list[str], list[str], list[str]]:
    """Return a config with its objective and overrides, flags that decide what is learned, and others."""
    draw = random.Random(seed)
    model = draw.choice(sorted(MODELS))
    objectives, sizes = MODELS[model]
    library, _, config = model.rpartition(" ")
    base = [draw.choice(objectives), "--config", config, *(["--library", library] if library else [])]
    learned = draw.sample(LEARNED, draw.randrange(3))
    if not library and draw.random() < 0.6:
        learned.append(draw.choice(OF_OWN_MODELS))
    others = [*draw.sample(WITHOUT_EFFECT, draw.randrange(1, 4)), draw.choice(HALF)]
    if "--packing --batch-tokens 192" in learned:  # of which parts have rows of their own
        others = [flags for flags in others if "accumulation" not in flags]
    overrides = ["--config-overrides", *sizes]
    return [*base, *overrides], " ".join(learned).split(), " ".join(others).split()


def outcome(builds: Path, output: Path, base: Sequence[str], flags: Sequence[str]) -> str | list[float]:
    """Return the losses of a run, or what is said against it."""
    objective, *config = base
    arguments = ["pretrain", str(builds / objective), *config, *flags, *PLAIN.split(), "--quiet"]
    try:
        assert dispatch([*arguments, "--output", str(output)]) == 0
    except BertDataError as error:
        return str(error)
    records = [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]
    return [record["loss"] for record in records if "loss" in record]


def require_same(seed: int, builds: Path, output: Path) -> None:
    base, learned, others = drawn(seed)
    plain = outcome(builds, output / "plain", base, learned)
    full = outcome(builds, output / "full", base, [*learned, *others])
    if isinstance(plain, str) or isinstance(full, str):
        assert isinstance(plain, str) == isinstance(full, str), (base, learned, others, plain, full)
    else:
        near = 0.05 if {"--bf16", "--fp16"} & {*others} else 2e-5
        assert full == pytest.approx(plain, rel=near), (base, learned, others)


@pytest.mark.costly
@pytest.mark.parametrize("seed", [6, 14])
def test_flags_without_effect_on_what_is_learned_change_no_loss(seed: int, builds: Path, tmp_path: Path) -> None:
    require_same(seed, builds, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_combinations_of_flags_change_no_loss(seed: int, builds: Path, tmp_path: Path) -> None:
    require_same(seed, builds, tmp_path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_all_that_saves_memory_and_time_together_is_near_the_plain_run(builds: Path, tmp_path: Path) -> None:
    base = ["full-sentences", "--config", "modernbert-tiny", "--config-overrides", *SIZES]
    learned = ["--optim", "muon", "--packing", "--batch-tokens", "192"]
    together = ["--fp16", "--gradient-checkpointing", "--compile", "--save-steps", "1"]
    plain = outcome(builds, tmp_path / "plain", base, learned)
    full = outcome(builds, tmp_path / "full", base, [*learned, *together])
    assert full == pytest.approx(plain, rel=0.02)
