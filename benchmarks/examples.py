"""Examples and masks against BERT's released way of making them and transformers' collator: tokens a second, one core.

Run: python benchmarks/examples.py [--megabytes 8] [--rounds 3]
All ways work on the tokens of the same documents, NSP rows of 128, one process each, on one core, in turns; seconds are
of processor time. BERT's way is `_create_pretraining_data`, which is spared tokenising and writing here
(`pretraining_data.py` measures all of it). The collators that are called on rows fetch them from their data set, those
that are not have tensors or arrays in hand. Before it measures, it checks the rows of each: their length, the balance
of labels, the share of tokens that is predicted. The documents are articles of `BERTDATA_DATA`, else the sample books.
The peer's environment is made in a cache folder.
"""

from __future__ import annotations

import argparse
import io
import json
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PEERS = ["torch", "transformers>=4.50", "datasets>=3"]
LENGTH, BATCH = 128, 256
BUILDS = {
    "BERT's create_pretraining_data (our own faithful copy), static": "google",
    "bertdata, token store to shards, static": "static",
    "bertdata, token store to shards, dynamic": "dynamic",
}
MASKS = {
    "DataCollatorForLanguageModeling, masks of tensors alone": "collator",
    "DataCollatorForLanguageModeling, called on lists of ids": "collator-call",
    "DataCollatorForLanguageModeling, called on rows of `datasets`": "collator-rows",
    "bertdata `PretrainingCollator`, called on rows of `ShardDataset`": "rows",
    "bertdata `Masker`, token": "token",
    "bertdata `Masker`, word": "word",
    "bertdata `Masker`, ngram": "ngram",
    "bertdata `Masker`, span": "span",
}
BASES = {"/ masks of tensors alone": "collator", "/ rows of `datasets`": "collator-rows"}
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
        tables: list[tuple[str, dict[str, str], dict[str, str]]] = [
            (f"NSP rows of {LENGTH} from {text}", BUILDS, {"ratio": "google"}),
            (f"masks of rows of {LENGTH}, {BATCH} a batch", MASKS, BASES),
        ]
        for title, ways, bases in tables:
            contestants = {
                name: harness.Contestant(
                    [peers if way.startswith("collator") else sys.executable, __file__, "--work", folder, way], core=0
                )
                for name, way in ways.items()
            }
            for name, contestant in contestants.items():
                check(name, contestant.first)
            said = harness.interleaved(contestants, flags.rounds)
            for contestant in contestants.values():
                contestant.end()
            speeds = {name: harness.median(answers, "tokens_per_second") for name, answers in said.items()}
            of_way = dict(zip(ways.values(), speeds.values(), strict=True))
            rows = [
                [name, f"{speed / 1e6:.2f}", *(f"{speed / of_way[base]:.1f}" for base in bases.values())]
                for name, speed in speeds.items()
            ]
            print("\n" + harness.table([title, "million tokens/s", *bases], rows))


def check(name: str, first: Answer) -> None:
    """End the run where a way gives rows that are too long, one-sided labels, or another share of predictions."""
    if first["longest"] > LENGTH or not 0.14 < first["predicted"] < 0.16 or not 0.4 < first.get("labels", 0.5) < 0.6:
        sys.exit(f"the rows of {name} are not what they should be: {first}")


