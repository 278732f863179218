"""Hostile input: what a case is, and the cases of outputs, limits, finished builds and downloads."""

from __future__ import annotations

import json
import os
import resource
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

PROSE = "It rained all day in the town. Nobody went out. The clock in the hall struck nine. " * 4
GOOD = [{"id": str(number), "text": f"Number {number}. {PROSE}"} for number in range(8)]

Check = Callable[[Path], bool]


@dataclass(frozen=True)
class Case:
    """A command, and what may come of it: a message, or a result that `right` approves of (None: there is none)."""

    command: Sequence[str]
    right: Check | None = None
    message: bool = True
    limits: tuple[tuple[int, int], ...] = ()
    packages: str = ""
    """A folder of packages that the command finds installed."""


CASES: dict[str, Callable[[Path], Case]] = {}


def case(make: Callable[[Path], Case]) -> Callable[[Path], Case]:
    """Register a case under the words of its function's name."""
    CASES[make.__name__.replace("_", " ")] = make
    return make


def texts(folder: Path) -> list[str]:
    """Return the texts of the documents that a stage wrote."""
    return [text for path in sorted(folder.rglob("*.parquet")) for text in pq.read_table(path)["text"].to_pylist()]


def holds(*parts: str, count: int = 1) -> Check:
    """Return a check: there are as many documents, and each part is in one."""
    return lambda out: len(kept := texts(out)) == count and all(any(part in text for text in kept) for part in parts)


def nothing_or(count: int) -> Check:
    """Return a check: at most so many documents came of it."""
    return lambda out: len(texts(out)) <= count


def books(folder: Path, right: Check | None = None, *, message: bool = True) -> Case:
    """Return a case that cleans the books of a folder."""
    return Case(["clean-books", str(folder / "in"), "--output", str(folder / "out")], right, message)


def wiki(folder: Path, right: Check | None = None, *, message: bool = True, name: str = "wiki.xml") -> Case:
    """Return a case that cleans a dump."""
    return Case(["clean-wikipedia", str(folder / "in" / name), "--output", str(folder / "out")], right, message)


def build(folder: Path, name: str, right: Check | None = None, *, message: bool = True, workers: int = 1) -> Case:
    """Return a case that builds shards of documents in a file."""
    command = ["build", "--documents", str(folder / "in" / name), "--vocab", "bertdata-30k-uncased"]
    return Case([*command, "--output", str(folder / "out"), "--workers", str(workers)], right, message)


def counted(rows: int, drops: int) -> Check:
    """Return a check of a build's manifest: rows read, and rows dropped."""

    def right(out: Path) -> bool:
        source = json.loads((out / "manifest.json").read_text())["sources"]["documents"]
        return int(source["counts"]["rows"]) == rows and sum(source["drops"].values()) == drops

    return right


def put(folder: Path, name: str, data: bytes) -> Path:
    """Write an input file."""
    path = folder / "in" / name
    path.write_bytes(data)
    return path


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        file.seek(0)
        return file.read()


def lines(*rows: object) -> bytes:
    """Return JSON lines; bytes are a line as they are."""
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


def dump(*pages: str) -> bytes:
    """Return the XML of a dump whose pages have these wikitexts."""
    body = "".join(
        f"<page><title>P{number}</title><ns>0</ns><id>{number}</id><revision><id>1</id><model>wikitext</model>"
        f'<text xml:space="preserve">{text}</text></revision></page>\n'
        for number, text in enumerate(pages, 1)
    )
    return f'<mediawiki xml:lang="en"><siteinfo><dbname>enwiki</dbname></siteinfo>\n{body}</mediawiki>\n'.encode()


@case
def an_output_that_cannot_be_written(folder: Path) -> Case:
    put(folder, "a.txt", PROSE.encode())
    return Case(["clean-books", str(folder / "in"), "--output", "/proc/nothing/here"])


@case
def an_output_that_is_a_file(folder: Path) -> Case:
    put(folder, "a.txt", PROSE.encode())
    (folder / "out").write_text("mine")
    return Case(["clean-books", str(folder / "in"), "--output", str(folder / "out")])


@case
def an_output_that_holds_files_of_the_users(folder: Path) -> Case:
    put(folder, "a.txt", PROSE.encode())
    (folder / "out").mkdir()
    (folder / "out" / "thesis.doc").write_text("mine")
    return books(folder, lambda out: False)


@case
def an_output_with_a_name_of_300_letters(folder: Path) -> Case:
    put(folder, "a.txt", PROSE.encode())
    return Case(["clean-books", str(folder / "in"), "--output", str(folder / ("x" * 300))])


@case
def a_disk_that_fills_up(folder: Path) -> Case:
    put(folder, "a.txt", os.urandom(200_000).hex().encode())
    case = build(folder, "a.txt")
    return Case(case.command, None, limits=((resource.RLIMIT_FSIZE, 20_000),))


@case
def few_open_files(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD))
    case = build(folder, "a.jsonl", counted(8, 0))
    return Case(case.command, case.right, limits=((resource.RLIMIT_NOFILE, 12),))


@case
def little_memory(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD))
    case = build(folder, "a.jsonl", counted(8, 0))
    return Case(case.command, case.right, limits=((resource.RLIMIT_AS, 700 << 20),))


