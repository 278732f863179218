"""Build a corpus from a source of your own: a function that yields the documents of a file, and rows in memory.

    python examples/own_source.py corpus

On a command line: bertdata build --documents FILE... --source-format own_source:scenes, with PYTHONPATH=examples.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import bertdata
from bertdata.sample import SAMPLE_BOOKS

NOTES = [
    {"id": f"note-{number}", "text": f"Note {number}. The lamp was lit at {number}. It burned."} for number in range(9)
]


def scenes(path: str) -> Iterator[dict[str, str]]:
    """Yield the paragraphs of a book as documents; a row may also be a text alone, and short ones are left out."""
    for number, text in enumerate(Path(path).read_text(encoding="utf-8").split("\n\n")):
        if len(text) > 200:
            yield {"id": f"{Path(path).stem}-{number}", "title": Path(path).stem, "text": " ".join(text.split())}


if __name__ == "__main__":
    documents = {"books": SAMPLE_BOOKS}
    corpus = bertdata.build(sys.argv[1], documents=documents, source_format=scenes, vocab="bertdata-30k-uncased")
    print(corpus)
    rows = bertdata.build(f"{sys.argv[1]}-notes", documents={"notes": NOTES}, vocab="bertdata-30k-uncased")
    print(f"{rows['sources']['notes']['counts']['documents']} documents of rows in memory, written beside the build")
