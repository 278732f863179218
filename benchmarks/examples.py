"""Examples and masks against BERT's released way of making them and transformers' collator: tokens a second, one core.

Run: python benchmarks/examples.py [--megabytes 8] [--rounds 3]
All ways work on the tokens of the same documents, NSP rows of 128, one process each, on one core, in turns; seconds are
of processor time. BERT's way is `_create_pretraining_data`, which is spared tokenising and writing. Before it measures,
it checks the rows of each: their length, the balance of labels, the share of tokens that is predicted. The documents
are articles of `BERTDATA_DATA`, else the sample corpus. The peer's environment is made in a cache folder.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("BERTDATA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
PEERS = ["torch", "transformers>=4.50", "datasets>=3"]
LENGTH, BATCH = 128, 256
BUILDS = {
    "BERT's create_pretraining_data, static": "google",
    "bertdata, token store to shards, static": "static",
    "bertdata, token store to shards, dynamic": "dynamic",
}
MASKS = {
    "DataCollatorForLanguageModeling, masks of tensors alone, 256 rows a batch": "collator",
    "DataCollatorForLanguageModeling, called on lists of ids, 256 rows a batch": "collator-call",
    "bertdata mask_tokens, token": "token",
    "bertdata mask_tokens, word": "word",
    "bertdata mask_tokens, ngram": "ngram",
    "bertdata mask_tokens, span": "span",
}
Answer = dict[str, Any]


def main() -> None:
    """Check the rows of every way, then measure them in turns and print one table for each kind of work."""
    import _harness as harness

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=8, help="text to work on (default: 8)")
    parser.add_argument("--rounds", type=int, default=3)
    flags = parser.parse_args()
    peers = harness.environment_of("loader", PEERS)
    print(f"One core of {harness.machine()}; the median of {flags.rounds} rounds, processor time.")
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        text = prepare(folder, flags.megabytes * 1e6)
        for title, ways in ((f"NSP rows of {LENGTH} from {text}", BUILDS), (f"masks of rows of {LENGTH}", MASKS)):
            contestants = {
                name: harness.Contestant(
                    [peers if way.startswith("collator") else sys.executable, __file__, "--work", folder, way], core=0
                )
                for name, way in ways.items()
            }
            for name, one in contestants.items():
                check(name, one.first)
            said = harness.interleaved(contestants, flags.rounds)
            for one in contestants.values():
                one.end()
            speeds = {name: harness.median(answers, "tokens_per_second") for name, answers in said.items()}
            slowest = next(iter(speeds.values()))
            rows = [[name, f"{speed / 1e6:.2f}", f"{speed / slowest:.1f}"] for name, speed in speeds.items()]
            print("\n" + harness.table([title, "million tokens/s", "ratio"], rows))


def check(name: str, first: Answer) -> None:
    """End the run where a way gives rows that are too long, one-sided labels, or another share of predictions."""
    if first["longest"] > LENGTH or not 0.14 < first["predicted"] < 0.16 or not 0.4 < first.get("labels", 0.5) < 0.6:
        sys.exit(f"the rows of {name} are not what they should be: {first}")


def prepare(folder: str, size: float) -> str:
    """Write a token store of documents of about so many bytes, and what the contestants need; returns what it is."""
    from bertdata.config import ExamplesConfig, MaskingConfig, ShardsConfig
    from bertdata.documents import DocumentWriter, cut_ranges
    from bertdata.records import Record, Tally, Task, run_once
    from bertdata.sentences import SentenceSegmenter
    from bertdata.shards.parts import ShardsSpec, TokensSpec, plan_tokens, shard_tasks, tokens_part
    from bertdata.shards.plan import plan_shards
    from bertdata.shards.schema import shard_info
    from bertdata.wordpiece import WordPieceTokenizer, train_wordpiece

    texts, name = _texts(size)

    def documents(task: Task, file: Any) -> Tally:
        tally = Tally()
        with DocumentWriter(file, tally) as writer:
            for number, text in enumerate(texts):
                writer.add(f"doc:{number}", "", "", "", text)
        return tally

    task = Task(folder, "documents-00000", ".parquet", "benchmark", 1, None)
    part: tuple[Task, Record] = task, run_once(task, documents)
    published = DATA / "vocab" / "bert-base-uncased.txt"
    if published.exists():
        tokenizer = WordPieceTokenizer.load(str(published))
    else:
        words: dict[str, int] = {}
        for word in " ".join(texts).lower().split():
            words[word] = words.get(word, 0) + 1
        tokenizer = WordPieceTokenizer.from_tokens(train_wordpiece(words, vocab_size=8000))
    place = f"{folder}/tokenizer"
    tokenizer.save(place)
    plan = plan_shards([part[1]], ShardsConfig(shard_bytes=64 << 20, validation_fraction=0), pairs=True)
    segmenter = SentenceSegmenter.load("english")
    tokens = TokensSpec(place, tokenizer.fingerprint, "english", segmenter.fingerprint, plan.ends)
    store = [(one, run_once(one, lambda part, file: tokens_part(tokens, part, file)))
             for one in plan_tokens(cut_ranges([(part[0].path, part[1])]), f"{folder}/tokens", tokens)]  # fmt: skip
    made = {}
    for masking in ("static", "dynamic"):
        examples = ExamplesConfig(masking=masking, max_seq_length=LENGTH)
        info = shard_info(tokenizer, examples, MaskingConfig(max_predictions_per_seq=20))
        spec = ShardsSpec(f"{folder}/{masking}", plan, info, place)
        made[masking] = spec, shard_tasks(spec, store)
    with open(f"{folder}/work.pickle", "wb") as file:
        pickle.dump(made, file)
    _write_rows(folder, made["dynamic"])
    counted = sum(record.counts["tokens"] for _, record in store)
    return f"{counted / 1e6:.1f} million tokens of {name}"


def _texts(size: float) -> tuple[list[str], str]:
    from bertdata import files
    from bertdata.sample import SAMPLE_BOOKS

    path = DATA / "wikipedia-plain" / "good-2019.jsonl.zst"
    texts: list[str] = []
    if path.exists():
        with files.open_decompressed(str(path)) as stream:
            for line in stream:
                texts.append(json.loads(line)["text"])
                size -= len(texts[-1].encode())
                if size <= 0:
                    break
        return texts, f"{len(texts)} articles"
    found = files.expand([SAMPLE_BOOKS], [".txt"])
    return [Path(one).read_text("utf-8") for one in found], "the sample books"


def _write_rows(folder: str, made: Any) -> None:
    """Keep full rows as an array for the masks, so that a peer without bertdata reads them."""
    import numpy as np
    import pyarrow as pa

    from bertdata.shards.parts import shard_part

    spec, tasks = made
    rows: list[list[int]] = []
    for task in tasks:
        buffer = io.BytesIO()
        shard_part(spec, task, buffer)
        for batch in pa.ipc.open_stream(buffer.getvalue()):
            rows += [row for row in batch["input_ids"].to_pylist() if len(row) == LENGTH]
    np.save(f"{folder}/rows.npy", np.array(rows, np.uint16))
    described = {"cls": spec.info.cls_token_id, "sep": spec.info.sep_token_id, "mask": spec.info.mask_token_id}
    described["vocab_size"] = spec.info.vocab_size
    Path(f"{folder}/ids.json").write_text(json.dumps(described))


def work(folder: str, way: str) -> None:
    """Be a contestant: describe the rows of the first run, then do the work again whenever a line comes."""
    run = google(folder) if way == "google" else shards(folder, way) if way in BUILDS.values() else masks(folder, way)
    tokens, describe = run()
    print(json.dumps(describe()), flush=True)
    for _ in sys.stdin:
        began = time.process_time()
        tokens, _ = run()
        print(json.dumps({"tokens_per_second": tokens / (time.process_time() - began)}), flush=True)


Run = Callable[[], tuple[int, Callable[[], Answer]]]


def shards(folder: str, masking: str) -> Run:
    """Return what writes the shards of the token store to memory."""
    import numpy as np
    import pyarrow as pa

    from bertdata.shards.parts import shard_part

    with open(f"{folder}/work.pickle", "rb") as file:
        spec, tasks = pickle.load(file)[masking]

    def run() -> tuple[int, Callable[[], Answer]]:
        buffers, tallies = [], []
        for task in tasks:
            buffers.append(io.BytesIO())
            tallies.append(shard_part(spec, task, buffers[-1]))

        def describe() -> Answer:
            table = pa.concat_tables([pa.ipc.open_stream(one.getvalue()).read_all() for one in buffers])
            lengths = np.array([len(row) for row in table["input_ids"].to_pylist()])
            counts = tallies[0].counts
            return {
                "longest": int(lengths.max()),
                "labels": counts["labels_1"] / counts["examples"],
                "predicted": counts["predictions"] / counts["tokens_in_examples"],
            }

        return sum(tally.counts["tokens"] for tally in tallies), describe

    return run


def google(folder: str) -> Run:
    """Return what makes the instances of the same tokens as BERT's released code does."""
    import numpy as np
    from _create_pretraining_data import Settings, create_instances

    from bertdata.shards.tokens import load_block
    from bertdata.wordpiece import WordPieceTokenizer

    with open(f"{folder}/work.pickle", "rb") as file:
        spec, tasks = pickle.load(file)["static"]
    tokenizer = WordPieceTokenizer.load(f"{folder}/tokenizer")
    documents = []
    for task in tasks:
        block = load_block(task.payload.slices, tokenizer.id_type, tokenizer.continuation, 0)
        sentences = [one.tolist() for one in np.split(block.tokens, block.sentence_ends[:-1])]
        bounds = np.searchsorted(block.sentence_ends, block.document_ends).tolist()
        documents += [
            sentences[start:end]
            for start, end in zip([0, *(b + 1 for b in bounds)], [b + 1 for b in bounds], strict=False)
        ]
    info = spec.info
    ids = (info.vocab_size, info.cls_token_id, info.sep_token_id, info.mask_token_id)
    settings = Settings(LENGTH, 1, 0.1, 0.15, 20, *ids)
    tokens = sum(len(sentence) for document in documents for sentence in document)

    def run() -> tuple[int, Callable[[], Answer]]:
        instances = create_instances(documents, settings, seed=0)

        def describe() -> Answer:
            predicted = sum(len(one.positions) for one in instances)
            return {
                "longest": max(len(one.tokens) for one in instances),
                "labels": sum(one.is_random_next for one in instances) / len(instances),
                "predicted": predicted / sum(len(one.tokens) for one in instances),
            }

        return tokens, describe

    return run


