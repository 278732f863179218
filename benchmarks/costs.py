"""What a training step costs on a CPU: each model and objective of `bertdata pretrain`, one core each.

Run: python benchmarks/costs.py [--steps 30] [--rounds 3] [--only NAME ...]
Every way trains a model of the same size (4 layers of 256, the vocabulary of bertdata-30k-uncased) on the sample
corpus, by the public `pretrain`, in a process of its own with one thread: batches of 16 rows of 128, of which packed
rows need only their tokens. It prints processor time and memory of a step, and the weights that the optimizer moves;
times are medians of the rounds, in which the ways take turns, from step 10 to the last. What is dear on a CPU need not
be so on a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OVER = 10
"""Steps at the beginning that are not counted: in them torch allocates and kernels are loaded."""
SIZE = {"num_hidden_layers": 4, "hidden_size": 256, "intermediate_size": 1024, "num_attention_heads": 4}
MODERN = {"num_hidden_layers": 4, "hidden_size": 256, "intermediate_size": 384, "num_attention_heads": 4}
DEBERTA = SIZE | {
    "model_type": "deberta-v2",
    "relative_attention": True,
    "position_buckets": 64,
    "max_relative_positions": -1,
}
DEBERTA |= {"pos_att_type": ["p2c", "c2p"], "share_att_key": True, "norm_rel_ebd": "layer_norm"}
DEBERTA |= {"position_biased_input": False, "type_vocab_size": 0}


@dataclass(frozen=True)
class Way:
    """A model, and how it is trained: what `pretrain` is given, on which shards.

    Without a `config` it is a `config.json` with the overrides, which may then be fields that only some models of a
    type have.
    """

    config: str
    objective: str = "doc-sentences"
    build: tuple[str, ...] = ()
    library: str = "bertdata"
    overrides: dict[str, Any] = field(default_factory=lambda: SIZE)
    settings: dict[str, Any] = field(default_factory=dict)
    distillation: dict[str, Any] | None = None


def distilled(name: str, **settings: Any) -> Way:
    """Return the way to train a BERT with a teacher of the same size."""
    return Way("mini", distillation={"distillation": name, "student_weights": "random", **settings})


PACKED = {"packing": True}
DETECTION = {"training_objective": "replaced-token-detection"}
SPANS = ("--mask-unit", "span")
WAYS = {
    "BERT, padded": Way("mini"),
    "BERT, packed": Way("mini", settings=PACKED),
    "BERT, pairs (nsp)": Way("mini", "nsp"),
    "ALBERT, pairs (sop)": Way("albert-tiny", "sop"),
    "ModernBERT, padded": Way("modernbert-mini", overrides=MODERN),
    "ModernBERT, packed": Way("modernbert-mini", overrides=MODERN, settings=PACKED),
    "ELECTRA": Way("electra-tiny"),
    "BERT, span-boundary": Way("mini", build=SPANS, settings={"training_objective": "span-boundary"}),
    "BERT, distilbert": distilled("distilbert"),
    "BERT, tinybert": distilled("tinybert"),
    "BERT, minilm": distilled("minilm", relation_heads=32),
    "BERT of transformers": Way("bert", library="transformers"),
    "DeBERTa-v2 of transformers": Way("", library="transformers", overrides=DEBERTA),
    "DeBERTa-v2, replaced-token-detection": Way("", library="transformers", overrides=DEBERTA, settings=DETECTION),
}


def main() -> None:
    """Build the rows, measure the ways in turns, and print one table."""
    from _harness import machine, table

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=WAYS, default=list(WAYS), metavar="NAME")
    flags = parser.parse_args()
    if flags.steps <= OVER:
        parser.error(f"--steps {flags.steps} has none after the first {OVER}, which are not counted")
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        place = Path(folder)
        prepare(place, [WAYS[name] for name in flags.only])
        seconds: dict[str, list[dict[str, float]]] = {name: [] for name in flags.only}
        for _ in range(flags.rounds):
            for name in flags.only:
                seconds[name].append(one_run(place, name, flags.steps))
    rounds = f"the median of {flags.rounds} rounds" if flags.rounds > 1 else "one round"
    print(f"4 layers of 256, batches of 16 rows of 128, float32, one core of {machine()}; {rounds}.\n")
    first = flags.only[0]
    head = ["model", "weights trained", "ms a step", f"times {first}", "GiB at most"]
    print(table(head, [line(name, seconds[name], seconds[first]) for name in flags.only]))


def line(name: str, runs: Sequence[dict[str, float]], first: Sequence[dict[str, float]]) -> list[str]:
    """Return the line of a way in the table.

    >>> run = {"weights": 2e6, "seconds": 0.5, "gib": 1.25}
    >>> line("ALBERT", [run], [run | {"seconds": 0.25}])
    ['ALBERT', '2.0 M', '500', '2.00', '1.25']
    """
    spent, before = (statistics.median(run["seconds"] for run in these) for these in (runs, first))
    most = max(run["gib"] for run in runs)
    weights = f"{runs[0]['weights'] / 1e6:.1f} M"
    return [name, weights, f"{1000 * spent:,.0f}", f"{spent / before:.2f}", f"{most:.2f}"]


def prepare(place: Path, ways: Sequence[Way]) -> None:
    """Build the rows that the ways are trained on, and a teacher where one of them has one."""
    for way in ways:
        if not rows_of(place, way).exists():
            command = ["build", "--output", str(rows_of(place, way)), "--vocab", "bertdata-30k-uncased"]
            command += ["--objective", way.objective, "--max-seq-length", "128", *way.build]
            subprocess.run([sys.executable, "-m", "bertdata", *command], check=True, stdout=subprocess.DEVNULL)
    taught = [way for way in ways if way.distillation]
    if taught:
        from _fresh import write_fresh

        write_fresh(rows_of(place, taught[0]), "mini", place / "teacher", 1, SIZE)


def written(folder: Path, config: dict[str, Any]) -> str:
    """Write `config.json` into a new folder with the size of the vocabulary, and return the folder."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": 30_000}))
    return str(folder)


