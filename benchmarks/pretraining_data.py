"""From text to examples on disk, against BERT's released script on the same text and settings: seconds, one core.

Run: python benchmarks/pretraining_data.py [--megabytes 2] [--rounds 3]
The text is one sentence a line, a blank line between documents; each round has text of its own. Rows of 128, NSP, 20
predictions at most, a tenth of the chunks short, as the script's defaults are; 10 copies, its default, and 1.
`_create_pretraining_data` is the script's way, to TFRecords. Ours reads the same file (Punkt may cut a line further),
and writes documents, the token store, and shards, with their records. Before it measures, it checks that the
ids of every document are the same, and the rows of each: their length, the balance of labels, the share of tokens that
is predicted. Seconds are of processor time, without what is loaded once (vocabulary, sentence parameters). The articles
are those of `BERTDATA_DATA`, else the sample books.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bertdata.sentences import SentenceSegmenter
    from bertdata.tokenizers.wordpiece import WordPieceTokenizer

LENGTH, PREDICTIONS, COPIES = 128, 20, (10, 1)
GOOGLE, STATIC, DYNAMIC = "google", "static", "dynamic"
WAYS = {
    GOOGLE: "BERT's create_pretraining_data (our own faithful copy)",
    STATIC: "bertdata, static masks",
    DYNAMIC: "bertdata, dynamic masks",
}
Answer = dict[str, Any]


def main() -> None:
    """Check the rows of every way, then measure them in turns and print one table."""
    import _harness as harness

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=2, help="text of one round (default: 2)")
    parser.add_argument("--rounds", type=int, default=3)
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        size = prepare(Path(folder), flags.megabytes * 1e6, flags.rounds + 1)
        print(f"One core of {harness.machine()}; {size}, processor time.\n")
        rows = []
        for copies in COPIES:
            contestants = {
                name: harness.Contestant([sys.executable, __file__, "--work", folder, way, str(copies)], core=0)
                for way, name in WAYS.items()
            }
            check({name: contestant.first for name, contestant in contestants.items()})
            said = harness.interleaved(contestants, flags.rounds)
            for contestant in contestants.values():
                contestant.end()
            spent = {name: sum(answer["seconds"] for answer in answers) for name, answers in said.items()}
            tokens = sum(answer["tokens"] for answer in next(iter(said.values())))
            slowest = next(iter(spent.values()))
            rows += [
                [
                    name,
                    str(copies),
                    f"{seconds:.2f}",
                    f"{copies * tokens / seconds / 1e6:.2f}",
                    f"{slowest / seconds:.1f}",
                ]
                for name, seconds in spent.items()
            ]
        title = f"text of {tokens / 1e6:.1f} million tokens to examples"
        print(harness.table([title, "copies", "seconds", "million tokens/s, copies counted", "ratio"], rows))


def check(first: dict[str, Answer]) -> None:
    """End the run where tokens differ, rows are too long, labels one-sided, or predictions another share."""
    for name, answer in first.items():
        if len({answer["ids"], next(iter(first.values()))["ids"]}) > 1:
            sys.exit(f"{name} has other tokens than {next(iter(first))}")
        if answer["longest"] > LENGTH or not 0.13 < answer["predicted"] < 0.16 or not 0.4 < answer["labels"] < 0.6:
            sys.exit(f"the rows of {name} are not what they should be: {answer}")


def prepare(folder: Path, size: float, rounds: int) -> str:
    """Write a text file of about so many bytes for each round, and the tokenizer; returns what was written."""
    from _articles import texts, tokenizer_of

    from bertdata.sentences import SentenceSegmenter

    documents, name = texts(size * rounds)
    tokenizer_of(documents).save_pretrained(str(folder / "tokenizer"))
    segmenter = SentenceSegmenter.from_pretrained("english")
    lines = [[" ".join(sentence.split()) for sentence in segmenter.segment(document)] for document in documents]
    written = 0
    for number in range(rounds):
        text = "\n\n".join("\n".join(document) for document in lines[number::rounds]) + "\n"
        written += (folder / f"text-{number}.txt").write_text(text, "utf-8")
    return f"{written / rounds / 1e6:.1f} million characters a round, of {name}"


def work(folder: Path, way: str, copies: int) -> None:
    """Be a contestant: describe the examples of the first text, then make those of the next when a line comes."""
    run = google if way == GOOGLE else shards
    output = folder / f"{way}-{copies}"
    print(json.dumps(run(folder, 0, output, way, copies)[1]()), flush=True)
    for number, _ in enumerate(sys.stdin, 1):
        shutil.rmtree(output)
        began = time.process_time()
        tokens, _describe = run(folder, number, output, way, copies)
        print(json.dumps({"seconds": time.process_time() - began, "tokens": tokens}), flush=True)


Run = tuple[int, Callable[[], Answer]]


def google(folder: Path, number: int, output: Path, _way: str, copies: int) -> Run:
    """Make the TFRecords of one text; returns its tokens, and what describes the examples."""
    from _create_pretraining_data import Settings, create_instances, read_documents, read_vocabulary, write_instances

    settings = Settings(LENGTH, PREDICTIONS, copies)
    ids = read_vocabulary(folder / "tokenizer" / "vocab.txt")
    documents = read_documents(folder / f"text-{number}.txt", ids)
    instances = create_instances(documents, list(ids), settings)
    output.mkdir()
    write_instances(instances, ids, output / "examples.tfrecord", settings)

    def describe() -> Answer:
        tokens = sum(len(instance.tokens) for instance in instances)
        return {
            "ids": _digest([ids[piece] for sentence in document for piece in sentence] for document in documents),
            "longest": max(len(instance.tokens) for instance in instances),
            "labels": sum(instance.is_random_next for instance in instances) / len(instances),
            "predicted": sum(len(instance.positions) for instance in instances) / tokens,
        }

    return sum(len(sentence) for document in documents for sentence in document), describe


def shards(folder: Path, number: int, output: Path, way: str, copies: int) -> Run:
    """Make the shards of one text; returns its tokens, and what describes the examples."""
    from bertdata.corpus.plan import plan_shards
    from bertdata.corpus.stage import ShardsSpec, TokensSpec, plan_tokens, shard_part, sharded, tokens_part
    from bertdata.documents import cut_ranges
    from bertdata.engine.parts import run_once
    from bertdata.masking.settings import MaskingConfig
    from bertdata.objectives.settings import ExamplesConfig
    from bertdata.shards.pretraining_info import PretrainingInfo
    from bertdata.shards.settings import ShardsConfig
    from bertdata.sources.formats import Request, SourceFile, write_documents
    from bertdata.sources.plain_text import PLAIN_TEXT
    from bertdata.sources.settings import CleaningConfig

    place = str(folder / "tokenizer")
    tokenizer, segmenter = loaded(place)

    text = SourceFile(str(folder / f"text-{number}.txt"), f"text-{number}.txt", "documents")
    [task], _ = PLAIN_TEXT.plan([text], Request(str(output), 1 << 30, CleaningConfig()))
    record = run_once(task, write_documents)
    plan = plan_shards([record], ShardsConfig(validation_fraction=0))
    tokens = TokensSpec(place, tokenizer.fingerprint, "english", segmenter.fingerprint, plan.ends)
    store = [
        (part_task, run_once(part_task, lambda part, file: tokens_part(tokens, part, file)))
        for part_task in plan_tokens(cut_ranges([(task.path, record)]), str(output / "tokens"), tokens)
    ]
    examples = ExamplesConfig(masking=way, max_seq_length=LENGTH, dupe_factor=copies)
    info = PretrainingInfo.of(tokenizer, examples=examples, masking=MaskingConfig(max_predictions_per_seq=PREDICTIONS))
    spec = ShardsSpec(str(output / "shards"), plan, info, place)
    made = [
        (part_task, run_once(part_task, lambda part, file: shard_part([spec], part, file)))
        for part_task in sharded([spec]).plan(store)
    ]

    def describe() -> Answer:
        import pyarrow as pa

        rows = [row for part_task, _ in store for row in pa.ipc.open_stream(part_task.path).read_all().to_pylist()]
        rows.sort(key=lambda row: int(row["id"].rpartition(":")[2]))
        counts = made[0][1].counts
        tables = [pa.ipc.open_stream(part_task.path).read_all() for part_task, _ in made]
        return {
            "ids": _digest(row["tokens"] for row in rows),
            "longest": max(len(row) for table in tables for row in table["input_ids"].to_pylist()),
            "labels": counts["labels_1"] / counts["examples"],
            "predicted": counts["predictions"] / counts["row_tokens"],
        }

    return sum(metadata.counts["tokens"] for _, metadata in store), describe


@cache
def loaded(place: str) -> tuple[WordPieceTokenizer, SentenceSegmenter]:
    """Return the tokenizer and the segmenter, loaded once."""
    from bertdata.sentences import SentenceSegmenter
    from bertdata.tokenizers.wordpiece import WordPieceTokenizer

    return WordPieceTokenizer.from_pretrained(place), SentenceSegmenter.from_pretrained("english")


def _digest(documents: Iterable[list[int]]) -> str:
    return hashlib.sha256(json.dumps(list(documents)).encode()).hexdigest()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    else:
        main()