def masks(folder: str, way: str) -> Run:
    """Return what masks the same rows: with our function in one unit, or with transformers' collator on tensors."""
    import numpy as np

    rows = np.load(f"{folder}/rows.npy")
    ids = json.loads(Path(f"{folder}/ids.json").read_text())
    special = np.isin(rows, [ids["cls"], ids["sep"]])
    ordinary = int((~special).sum())
    epoch = -1
    if way.startswith("collator"):
        import torch
        from transformers import BertTokenizerFast, DataCollatorForLanguageModeling

        torch.set_num_threads(1)
        collator = DataCollatorForLanguageModeling(BertTokenizerFast(f"{folder}/tokenizer/vocab.txt"))
        inputs, flags = torch.from_numpy(rows.astype(np.int64)), torch.from_numpy(special)

        examples = [
            {"input_ids": row, "special_tokens_mask": flag}
            for row, flag in zip(rows.tolist(), special.astype(int).tolist(), strict=True)
        ]

        def peer() -> tuple[int, Callable[[], Answer]]:
            if way == "collator":
                starts = range(0, len(inputs), BATCH)
                every = [
                    collator.torch_mask_tokens(inputs[at : at + BATCH].clone(), flags[at : at + BATCH])[1]
                    for at in starts
                ]
            else:
                every = [collator(examples[at : at + BATCH])["labels"] for at in range(0, len(examples), BATCH)]
            return rows.size, lambda: {
                "longest": LENGTH,
                "predicted": sum(int((labels != -100).sum()) for labels in every) / ordinary,
            }

        return peer

    from bertdata.config import MaskingConfig
    from bertdata.examples.masking import mask_tokens
    from bertdata.wordpiece import WordPieceTokenizer

    tokenizer = WordPieceTokenizer.load(f"{folder}/tokenizer")
    numbers, config, replacements = np.arange(len(rows)), MaskingConfig(mask_unit=way), tokenizer.replacement_ids

    def run() -> tuple[int, Callable[[], Answer]]:
        nonlocal epoch
        epoch += 1
        every = [
            mask_tokens(
                rows[at : at + BATCH].ravel(),
                np.arange(0, rows[at : at + BATCH].size + 1, LENGTH),
                special[at : at + BATCH].ravel(),
                numbers[at : at + BATCH],
                config=config,
                seed=0,
                epoch=epoch,
                mask_token_id=ids["mask"],
                replacement_ids=replacements,
                continuation=tokenizer.continuation,
            ).labels
            for at in range(0, len(rows), BATCH)
        ]
        return rows.size, lambda: {
            "longest": LENGTH,
            "predicted": sum(int((labels != -100).sum()) for labels in every) / ordinary,
        }

    return run


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
    else:
        main()
