"""The example scripts of transformers, run unchanged as a user would: one model fine-tuned, and its score read."""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

SCRIPTS: dict[str, tuple[str, dict[str, str]]] = {
    "classification": (
        "text-classification/run_classification.py",
        {
            "text_column_names": "text",
            "label_column_name": "label",
            "metric_name": "accuracy",
            "pad_to_max_length": "False",
        },
    ),
    "token-classification": (
        "token-classification/run_ner.py",
        {"text_column_name": "tokens", "label_column_name": "tags"},
    ),
}
"""The script of a task, below `examples/pytorch` of transformers, and the flags that say what is in its data."""
_FORKS = multiprocessing.get_context("forkserver")
"""A script runs in a fork of a process that has imported what it needs, which takes longer than a small fine-tuning."""
METRICS = {"classification": "eval_accuracy", "token-classification": "eval_f1"}
"""The name of the score in what a script writes."""


def check_checkout(scripts: Path, metrics: Path | None) -> None:
    """Stop where the scripts, the metrics or the package `evaluate` are not there."""
    wanted = [scripts / "examples" / "pytorch" / name for name, _ in SCRIPTS.values()]
    wanted += [metrics / "metrics" / name for name in ("accuracy", "seqeval")] if metrics else []
    if missing := [str(path) for path in wanted if not path.exists()]:
        sys.exit(
            f"{missing[0]}: there is no such file; give --scripts the folder of `git clone "
            "https://github.com/huggingface/transformers`, and --metrics that of huggingface/evaluate"
        )
    if importlib.util.find_spec("evaluate") is None:
        sys.exit("the scripts of transformers need: pip install evaluate seqeval")


def score_of_script(
    task: str,
    scripts: Path,
    metrics: Path | None,
    files: Mapping[str, Path],
    model: Path,
    output: Path,
    flags: Mapping[str, object],
) -> float:
    """Return the score of a model that a script of transformers fine-tuned.

    files: the examples of `train` and `validation`, by split. metrics: a checkout of huggingface/evaluate, in whose
    folder of metrics the script runs, for it looks there before it asks the hub; None lets it ask the hub. Ends this
    process with what the script printed where it fails.
    """
    name, columns = SCRIPTS[task]
    given = {
        "model_name_or_path": model,
        "train_file": files["train"],
        "validation_file": files["validation"],
        "output_dir": output,
        "report_to": "none",
        "save_strategy": "no",
        "logging_strategy": "no",
        "disable_tqdm": "True",
        "use_cpu": "True",
        **columns,
        **flags,
    }
    command = [str(scripts / "examples" / "pytorch" / name), "--do_train", "--do_eval"]
    command += [text for flag, value in given.items() for text in (f"--{flag}", str(value))]
    output.mkdir(parents=True)
    environment = {"HF_HOME": str(output.parent / "hub")}  # what datasets and evaluate keep is gone with the folder
    names = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE")
    environment |= dict.fromkeys(names, "1" if metrics else "0")
    os.environ.update(environment)  # before the first process is started, which the others are forks of
    _FORKS.set_forkserver_preload(["__main__", "datasets", "evaluate", "transformers.trainer"])
    place = metrics / "metrics" if metrics else output.parent
    process = _FORKS.Process(target=_run, args=(command, place, output / "printed.txt"))
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(f"{name} failed: {(output / 'printed.txt').read_text()}")
    values: dict[str, float] = json.loads((output / "eval_results.json").read_text())
    return values[METRICS[task]]


def _run(command: Sequence[str], place: Path, printed: Path) -> None:
    """Run a script with its arguments in a folder, as `python SCRIPT ...` there; what it prints goes to a file."""
    with printed.open("w") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    os.chdir(place)
    sys.argv, sys.path[0] = [*command], str(Path(command[0]).parent)
    runpy.run_path(command[0], run_name="__main__")
