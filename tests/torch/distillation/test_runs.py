"""Runs with a teacher: what a student begins with, exact resume, parts and processes, packing, what is saved."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import BertForMaskedLM, BertForPreTraining
from bertdata.torch.distillation.layers import begin_with
from bertdata.torch.distillation.reading import reader_of
from bertdata.torch.distillation.settings import DistillationSettings
from bertdata.torch.models.from_transformers import TransformersModel
from bertdata.torch.models.transformers_config import TransformersConfig
from bertdata.torch.training import checkpoint
from bertdata.torch.training.optimization import SpikeError, update
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import write_build
from tests.torch.distillation.test_losses import MODERN
from tests.torch.models.test_from_transformers import config_of
from tests.torch.training.small_runs import IDS, SETTINGS, SMALL, log, losses, stop_at, tokenizers_below
from tests.torch.training.test_validation import build_of

RUN = replace(SETTINGS, max_steps=5, save_steps=2)
KINDS = {
    "distilbert": DistillationSettings(),
    "tinybert": DistillationSettings(distillation="tinybert"),
    "minilm": DistillationSettings(distillation="minilm", relation_heads=4),
}
kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.costly
@pytest.mark.parametrize(
    "kind", ["minilm", *(pytest.param(name, marks=pytest.mark.slow) for name in ("distilbert", "tinybert"))]
)
def test_a_run_cut_off_goes_on_to_the_same_losses_and_saves_the_student_alone(
    build: Path, teacher: Path, tmp_path: Path, kind: str
) -> None:
    lesson: dict[str, Any] = {"teacher": teacher, "distillation": KINDS[kind]}
    pretrain(build, SMALL, tmp_path / "whole", RUN, **lesson)
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, SMALL, tmp_path / "cut", RUN, **lesson, report=stop_at(4))
    pretrain(build, SMALL, tmp_path / "cut", RUN, **lesson)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("cut", "whole")]
    assert weights[0] == weights[1]
    assert tokenizers_below(tmp_path / "cut") == dict.fromkeys((".", "checkpoints/step-000000005"), IDS)
    saved = load_file(tmp_path / "cut" / "model.safetensors")
    assert {*saved} == {*BertForMaskedLM(SMALL).state_dict()} - {*BertForMaskedLM.tied}
    assert not (tmp_path / "cut" / "distillation.safetensors").exists()
    checkpoint = tmp_path / "cut" / "checkpoints" / "step-000000005"
    groups = torch.load(checkpoint / "optimizer.pt", weights_only=True)["param_groups"]
    assert sum(len(group["params"]) for group in groups) == len([*BertForMaskedLM(SMALL).parameters()]) + (
        2 if kind == "tinybert" else 0
    )
    parameters = checkpoint / "distillation.safetensors"
    assert parameters.exists() == (kind == "tinybert")
    if kind == "tinybert":
        assert {*load_file(parameters)} == {"projections.embeddings.weight", "projections.hidden_states.weight"}
    assert transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "cut").config.num_hidden_layers == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["tinybert", *(pytest.param(name, marks=pytest.mark.slow) for name in ("distilbert", "minilm"))]
)
def test_gradient_accumulation_and_packing_change_only_rounding(
    build: Path, teacher: Path, tmp_path: Path, kind: str
) -> None:
    lesson: dict[str, Any] = {"teacher": teacher, "distillation": KINDS[kind]}
    pretrain(build, SMALL, tmp_path / "whole", RUN, **lesson)
    for name, changes in (("parts", {"gradient_accumulation_steps": 4}), ("packed", {"packing": True})):
        pretrain(build, SMALL, tmp_path / name, replace(RUN, **changes), **lesson)
        assert losses(tmp_path / name) == pytest.approx(losses(tmp_path / "whole"), rel=1e-3)


@pytest.mark.costly
def test_a_modernbert_learns_from_packed_rows_and_resumes(
    build: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = replace(RUN, packing=True)
    config = replace(MODERN, num_hidden_layers=6, mlp_dropout=0.1, attention_dropout=0.1)
    pretrain(build, config, tmp_path / "teacher", replace(run, max_steps=2))
    lesson: dict[str, Any] = {"teacher": tmp_path / "teacher"}
    student = replace(config, num_hidden_layers=3)
    with caplog.at_level(logging.WARNING):
        pretrain(build, student, tmp_path / "whole", run, **lesson)
    assert "head and layers 0, 3, 4, counted from 0" in caplog.text  # global, local, global
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, student, tmp_path / "cut", run, **lesson, report=stop_at(4))
    pretrain(build, student, tmp_path / "cut", run, **lesson)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    pretrain(build, student, tmp_path / "padded", replace(run, packing=False), **lesson)
    assert losses(tmp_path / "padded") == pytest.approx(losses(tmp_path / "whole"), rel=1e-3)


@pytest.mark.usefixtures("curves_drawn")
def test_the_teacher_draws_no_dropout(build: Path, teacher: Path, tmp_path: Path) -> None:
    """The student's own loss at the first step is that of the student with the same dropout alone."""
    random = DistillationSettings(student_weights="random")
    pretrain(build, SMALL, tmp_path / "alone", replace(RUN, max_steps=1))
    pretrain(build, SMALL, tmp_path / "taught", replace(RUN, max_steps=1), teacher=teacher, distillation=random)
    alone, taught = (log(tmp_path / name)[0] for name in ("alone", "taught"))
    assert taught["mlm_loss"] == alone["mlm_loss"]
    expected = 5 * taught["soft_targets_loss"] + 2 * taught["mlm_loss"] + taught["cosine_loss"]
    assert taught["loss"] == pytest.approx(expected)
    assert taught["tflops"] > 0
    assert ">soft_targets_loss</text>" in (tmp_path / "taught" / "curves.svg").read_text()


