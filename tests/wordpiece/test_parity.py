"""Ids equal to `tokenizers`' on all the optional real data, with the three published vocabularies: minutes to an hour.

Run: python -m pytest tests/wordpiece -m slow
It also runs every code point (`test_tokenizer.py`) and the kernels with checked bounds (`test_encoder.py`).
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from bertdata import files
from bertdata.wordpiece import WordPieceTokenizer
from tests.data import ROOT, data_path
from tests.wordpiece.reference import reference, reference_ids

VOCABULARIES = [("bert-base-uncased", True), ("bert-base-cased", False), ("bert-base-multilingual-cased", False)]
SUFFIXES = ".txt", ".json", ".jsonl", ".tab", ".xml", ".asciidoc"
ENDINGS = tuple(suffix + compressed for suffix in SUFFIXES for compressed in ("", ".bz2", ".gz", ".zst"))
FILES = sorted(
    str(path.relative_to(ROOT))
    for path in ROOT.glob("*/**/*")
    if path.name.endswith(ENDINGS) and path.is_file() and path.parent.name != "vocab"
)


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of a file: the `text` of JSON lines, else runs of lines as they are, markup and all."""
    with files.open_decompressed(str(path)) as raw:
        lines = io.TextIOWrapper(raw, encoding="utf-8", errors="replace")
        while batch := list(islice(lines, 100)):
            for line in batch if ".jsonl" in path.name else ["".join(batch)]:
                row = json.loads(line) if ".jsonl" in path.name else line
                yield row["text"] if isinstance(row, dict) and "text" in row else line


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("name", "lower"), VOCABULARIES)
@pytest.mark.parametrize("file", FILES or ["books"])
def test_ids_equal_the_reference_on_all_real_data(file: str, name: str, lower: bool) -> None:
    path = data_path(*Path(file).parts)
    tokenizer = WordPieceTokenizer.load(data_path("vocab", f"{name}.txt"), do_lower_case=lower)
    expected = reference(tokenizer.tokens, do_lower_case=lower)
    texts = texts_of(path)
    while batch := list(islice(texts, 500)):
        assert tokenizer.encode_batch(batch).to_pylist() == reference_ids(expected, batch)
