"""All texts of the optional real data, file by file."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bertdata.io import compression
from tests.data import ROOT

SUFFIXES = ".txt", ".json", ".jsonl", ".tab", ".xml", ".asciidoc"
ENDINGS = tuple(suffix + compressed for suffix in SUFFIXES for compressed in ("", ".bz2", ".gz", ".zst"))
FILES = sorted(
    str(path.relative_to(ROOT))
    for path in ROOT.glob("*/**/*")
    if path.name.endswith(ENDINGS) and path.is_file() and path.parent.name != "vocab" and "tokenizers" not in path.parts
)


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of a file: the `text` of JSON lines, else runs of lines as they are, markup and all."""
    with compression.open_decompressed(str(path)) as raw:
        lines = io.TextIOWrapper(raw, encoding="utf-8", errors="replace")
        while batch := list(islice(lines, 100)):
            for line in batch if ".jsonl" in path.name else ["".join(batch)]:
                row = json.loads(line) if ".jsonl" in path.name else line
                yield row["text"] if isinstance(row, dict) and "text" in row else line