def test_the_validation_split_has_every_term(teacher: Path, tmp_path: Path) -> None:
    build = build_of(tmp_path / "build", "full-sentences")
    run = replace(RUN, max_steps=2, eval_steps=1)
    pretrain(build, SMALL, tmp_path / "out", run, teacher=teacher)
    record = log(tmp_path / "out")[-1]
    weights = {"mlm": 2, "soft_targets": 5, "cosine": 1}
    expected = sum(weight * record[f"validation_{name}_loss"] for name, weight in weights.items())
    assert record["validation_loss"] == pytest.approx(expected)


def test_a_student_begins_with_layers_of_its_teacher(
    build: Path, teacher: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    still = replace(RUN, max_steps=1, learning_rate=1e-30)
    short = replace(SMALL, max_position_embeddings=40)
    with caplog.at_level(logging.WARNING):
        pretrain(build, short, tmp_path / "out", still, teacher=teacher)
    assert "the student begins with the teacher's embeddings, head and layers 0, 3, counted from 0" in caplog.text
    ours, theirs = (load_file(place / "model.safetensors") for place in (tmp_path / "out", teacher))
    for name, value in ours.items():
        source = theirs[name.replace("layer.1.", "layer.3.")]
        torch.testing.assert_close(value, source[:40] if "position" in name else source, rtol=0, atol=1e-25)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"intermediate_size": 48},
            r"intermediate.dense.weight has the shape \(48, 32\), and the teacher's \(64, 32\)",
        ),
        ({"num_hidden_layers": 6}, "it has 6 layers, and the teacher 4"),
    ],
)
def test_a_student_of_other_shapes_begins_with_random_weights_and_says_why(
    build: Path, teacher: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, changes: dict[str, Any], why: str
) -> None:
    with caplog.at_level(logging.WARNING):
        pretrain(build, replace(SMALL, **changes), tmp_path, replace(RUN, max_steps=1), teacher=teacher)
    [line] = [record.getMessage() for record in caplog.records if "begins with" in record.getMessage()]
    assert line.startswith("the student begins with random weights, for those of the teacher do not fit")
    assert re.search(why, line)


def test_a_student_with_weights_of_its_own_keeps_them(build: Path, teacher: Path, tmp_path: Path) -> None:
    pretrain(build, SMALL, tmp_path / "first", replace(RUN, max_steps=1))
    still = replace(RUN, max_steps=1, learning_rate=1e-30)
    pretrain(build, str(tmp_path / "first"), tmp_path / "taught", still, teacher=teacher)
    ours, theirs = (load_file(tmp_path / name / "model.safetensors") for name in ("taught", "first"))
    assert all(torch.allclose(ours[name], theirs[name], rtol=0, atol=1e-25) for name in theirs)