def prepare(folder: str, size: float) -> str:
    """Write a token store of documents of about so many bytes, and what the contestants need; returns what it is."""
    from _articles import texts, tokenizer_of

    from bertdata.corpus.manifest import build_manifest, write_dataset_files
    from bertdata.corpus.plan import plan_shards
    from bertdata.corpus.stage import ShardsSpec, TokensSpec, plan_tokens, shard_part, sharded, tokens_part
    from bertdata.documents import DocumentWriter, cut_ranges
    from bertdata.engine.parts import Counters, PartMetadata, Task, run_once
    from bertdata.masking.settings import MaskingConfig
    from bertdata.objectives.settings import ExamplesConfig
    from bertdata.sentences import SentenceSegmenter
    from bertdata.shards.pretraining_info import PretrainingInfo
    from bertdata.shards.settings import ShardsConfig

    documents_of, name = texts(size)

    def documents(task: Task, file: Any) -> Counters:
        counters = Counters()
        with DocumentWriter(file, counters) as writer:
            for number, text in enumerate(documents_of):
                writer.add(f"doc:{number}", "", "", "", text)
        return counters

    task = Task(folder, "documents-00000", ".parquet", "benchmark", 1, None)
    part: tuple[Task, PartMetadata] = task, run_once(task, documents)
    tokenizer = tokenizer_of(documents_of)
    place = f"{folder}/tokenizer"
    tokenizer.save_pretrained(place)
    plan = plan_shards([part[1]], ShardsConfig(shard_bytes=64 << 20, validation_fraction=0))
    segmenter = SentenceSegmenter.from_pretrained("english")
    tokens = TokensSpec(place, tokenizer.fingerprint, "english", segmenter.fingerprint, plan.ends)
    store = [(task, run_once(task, lambda part, file: tokens_part(tokens, part, file)))
             for task in plan_tokens(cut_ranges([(part[0].path, part[1])]), f"{folder}/tokens", tokens)]  # fmt: skip
    made = {}
    for masks in ("static", "dynamic"):
        examples = ExamplesConfig(masking=masks, max_seq_length=LENGTH)
        info = PretrainingInfo.of(tokenizer, examples=examples, masking=MaskingConfig(max_predictions_per_seq=20))
        spec = ShardsSpec(f"{folder}/{masks}", plan, info, place)
        made[masks] = spec, sharded([spec]).plan(store)
    records = [run_once(task, lambda task, file: shard_part([spec], task, file)) for task in made["dynamic"][1]]
    manifest = build_manifest({"sources": {}, "vocabulary": {}}, [record for _, record in store], plan, info, records)
    write_dataset_files(spec.output, manifest, info)
    tokenizer.save_pretrained(f"{spec.output}/tokenizer")
    with open(f"{folder}/work.pickle", "wb") as file:
        pickle.dump(made, file)
    _write_rows(folder, made["dynamic"])
    counted = sum(record.counts["tokens"] for _, record in store)
    return f"{counted / 1e6:.1f} million tokens of {name}"


def _write_rows(folder: str, made: Any) -> None:
    """Keep full rows as an array for the masks, so that a peer without bertdata reads them."""
    import numpy as np
    import pyarrow as pa

    from bertdata.corpus.stage import shard_part

    spec, tasks = made
    rows: list[list[int]] = []
    for task in tasks:
        buffer = io.BytesIO()
        shard_part([spec], task, buffer)
        for batch in pa.ipc.open_stream(buffer.getvalue()):
            rows += [row for row in batch["input_ids"].to_pylist() if len(row) == LENGTH]
    np.save(f"{folder}/rows.npy", np.array(rows, np.uint16))
    described = {"cls": spec.info.cls_token_id, "sep": spec.info.sep_token_id, "mask": spec.info.mask_token_id}
    described["vocab_size"] = spec.info.vocab_size
    Path(f"{folder}/ids.json").write_text(json.dumps(described))


def work(folder: str, way: str) -> None:
    """Be a contestant: describe the rows of the first run, then do the work again whenever a line comes."""
    makers = {"google": google, "rows": rows_of_dataset, "collator-rows": rows_of_dataset}
    run = makers.get(way, shards if way in BUILDS.values() else masks)(folder, way)
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

    from bertdata.corpus.stage import shard_part

    with open(f"{folder}/work.pickle", "rb") as file:
        spec, tasks = pickle.load(file)[masking]

    def run() -> tuple[int, Callable[[], Answer]]:
        buffers, written = [], []
        for task in tasks:
            buffers.append(io.BytesIO())
            written.append(shard_part([spec], task, buffers[-1]))

        def describe() -> Answer:
            table = pa.concat_tables([pa.ipc.open_stream(buffer.getvalue()).read_all() for buffer in buffers])
            lengths = np.array([len(row) for row in table["input_ids"].to_pylist()])
            counts = written[0].counts
            return {
                "longest": int(lengths.max()),
                "labels": counts["labels_1"] / counts["examples"],
                "predicted": counts["predictions"] / counts["tokens_in_examples"],
            }

        return sum(counters.counts["tokens"] for counters in written), describe

    return run


