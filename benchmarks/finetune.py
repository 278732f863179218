"""Fine-tuning data against transformers' recipes with `datasets.map`: labelled examples a second, one core.

Run: python benchmarks/finetune.py [--examples 8000] [--rounds 3]
Both go from the same JSON lines to a data set on disk, `encode-task` in one process, the recipe in another, in turns,
each round with examples of its own; seconds are of processor time, without imports. Before it
measures, it checks that the features are the same: ids, token types, labels or positions of the answer, row by row. The
examples are sentences and paragraphs of the articles of `BERTDATA_DATA`, else of the sample books; their labels, tags
and answers are made up. The peer's environment is made in a cache folder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

PEERS = ["torch", "transformers>=4.50", "datasets>=3"]
LENGTHS = {"classification": 128, "token-classification": 128, "question-answering": 384}
COLUMNS = {
    "classification": ("input_ids", "token_type_ids", "label"),
    "token-classification": ("input_ids", "token_type_ids", "labels"),
    "question-answering": ("input_ids", "token_type_ids", "start_positions", "end_positions"),
}
STRIDE, TAGS = 128, 5
Row = dict[str, Any]


def main() -> None:
    """Check that the features are the same, then measure both ways in turns, and print one table."""
    import _harness as harness

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=8000, help="examples of one round (default: 8000)")
    parser.add_argument("--rounds", type=int, default=3)
    flags = parser.parse_args()
    peers = harness.environment_of("loader", PEERS)
    rows = []
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        prepare(Path(folder), flags.examples, flags.rounds + 1)
        for task, length in LENGTHS.items():
            contestants = {
                way: harness.Contestant([python, __file__, "--work", folder, way, task], core=0)
                for way, python in (("ours", sys.executable), ("peer", peers))
            }
            if contestants["ours"].first != contestants["peer"].first:
                sys.exit(f"the features of {task} differ: {[contestant.first for contestant in contestants.values()]}")
            said = harness.interleaved(contestants, flags.rounds)
            for contestant in contestants.values():
                contestant.end()
            speeds = {way: flags.examples / harness.median(answers, "seconds") for way, answers in said.items()}
            ratio = f"{speeds['ours'] / speeds['peer']:.1f}"
            rows.append(
                [
                    f"{task.replace('-', ' ')}, rows of {length}",
                    f"{speeds['peer']:,.0f}",
                    f"{speeds['ours']:,.0f}",
                    ratio,
                ]
            )
    print(f"{flags.examples:,} examples a round, one core of {harness.machine()}; the median of {flags.rounds}.\n")
    print(harness.table(["task", "recipe, examples/s", "`bertdata encode-task`, examples/s", "ratio"], rows))


def prepare(folder: Path, examples: int, rounds: int) -> None:
    """Write the examples of each task and round, no two alike, and the tokenizer."""
    from _articles import texts, tokenizer_of

    from bertdata.sentences import SentenceSegmenter

    documents, _ = texts(examples * rounds * 800.0)
    tokenizer_of(documents).save_pretrained(str(folder / "tokenizer"))
    segmenter = SentenceSegmenter.from_pretrained("english")
    every = chain.from_iterable(map(segmenter.segment, documents))
    sentences = [sentence for sentence in every if 3 < len(sentence.split()) < 100]
    contexts = [" ".join(sentences[at : at + 1 + at % 17]) for at in range(0, len(sentences) - 20, 16)]
    makers = {
        "classification": pairs(sentences),
        "token-classification": tagged(sentences),
        "question-answering": asked(contexts),
    }
    for task, made in makers.items():
        for number in range(rounds):
            lines = [json.dumps(row) + "\n" for row, _ in zip(made, range(examples), strict=False)]
            if len(lines) < examples:
                sys.exit(
                    f"there is text for {number * examples + len(lines)} examples of {task}; give fewer --examples"
                )
            (folder / f"{task}-{number}.jsonl").write_text("".join(lines), "utf-8")


def pairs(sentences: list[str]) -> Iterator[Row]:
    """Yield neighbouring sentences, every seventh pair long, with a label."""
    for at in range(0, len(sentences) - 10, 2):
        second = sentences[at + 1] if at % 14 else " ".join(sentences[at + 1 : at + 6])
        yield {"sentence1": sentences[at], "sentence2": second, "label": at // 2 % 3}


def tagged(sentences: list[str]) -> Iterator[Row]:
    """Yield the words of sentences with a tag each."""
    for number, sentence in enumerate(sentences):
        words = sentence.split()
        yield {"tokens": words, "ner_tags": [(number + len(word)) % TAGS for word in words]}


def asked(contexts: list[str]) -> Iterator[Row]:
    """Yield questions, four on a context; the answer is a few words of the context."""
    for number in range(4 * len(contexts)):
        context = contexts[number // 4]
        words = context.split(" ")
        first = number * 7 % max(1, len(words) - 4)
        answer, start = " ".join(words[first : first + 3]), len(" ".join(words[:first])) + (first > 0)
        if answer.strip() == answer and answer:
            yield {
                "id": f"question {number}",
                "question": f"What stands behind {words[max(0, first - 1)]}?",
                "context": context,
                "answers": {"text": [answer], "answer_start": [start]},
            }


def work(folder: Path, way: str, task: str) -> None:
    """Be a contestant: say what the features of the first round are, then encode the next when a line comes."""
    run = ours(folder, task) if way == "ours" else peer(folder, task)
    output = folder / f"{way}-{task}"
    print(json.dumps(digest(run(folder / f"{task}-0.jsonl", output), task)), flush=True)
    for number, _ in enumerate(sys.stdin, 1):
        shutil.rmtree(output)
        began = time.process_time()
        run(folder / f"{task}-{number}.jsonl", output)
        print(json.dumps({"seconds": time.process_time() - began}), flush=True)


Run = Callable[[Path, Path], Callable[[str], list[Any]]]


def ours(folder: Path, task: str) -> Run:
    """Return what encodes a file by `encode-task`; that returns the columns it wrote by name."""
    from bertdata.finetune.settings import Columns, TaskConfig
    from bertdata.finetune.task_shards import encode_task
    from bertdata.shards import open_shards

    config = TaskConfig(task=task, max_seq_length=LENGTHS[task], doc_stride=STRIDE)
    labels = {"classification": range(3), "token-classification": range(TAGS)}.get(task, ())
    columns = Columns(labels=tuple(map(str, labels)))

    def run(path: Path, output: Path) -> Callable[[str], list[Any]]:
        encode_task(output, str(folder / "tokenizer"), {"train": str(path)}, config, columns)
        return lambda name: open_shards(output).table[name].to_pylist()

    return run


def peer(folder: Path, task: str) -> Run:
    """Return what encodes a file by the recipe; that returns the columns it wrote by name."""
    import datasets
    from _recipes import recipe
    from transformers import AutoTokenizer

    datasets.disable_progress_bars()
    tokenizer = AutoTokenizer.from_pretrained(str(folder / "tokenizer"))
    encode = recipe(task, tokenizer, LENGTHS[task], STRIDE)

    def run(path: Path, output: Path) -> Callable[[str], list[Any]]:
        rows = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(output / "cache"))
        rows.map(encode, batched=True, remove_columns=rows.column_names).save_to_disk(str(output / "rows"))
        return lambda name: list(datasets.load_from_disk(str(output / "rows"))[name])

    return run


def digest(column: Callable[[str], list[Any]], task: str) -> dict[str, Any]:
    """Return what two ways must have in common: the number of rows, and a digest of each column."""
    values = {name: column(name) for name in COLUMNS[task]}
    digests = {name: hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16] for name, value in values.items()}
    return {"rows": len(values["input_ids"])} | digests


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        main()
