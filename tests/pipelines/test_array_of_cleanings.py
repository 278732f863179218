"""Files that jobs clean each into a folder of its own, and build-shards after them, make the shards of one build."""

from __future__ import annotations

from pathlib import Path

from bertdata.cli.main import main
from tests.pipelines.builds import digests

VOCAB = ["--vocab", "bertdata-30k-uncased", "--quiet"]


def test_an_array_of_cleanings_and_build_shards_are_one_build(tmp_path: Path) -> None:
    books = []
    for number in range(3):
        books.append(tmp_path / f"book-{number}.txt")
        lines = (f"The lamp {number} of the keeper {line} was lit, and nobody spoke." for line in range(60))
        prose = "\n\n".join(lines)
        books[-1].write_text(prose)
    for book in books:
        assert main(["clean-books", str(book), "--output", str(tmp_path / "documents" / book.stem), "--quiet"]) == 0
    documents = f"books={tmp_path}/documents/*"
    assert main(["build-shards", "--documents", documents, *VOCAB, "--output", str(tmp_path / "array")]) == 0
    assert main(["build", "--books", *map(str, books), *VOCAB, "--output", str(tmp_path / "whole")]) == 0
    assert digests(tmp_path / "array") == digests(tmp_path / "whole")
    assert digests(tmp_path / "whole")
