"""Full disks, empty sources, interrupts and killed workers give one message, and the build can be continued."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from bertdata import ConfigError, InputError, OutputError, open_shards
from bertdata.cli.main import run_verb
from bertdata.documents import slot
from bertdata.io import files
from bertdata.shards.settings import ShardsConfig
from bertdata.sources.inputs import Sources
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS
from tests.clock import PATIENCE
from tests.pipelines.builds import ROOT, SETTINGS, build, command, digests, environment, run, run_here, with_examples

WITH_BEAM = True

SMALL = replace(SETTINGS, sharding=ShardsConfig(shard_bytes=2048, validation_fraction=0.1))
NOTHING = "\u200b \u00ad\u200b"


def documents(path: Path, number: int = 60, text: Callable[[int], str] | None = None) -> Sources:
    """Write documents as JSON lines with the ids 0, 1, 2 ..."""
    text = text or (lambda n: f"The river {n} is long. It flows to the sea past {n + 3} towns. Salt is mined there.")
    path.write_text("".join(json.dumps({"id": str(n), "text": text(n)}) + "\n" for n in range(number)))
    return Sources(documents=(str(path),))


@pytest.fixture
def vocabulary(tmp_path: Path) -> str:
    path = tmp_path / "vocab.txt"
    letters = [chr(code) for code in range(97, 123)]
    digits = [str(digit) for digit in range(10)]
    pieces = [*SPECIAL_TOKENS, ".", *letters, *digits, *("##" + character for character in letters + digits)]
    path.write_text("\n".join(pieces) + "\n")
    return str(path)


def half_written(output: Path) -> list[Path]:
    return [path for path in output.rglob("*") if path.name.startswith(files.TEMPORARY)]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_disk_is_told_wherever_it_happens_and_a_build_with_room_goes_on_to_the_same_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = documents(tmp_path / "rows.jsonl")
    build(tmp_path / "undisturbed", SMALL, sources)
    made = tempfile.mkstemp
    room = 0

    def make(*, prefix: str, suffix: str, dir: str | None) -> tuple[int, str]:  # noqa: A002
        nonlocal room
        descriptor, path = made(prefix=prefix, suffix=suffix, dir=dir)
        room -= 1
        if room < 0:
            os.close(descriptor)
            descriptor = os.open("/dev/full", os.O_WRONLY)
        return descriptor, path

    monkeypatch.setattr(tempfile, "mkstemp", make)
    output = tmp_path / "corpus"
    failures: list[str] = []
    for allowed in range(4, 60, 8):
        room = allowed
        try:
            build(output, SMALL, sources)
        except OutputError as error:
            failures.append(str(error))
            assert not half_written(output)
            assert not (output / "manifest.json").exists()
        else:
            break
    assert all(
        "no space left to write this file; make room and run the same command again" in failure for failure in failures
    )
    assert len({failure.split(":")[0] for failure in failures}) >= 2
    assert digests(output) == digests(tmp_path / "undisturbed")
    assert len(digests(output)) > 2


@pytest.mark.parametrize("given", [True, False], ids=["vocabulary given", "vocabulary trained"])
def test_documents_that_give_no_token_are_refused_before_a_manifest(
    given: bool, vocabulary: str, tmp_path: Path
) -> None:
    settings = replace(SMALL, vocab=vocabulary if given else None)
    reason = "give no example to train on" if given else "have no word of at most 100 characters to train a vocabulary"
    with pytest.raises(ConfigError, match=f"the documents {reason}"):
        build(tmp_path / "corpus", settings, documents(tmp_path / "rows.jsonl", 30, lambda _: NOTHING))
    assert not (tmp_path / "corpus" / "manifest.json").exists()


def test_documents_that_give_no_token_are_counted_and_left_out(vocabulary: str, tmp_path: Path) -> None:
    sources = documents(tmp_path / "rows.jsonl", 60, lambda n: "It is long. It flows." if n % 2 else NOTHING)
    manifest = build(tmp_path / "corpus", replace(SMALL, vocab=vocabulary), sources)
    assert manifest["tokens"]["counts"]["documents"] == 30
    assert manifest["tokens"]["drops"] == {"no tokens": 30}


@pytest.mark.parametrize(
    ("value", "kind"), [(5, "a number"), (["Salt is white."], "a list"), ({"body": "Salt is white."}, "an object")]
)
def test_a_text_column_of_other_values_than_strings_is_refused_with_the_remedy(
    value: object, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps({'text': value})}\n" * 12)
    sources = Sources(documents=(str(path),))
    with pytest.raises(InputError, match=rf"\(dropped: no text: {kind}: 12\)"):
        build(tmp_path / "corpus", SMALL, sources)


def test_documents_of_blanks_alone_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no document is left of these sources \(dropped: no text: 12\)"):
        build(tmp_path / "corpus", SMALL, documents(tmp_path / "rows.jsonl", 12, lambda _: " \n "))


@pytest.mark.parametrize("objective", ["nsp", "sop", "full-sentences"])
def test_a_validation_split_without_a_token_is_an_empty_split(objective: str, vocabulary: str, tmp_path: Path) -> None:
    held_out = round(SMALL.sharding.validation_fraction * 65536)
    sources = documents(
        tmp_path / "rows.jsonl", 100, lambda n: NOTHING if slot(str(n)) < held_out else "It is long. It flows."
    )
    settings = replace(with_examples(objective=objective), vocab=vocabulary)
    manifest = build(tmp_path / "corpus", settings, sources)
    assert manifest["splits"]["validation"]["counts"]["examples"] == 0
    assert manifest["splits"]["validation"]["counts"]["documents"] == 0
    assert len(open_shards(tmp_path / "corpus" / "validation")) == 0
    assert len(open_shards(tmp_path / "corpus" / "train")) > 0


DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>enwiki</dbname>
    <base>https://en.wikipedia.org/wiki/Main_Page</base>
    <case>first-letter</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
    </namespaces>
  </siteinfo>
%s</mediawiki>
"""
PAGE = """  <page>
    <title>Page %d</title>
    <ns>0</ns>
    <id>%d</id>
%s    <revision>
      <id>1</id>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text xml:space="preserve">%s</text>
    </revision>
  </page>
"""
REDIRECT = '    <redirect title="Elsewhere" />\n'
PROSE = "The river is long and cold. It flows past many towns to the sea. Salt is mined on both of its banks."


