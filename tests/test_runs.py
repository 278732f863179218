"""The scripts of `runs/`: their commands are those of bertdata, and they run at the smallest size; and their Python."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the scripts train models")

from bertdata.cli import COMMANDS, command_line
from bertdata.cli.main import parser_of
from bertdata.corpus.requests import settings_of_request
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.tokenizers import load_tokenizer
from tests.small_build import write_build

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((ROOT / "runs").glob("*.sh"))
RECORDER = """#!{python}
import json, pathlib, sys
arguments = sys.argv[1:]
with open({record!r}, "a") as file:
    file.write(json.dumps([pathlib.Path(sys.argv[0]).name, *arguments]) + "\\n")
for flag, following in zip(arguments, arguments[1:]):
    if flag == "--output":  # a model, for the steps after it to find
        pathlib.Path(following).mkdir(parents=True, exist_ok=True)
print("loss 1")
"""
"""Stands in for `bertdata` and `python`: writes down what it was called with."""


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def run(script: Path, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a script in the environment of the tests, on a CPU."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("BERTDATA_DATA", "TEXT", "TASK")}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {"PATH": path, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": "", "INSTALL": "no"} | settings
    return subprocess.run(
        ["bash", str(script), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env=inherited | environment,
        timeout=1200,
    )


def commands(script: Path, folder: Path, **settings: str) -> list[list[str]]:
    """Return what a script calls `bertdata` and `python` with; neither is run."""
    stand_ins, record = folder / "bin", folder / "record.jsonl"
    stand_ins.mkdir(parents=True)
    for name in ("bertdata", "python"):
        (stand_ins / name).write_text(RECORDER.format(python=sys.executable, record=str(record)))
        (stand_ins / name).chmod(0o755)
    done = run(script, folder / "run", PATH=os.pathsep.join([str(stand_ins), os.environ["PATH"]]), **settings)
    assert record.exists(), done.stderr
    return [json.loads(line) for line in record.read_text().splitlines()]


def parse(command: Sequence[str]) -> Any:
    """Parse a command by the parser of its program; one that is not accepted raises SystemExit."""
    program, *arguments = command
    if program == "python":
        if arguments[0] == "-c":
            return None
        return importlib.import_module(Path(arguments[0]).stem).make_parser().parse_args(arguments[1:])
    verb, *flags = arguments
    if verb == "build":
        return settings_of_request(command_line.parse(parser_of("build"), flags))
    parser = ArgumentParser(allow_abbrev=False)
    importlib.import_module(COMMANDS[verb].module).add_arguments(parser)
    return parser.parse_args(flags)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_is_a_program_in_bash(script: Path) -> None:
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    if checker := shutil.which("shellcheck"):
        assert subprocess.run([checker, script], check=False).returncode == 0


@pytest.mark.costly
@pytest.mark.parametrize("text", ["", "download", "articles.jsonl"])
def test_the_commands_of_the_tiny_run_are_those_of_bertdata(text: str, tmp_path: Path) -> None:
    (tmp_path / "articles.jsonl").write_text(json.dumps({"text": "The sea is old. It has salt."}) + "\n")
    source = str(tmp_path / text) if text.endswith("jsonl") else text
    called = commands(ROOT / "runs" / "tiny.sh", tmp_path, TEXT=source)
    verbs = [command[1] for command in called if command[0] == "bertdata"]
    assert set(verbs) - {"download"} == {"build", "verify", "show", "pretrain", "encode-task", "finetune"}
    assert ("download" in verbs) == (text == "download")
    assert verbs.count("finetune") == 2 * 2 * 3
    for command in called:
        parse(command)


@pytest.mark.costly
def test_the_two_models_of_the_tiny_run_are_of_one_size_and_trained_alike(tmp_path: Path) -> None:
    from bertdata.shards.pretraining_info import PretrainingInfo
    from bertdata.torch.models.configs import resolve_config
    from bertdata.torch.models.model_loading import model_class

    called = [
        command for command in commands(ROOT / "runs" / "tiny.sh", tmp_path) if command[1] in ("build", "pretrain")
    ]
    _, settings = parse(called[0])
    info = PretrainingInfo.of(
        load_tokenizer("bertdata-30k-uncased"), examples=settings.phases[0].examples, masking=settings.phases[0].masking
    )
    info = replace(info, vocab_size=2000)
    sizes, others = {}, []
    for arguments in map(parse, called[1:]):
        overrides = dict(given.split("=", 1) for given in arguments.config_overrides)
        config = resolve_config(arguments.config, info, overrides)
        sizes[config.model_type] = sum(weight.numel() for weight in model_class(config, info)(config).parameters())
        others.append(
            {name: vars(arguments)[name] for name in ("shards", "max_steps", "batch_size", "seed", "packing")}
        )
    assert sizes == {"bert": 675_920, "modernbert": 672_976}
    assert others[0] == others[1]


def test_the_commands_of_the_gpu_run_are_those_of_bertdata(tmp_path: Path) -> None:
    called = commands(ROOT / "runs" / "gpu.sh", tmp_path, DOCS="docs/gpu.md docs/howto/batch-size.md")
    parsed = [parse(command) for command in called]
    runs = [flags for command, flags in zip(called, parsed, strict=True) if command[1] == "pretrain"]
    first, runs = runs[:4], runs[4:]
    assert [(flags.config, flags.compile, flags.batch_tokens, flags.precision) for flags in first] == [
        (config, True, tokens, precision)
        for precision in ("fast", "reference")
        for config, tokens in (("base", 0), ("modernbert-base", 65_536))
    ]
    assert [(flags.config, flags.compile, flags.packing) for flags in runs] == [
        ("base", False, False),
        ("modernbert-base", False, True),
        ("base", True, False),
        ("modernbert-base", True, True),
        *(("base", False, False) for _ in range(3)),
        ("bert", False, False),
    ]
    assert [flags.gradient_accumulation_steps for flags in runs[4:]] == [2, 4, 8, 8]
    assert [flags.library for flags in runs[-2:]] == ["bertdata", "transformers"]
    assert runs[-1].shards == runs[-2].shards == f"{tmp_path / 'run'}/bert/512", "the peer gets the same rows"
    assert parsed[-1].runs == [Path(flags.output).name for flags in first + runs]
    assert parsed[-1].docs == [Path("docs/gpu.md"), Path("docs/howto/batch-size.md")]


@pytest.mark.parametrize("memory", [{}, {"cuda_allocated_gib": 14.5}])
def test_the_report_of_the_gpu_run_compares_runs_in_as_many_parts(memory: dict[str, float], tmp_path: Path) -> None:
    gpu = importlib.import_module("gpu")
    checks = {"masks_that_differ": {"bert": []}, "loader": {"bert": {"tokens_per_second": 5e6}}}
    checks["packed"] = {"difference": 0.1, "rounding": 0.2, "kernel": [True, True]}
    (tmp_path / "checks.json").write_text(json.dumps(checks))
    for name, speed in (("bert-eager", 900.0), ("bert-parts-4", 600.0), ("bert-transformers-parts-4", 400.0)):
        (tmp_path / "runs" / name).mkdir(parents=True)
        figures = {"tokens_per_second": speed, "tflops": 3.0, "data_wait_share": 0.01, "loss": 2.0, **memory}
        lines = ({"step": step, "max_seq_length": 512, **figures} for step in (1, 2))
        (tmp_path / "runs" / name / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    names = ["bert-eager", "bert-parts-4", "bert-transformers-parts-4", "bert-compiled"]
    parts = gpu.report(tmp_path, names, importlib.import_module("torch").device("cpu"), 256)
    gib = "14.5" if memory else "-"
    assert f"| bert-eager | 512 | 2 | 900 | 3 | - | {gib} | 1.0% | 2.00 |" in parts["report"]
    assert "bert, rows of 512 in 4 parts: 1.50 times the tokens/s of transformers" in parts["report"]
    assert "**bert-compiled failed**" in parts["report"]
    assert "| bert-parts-4 |" not in parts["report"]
    for model, rows, times, speed in (("bert", 256, 1, 900), ("bert", 64, 4, 600), ("bert-transformers", 64, 4, 400)):
        assert f"| {model} | 512 | {rows} | {times} | {speed} | - | {gib} |" in parts["memory"]


@pytest.mark.slow
def test_without_a_gpu_the_gpu_run_says_so(tmp_path: Path) -> None:
    done = run(ROOT / "runs" / "gpu.sh", tmp_path / "run", DEVICE="cuda")
    assert done.returncode == 2
    assert "torch finds no CUDA device here; DEVICE=cpu" in done.stderr


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("corpus"), ExamplesConfig("doc-chunks", max_seq_length=96))


def test_a_task_is_made_of_documents_that_no_model_was_pretrained_on(corpus: Path, tmp_path: Path) -> None:
    side_by_side = importlib.import_module("side_by_side")
    texts, tokenizer = side_by_side.held_out(corpus), load_tokenizer(str(corpus))
    encoded = [tokenizer.encode(text) for text in texts]
    shards = open_shards(corpus, "validation")
    info = shards.info
    special = {info.cls_token_id, info.sep_token_id}
    kept = [token for row in range(len(shards)) for token in shards[row]["input_ids"] if token not in special]
    assert sorted(kept) == sorted(token for ids in encoded for token in ids)

    sizes = side_by_side.write_task(corpus, tmp_path / "task", "order", 20)
    written = {split: (tmp_path / "task" / f"{split}.jsonl").read_text().splitlines() for split in sizes}
    assert {split: len(lines) for split, lines in written.items()} == sizes
    assert 0 < sizes["validation"] <= 5
    assert sizes["train"] <= 20
    words = {line for lines in written.values() for line in lines}
    assert len(words) == sum(sizes.values())
    for line in words:
        example = json.loads(line)
        assert sorted(tag for tag in example["tags"] if tag != "O") == ["B-CHANGED", "I-CHANGED"]


def test_a_fresh_model_has_the_architecture_of_another_and_weights_by_the_seed(corpus: Path, tmp_path: Path) -> None:
    from bertdata.torch import BertForMaskedLM

    write_fresh = importlib.import_module("_fresh").write_fresh
    first = write_fresh(corpus, "tiny", tmp_path / "first", 0, {"num_hidden_layers": 1})
    files = {seed: write_fresh(corpus, str(first), tmp_path / str(seed), seed) / "model.safetensors" for seed in (0, 1)}
    layers = {
        name.split(".")[3] for name in BertForMaskedLM.from_pretrained(tmp_path / "1").state_dict() if ".layer." in name
    }
    assert layers == {"0"}
    assert files[0].read_bytes() == (first / "model.safetensors").read_bytes()
    assert files[1].read_bytes() != files[0].read_bytes()


def write_log(run: Path, tokens_per_second: float, weights: int) -> None:
    """Write a finished run: its log of two lines, a config, and a model of so many weights."""
    safetensors = importlib.import_module("safetensors.torch")
    run.mkdir(parents=True)
    safetensors.save_file({"weight": importlib.import_module("torch").zeros(weights)}, run / "model.safetensors")
    (run / "config.json").write_text(json.dumps({"num_hidden_layers": 2, "hidden_size": 8}))
    line = {"mlm_loss": 3.0, "tokens_per_second": tokens_per_second, "seconds_per_step": 2.0}
    scored = {"validation_mlm_loss": 4.0, "validation_mlm_accuracy": 0.25}
    (run / "log.jsonl").write_text(
        json.dumps({"step": 1, **line}) + "\n" + json.dumps({"step": 2, **line, **scored}) + "\n"
    )


def test_a_report_has_a_line_for_each_model_and_a_mean_over_its_seeds(tmp_path: Path) -> None:
    side_by_side = importlib.import_module("side_by_side")
    for name, weights in (("bert", 1000), ("modernbert", 985)):
        write_log(tmp_path / name, 50.0, weights)
        for seed, f1 in enumerate((0.1, 0.3)):
            (tmp_path / "tuned" / f"{name}-{seed}").mkdir(parents=True)
            (tmp_path / "tuned" / f"{name}-{seed}" / "scores.json").write_text(json.dumps({"f1": f1}))
    said = side_by_side.report(tmp_path, ["bert", "modernbert"])
    assert said == (tmp_path / "report.md").read_text()
    assert "Each model has read 200 tokens in 2 steps" in said
    assert "| bert | 2 x 8 | 1,000 | 3.000 | 4.000 | 25.0% | 50 | 20.0% (10.0% to 30.0%) | - |" in said
    assert "| modernbert | 2 x 8 | 985 |" in said


@pytest.mark.parametrize(
    ("speed", "weights", "message"),
    [
        (50.0, 979, "bert has 1,000 parameters and other 979, more than 2% apart"),
        (51.0, 1000, "different numbers of tokens: bert 200 in 2 steps, other 204 in 2 steps"),
    ],
)
def test_models_of_other_sizes_or_tokens_are_not_compared(
    tmp_path: Path, speed: float, weights: int, message: str
) -> None:
    side_by_side = importlib.import_module("side_by_side")
    write_log(tmp_path / "bert", 50.0, 1000)
    write_log(tmp_path / "other", speed, weights)
    with pytest.raises(SystemExit, match=message):
        side_by_side.report(tmp_path, ["bert", "other"])
    with pytest.raises(SystemExit, match="has no finished model"):
        side_by_side.report(tmp_path, ["missing"])


@pytest.mark.costly
def test_the_checks_of_a_device_pass_on_a_cpu_and_fail_where_something_differs(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch, gpu = importlib.import_module("torch"), importlib.import_module("gpu")
    device = torch.device("cpu")
    assert gpu.masks_differ(corpus, device) == []
    assert gpu.packed(corpus, device).agree

    attention = importlib.import_module("bertdata.torch.models.attention")
    monkeypatch.setattr(attention.PackedSequences, "attended", lambda self: self.taken[:, None, None, :])
    assert not gpu.packed(corpus, device).agree, "packed rows without the window of local layers"
    right = gpu.DeviceCollator.finish
    monkeypatch.setattr(
        gpu.DeviceCollator, "finish", lambda self, batch: right(self, {**batch, "epochs": batch["epochs"] * 0})
    )
    assert gpu.masks_differ(corpus, device) == list(gpu.UNITS)


def test_a_run_that_failed_and_masks_that_differ_are_in_the_report(tmp_path: Path) -> None:
    torch, gpu = importlib.import_module("torch"), importlib.import_module("gpu")
    packed = {"difference": 0.3, "rounding": 0.1, "kernel": [True, False]}
    loader = {"bert": {"tokens_per_second": 2e6}}
    checks = {"masks_that_differ": {"bert/128": ["word"], "bert/512": []}, "packed": packed, "loader": loader}
    (tmp_path / "checks.json").write_text(json.dumps(checks))
    said = gpu.report(tmp_path, ["bert-eager"], torch.device("cpu"), 256)["report"]
    assert "**bert-eager failed**" in said
    assert "**masks differ** in bert/128: word" in said
    assert "bit for bit" not in said
    assert "**Packed rows differ** (torch's `varlen_attn`, no windows)" in said
    assert json.loads((tmp_path / "report.json").read_text())["failed"] == ["bert-eager"]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_tiny_run_ends_with_a_report_and_is_not_done_twice(tmp_path: Path) -> None:
    written: list[dict[Path, int]] = []
    for _ in range(2):
        done = run(ROOT / "runs" / "tiny.sh", tmp_path / "run", STEPS="4", SEEDS="0")
        assert done.returncode == 0, done.stderr[-3000:]
        rows = (tmp_path / "run" / "report.md").read_text().splitlines()[-2:]
        assert [row.split("|")[1].strip() for row in rows] == ["bert", "modernbert"]
        assert (tmp_path / "run" / "curves.svg").read_text().startswith("<svg")
        written.append({path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "tuned").rglob("scores.json")})
        assert len(written[0]) == 4
    assert written[0] == written[1]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_gpu_run_reports_on_a_cpu(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    parts = [f"<!-- runs/gpu.sh, {part}: {end} -->" for part in ("report", "memory") for end in ("begin", "end")]
    page.write_text("\n".join(["Before", *parts, "After"]))
    done = run(ROOT / "runs" / "gpu.sh", tmp_path / "run", DEVICE="cpu", STEPS="2", DOCS=str(page))
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert [(run["run"], run["max_seq_length"], run["steps"]) for run in report["runs"]] == [
        ("bert-512-fast", 64, 2),
        ("modernbert-tokens-fast", 256, 2),
        ("bert-512-reference", 64, 2),
        ("modernbert-tokens-reference", 256, 2),
        ("bert-eager", 32, 2),
        ("bert-eager", 64, 2),
        ("modernbert-packed-eager", 256, 2),
        ("bert-parts-2", 64, 2),
        ("bert-transformers-parts-2", 64, 2),
    ]
    assert report["checks"]["passed"]
    checked = done.stdout.partition("== checks")[2].partition("== pretrain")[0]
    assert "Packed and padded rows agree" in checked, "what a part found is there before the next one begins"
    assert done.stdout.count('{"step": 2, ') + done.stdout.count('{"step": 4, ') == 8, "the last line of each run"
    written = page.read_text()
    assert "Packed and padded rows agree" in written
    assert "times the tokens/s of transformers" in written
    assert "| bert-transformers | 64 | 4 | 2 |" in written.partition(parts[2])[2]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_modernbert_agrees_with_transformers_before_it_is_timed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    modernbert = importlib.import_module("modernbert")
    sizes = ["--lengths", "64", "--tokens", "128", "--rounds", "1", "--config", "modernbert-tiny"]
    monkeypatch.setattr(sys, "argv", ["modernbert.py", *sizes])
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    modernbert.main()
    assert capsys.readouterr().out.count("| 64 |") == len(modernbert.WAYS)


@pytest.mark.parametrize("module", ["_word_tasks", "side_by_side", "gpu"])
def test_the_examples_in_docstrings_are_true(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0
