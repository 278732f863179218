"""Duplicates in a whole build: found across sources and parts, left out by reference, counted, the same anywhere."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bertdata.corpus.settings import Settings
from bertdata.curation.settings import DedupConfig
from bertdata.inspect.dropped import dropped_lines
from bertdata.sample import SAMPLE_BOOKS
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from tests.pipelines.builds import SETTINGS, build, digests, run

NEAR = replace(SETTINGS, dedup=DedupConfig("near"))


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    """The sample books, one of them a second time, another in a second edition, and rows that repeat one another."""
    folder = tmp_path_factory.mktemp("sources") / "books"
    shutil.copytree(SAMPLE_BOOKS, folder)
    first, second, *_ = sorted(folder.glob("*.txt"))
    shutil.copyfile(first, folder / "z-again.txt")
    text = second.read_text()
    middle = len(text) // 2
    (folder / "a-first-edition.txt").write_text(text[:middle] + text[middle:].replace(" and ", " or ", 5))
    rows = [{"id": f"row:{n:02d}", "text": " ".join(f"word{(n % 30) * 50 + k}" for k in range(40))} for n in range(40)]
    table = folder.parent / "rows.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Sources((), (str(folder),), (str(table),))


@pytest.fixture(scope="module")
def built(sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("near") / "corpus"
    build(output, NEAR, sources)
    return output


def names(output: Path) -> dict[str, str]:
    """Return the reason of each dropped document by its id."""
    rows = pq.read_table(output / "stages" / "duplicates" / "duplicates.parquet").to_pylist()
    return {row["id"]: row["reason"] for row in rows}


def test_the_manifest_and_a_table_account_for_every_duplicate(built: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text())
    books, rows = manifest["sources"]["books"], manifest["sources"]["documents"]
    assert books["drops"] == {"exact duplicate": 1, "near duplicate": 1}
    assert rows["drops"] == {"exact duplicate": 10}
    assert books["counts"]["books"] == books["counts"]["documents"] + 2
    dropped = names(built)
    assert sorted(dropped.values()) == ["exact duplicate"] * 11 + ["near duplicate"]
    assert {"z-again.txt:z-again", "a-first-edition.txt:a-first-edition", "row:30", "row:39"} <= dropped.keys()
    documents = books["counts"]["documents"] + rows["counts"]["documents"]
    assert manifest["tokens"]["counts"]["documents"] == documents
    assert sum(split["counts"]["documents"] for split in manifest["splits"].values()) == documents


def test_samples_of_them_are_shown_with_what_stays(built: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text())
    lines = dropped_lines(manifest, "exact duplicate", 5)
    head = lines.index("documents: 10 dropped as exact duplicate, 5 of them here")
    samples = [line for line in lines[head + 1 :] if line.startswith("  row:")]
    assert len(samples) == 5
    for line in samples:
        number = int(line.split(":")[1])
        assert number >= 30
        assert line == f"  row:{number}: [row:{number - 30:02d} stays for it, similarity 1.00, threshold 0.80]"
    [_, line, _] = dropped_lines(manifest, "near duplicate")
    assert line.startswith("  a-first-edition.txt:a-first-edition: [")


def test_no_text_is_rewritten(built: Path) -> None:
    parts = sorted((built / "stages" / "books").glob("*.parquet"))
    assert "z-again.txt:z-again" in [name for part in parts for name in pq.read_table(part)["id"].to_pylist()]


def test_what_is_left_is_what_a_corpus_without_duplicates_gives(built: Path, sources: Sources, tmp_path: Path) -> None:
    folder = tmp_path / "books"
    shutil.copytree(sources.books[0], folder)
    for name in ("z-again.txt", "a-first-edition.txt"):
        (folder / name).unlink()
    lines = Path(sources.documents[0]).read_text().splitlines()
    (tmp_path / "rows.jsonl").write_text("\n".join(lines[:30]))
    build(tmp_path / "corpus", SETTINGS, Sources((), (str(folder),), (str(tmp_path / "rows.jsonl"),)))
    assert digests(tmp_path / "corpus") == digests(built)


FLAGS = ["--dedup", "near"]


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(["--workers", "2"], marks=pytest.mark.slow),
        pytest.param(["--workers", "1", "--", "--direct_runner_bundle_repeat=2"], marks=pytest.mark.slow),
        pytest.param(
            ["--", "--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=LOOPBACK"],
            marks=pytest.mark.slow,
        ),
    ],
    ids=["two worker processes", "every bundle replayed", "the embedded job service"],
)
def test_every_way_to_run_drops_the_same(flags: list[str], built: Path, sources: Sources, tmp_path: Path) -> None:
    inputs = ["--books", *sources.books, "--documents", *sources.documents]
    done = run(tmp_path / "corpus", *FLAGS, *inputs, *flags)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "corpus") == digests(built)
    assert "dropped, near duplicate" in done.stdout


def test_other_range_cuts_drop_the_same(built: Path, sources: Sources, tmp_path: Path) -> None:
    build(tmp_path / "corpus", replace(NEAR, cleaning=CleaningConfig()), sources)
    assert digests(tmp_path / "corpus") == digests(built)
    assert names(tmp_path / "corpus") == names(built)


LATER = {"duplicates", "words", "merged-words", "vocabulary", "tokens", "shards"}


def variants() -> Iterator[tuple[Settings, set[str]]]:
    yield NEAR, set()
    yield replace(SETTINGS, dedup=DedupConfig("exact")), LATER
    yield SETTINGS, LATER


@pytest.mark.costly
def test_another_dedup_keeps_the_documents_and_what_has_no_duplicate_in_it(
    built: Path, sources: Sources, tmp_path: Path
) -> None:
    output = tmp_path / "corpus"
    shutil.copytree(built, output)
    for settings, touched in variants():
        before = times(output)
        build(output, settings, sources)
        after = times(output)
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        assert {path.split("/")[0] for path in changed} <= touched
        counted = [path for path in before if path.startswith("words/")]
        assert not counted or not changed or set(counted) - changed, "a range without duplicates was counted again"
    assert not (output / "stages" / "duplicates").exists()
    build(tmp_path / "fresh", SETTINGS, sources)
    assert digests(output) == digests(tmp_path / "fresh")


def times(output: Path) -> dict[str, int]:
    """Return when each file of the stages was written."""
    stages = output / "stages"
    paths = (path for path in stages.rglob("*") if path.is_file() and path.parent != stages)
    return {str(path.relative_to(stages)): path.stat().st_mtime_ns for path in paths}
