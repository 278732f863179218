"""What `runs/tiny.sh` needs around `bertdata`: a task made from the corpus, models from scratch, and the comparison.

    python benchmarks/side_by_side.py task CORPUS OUTPUT     sentences that no model was pretrained on, as a task
    python benchmarks/side_by_side.py fresh CORPUS MODEL OUTPUT --seed 0    the same architecture, random weights
    python benchmarks/side_by_side.py report FOLDER bert modernbert         report.md and curves.svg in the folder

In the folder are the runs of `bertdata pretrain` by name, and in `tuned/` the scores of `bertdata finetune`:
`NAME-SEED` of the pretrained model, `NAME-scratch-SEED` of the fresh one.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from _fresh import write_fresh
from _harness import machine, table
from _word_tasks import LENGTHS, TASKS, write_examples

from bertdata.counter_rng import bits, key, text_bits
from bertdata.documents import slot
from bertdata.sentences import SentenceSegmenter
from bertdata.torch.training.curves import draw as curves_picture
from bertdata.torch.training.finetune import SCORES
from bertdata.torch.training.metrics_log import LOG, LogRecord, read

TOLERANCE = 0.02
"""How much the numbers of parameters may differ, as a share of the larger."""
LAST = 200
"""Steps at the end of a run whose training loss is averaged."""
EVERY = 4
"""One held-out document in so many is for the validation examples of the task, the others to learn from."""


def held_out(corpus: Path) -> list[str]:
    """Return the texts of the documents in a build's validation split: those of the lowest slots.

    Needs the folder `stages` of the build. Ends this process where there is no validation split.
    """
    splits = json.loads((corpus / "manifest.json").read_text())["splits"]
    if "validation" not in splits:
        sys.exit(f"{corpus} has no validation split; build with --validation-fraction 0.1, from 20 documents or more")
    columns = [pq.read_table(path, columns=["id", "text"]) for path in sorted(corpus.glob("stages/*/*.parquet"))]
    documents = sorted(
        pa.concat_tables(columns).to_pylist(), key=lambda document: (slot(document["id"]), document["id"])
    )
    return [document["text"] for document in documents[: splits["validation"]["counts"]["documents"]]]


def sentences(texts: Sequence[str], number: int) -> list[list[str]]:
    """Return the words of at most so many whole sentences of 5 to 16 words, in an order drawn by the words."""
    segmenter = SentenceSegmenter.from_pretrained("english")
    outputs = {}
    for text in texts:
        for sentence in segmenter.segment(text):
            words = sentence.split()
            if len(words) in LENGTHS and sentence[0].isupper() and sentence.endswith((".", "?", "!")):
                outputs[" ".join(words)] = words
    drawn = key(0, "task order")
    return [
        outputs[output_text]
        for output_text in sorted(outputs, key=lambda output_text: int(bits(drawn, text_bits(output_text))))
    ][:number]


def write_task(corpus: Path, output: Path, task: str, number: int) -> dict[str, int]:
    """Write `train.jsonl` and `validation.jsonl` of a task from the held-out documents, and return their sizes.

    The two have no document in common. Ends this process where there are too few sentences.
    """
    texts, sizes = held_out(corpus), {}
    parts = {"train": [text for place, text in enumerate(texts) if place % EVERY], "validation": texts[::EVERY]}
    output.mkdir(parents=True, exist_ok=True)
    for split, most in (("train", number), ("validation", max(number // EVERY, 1))):
        rows = sentences(parts[split], most)
        if not rows:
            sys.exit(f"the {len(texts)} held-out documents of {corpus} have no sentences for {split}; hold out more")
        write_examples(output / f"{split}.jsonl", map(TASKS[task], rows))
        sizes[split] = len(rows)
    return sizes


@dataclass(frozen=True)
class Result:
    """What a run came to: its size, its last losses, its median speed, and the F1s of its fine-tuned models."""

    name: str
    layers: str
    parameters: int
    steps: int
    tokens: int
    loss: float
    validation_loss: float
    accuracy: float
    tokens_per_second: float
    pretrained: list[float]
    scratch: list[float]


def result(folder: Path, name: str) -> Result:
    """Return the result of a finished run; ends this process where it is not finished."""
    import safetensors

    run = folder / name
    if not (run / "model.safetensors").exists():
        sys.exit(f"{run} has no finished model; run the same command again, and it continues")
    with safetensors.safe_open(run / "model.safetensors", framework="numpy") as file:
        shapes = [file.get_slice(tensor).get_shape() for tensor in file.keys()]  # noqa: SIM118
    config, records = json.loads((run / "config.json").read_text()), read(run / LOG)
    last, validated = records[-1], [record for record in records if "validation_mlm_loss" in record][-1]
    ended = [record["mlm_loss"] for record in records if record["step"] > last["step"] - LAST]
    return Result(
        name,
        f"{config['num_hidden_layers']} x {config['hidden_size']}",
        sum(map(math.prod, shapes)),
        int(last["step"]),
        round(sum(tokens_of(records))),
        statistics.fmean(ended),
        validated["validation_mlm_loss"],
        validated["validation_mlm_accuracy"],
        statistics.median(record["tokens_per_second"] for record in records),
        list(scores(folder, name)),
        list(scores(folder, f"{name}-scratch")),
    )


def tokens_of(records: Sequence[LogRecord]) -> Iterator[float]:
    """Yield the tokens of each line of a log: its rate, times its seconds a step, times its steps.

    >>> list(tokens_of([{"step": 10, "tokens_per_second": 50.0, "seconds_per_step": 0.5}]))
    [250.0]
    """
    before = 0.0
    for record in records:
        yield record["tokens_per_second"] * record["seconds_per_step"] * (record["step"] - before)
        before = record["step"]


def scores(folder: Path, name: str) -> Iterator[float]:
    """Yield the F1 of each seed of a fine-tuned model, in the order of the seeds."""
    for path in sorted((folder / "tuned").glob(f"{name}-[0-9]*/{SCORES}")):
        yield float(json.loads(path.read_text())["f1"])


def require_equal(results: Sequence[Result]) -> None:
    """End this process where parameters differ by more than the tolerance, or the models have read other tokens."""
    most, least = (pick(results, key=lambda result: result.parameters) for pick in (max, min))
    if most.parameters - least.parameters > TOLERANCE * most.parameters:
        sys.exit(
            f"{most.name} has {most.parameters:,} parameters and {least.name} {least.parameters:,}, more than "
            f"{TOLERANCE:.0%} apart; change layers or widths by --config-overrides"
        )
    if len({result.tokens for result in results}) > 1:
        read_by = ", ".join(f"{result.name} {result.tokens:,} in {result.steps:,} steps" for result in results)
        sys.exit(f"the models have read different numbers of tokens: {read_by}; pretrain them with the same settings")


def cell(values: Sequence[float]) -> str:
    """Return a mean with the lowest and the highest.

    >>> cell([0.25, 0.35, 0.3]), cell([])
    ('30.0% (25.0% to 35.0%)', '-')
    """
    return f"{statistics.fmean(values):.1%} ({min(values):.1%} to {max(values):.1%})" if values else "-"


def report(folder: Path, names: Sequence[str]) -> str:
    """Write `report.md` and `curves.svg` on finished runs into their folder, and return the report.

    Ends this process where the runs are not of equal size (`require_equal`).
    """
    results = [result(folder, name) for name in names]
    require_equal(results)
    head = ["model", "layers x width", "parameters", "loss", "validation loss", "accuracy", "tokens/s"]
    rows = [
        [
            *(one.name, one.layers, f"{one.parameters:,}", f"{one.loss:.3f}", f"{one.validation_loss:.3f}"),
            *(f"{one.accuracy:.1%}", f"{one.tokens_per_second:,.0f}"),
            *(cell(one.pretrained), cell(one.scratch)),
        ]
        for one in results
    ]
    read_by_each = f"{results[0].tokens:,} tokens in {results[0].steps:,} steps"
    text = f"Each model has read {read_by_each}; {machine()}.\n\n"
    text += table([*head, "fine-tuned, F1", "the same from scratch, F1"], rows) + "\n"
    (folder / "report.md").write_text(text)
    draw(folder, names)
    return text


def draw(folder: Path, names: Sequence[str]) -> None:
    """Draw the curves of all runs in one picture: the losses in training and validation, and the accuracy."""
    panels = {
        "training_loss": "mlm_loss",
        "validation_loss": "validation_mlm_loss",
        "validation_accuracy": "validation_mlm_accuracy",
    }
    logs = {name: read(folder / name / LOG) for name in names}
    curves = {
        label: {
            name: [(record["step"], record[field]) for record in records if field in record]
            for name, records in logs.items()
        }
        for label, field in panels.items()
    }
    (folder / "curves.svg").write_bytes(curves_picture(curves, x_label="step"))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    task = verbs.add_parser("task", help="write a task of the held-out documents of a build")
    task.add_argument("corpus", type=Path)
    task.add_argument("output", type=Path)
    task.add_argument("--task", choices=TASKS, default="order")
    task.add_argument("--sentences", type=int, default=2000, help="to learn from; a quarter as many to be scored on")
    fresh = verbs.add_parser("fresh", help="write a model with the config of another and random weights")
    fresh.add_argument("corpus", type=Path)
    fresh.add_argument("model", type=Path)
    fresh.add_argument("output", type=Path)
    fresh.add_argument("--seed", type=int, default=0)
    reported = verbs.add_parser("report", help="compare finished runs")
    reported.add_argument("folder", type=Path)
    reported.add_argument("names", nargs="+")
    return parser


def main() -> None:
    """Do what the first argument names, and print what came of it."""
    arguments = make_parser().parse_args()
    if arguments.verb == "task":
        print(write_task(arguments.corpus, arguments.output, arguments.task, arguments.sentences))
    elif arguments.verb == "fresh":
        print(write_fresh(arguments.corpus, str(arguments.model), arguments.output, arguments.seed))
    else:
        print(report(arguments.folder, arguments.names))


if __name__ == "__main__":
    main()
