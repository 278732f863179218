"""Whatever a build takes is estimated from samples, or it is said why it is not: each format, in each compression."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from bertdata.beam.runner import Runner
from bertdata.corpus.dry_run import Planned, dry_run
from bertdata.corpus.estimate.sample import SAMPLES
from bertdata.corpus.settings import Settings
from bertdata.errors import InputError
from bertdata.io import compression
from bertdata.shards.settings import ShardsConfig
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.inputs import Sources
from bertdata.sources.names import KINDS
from bertdata.sources.settings import CleaningConfig
from bertdata.tokenizers.settings import VocabularyConfig
from tests.sources.mds_files import write_mds

SAMPLE_BYTES = 4096
SETTINGS = Settings(CleaningConfig(), VocabularyConfig(), ShardsConfig(), vocab="bertdata-30k-uncased")
DOCUMENTS = 600
WORDS = ["río", "puente", "агуа", "sal", "stone", "water", "lamp", "clock", "garden", "winter", "bread", "keeper"]
DRAW = Random(7)
TEXTS = [
    " ".join(
        "The " + " ".join(f"{DRAW.choice(WORDS)}{DRAW.randrange(999)}" for _ in range(9)) + " was é." for _ in range(8)
    )
    for _ in range(DOCUMENTS)
]
ROWS = [{"id": str(number), "text": text} for number, text in enumerate(TEXTS)]


def dump() -> str:
    pages = "".join(
        f"<page><title>T{number}</title><ns>0</ns><id>{number}</id><revision><id>1</id><text>{text}</text></revision>"
        "</page>\n"
        for number, text in enumerate(TEXTS, 1)
    )
    return f'<mediawiki xml:lang="en"><siteinfo><dbname>enwiki</dbname></siteinfo>\n{pages}</mediawiki>\n'


def json_lines() -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode()


def separated(separator: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, ["id", "text"], delimiter=separator)
    writer.writeheader()
    writer.writerows(ROWS)
    return text.getvalue().encode()


def arrow() -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_stream(file, pa.Table.from_pylist(ROWS).schema) as writer:
        for start in range(0, DOCUMENTS, 20):
            writer.write_batch(pa.RecordBatch.from_pylist(ROWS[start : start + 20]))
    return file.getvalue()


def parquet(rows_of_a_group: int = 20) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), file, row_group_size=rows_of_a_group)
    return file.getvalue()


def mds() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
        return Path(write_mds(Path(folder) / "rows.mds", columns)).read_bytes()


def plain_text() -> bytes:
    return "\n\n".join(text.replace(". ", ".\n") for text in TEXTS).encode()


CONTENTS: dict[str, Callable[[], bytes]] = {
    "wikipedia": lambda: dump().encode(),
    "parquet": parquet,
    "json-lines": json_lines,
    "csv": lambda: separated(","),
    "tsv": lambda: separated("\t"),
    "arrow": arrow,
    "mds": mds,
    "plain-text": plain_text,
}
"""What a file of each format holds; those whose files are one document each are below."""
ONE_EACH = {"books": CleaningConfig(), "text-files": CleaningConfig(whole_files=True)}


def compressed(name: str, data: bytes) -> bytes:
    """Return bytes as a file of a name holds them."""
    match compression.compression(name):
        case "gz":
            return gzip.compress(data, 6)
        case "bz2":
            return bz2.compress(data, 1)
        case "zst":
            return zstandard.compress(data)
        case "xz":
            return lzma.compress(data, preset=0)
        case "zip":
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(f"{name.partition('.')[0]}.txt", data)
            return file.getvalue()
        case _:
            return data


def inputs() -> Iterator[tuple[str, str]]:
    """Yield the name of each format and, of the endings that its files have, one of each compression."""
    for name in SOURCE_FORMATS:
        source_format = SOURCE_FORMATS[name]
        endings = source_format.suffixes or SOURCE_FORMATS["plain-text"].suffixes
        yield from (
            (name, ending)
            for ending in {compression.compression(ending): ending for ending in reversed(endings)}.values()
        )


def write(folder: Path, name: str, ending: str) -> list[Path]:
    """Write the documents in a format, to one file or, where a file is one document, to many."""
    folder.mkdir()
    documents = [text.encode() for text in TEXTS] if name in ONE_EACH else [CONTENTS[name]()]
    paths = [folder / f"{number:04}{ending.replace('*', '1')}" for number in range(len(documents))]
    for path, data in zip(paths, documents, strict=True):
        path.write_bytes(compressed(path.name, data))
    return paths


def estimated(paths: list[Path], kind: str, cleaning: CleaningConfig | None = None) -> Planned:
    names = tuple(map(str, paths))
    wikipedia, books, documents = (names if kind == source else () for source in KINDS)
    sources = Sources(wikipedia, books, documents)
    settings = replace(SETTINGS, cleaning=cleaning or CleaningConfig())
    return dry_run(sources, "no-such-folder", settings, Runner(1, quiet=True), sample_bytes=SAMPLE_BYTES)


def check(planned: Planned, least_near: float = 0.25) -> None:
    assert not planned.unknown
    assert planned.estimate is not None
    assert planned.estimate.notes == ()
    assert planned.estimate.documents == pytest.approx(DOCUMENTS, rel=least_near)
    assert planned.estimate.text_bytes == pytest.approx(sum(len(text.encode()) for text in TEXTS), rel=least_near)


@pytest.mark.costly
@pytest.mark.parametrize(("name", "ending"), list(inputs()))
def test_each_format_in_each_compression_is_estimated_from_a_part_of_it(name: str, ending: str, tmp_path: Path) -> None:
    paths = write(tmp_path / "in", name, ending)
    assert sum(path.stat().st_size for path in paths) > 2 * SAMPLES * SAMPLE_BYTES
    check(estimated(paths, SOURCE_FORMATS[name].kind, ONE_EACH.get(name)))


@pytest.mark.costly
@pytest.mark.parametrize("ending", [".xml", ".xml.gz", ".xml.bz2", ".xml.zst", ".xml.xz"])
def test_a_dump_in_utf_16_is_estimated(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"wiki{ending}"
    path.write_bytes(compressed(path.name, dump().encode("utf-16")))
    check(estimated([path], "wikipedia"))


LONG = "It rained. " * 60_000
NOT_KNOWN = {
    "one row group": (
        "rows.parquet",
        parquet(DOCUMENTS),
        "the least part of rows.parquet that can be read has ",
    ),
    "a long book": ("long.txt", LONG.encode(), "long.txt has 660.0 kB and is read whole, and a sample has at most"),
    "a page longer than a sample": (
        "wiki.xml.gz",
        dump().replace(TEXTS[0], "".join(f"{DRAW.getrandbits(64):x} " for _ in range(50_000)), 1).encode(),
        "wiki.xml.gz has no page that ends in its first 32.8 kB",
    ),
    "a row longer than a sample": (
        "rows.jsonl.gz",
        json.dumps({"text": "".join(f"{DRAW.getrandbits(64):x} " for _ in range(50_000))}).encode() + b"\n",
        "rows.jsonl.gz has no line that ends in its first 32.8 kB",
    ),
    "pages that are no articles": (
        "talk.xml.gz",
        dump().replace("<ns>0</ns>", "<ns>1</ns>").encode(),
        "the samples of the sources have no text that is kept (left out: not an article ",
    ),
}


@pytest.mark.parametrize("case", list(NOT_KNOWN))
def test_what_is_not_known_has_its_reason(case: str, tmp_path: Path) -> None:
    name, data, reason = NOT_KNOWN[case]
    path = tmp_path / name
    path.write_bytes(compressed(name, data))
    kind = "books" if name == "long.txt" else "wikipedia" if "xml" in name else "documents"
    planned = estimated([path], kind)
    assert planned.estimate is None
    assert planned.unknown.startswith(reason)
    assert f"not known: {reason}" in planned.text()


def test_beside_sources_that_are_known_the_reason_is_a_note(tmp_path: Path) -> None:
    [rows] = write(tmp_path / "in", "json-lines", ".jsonl")
    book = tmp_path / "long.txt"
    book.write_text(LONG)
    sources = Sources(books=(str(book),), documents=(str(rows),))
    planned = dry_run(sources, "no-such-folder", SETTINGS, Runner(1, quiet=True), sample_bytes=SAMPLE_BYTES)
    assert planned.estimate is not None
    first, second = planned.estimate.notes
    assert first.startswith("1 sample of books could not be taken: long.txt has 660.0 kB")
    assert second == "books: its text is not known, so all figures are at least as much"


def test_damage_in_a_sample_names_the_file_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "text.txt.gz"
    data = plain_text()
    path.write_bytes(gzip.compress(data[:5000].rpartition(b"\n")[0] + b"\n\xff\xfe\n" + data[5000:]))
    with pytest.raises(InputError, match=r"text\.txt\.gz, byte 4994: is not UTF-8 \(byte 0xff\)") as refused:
        estimated([path], "documents")
    assert str(refused.value).startswith(str(path))


def test_a_file_that_is_cut_off_inside_a_sample_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "wiki.xml.gz"
    path.write_bytes(gzip.compress(dump().encode())[:10_000])
    planned = estimated([path], "wikipedia")
    assert f"{path}, byte 0: the file ends at byte 10000" in planned.unknown
    assert "it was cut off" in planned.unknown