def dump(path: Path, pages: int, redirects: int) -> str:
    """Write a dump of articles and redirects."""
    numbers = range(pages + redirects)
    kinds = [("", PROSE)] * pages + [(REDIRECT, "#REDIRECT [[Elsewhere]]")] * redirects
    path.write_text(DUMP % "".join(PAGE % (n, n, *kinds[n]) for n in numbers))
    return str(path)


def clean(source: str, output: Path) -> int:
    return run_verb("clean-wikipedia", [source, "--output", str(output), "--workers", "1"])


def test_a_folder_of_documents_without_a_document_is_told_and_gives_no_shards(vocabulary: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no document is left of these sources \(dropped: redirect: 3\)"):
        clean(dump(tmp_path / "wiki.xml", 0, 3), tmp_path / "documents")
    output = tmp_path / "corpus"
    arguments = ["--documents", str(tmp_path / "documents"), "--vocab", vocabulary, "--output", str(output)]
    with pytest.raises(InputError, match=r"no document is left of these sources"):
        run_verb("build-shards", [*arguments, "--workers", "1"])
    assert not list(output.rglob("data-*"))


def test_a_folder_of_documents_keeps_its_marker_and_the_users_notes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "documents"
    source = dump(tmp_path / "wiki.xml", 5, 2)
    assert clean(source, output) == 0
    for name in ("notes.md", "notes.json", "my.failure", "my-table.parquet"):
        (output / name).write_text("what I did")
    before = {path.name: path.stat().st_mtime_ns for path in output.iterdir()}
    first = capsys.readouterr()
    assert clean(source, output) == 0
    assert capsys.readouterr() == (first.out, "")
    assert {path.name: path.stat().st_mtime_ns for path in output.iterdir()} == before
    assert json.loads((output / ".bertdata.json").read_text()) == {"kind": "documents"}


def test_a_folder_of_documents_is_cleaned_again_where_the_dump_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "documents"
    clean(dump(tmp_path / "wiki.xml", 5, 2), output)
    (output / "notes.md").write_text("what I did")
    clean(dump(tmp_path / "wiki.xml", 7, 0), output)
    fresh = tmp_path / "fresh"
    clean(dump(tmp_path / "wiki.xml", 7, 0), fresh)
    capsys.readouterr()
    parts = {path.name: path.read_bytes() for path in fresh.glob("*.parquet")}
    assert {path.name: path.read_bytes() for path in output.glob("*.parquet")} == parts
    assert (output / "notes.md").exists()


def test_an_interrupted_build_says_one_line_leaves_nobody_behind_and_goes_on(tmp_path: Path) -> None:
    sources = documents(tmp_path / "rows.jsonl", 20_000)
    output = tmp_path / "corpus"
    flags = ["--documents", *sources.documents, "--workers", "2"]
    process, workers = _start(output, flags, lambda: any((output / "stages").rglob("*-0*")))
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    shown = [line for line in said.splitlines() if not re.match(r"\d\d:\d\d:\d\d ", line)]
    assert shown == ["interrupted: run the same command again to go on; what is done is kept"]
    assert not psutil.wait_procs(workers, timeout=PATIENCE)[1]
    build(output, SETTINGS, sources)
    build(tmp_path / "undisturbed", SETTINGS, sources)
    assert digests(output) == digests(tmp_path / "undisturbed")
    assert not half_written(output)


@pytest.mark.costly
def test_sigterm_is_one_line_and_code_143_and_leaves_nobody_behind(tmp_path: Path) -> None:
    sources = documents(tmp_path / "rows.jsonl", 20_000)
    output = tmp_path / "corpus"
    flags = ["--documents", *sources.documents, "--workers", "2", "--log-format", "json"]
    process, workers = _start(output, flags, lambda: any((output / "stages").rglob("*-0*")))
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    events = [json.loads(line) for line in said.splitlines()]
    assert [(event["event"], event["code"]) for event in events if "code" in event] == [("error", 143), ("end", 143)]
    assert events[-2]["text"] == "terminated: run the same command again to go on; what is done is kept"
    assert {event["event"] for event in events[:-2]} <= {"stage", "message"}
    assert not psutil.wait_procs(workers, timeout=60)[1]


@pytest.mark.slow
def test_a_build_whose_worker_is_killed_is_one_error_and_goes_on_to_the_same_shards(
    sample_build: Path, tmp_path: Path
) -> None:
    output = tmp_path / "corpus"
    process, workers = _start(output, ["--workers", "2"], lambda: list(output.glob("stages/wikipedia/*.json")))
    workers[0].kill()
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    shown = [line for line in said.splitlines() if not re.match(r"\d\d:\d\d:\d\d ", line)]
    assert len(shown) == 1, said
    assert shown[0].startswith(f"error: worker process {workers[0].pid} was killed")
    assert not psutil.wait_procs(workers, timeout=PATIENCE)[1]
    done = run(output, "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert digests(output) == digests(sample_build)
    assert not half_written(output)


def _start(
    output: Path, flags: list[str], ready: Callable[[], object], variables: dict[str, str] | None = None
) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """Start a build of two workers in a session of its own; returns it once it is ready, with the one beside it."""
    process = subprocess.Popen(
        command(output, *flags),
        cwd=ROOT,
        env=environment() | (variables or {}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE
    workers: list[psutil.Process] = []
    while not (workers and ready()) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
        workers = psutil.Process(process.pid).children()
    assert len(workers) == 1
    return process, workers


def test_a_runner_that_cannot_work_is_refused_before_force_removes_anything(sample_build: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in sample_build.rglob("*") if path.is_file()}
    done = run_here(sample_build, "--force", "--", "--runner=Nope")
    assert done.returncode == 1
    assert "Beam refuses these flags: Unexpected pipeline runner: Nope" in done.stderr
    assert before == {path: path.stat().st_mtime_ns for path in sample_build.rglob("*") if path.is_file()}


@pytest.mark.costly
@pytest.mark.parametrize(
    "how",
    [*(pytest.param(number, marks=pytest.mark.slow) for number in (signal.SIGINT, signal.SIGTERM)), signal.SIGKILL],
)
def test_a_build_that_is_stopped_leaves_no_temporary_folder(how: signal.Signals, tmp_path: Path) -> None:
    sources = documents(tmp_path / "rows.jsonl", 20_000)
    output, temporary = tmp_path / "corpus", tmp_path / "temporary"
    temporary.mkdir()
    flags = ["--documents", *sources.documents, "--workers", "2"]
    variables = {"TMPDIR": str(temporary)}
    process, workers = _start(output, flags, lambda: any((output / "stages").rglob("*-0*")), variables)
    process.send_signal(how)
    process.communicate(timeout=PATIENCE)
    assert not psutil.wait_procs(workers, timeout=PATIENCE)[1]
    assert list(temporary.iterdir()) == []