def google(folder: str, _way: str) -> Run:
    """Return what makes the instances of the same tokens as BERT's released code does."""
    import numpy as np
    from _create_pretraining_data import Settings, create_instances, read_vocabulary

    from bertdata.corpus.token_store import load_documents
    from bertdata.tokenizers.wordpiece import WordPieceTokenizer

    with open(f"{folder}/work.pickle", "rb") as file:
        _, tasks = pickle.load(file)["static"]
    tokenizer = WordPieceTokenizer.from_pretrained(f"{folder}/tokenizer")
    documents = []
    for task in tasks:
        block = load_documents(task.payload.slices, tokenizer, 0)[0]
        sentences = [sentence.tolist() for sentence in np.split(block.tokens, block.sentence_ends[:-1])]
        bounds = np.searchsorted(block.sentence_ends, block.document_ends).tolist()
        documents += [
            sentences[start:end]
            for start, end in zip([0, *(b + 1 for b in bounds)], [b + 1 for b in bounds], strict=False)
        ]
    vocabulary = list(read_vocabulary(Path(folder, "tokenizer", "vocab.txt")))
    pieces = [[[vocabulary[token] for token in sentence] for sentence in document] for document in documents]
    settings = Settings(LENGTH, dupe_factor=1)
    tokens = sum(len(sentence) for document in documents for sentence in document)

    def run() -> tuple[int, Callable[[], Answer]]:
        instances = create_instances(pieces, vocabulary, settings)

        def describe() -> Answer:
            predicted = sum(len(instance.positions) for instance in instances)
            return {
                "longest": max(len(instance.tokens) for instance in instances),
                "labels": sum(instance.is_random_next for instance in instances) / len(instances),
                "predicted": predicted / sum(len(instance.tokens) for instance in instances),
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

        def batches() -> Iterator[Any]:
            for at in range(0, len(inputs), BATCH):
                if way == "collator":
                    yield collator.torch_mask_tokens(inputs[at : at + BATCH].clone(), flags[at : at + BATCH])[1]
                else:
                    yield collator(examples[at : at + BATCH])["labels"]

        return masking(batches, rows.size, ordinary)

    from bertdata.masking.masking import Masker
    from bertdata.masking.settings import MaskingConfig
    from bertdata.tokenizers.wordpiece import WordPieceTokenizer

    tokenizer = WordPieceTokenizer.from_pretrained(f"{folder}/tokenizer")
    numbers, special_ids = np.arange(len(rows)), (tokenizer.cls_token_id, tokenizer.sep_token_id, ids["mask"])
    config, pieces = MaskingConfig(mask_unit=way), tokenizer.continuation
    masker = Masker(config, 0, *special_ids, tokenizer.replacement_ids, pieces)

    def batches_of_ours() -> Iterator[Any]:
        nonlocal epoch
        epoch += 1
        for at in range(0, len(rows), BATCH):
            here = rows[at : at + BATCH]
            offsets, flags = np.arange(0, here.size + 1, LENGTH), special[at : at + BATCH].ravel()
            yield masker.mask(here.ravel(), offsets, numbers[at : at + BATCH], epoch, special=flags).labels

    return masking(batches_of_ours, rows.size, ordinary)


def masking(batches: Callable[[], Iterator[Any]], tokens: int, ordinary: int) -> Run:
    """Return what makes the labels of all batches and forgets them, as a training step does."""

    def run() -> tuple[int, Callable[[], Answer]]:
        for _ in batches():
            pass
        return tokens, lambda: {
            "longest": LENGTH,
            "predicted": sum(int((labels != -100).sum()) for labels in batches()) / ordinary,
        }

    return run


def rows_of_dataset(folder: str, way: str) -> Run:
    """Return what fetches all rows of the shards, a batch at a time, and calls a collator on them."""
    if way == "rows":
        from bertdata.torch import PretrainingCollator, ShardDataset

        dataset: Any = ShardDataset(f"{folder}/dynamic")
        collator: Any = PretrainingCollator(dataset)
        lengths = dataset.lengths
    else:
        import datasets
        import torch
        from transformers import BertTokenizerFast, DataCollatorForLanguageModeling

        torch.set_num_threads(1)
        tokenizer = BertTokenizerFast(f"{folder}/tokenizer/vocab.txt")
        dataset = datasets.load_from_disk(f"{folder}/dynamic")["train"].remove_columns(["example_id"])
        special = {tokenizer.cls_token_id, tokenizer.sep_token_id}
        marks = [[int(token in special) for token in row] for row in dataset["input_ids"]]
        dataset = dataset.add_column("special_tokens_mask", marks)
        collator = DataCollatorForLanguageModeling(tokenizer)
        lengths = [len(row) for row in marks]
    tokens = int(sum(lengths))

    def batches() -> Iterator[Any]:
        for at in range(0, len(dataset), BATCH):
            yield collator(dataset.__getitems__(list(range(at, min(at + BATCH, len(dataset))))))["labels"]

    return masking(batches, tokens, tokens - 3 * len(dataset))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
    else:
        main()
