"""The filters of Gopher, C4 and FineWeb: documents a second, and how many times datatrove's speed.

    pip install "datatrove[processing]" spacy zstandard && python benchmarks/filters.py --data DATA [--documents 300]

Both run in one process on the same documents, one after another, and CPU time is compared. Each gets the texts alone:
Arrow here, a `Document` each there. datatrove keeps the words of the last five texts, which are forgotten before each
filter, so that each splits its words, as ours does. Verdicts are compared before anything is printed.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa

from bertdata.curation.filters import parse_filter
from bertdata.curation.words import split


def texts_of(data: Path, number: int) -> list[str]:
    """Return the first articles of Wikipedia's plain text."""
    import zstandard

    with (data / "wikipedia-plain" / "featured-2019.jsonl.zst").open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file)
        lines = reader.read(number * 200_000).split(b"\n")[:number]
    return [json.loads(line)["text"] for line in lines if line.endswith(b"}")]


def ours(name: str, texts: pa.StringArray) -> tuple[float, list[bool]]:
    """Return the seconds of CPU that a filter takes, and which texts it keeps."""
    chosen, argument = parse_filter(name)
    assert chosen.judge is not None
    began = time.process_time()
    found = chosen.judge(texts, argument)
    return time.process_time() - began, [one is None for one in found.reasons.to_pylist()]


def theirs(peer: Any, texts: list[str]) -> tuple[float, list[bool]]:
    """Return the seconds of CPU that a filter of datatrove takes, and which texts it keeps."""
    from datatrove.data import Document
    from datatrove.utils.text import split_into_parts

    split_into_parts.cache_clear()
    documents = [Document(text=text, id="") for text in texts]
    began = time.process_time()
    found = [peer.filter(document) is True for document in documents]
    return time.process_time() - began, found


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
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    texts = texts_of(arguments.data, arguments.documents)
    batch = pa.array(texts, pa.string())
    size = sum(map(len, texts)) / 1e6
    print(f"{len(texts):,} documents, {size:.1f} million characters\n")
    print("| filter | documents a second | again | datatrove | times | times again |\n|---|---:|---:|---:|---:|---:|")
    peers: dict[str, Any] = {
        "gopher-quality=blank_lines:on": GopherQualityFilter(),
        "gopher-repetition": GopherRepetitionFilter(),
        "fineweb-quality=blank_lines:on": FineWebQualityFilter(),
        "c4-quality": C4QualityFilter(),
    }
    warm = pa.array(["One word. Another (word)."])
    for name, peer in peers.items():
        ours(name, warm)
        theirs(peer, ["One word."])
        split._CHUNKS.clear()
        first, kept = ours(name, batch)
        again, _ = ours(name, batch)
        other, expected = theirs(peer, texts)
        assert kept == expected, name
        rates = [len(texts) / seconds for seconds in (first, again, other)]
        cells = [f"{rate:,.0f}" for rate in rates] + [f"{other / one:.1f}" for one in (first, again)]
        print(f"| {' | '.join([name, *cells])} |", flush=True)


if __name__ == "__main__":
    main()