@case
def little_memory_and_a_dry_run(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD))
    case = build(folder, "a.jsonl", counted(8, 0))
    return Case([*case.command, "--dry-run"], limits=((resource.RLIMIT_AS, 1500 << 20),))


@case
def few_open_files_and_two_workers(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD))
    case = build(folder, "a.jsonl", counted(8, 0), workers=2)
    return Case(case.command, case.right, limits=((resource.RLIMIT_NOFILE, 20),))


@case
def little_memory_and_two_workers(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD))
    case = build(folder, "a.jsonl", counted(8, 0), workers=2)
    return Case(case.command, case.right, limits=((resource.RLIMIT_AS, 1 << 30),))


def tampered(folder: Path, change: Callable[[Path], None], command: str = "verify") -> Case:
    """Return a case that reads a finished build after a change to it."""
    shutil.copytree(os.environ["BERTDATA_HOSTILE_BUILD"], folder / "corpus")
    change(folder / "corpus")
    return Case([command, str(folder / "corpus")])


def manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Return a change of the manifest's values."""

    def apply(corpus: Path) -> None:
        path = corpus / "manifest.json"
        values = json.loads(path.read_text())
        path.write_text(json.dumps(change(values) or values))

    return apply


def unsealed(values: dict[str, Any]) -> dict[str, Any]:
    """Take the checksum from a manifest, so that its values are looked at."""
    values.pop("checksum", None)
    return values


def shard(values: dict[str, Any], name: str, value: object) -> None:
    """Change what a manifest says of its first shard."""
    values["splits"]["train"]["shards"][0][name] = value


@case
def a_manifest_that_points_outside(folder: Path) -> Case:
    return tampered(folder, manifest(lambda values: shard(values, "file", "../../../../etc/passwd")))


@case
def a_manifest_that_points_outside_is_shown(folder: Path) -> Case:
    return tampered(folder, manifest(lambda values: shard(values, "file", "../../../../etc/passwd")), "show")


@case
def a_manifest_with_texts_for_numbers(folder: Path) -> Case:
    return tampered(folder, manifest(lambda values: shard(values, "bytes", "many")))


@case
def a_manifest_with_a_number_for_shards(folder: Path) -> Case:
    return tampered(folder, manifest(lambda values: unsealed(values)["splits"]["train"].update(shards=7)), "show")


@case
def a_manifest_without_shards(folder: Path) -> Case:
    return tampered(folder, manifest(lambda values: unsealed(values)["splits"]["train"].update(shards=[])), "show")


@case
def a_manifest_with_a_number_for_a_split(folder: Path) -> Case:
    return tampered(folder, manifest(lambda values: unsealed(values)["splits"].update(train=7)), "show")


@case
def a_manifest_with_texts_for_counts(folder: Path) -> Case:
    return tampered(folder, manifest(lambda values: unsealed(values).update(sources={"books": "many"})), "stats")


@case
def a_manifest_with_a_list_for_a_digest(folder: Path) -> Case:
    return tampered(folder, manifest(lambda values: shard(unsealed(values), "sha256", ["x"])), "show")


@case
def a_manifest_that_is_a_list(folder: Path) -> Case:
    return tampered(folder, manifest(lambda values: [1, 2]))


@case
def a_manifest_without_splits(folder: Path) -> Case:
    return tampered(folder, manifest(lambda values: {"format": values["format"]}), "show")


@case
def a_shard_that_was_cut_off(folder: Path) -> Case:
    def cut(corpus: Path) -> None:
        path = next((corpus / "train").glob("*.arrow"))
        path.write_bytes(path.read_bytes()[:-2000])

    return tampered(folder, cut, "show")


@case
def a_shard_with_a_flipped_bit(folder: Path) -> Case:
    def flip(corpus: Path) -> None:
        path = next((corpus / "train").glob("*.arrow"))
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(bytes(data))

    return tampered(folder, flip)


@case
def a_vocabulary_with_a_line_less(folder: Path) -> Case:
    def cut(corpus: Path) -> None:
        path = corpus / "tokenizer" / "vocab.txt"
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    return tampered(folder, cut)


@case
def a_vocabulary_of_nul_bytes(folder: Path) -> Case:
    path = put(folder, "vocab.txt", b"\0\n" * 99)
    return Case(["tokenize", "--vocab", str(path), str(put(folder, "a.txt", PROSE.encode()))])


def download(folder: Path, kind: str, right: Check | None = None) -> Case:
    """Return a case that downloads a book from a server that lies."""
    mirror = f"{os.environ['BERTDATA_HOSTILE_SERVER']}/{kind}"
    return Case(["download", "gutenberg", "--ids", "5", "--mirror", mirror, "--output", str(folder / "out")], right)


@case
def a_redirect_to_itself(folder: Path) -> Case:
    return download(folder, "loop")


@case
def a_redirect_to_ftp(folder: Path) -> Case:
    return download(folder, "ftp")


@case
def a_length_that_is_no_number(folder: Path) -> Case:
    return download(folder, "length", lambda out: [path.read_text() for path in out.iterdir()] == [PROSE])


@case
def a_length_of_a_hundred_petabytes(folder: Path) -> Case:
    return download(folder, "huge")