def test_another_teacher_or_other_weights_are_refused_on_resume(build: Path, teacher: Path, tmp_path: Path) -> None:
    pretrain(build, SMALL, tmp_path / "out", RUN, teacher=teacher)
    other = tmp_path / "other"
    pretrain(build, replace(SMALL, num_hidden_layers=4), other, replace(RUN, max_steps=3))
    with pytest.raises(ConfigError, match=r"of another run: teacher was '[0-9a-f]{64}' and is '[0-9a-f]{64}'"):
        pretrain(build, SMALL, tmp_path / "out", RUN, teacher=other)
    weights = DistillationSettings(distillation_weights=("cosine=3",))
    with pytest.raises(ConfigError, match=r"distillation_weights was .*'cosine': 1.0.* and is .*'cosine': 3.0"):
        pretrain(build, SMALL, tmp_path / "out", RUN, teacher=teacher, distillation=weights)
    with pytest.raises(ConfigError, match=r"teacher was '[0-9a-f]{64}' and is None"):
        pretrain(build, SMALL, tmp_path / "out", RUN)
    changed = tmp_path / "changed"
    shutil.copytree(teacher, changed)
    values = json.loads((changed / "config.json").read_text())
    (changed / "config.json").write_text(json.dumps(values | {"layer_norm_eps": 0.1}))
    with pytest.raises(ConfigError, match=r"of another run: teacher\.layer_norm_eps was 1e-12 and is 0\.1"):
        pretrain(build, SMALL, tmp_path / "out", RUN, teacher=changed)
    same = DistillationSettings(distillation_weights=("cosine=1",))
    teacher.rename(tmp_path / "moved")
    pretrain(build, SMALL, tmp_path / "out", RUN, teacher=tmp_path / "moved", distillation=same)
    (tmp_path / "moved").rename(teacher)


def test_a_branch_goes_on_with_the_projections(build: Path, teacher: Path, tmp_path: Path) -> None:
    run = replace(RUN, max_steps=4, save_total_limit=0, warmup_ratio=0.0, lr_scheduler_type="constant_with_warmup")
    lesson: dict[str, Any] = {"teacher": teacher, "distillation": KINDS["tinybert"]}
    pretrain(build, SMALL, tmp_path / "whole", run, **lesson)
    place = tmp_path / "whole" / "checkpoints" / "step-000000002"
    pretrain(build, "", tmp_path / "branch", replace(run, max_steps=2), branch=place, **lesson)
    first = log(tmp_path / "branch")[0]
    assert first["hidden_states_loss"] < log(tmp_path / "whole")[0]["hidden_states_loss"]


def test_pairs_are_learned_beside(tmp_path: Path) -> None:
    build = write_build(tmp_path / "nsp", ExamplesConfig(objective="nsp", max_seq_length=32))
    pretrain(build, replace(SMALL, num_hidden_layers=4), tmp_path / "teacher", replace(RUN, max_steps=1))
    pretrain(build, SMALL, tmp_path / "out", replace(RUN, max_steps=2), teacher=tmp_path / "teacher")
    record = log(tmp_path / "out")[-1]
    weights = {"mlm_loss": 2, "pair_loss": 2, "soft_targets_loss": 5, "cosine_loss": 1}
    assert record["loss"] == pytest.approx(sum(weight * record[name] for name, weight in weights.items()))
    BertForPreTraining.from_pretrained(tmp_path / "out")  # raises where a head has no weights


def test_the_distilbert_of_transformers_begins_with_layers_of_a_bert(
    build: Path, teacher: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "dim": 32, "n_layers": 2}
    config = str(config_of(tmp_path / "config", "distilbert", **sizes, hidden_dim=64))
    keywords: dict[str, Any] = {"library": "transformers", "teacher": teacher}
    with caplog.at_level(logging.WARNING):
        pretrain(build, config, tmp_path / "whole", RUN, **keywords)
    assert "the teacher's embeddings, head and layers 0, 3" in caplog.text
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, config, tmp_path / "cut", RUN, **keywords, report=stop_at(4))
    pretrain(build, config, tmp_path / "cut", RUN, **keywords)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    student = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "cut")
    assert type(student).__name__ == "DistilBertForMaskedLM"


def test_a_distilbert_that_begins_with_all_layers_of_a_bert_predicts_the_same(build: Path, teacher: Path) -> None:
    bert = BertForMaskedLM.from_pretrained(teacher).eval()
    with torch.no_grad():
        bert.bert.embeddings.token_type_embeddings.weight.zero_()  # DistilBERT has none
    peer = transformers.DistilBertConfig(
        vocab_size=100, dim=32, n_layers=4, n_heads=2, hidden_dim=64, max_position_embeddings=64
    )
    student = TransformersModel(TransformersConfig.of(peer)).eval()
    assert begin_with(reader_of(student, "student"), reader_of(bert, "teacher")) == [0, 1, 2, 3]
    ids = torch.arange(10, 26)[None]
    torch.testing.assert_close(student(ids).prediction_logits, bert(ids).prediction_logits, rtol=1e-4, atol=1e-5)