def rows_of(place: Path, way: Way) -> Path:
    """Return where the rows of a way are."""
    return place / "-".join([way.objective, *way.build]).replace("--", "")


def one_run(place: Path, name: str, steps: int) -> dict[str, float]:
    """Train one way in a process of its own with one thread, and return what it measured."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TOKENIZERS_PARALLELISM"), "1")
    environment = os.environ | one_thread | {"HF_HUB_OFFLINE": "1"}
    command = [sys.executable, __file__, "--work", str(place), name, str(steps)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr}")
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def work(place: Path, name: str, steps: int) -> None:
    """Train one way, and print seconds of a step, weights that the optimizer moves, and GiB of memory at most."""
    import torch

    from bertdata.torch.distillation.settings import DistillationSettings
    from bertdata.torch.training.pretrain import pretrain
    from bertdata.torch.training.settings import PretrainSettings

    way, spent = WAYS[name], dict[float, float]()
    settings: dict[str, Any] = {"max_steps": steps, "batch_size": 16, "eval_steps": 0, "num_workers": 0}
    settings |= {"logging_steps": 1, "save_steps": steps, "device": "cpu"} | way.settings
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as output:
        done = pretrain(
            rows_of(place, way),
            way.config or written(Path(output, "config"), way.overrides),
            Path(output, "model"),
            PretrainSettings(**settings),
            library=way.library,
            config_overrides=way.overrides if way.config else None,
            teacher=place / "teacher" if way.distillation else "",
            distillation=DistillationSettings(**way.distillation) if way.distillation else None,
            report=lambda record: spent.update({record["step"]: time.process_time()}),
        )
        (kept,) = Path(output).glob("model/checkpoints/*/optimizer.pt")
        state = torch.load(kept, weights_only=True)["state"]
    weights = sum(moments["exp_avg"].numel() for moments in state.values())
    seconds = (spent[steps] - spent[OVER]) / (steps - OVER)
    print(json.dumps({"seconds": seconds, "weights": weights, "gib": done["peak_rss_gib"]}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    else:
        main()
