"""Duplicates: documents a second of CPU time, recall and precision, beside datatrove and rensa; and repeated text.

    python benchmarks/duplicates.py [--documents 2000] [--repeated 1000] [--runs 3]
                                                                  pip install datatrove spacy rensa "xxhash<3.6"

The corpus is made of random words: pairs of documents that share a known share of their runs of five words, at each of
several similarities, and as many documents that are like no other. Timed is what takes the time, the signatures, in one
process and thread by CPU time, all contestants in turn; the ratio is the lowest of the runs. Recall is the share of the
pairs of one similarity of which one document is dropped; precision is the share of the dropped documents that have a
partner of at least 0.5.

Repeated text is runs of three sentences (`--dedup-spans sentences`), in as many documents as --repeated says, beside
the three steps of datatrove's sentence deduplication: all of it, from documents to documents, ours from and to Parquet.
What both leave must be the same, or it is not timed.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from string import ascii_lowercase
from typing import Any

import pyarrow as pa

from bertdata.curation.dedup import signatures
from bertdata.curation.dedup.spans.repeats import rank_of
from bertdata.curation.dedup.spans.stage import DropSpans
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.settings import DedupConfig, DedupSpansConfig
from bertdata.documents import DocumentRange, DocumentWriter, read_range
from bertdata.engine.parts import Counters, PartResult, Task, run_once
from bertdata.engine.stages import BuildState, Stage
from bertdata.sentences import SentenceSegmenter

SIMILARITIES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
WORDS = 400
SETTINGS: dict[str, DedupConfig] = {
    "bertdata, 0.8": DedupConfig("near"),
    "bertdata, datatrove's settings (14 x 8)": DedupConfig("near", dedup_minhash="datatrove"),
}
REPEATED = DedupSpansConfig("sentences", 1, 0, 0)
"""What datatrove's defaults leave out, without its rules for short documents."""


