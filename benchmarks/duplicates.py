"""Near duplicates: documents a second of CPU time, recall and precision, beside datatrove and rensa.

    python benchmarks/duplicates.py [--documents 2000] [--runs 3]       pip install datatrove rensa "xxhash<3.6"

The corpus is made of random words: pairs of documents that share a known share of their runs of five words, at each of
several similarities, and as many documents that are like no other. Timed is what takes the time, the signatures, in one
process and thread by CPU time, all contestants in turn; the ratio is the lowest of the runs. Recall is the share of the
pairs of one similarity of which one document is dropped; precision is the share of the dropped documents that have a
partner of at least 0.5.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pyarrow as pa

from bertdata.curation.dedup.decide import find_dropped
from bertdata.curation.dedup.signature_store import PARTITIONS, find_buckets, signatures, write_signatures
from bertdata.engine.byte_ranges import Stream
from bertdata.io.files import atomic_write

SIMILARITIES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
WORDS = 400
SETTINGS: dict[str, tuple[float, tuple[int, int] | None]] = {
    "bertdata, 0.8": (0.8, None),
    "bertdata, datatrove's settings (14 x 8)": (0.0, (14, 8)),
}


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


def dropped_by_bertdata(documents: dict[str, str], threshold: float, buckets: tuple[int, int] | None) -> set[str]:
    """Return the ids of the documents that are dropped."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "signatures-00000.arrow")
        table = pa.table({"id": list(documents), "text": list(documents.values())})
        with atomic_write(path) as file:
            counters = write_signatures([table], threshold, file, buckets)
        first, *keys = (Stream(path, "s", *place) for place in counters.details["streams"])
        assert len(keys) == PARTITIONS
        found = find_dropped([first], [partial(find_buckets, [one]) for one in keys], threshold)
        return set(found["id"].to_pylist())


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
        one = RMinHash(num_perm=112, seed=1)
        one.update([" ".join(words[place : place + 5]) for place in range(max(1, len(words) - 4))])
        numbers = one.digest()
        return [tuple(numbers[place : place + 8]) for place in range(0, 112, 8)]

    return bands


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
        ratio = min(one / own for one, own in zip(taken, times["bertdata"], strict=True))
        rate = len(documents) / max(taken)
        print(f"{name}: {rate:,.0f} documents of {WORDS} words a second; bertdata is {ratio:.1f} times as fast")
    for setting, (threshold, buckets) in SETTINGS.items():
        print(f"{setting}: {scores(documents, dropped_by_bertdata(documents, threshold, buckets))}")
    for name, found in bands.items():
        print(f"{name}: {scores(documents, dropped_by_bands(found))}")


if __name__ == "__main__":
    main()
