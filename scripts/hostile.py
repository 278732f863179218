"""Give hostile input to the public commands: each ends in time with a right result or a message, never a traceback.

Run: python scripts/hostile.py [--only WORD ...] [--keep FOLDER]

A case writes its input, runs one command with limits of time and memory (of the processor's time first, so that a busy
machine is not taken for a hang), and says what may come of it: a message (code 1 or 2 and a line that begins with
"error:"), or a result with the code 0 that a function approves of. Never allowed are a traceback, a signal, the repr of
an object, an escape character from a name, a hang, and more than 3 GiB. Ends with 1 where anything is not so.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

MAIN = """
import json, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for kind, most in json.loads(sys.argv.pop(1)):
    resource.setrlimit(kind, (most, most))
from bertdata.cli.main import main
sys.exit(main())
"""
PROSE = "It rained all day in the town. Nobody went out. The clock in the hall struck nine. " * 4
MOST_MEMORY = 3 << 30
PROCESSOR_SECONDS = 300  # of a process, those of compiling kernels too
SECONDS = 900.0

Check = Callable[[Path], bool]


@dataclass(frozen=True)
class Case:
    """A command, and what may come of it: a message, or a result that `right` approves of (None: there is none)."""

    command: Sequence[str]
    right: Check | None = None
    message: bool = True
    limits: tuple[tuple[int, int], ...] = ()


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
    return lambda out: len(found := texts(out)) == count and all(any(part in one for one in found) for part in parts)


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


GOOD = [{"id": str(number), "text": f"Number {number}. {PROSE}"} for number in range(8)]


@case
def a_zip_that_was_cut_off(folder: Path) -> Case:
    put(folder, "a.zip", zipped({"a.txt": PROSE.encode() * 99})[:-30])
    return books(folder)


@case
def a_zip_whose_member_has_a_wrong_checksum(folder: Path) -> Case:
    data = bytearray(zipped({"a.txt": os.urandom(5000).hex().encode()}))
    data[300] ^= 1
    put(folder, "a.zip", bytes(data))
    return books(folder)


@case
def a_zip_in_a_zip(folder: Path) -> Case:
    put(folder, "a.zip", zipped({"b.zip": zipped({"a.txt": PROSE.encode()})}))
    return books(folder, nothing_or(0))


@case
def a_zip_whose_names_climb_out(folder: Path) -> Case:
    put(folder, "a.zip", zipped({"../../evil.txt": PROSE.encode()}))
    return books(folder, lambda out: holds("It rained")(out) and not list(folder.parent.rglob("evil*")))


@case
def a_zip_bomb(folder: Path) -> Case:
    put(folder, "a.zip", zipped({"a.txt": bytes(512 << 20)}))
    return books(folder, nothing_or(0))


@case
def a_gzip_bomb(folder: Path) -> Case:
    put(folder, "a.txt.gz", gzip.compress(bytes(512 << 20), 1))
    return books(folder, nothing_or(0))


@case
def a_gzip_file_that_was_cut_off(folder: Path) -> Case:
    put(folder, "a.txt.gz", gzip.compress(PROSE.encode())[:-9])
    return books(folder)


@case
def bytes_that_are_no_zstandard(folder: Path) -> Case:
    put(folder, "a.txt.zst", b"\x28\xb5\x2f\xfd" + os.urandom(300))
    return books(folder)


@case
def nul_bytes_in_a_book(folder: Path) -> Case:
    put(folder, "a.txt", PROSE.encode().replace(b"clock", b"cl\0ock"))
    return books(folder, lambda out: holds("The clock")(out) and "\0" not in texts(out)[0], message=False)


@case
def a_book_in_utf_16(folder: Path) -> Case:
    put(folder, "a.txt", ("Zoë. " + PROSE).encode("utf-16"))
    return books(folder, holds("Zoë. It rained"), message=False)


@case
def a_byte_order_mark(folder: Path) -> Case:
    put(folder, "a.txt", PROSE.encode("utf-8-sig"))
    return books(folder, lambda out: texts(out)[0].startswith("It rained"), message=False)


@case
def a_book_that_is_one_line_of_40_megabytes(folder: Path) -> Case:
    put(folder, "a.txt", b"word " * (8 << 20))
    return books(folder, nothing_or(9))


@case
def a_name_that_is_not_utf_8(folder: Path) -> Case:
    with open(os.fsencode(folder / "in") + b"/caf\xe9.txt", "wb") as file:
        file.write(PROSE.encode())
    return books(folder, holds("It rained"))


@case
def control_characters_in_a_name(folder: Path) -> Case:
    put(folder, "a\x1b[31m\nb.txt.gz", b"no gzip")
    return books(folder)


@case
def a_folder_with_the_name_of_a_book(folder: Path) -> Case:
    (folder / "in" / "a.txt").mkdir()
    put(folder, "b.txt", PROSE.encode())
    return books(folder, holds("It rained"))


@case
def a_pipe_that_nobody_writes_to(folder: Path) -> Case:
    os.mkfifo(folder / "in" / "a.txt")
    return books(folder)


@case
def a_loop_of_links(folder: Path) -> Case:
    (folder / "in" / "loop").symlink_to(folder / "in")
    put(folder, "a.txt", PROSE.encode())
    return books(folder, holds("It rained"))


@case
def a_link_to_itself(folder: Path) -> Case:
    (folder / "in" / "a.txt").symlink_to(folder / "in" / "a.txt")
    return books(folder)


@case
def an_empty_file(folder: Path) -> Case:
    put(folder, "a.jsonl", b"")
    return build(folder, "a.jsonl")


@case
def a_file_without_end(folder: Path) -> Case:
    (folder / "in" / "a.jsonl").symlink_to("/dev/zero")
    return build(folder, "a.jsonl")


@case
def json_of_great_depth(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD, b'{"text": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"))
    return build(folder, "a.jsonl", counted(9, 1))


@case
def ids_that_are_no_numbers(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD, {"id": float("nan"), "text": PROSE}, {"id": [1, {}], "text": PROSE}))
    return build(folder, "a.jsonl", counted(10, 0))


@case
def an_id_of_5000_digits(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD, b'{"id": ' + b"9" * 5000 + b', "text": "One. Two."}'))
    return build(folder, "a.jsonl", counted(9, 1))


@case
def ids_that_are_all_the_same(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*({"id": "same", "text": one["text"]} for one in GOOD)))
    return build(folder, "a.jsonl", counted(8, 0))


@case
def lone_surrogates(folder: Path) -> Case:
    rows = [*GOOD, {"id": "\ud800", "title": "\udfff", "text": PROSE}, {"id": "x", "text": "A \ud800. " + PROSE}]
    put(folder, "a.jsonl", lines(*rows))
    return build(folder, "a.jsonl", lambda out: counted(10, 0)(out) or counted(10, 1)(out) or counted(10, 2)(out))


@case
def json_lines_in_utf_16(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD).decode().encode("utf-16"))
    return build(folder, "a.jsonl")


@case
def json_lines_with_a_byte_order_mark(folder: Path) -> Case:
    put(folder, "a.jsonl", b"\xef\xbb\xbf" + lines(*GOOD))
    return build(folder, "a.jsonl", counted(8, 0))


@case
def a_line_of_60_megabytes(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD, {"id": "long", "text": "x" * (60 << 20)}))
    return build(folder, "a.jsonl", counted(9, 0))


@case
def rows_without_a_text(folder: Path) -> Case:
    put(folder, "a.jsonl", lines({"text": None}, {"text": 7}, {"text": ""}, {"text": ["a"]}))
    return build(folder, "a.jsonl")


@case
def two_columns_of_one_name(folder: Path) -> Case:
    column = pa.array([PROSE])
    pq.write_table(pa.Table.from_arrays([column, column], ["text", "text"]), folder / "in" / "a.parquet")
    return build(folder, "a.parquet")


@case
def a_parquet_file_that_was_cut_off(folder: Path) -> Case:
    path = folder / "in" / "a.parquet"
    pq.write_table(pa.table({"text": [PROSE] * 99}), path)
    path.write_bytes(path.read_bytes()[:-20])
    return build(folder, "a.parquet")


@case
def a_parquet_file_with_a_damaged_page(folder: Path) -> Case:
    path = folder / "in" / "a.parquet"
    pq.write_table(pa.table({"text": [os.urandom(400).hex() for _ in range(99)]}), path)
    data = bytearray(path.read_bytes())
    data[4:40] = bytes(36)
    path.write_bytes(bytes(data))
    return build(folder, "a.parquet")


@case
def a_text_column_of_lists(folder: Path) -> Case:
    pq.write_table(pa.table({"text": [[PROSE]]}), folder / "in" / "a.parquet")
    return build(folder, "a.parquet")


@case
def a_file_system_that_is_not_there(folder: Path) -> Case:
    return Case(["build", "--documents", "hf://datasets/nobody/nothing", "--output", str(folder / "out")])


@case
def a_bzip2_dump_that_was_cut_off(folder: Path) -> Case:
    put(folder, "wiki.xml.bz2", bz2.compress(dump(*[PROSE] * 99))[:-20])
    return wiki(folder, name="wiki.xml.bz2")


@case
def a_bzip2_dump_with_damage_in_it(folder: Path) -> Case:
    data = bytearray(bz2.compress(dump(*(os.urandom(2000).hex() for _ in range(99)))))
    data[len(data) // 2] ^= 0xFF
    put(folder, "wiki.xml.bz2", bytes(data))
    return wiki(folder, name="wiki.xml.bz2")


@case
def an_index_with_wrong_offsets(folder: Path) -> Case:
    put(folder, "enwiki-1-pages-articles-multistream.xml.bz2", bz2.compress(dump(PROSE, PROSE)))
    wrong = b"".join(b"%d:1:P1\n" % number for number in (0, 7, 99, 10**12, 10**30))
    put(folder, "enwiki-1-pages-articles-multistream-index.txt.bz2", bz2.compress(wrong + b"x:y\n\xff\n"))
    return wiki(folder, holds("It rained", count=2), name="enwiki-1-pages-articles-multistream.xml.bz2")


@case
def braces_that_never_close(folder: Path) -> Case:
    put(folder, "wiki.xml", dump("{{" * 200_000 + PROSE, "{{{" * 100_000 + PROSE, PROSE))
    return wiki(folder, lambda out: any(one.startswith("It rained") for one in texts(out)))


@case
def links_that_never_close(folder: Path) -> Case:
    put(folder, "wiki.xml", dump("[[a|" * 200_000 + PROSE, "[http://x " * 100_000 + PROSE, PROSE))
    return wiki(folder, lambda out: any(one.startswith("It rained") for one in texts(out)))


@case
def tags_within_tags(folder: Path) -> Case:
    put(folder, "wiki.xml", dump("&lt;div&gt;" * 200_000 + PROSE, "&lt;ref " * 200_000, "{|\n|" * 100_000, PROSE))
    return wiki(folder, lambda out: any(one.startswith("It rained") for one in texts(out)))


@case
def quotes_and_comments_that_repeat(folder: Path) -> Case:
    put(folder, "wiki.xml", dump("'" * 500_000 + PROSE, "&lt;!--" * 100_000, "=" * 500_000, "*#:;" * 100_000, PROSE))
    return wiki(folder, lambda out: any(one.startswith("It rained") for one in texts(out)))


@case
def a_page_of_40_megabytes(folder: Path) -> Case:
    put(folder, "wiki.xml", dump((PROSE + "\n\n") * (40 * 2**20 // len(PROSE))))
    return wiki(folder, lambda out: sum(map(len, texts(out))) > 20 << 20)


@case
def html_with_the_name_of_a_dump(folder: Path) -> Case:
    put(folder, "wiki.xml", b"<!DOCTYPE html><html><body>Not found</body></html>")
    return wiki(folder)


@case
def entities_that_grow(folder: Path) -> Case:
    laughs = b"".join(b'<!ENTITY l%d "%s">' % (number, b"&l%d;" % (number - 1) * 10) for number in range(1, 12))
    put(folder, "wiki.xml", b"<!DOCTYPE x [" + laughs + b"]>" + dump("&l11; " + PROSE))
    return wiki(folder, lambda out: sum(map(len, texts(out))) < 10_000)


@case
def a_dump_of_other_bytes_than_utf_8(folder: Path) -> Case:
    put(folder, "wiki.xml", dump("Caf\u00e9. " + PROSE, PROSE).replace("\u00e9".encode(), b"\xe9\xff\xed\xa0\x80"))
    return wiki(folder, lambda out: len(texts(out)) in (1, 2))


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
    one = build(folder, "a.txt")
    return Case(one.command, None, limits=((resource.RLIMIT_FSIZE, 20_000),))


@case
def few_open_files(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD))
    one = build(folder, "a.jsonl", counted(8, 0))
    return Case(one.command, one.right, limits=((resource.RLIMIT_NOFILE, 12),))


@case
def little_memory(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD))
    one = build(folder, "a.jsonl", counted(8, 0))
    return Case(one.command, one.right, limits=((resource.RLIMIT_AS, 700 << 20),))


@case
def few_open_files_and_two_workers(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD))
    one = build(folder, "a.jsonl", counted(8, 0), workers=2)
    return Case(one.command, one.right, limits=((resource.RLIMIT_NOFILE, 20),))


@case
def little_memory_and_two_workers(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD))
    one = build(folder, "a.jsonl", counted(8, 0), workers=2)
    return Case(one.command, one.right, limits=((resource.RLIMIT_AS, 1 << 30),))


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


class _Liar(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind = self.path.split("/")[1]
        self.send_response(302 if kind in ("loop", "ftp") else 200)
        if kind in ("loop", "ftp"):
            self.send_header("Location", self.path if kind == "loop" else "ftp://127.0.0.1/5.txt")
        self.send_header("Content-Length", {"length": "²", "more": "0", "huge": str(10**17)}.get(kind, "0"))
        self.end_headers()
        if kind in ("length", "huge"):
            self.wfile.write(PROSE.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


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


def run(name: str, folder: Path) -> str | None:
    """Run a case in a folder of its own; returns what went wrong, None where nothing did."""
    (folder / "in").mkdir(parents=True)
    one = CASES[name](folder)
    limits = [*one.limits, (resource.RLIMIT_CPU, PROCESSOR_SECONDS)]
    with open(folder / "log", "wb+") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, json.dumps(limits), *one.command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=os.environ | {"no_proxy": "127.0.0.1"},
        )
        timer = threading.Timer(SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        late = not timer.is_alive()
        timer.cancel()
    process.returncode = code = os.waitstatus_to_exitcode(status)
    told = (folder / "log").read_bytes().decode(errors="replace")
    faults = {
        f"a hang of {SECONDS:.0f} s": late,
        f"more than {PROCESSOR_SECONDS} s of the processor": code == -signal.SIGXCPU,
        f"{used.ru_maxrss >> 10} MiB": used.ru_maxrss << 10 > MOST_MEMORY,
        "a traceback": "Traceback (most recent" in told,
        "the repr of an object": re.search(r"object at 0x", told) is not None,
        "an escape character": "\x1b" in told,
        f"the code {code}": code not in (0, 1, 2),
        "no message": code in (1, 2) and not re.search(r"^error: .", told, re.MULTILINE),
        "a message where the result should be right": code in (1, 2) and not one.message,
        "a wrong result": code == 0 and not (one.right and one.right(folder / "out")),
    }
    found = [what for what, is_so in faults.items() if is_so]
    return f"{', '.join(found)}\n{told[-1500:]}" if found else None


def main() -> int:
    """Run the cases one after another; returns 1 where one went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="cases with one of these words")
    parser.add_argument("--keep", metavar="FOLDER", help="work in this folder and keep it")
    flags = parser.parse_args()
    place = Path(flags.keep or tempfile.mkdtemp(prefix="bertdata-hostile-"))
    names = [name for name in CASES if any(word in name for word in flags.only)]
    faults = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), _Liar) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        os.environ["BERTDATA_HOSTILE_SERVER"] = f"http://127.0.0.1:{server.server_address[1]}"
        os.environ["BERTDATA_HOSTILE_BUILD"] = str(place / "build")
        own = [sys.executable, "-c", MAIN, "[]", "build", "--output", str(place / "build")]
        subprocess.run(own, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for number, name in enumerate(names):
            began = time.monotonic()
            fault = run(name, place / f"case-{number:02d}")
            faults += fault is not None
            print(f"{'FAULT' if fault else 'good '} {time.monotonic() - began:5.1f} s  {name}", flush=True)
            if fault:
                print(fault, flush=True)
        server.shutdown()
    if not flags.keep:
        shutil.rmtree(place, ignore_errors=True)
    print(f"{len(names)} forms of hostile input, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
