"""A source format of another package: one object, which a build takes from its files to the rows of a batch."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bertdata import open_shards
from bertdata.documents import DocumentWriter
from bertdata.engine.parts import Counters, Task
from bertdata.errors import ConfigError
from bertdata.loader import numpy_batches
from bertdata.sources.formats import FileRange, RangeFormat
from tests.outside import Outside

ROOT = Path(__file__).resolve().parents[2]
TOY = '''
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.formats import RangeFormat
from tests.outside import Outside


class ToyFormat(RangeFormat):
    """A paragraph in a line, and %% between documents."""

    name = "toy"
    suffixes = (".toy",)
    described = "toys (.toy)"

    def ranges(self, path, target_bytes, text_column):
        with files.open_raw(path) as file:
            if not file.read(3) == b"%%\\n":
                raise InputError("is not a toy; expected %% in its first line", path=path)
        yield 0, files.size(path), files.size(path)

    def read(self, chosen, writer, counters):
        with files.open_raw(chosen.path) as file:
            texts = file.read().decode().split("%%\\n")[1:]
        for number, text in enumerate(texts):
            counters.add("rows")
            if paragraphs := [line for line in text.split("\\n") if line.strip()]:
                writer.add(f"{chosen.label}:{number}", "documents", "", "", "\\n\\n".join(paragraphs))
            else:
                counters.drop("no text")


SOURCE_FORMATS.add("toy", ToyFormat())
'''
BUILD = ["build", "--vocab", "bertdata-30k-uncased", "--shard-bytes", "4000", "--validation-fraction", "0.1"]


@pytest.fixture
def toys(tmp_path: Path) -> Outside:
    """Return a folder with the module of the toy, and forty documents and an empty one in two files."""
    texts = [f"River number {n} is long.\nIt flows on to the sea of salt.\n" for n in range(40)]
    (tmp_path / "texts").mkdir()
    for name, some in (("a", texts[:20]), ("b", [*texts[20:], "\n"])):
        (tmp_path / "texts" / f"{name}.toy").write_text("".join(f"%%\n{text}" for text in some))
    return Outside.write(tmp_path, "toy_format", TOY)


@pytest.mark.costly
def test_files_of_a_format_from_outside_are_built_shown_verified_and_read(toys: Outside) -> None:
    (toys.folder / "rows.jsonl").write_text(
        "".join(json.dumps({"text": f"Salt {n}. Water {n}."}) + "\n" for n in range(9))
    )
    given = ["--documents", "texts/a.toy", "news=texts/b.toy", "news=rows.jsonl"]
    build = [*BUILD, *given, "--output", "corpus"]
    _, again, *_ = toys.bertdata([*build, "--workers", "2"], build, ["show", "corpus"], ["verify", "corpus"])
    assert "nothing to do" in again
    corpus = toys.folder / "corpus"
    manifest = json.loads((corpus / "manifest.json").read_text())
    assert manifest["sources"]["documents"]["counts"]["rows"] == 20
    assert manifest["sources"]["news"]["counts"]["rows"] == 30
    assert manifest["sources"]["news"]["drops"] == {"no text": 1}
    assert manifest["tokens"]["counts"]["documents"] == 49
    assert len(open_shards(corpus)) > 0
    assert next(iter(numpy_batches(corpus, batch_size=4)))["input_ids"].shape[0] == 4


@pytest.mark.costly
def test_a_folder_the_help_and_messages_know_a_format_from_outside(toys: Outside) -> None:
    plan = [*BUILD, "--documents", "texts", "--output", "corpus", "--dry-run"]
    (toys.folder / "odd.toy").write_text("no toy")
    planned, helped, refused = toys.ran(
        plan, ["build", "--help-all"], [*BUILD, "--documents", "odd.toy", "--output", "corpus"]
    )
    assert "documents       2 files" in planned.stdout
    assert ".bz2 or .xz), toys (.toy), a folder that" in " ".join(helped.stdout.split())
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: odd.toy: is not a toy; expected %% in its first line")
    [unknown] = toys.without_plugin().ran(plan)
    assert "holds no file ending in .parquet" in unknown.stderr


class _Uncounted(RangeFormat):
    """Writes a document, and does not count the row that it was."""

    def ranges(self, path: str, target_bytes: int, text_column: str) -> Iterator[tuple[int, int, int]]:
        yield 0, 1, 1

    def read(self, chosen: FileRange, writer: DocumentWriter, counters: Counters) -> None:
        writer.add("documents:0", "documents", "", "", "One sentence.")


def test_a_format_that_counts_no_rows_is_refused_with_its_class_and_file() -> None:
    chosen = FileRange("a.odd", "documents", 0, 1, "text", "uncounted")
    with pytest.raises(
        ConfigError, match=r"test_toy_format\.py: the source format _Uncounted wrote .*InputCount\.ROWS"
    ):
        _Uncounted().write(Task("", "part", ".parquet", "", 1, chosen), io.BytesIO())