def test_a_teacher_of_transformers_teaches(build: Path, teacher: Path, tmp_path: Path) -> None:
    config = config_of(tmp_path / "config", "xlm-roberta", hidden_size=32, num_hidden_layers=4, type_vocab_size=1)
    pretrain(build, str(config), tmp_path / "roberta", replace(RUN, max_steps=1), library="transformers")
    run = replace(RUN, max_steps=2)
    pretrain(build, SMALL, tmp_path / "out", run, teacher=tmp_path / "roberta")
    assert {"soft_targets_loss", "cosine_loss", "mlm_loss"} <= {*log(tmp_path / "out")[-1]}
    states = DistillationSettings(distillation="tinybert", distillation_weights=("attention=0",))
    pretrain(build, SMALL, tmp_path / "states", run, teacher=tmp_path / "roberta", distillation=states)
    assert log(tmp_path / "states")[-1]["hidden_states_loss"] > 0
    with pytest.raises(ConfigError, match="the queries and keys of a teacher of transformers cannot be read"):
        pretrain(build, SMALL, tmp_path / "no", run, teacher=tmp_path / "roberta", distillation=KINDS["minilm"])
    with pytest.raises(ConfigError, match="`packing` is not for a teacher of transformers"):
        pretrain(build, SMALL, tmp_path / "no", replace(run, packing=True), teacher=tmp_path / "roberta")


def test_the_command_distils(build: Path, teacher: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--max-steps", "2", "--batch-size", "8", "--num-workers", "0", "--device", "cpu", "--logging-steps", "1"]
    command = ["pretrain", str(build), "--config", str(teacher), *small, "--output", str(tmp_path / "out")]
    dispatch([*command, "--teacher", str(teacher), "--temperature", "1", "--distillation-weights", "cosine=0", "mlm=1"])
    assert log(tmp_path / "out")[0].keys() >= {"soft_targets_loss", "mlm_loss"}
    assert "cosine_loss" not in log(tmp_path / "out")[0]
    with pytest.raises(
        ConfigError, match="settings of distillation are given without a teacher; name one by --teacher"
    ):
        dispatch([*command[:-1], str(tmp_path / "no"), "--temperature", "1"])


@pytest.mark.slow
@kinds
def test_two_processes_learn_what_one_learns(build: Path, teacher: Path, tmp_path: Path, kind: str) -> None:
    code = f"""
import torch
torch.set_num_threads(1)
from bertdata.torch import BertConfig
from bertdata.torch.distillation.settings import DistillationSettings
from bertdata.torch.training import checkpoint
from bertdata.torch.training.optimization import SpikeError, update
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
pretrain({str(build)!r}, BertConfig(**{asdict(SMALL)}), {str(tmp_path / "two")!r}, PretrainSettings(**{asdict(RUN)}),
         teacher={str(teacher)!r}, distillation=DistillationSettings(**{asdict(KINDS[kind])}))
"""
    (tmp_path / "train.py").write_text(code)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [*command, str(tmp_path / "train.py")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr.count("the student begins with the teacher's embeddings") == 1
    pretrain(build, SMALL, tmp_path / "one", RUN, teacher=teacher, distillation=KINDS[kind])
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), rel=1e-3)


def test_a_run_that_goes_back_from_a_spike_loads_the_student_and_what_is_learned_beside_it(
    build: Path, teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson: dict[str, Any] = {"teacher": teacher, "distillation": KINDS["tinybert"]}
    settings = replace(RUN, on_spike="rewind")
    calls = []

    def spike_once(model: Any, *arguments: Any) -> float:
        calls.append(1)
        if len(calls) == 4:
            state = {name: value.clone() for name, value in model.state_dict().items()}
            saved = checkpoint.newest(str(tmp_path / "run" / "checkpoints"))
            assert saved is not None
            model.reload(saved.directory)
            assert any((model.state_dict()[name] != value).any() for name, value in state.items())
            raise SpikeError("a spike")
        return update(model, *arguments)

    monkeypatch.setattr("bertdata.torch.training.arithmetic.update", spike_once)
    pretrain(build, SMALL, tmp_path / "run", settings, **lesson)
    assert log(tmp_path / "run")[-1]["rewinds"] == 1