def corpus(count: int) -> dict[str, str]:
    """Return `count` documents by id: `p0.80-000003a` is one of a pair of similarity 0.8, `single-000003` alone."""
    draw = random.Random(0)
    vocabulary = ["".join(draw.choices(ascii_lowercase, k=7)) for _ in range(200_000)]
    result = {}
    runs = WORDS - 4
    for number in range(count // 4):
        words = draw.sample(vocabulary, WORDS)
        similarity = SIMILARITIES[number % len(SIMILARITIES)]
        kept = round(similarity * runs) + 4
        result[f"p{similarity:.2f}-{number:06d}a"] = " ".join(words)
        result[f"p{similarity:.2f}-{number:06d}b"] = " ".join(words[:kept])
    for number in range(count - len(result)):
        result[f"single-{number:06d}"] = " ".join(draw.sample(vocabulary, WORDS))
    return result


def written(folder: str, documents: Mapping[str, str]) -> BuildState:
    """Return documents as a part."""

    def write(task: Task, file: Any) -> Counters:
        counters = Counters()
        with DocumentWriter(file, counters) as writer:
            for name, text in documents.items():
                writer.add(name, "documents", "", "", text)
        return counters

    task = Task(folder, "documents-00000", ".parquet", "f", 1, None)
    return BuildState(((task, run_once(task, write)),))


def left_by(stage: Stage, build_state: BuildState) -> dict[str, str]:
    """Return the documents that a stage leaves, by id, from all of its steps in turn."""
    plan = stage.plan(build_state)
    done: list[list[PartResult]] = []
    for step in plan.steps:
        done.append([(task, run_once(task, step.make)) for task in step.plan(done[-1] if done else [])])
    [(task, record)] = plan.finish(done).documents
    groups, dropped = len(record.details["row_groups"]), tuple(record.details.get("dropped", ()))
    tables = list(read_range(DocumentRange(task.path, record.sha256, 0, groups, 0, dropped)))
    return {row["id"]: row["text"] for table in tables for row in table.to_pylist()}


def dropped_by_bertdata(documents: dict[str, str], config: DedupConfig) -> set[str]:
    """Return the ids of the documents that are dropped."""
    with tempfile.TemporaryDirectory() as folder:
        left = left_by(DropDuplicates(f"{folder}/duplicates", config), written(folder, documents))
    return documents.keys() - left.keys()


def dropped_by_bands(bands: dict[str, list[Any]]) -> set[str]:
    """Return the ids of documents that have a band of their signature in common with an earlier one."""
    seen: set[Any] = set()
    dropped = set()
    for document, own in bands.items():
        keys = {(number, str(band)) for number, band in enumerate(own)}
        if keys & seen:
            dropped.add(document)
        seen |= keys
    return dropped


def datatrove() -> Callable[[str], list[Any]]:
    """Return datatrove's function from a text to its bands, with its own settings."""
    from datatrove.pipeline.dedup import minhash

    signer = minhash.MinhashDedupSignature(output_folder="/dev/null", config=minhash.MinhashConfig())

    def bands(text: str) -> list[Any]:
        shingles = signer.get_shingles(text)
        return signer.get_signature(shingles) if len(shingles) else []

    return bands


def rensa() -> Callable[[str], list[Any]]:
    """Return a function from a text to its bands by rensa's `RMinHash`, of the same runs of words and settings."""
    from rensa import RMinHash  # type: ignore[import-not-found]

    def bands(text: str) -> list[Any]:
        words = text.split()
        sketch = RMinHash(num_perm=112, seed=1)
        sketch.update([" ".join(words[place : place + 5]) for place in range(max(1, len(words) - 4))])
        numbers = sketch.digest()
        return [tuple(numbers[place : place + 8]) for place in range(0, 112, 8)]

    return bands


def repeated_corpus(count: int) -> dict[str, str]:
    """Return documents of 30 sentences by id, a fifth of which are runs of a pool; both sides cut these alike."""
    draw = random.Random(0)
    pool = [f"The {n} boats of {draw.choice('ABCDEFG')} came in at {n * 7}, and they left again." for n in range(count)]
    result = {}
    for number in range(count):
        own = [f"Nobody at place {number * 100 + k} saw it happen, and nobody had been there." for k in range(24)]
        begin, place = draw.randrange(max(1, count - 6)), draw.randrange(24)
        result[f"row:{number:06d}"] = " ".join([*own[:place], *pool[begin : begin + 6], *own[place:]])
    return result


def left_by_datatrove(documents: Mapping[str, str]) -> dict[str, str]:
    """Return what datatrove leaves of documents, given in the order in which ours come before others."""
    from datatrove.data import Document
    from datatrove.pipeline.dedup import sentence_dedup
    from datatrove.utils.text import TextNormConfig

    norm = TextNormConfig(norm_numbers=False, norm_unicode_diacritics=False)
    config = sentence_dedup.SentDedupConfig(min_doc_words=0, min_num_sentences=0, norm_config=norm)
    ordered = sorted(documents.items(), key=lambda document: rank_of(document[0], document[1].encode()))

    def given() -> Any:
        return iter([Document(text=text, id=name) for name, text in ordered])

    with tempfile.TemporaryDirectory() as folder:
        signed, repeats = f"{folder}/signatures", f"{folder}/repeats"
        sentence_dedup.SentenceDedupSignature(output_folder=signed, config=config).run(given(), 0, 1)
        sentence_dedup.SentenceFindDedups(data_folder=signed, output_folder=repeats, config=config).run(None, 0, 1)
        kept = sentence_dedup.SentenceDedupFilter(data_folder=repeats, config=config).run(given(), 0, 1)
        return {document.id: document.text for document in kept}


def time_repeated(count: int, runs: int) -> str:
    """Return a line with the documents a second of both, and the lowest ratio."""
    documents, segmenter = repeated_corpus(count), SentenceSegmenter.from_pretrained()
    times: dict[str, list[float]] = {"bertdata": [], "datatrove": []}
    for number in range(runs + 1):  # the first warms both, and compares what they leave
        left = {}
        for name, taken in times.items():
            with tempfile.TemporaryDirectory() as folder:
                build_state = written(folder, documents)
                began = time.process_time()
                if name == "bertdata":
                    left[name] = left_by(DropSpans(f"{folder}/repeated", REPEATED, segmenter), build_state)
                else:
                    left[name] = left_by_datatrove(documents)
                if number:
                    taken.append(time.process_time() - began)
        if left["bertdata"] != left["datatrove"]:
            raise SystemExit("repeated text: what bertdata and datatrove leave is not the same")
    ratio = min(theirs / own for own, theirs in zip(times["bertdata"], times["datatrove"], strict=True))
    rates = ", ".join(f"{name} {count / max(taken):,.0f} documents a second" for name, taken in times.items())
    changed = sum(text != left["bertdata"].get(name) for name, text in documents.items())
    return (
        f"repeated text ({changed} of {count} documents changed, the same by both): {rates}; {ratio:.1f} times as fast"
    )


def scores(documents: dict[str, str], dropped: set[str]) -> str:
    """Return a line of recall by similarity, and precision."""
    line = []
    for similarity in SIMILARITIES:
        pairs = {name[:-1] for name in documents if name.startswith(f"p{similarity:.2f}")}
        line.append(f"{similarity}: {len(pairs & {name[:-1] for name in dropped}) / len(pairs):.0%}")
    right = sum(name.startswith("p") for name in dropped)
    return f"{', '.join(line)}; precision {right / max(1, len(dropped)):.1%}"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--repeated", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    flags = parser.parse_args()
    documents = corpus(flags.documents)
    texts = pa.array(list(documents.values()))
    peers: dict[str, Callable[[str], list[Any]]] = {}
    for name, make in (("datatrove", datatrove), ("rensa", rensa)):
        try:
            peers[name] = make()
        except ImportError as error:
            print(f"without {name}: {error}")
    for buckets in (None, (14, 8)):
        signatures(texts.slice(0, 2), buckets)
    preset = "bertdata, 14 x 8"
    times: dict[str, list[float]] = {name: [] for name in ("bertdata", preset, *peers)}
    bands: dict[str, dict[str, list[Any]]] = {}
    for _ in range(flags.runs):
        began = time.process_time()
        signatures(texts)
        times["bertdata"].append(time.process_time() - began)
        began = time.process_time()
        signatures(texts, (14, 8))
        times[preset].append(time.process_time() - began)
        for name, sign in peers.items():
            began = time.process_time()
            bands[name] = {document: sign(text) for document, text in documents.items()}
            times[name].append(time.process_time() - began)
    for name, taken in times.items():
        ratio = min(seconds_there / own for seconds_there, own in zip(taken, times["bertdata"], strict=True))
        rate = len(documents) / max(taken)
        print(f"{name}: {rate:,.0f} documents of {WORDS} words a second; bertdata is {ratio:.1f} times as fast")
    for setting, config in SETTINGS.items():
        print(f"{setting}: {scores(documents, dropped_by_bertdata(documents, config))}")
    for name, shares in bands.items():
        print(f"{name}: {scores(documents, dropped_by_bands(shares))}")
    if "datatrove" in peers and flags.repeated:
        print(time_repeated(flags.repeated, flags.runs))


if __name__ == "__main__":
    main()
