"""The filters of Gopher, C4 and FineWeb, each and all four one after another: how many times datatrove's speed.

    pip install "datatrove==0.10.1" "spacy==3.8.*" zstandard
    python benchmarks/filters.py --data DATA [--documents 300] [--books] [--rounds 3]

Both run in one process on the same documents, one after another, and CPU time is compared. Each gets the texts alone:
Arrow here, a `Document` each there. "First" is with nothing kept from other texts, "again" is the same call once more;
the lowest of several rounds is printed. datatrove keeps the words of the last five texts, which are forgotten before
each filter, so that each splits its words, as ours does; of all four in a row, it keeps them. Verdicts are compared
before anything is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from bertdata.curation.filters import filtered
from bertdata.curation.words import split
from bertdata.engine.parts import Counters


def texts_of(data: Path, number: int, books: bool) -> list[str]:
    """Return the first articles of Wikipedia's plain text, or the first books."""
    if books:
        paths = sorted((data / "books").glob("*.txt"))[:number]
        return [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    import zstandard

    with (data / "wikipedia-plain" / "featured-2019.jsonl.zst").open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file)
        lines = reader.read(number * 200_000).split(b"\n")[:number]
    return [json.loads(line)["text"] for line in lines if line.endswith(b"}")]


def ours(names: Sequence[str], texts: pa.StringArray) -> tuple[float, list[bool]]:
    """Return the seconds of CPU that filters take, and which texts they keep."""
    began = time.process_time()
    _, reasons = filtered(texts, names, Counters())
    return time.process_time() - began, [reason is None for reason in reasons.to_pylist()]


def theirs(peers: Sequence[Any], texts: list[str]) -> tuple[float, list[bool]]:
    """Return the seconds of CPU that filters of datatrove take, and which texts they keep."""
    from datatrove.data import Document
    from datatrove.utils.text import split_into_parts

    split_into_parts.cache_clear()
    documents = [Document(text=text, id="") for text in texts]
    began = time.process_time()
    passed = [all(peer.filter(document) is True for peer in peers) for document in documents]
    return time.process_time() - began, passed


def main() -> None:
    """Print a table."""
    from datatrove.pipeline.filters import (
        C4QualityFilter,
        FineWebQualityFilter,
        GopherQualityFilter,
        GopherRepetitionFilter,
    )

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--books", action="store_true", help="books in place of articles")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    texts = texts_of(arguments.data, arguments.documents, arguments.books)
    batch = pa.array(texts, pa.string())
    peers: dict[str, Any] = {
        "gopher-repetition": GopherRepetitionFilter(),
        "gopher-quality=blank_lines:on": GopherQualityFilter(),
        "fineweb-quality=blank_lines:on": FineWebQualityFilter(),
        "c4-quality": C4QualityFilter(),
    }
    chosen = {name: [name] for name in peers} | {"all four": [*peers]}
    warm = "One word. Another (word), see:) www.example.com.\n"
    for names in chosen.values():
        ours(names, pa.array([warm * 99]))
        theirs([peers[name] for name in names], [warm * 99])
    seconds: dict[str, list[tuple[float, ...]]] = {name: [] for name in chosen}
    for number in range(arguments.rounds):
        for name, names in chosen.items():
            split._kept_sizes.cache_clear()
            first, kept = ours(names, batch)
            again, _ = ours(names, batch)
            other, expected = theirs([peers[peer_name] for peer_name in names], texts)
            assert kept == expected, name
            seconds[name].append((first, again, other))
            print(
                f"round {number + 1}, {name}: {first:.2f}, {again:.2f} and {other:.1f} s", file=sys.stderr, flush=True
            )
    print(f"{len(texts):,} documents, {sum(map(len, texts)) / 1e6:.1f} million characters; {arguments.rounds} rounds\n")
    print("| filter | documents a second | datatrove | times, first | times, again |\n|---|---:|---:|---:|---:|")
    for name, rounds in seconds.items():
        firsts, agains, others = zip(*rounds, strict=True)
        rates = [f"{len(texts) / min(spent):,.0f}" for spent in (firsts, others)]
        times = [min(b / a for a, b in zip(spent, others, strict=True)) for spent in (firsts, agains)]
        print(f"| {' | '.join([name, *rates, *(f'{ratio:.0f}' for ratio in times)])} |", flush=True)


if __name__ == "__main__":
    main()
