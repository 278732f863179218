"""An estimate comes near what a build then makes, and says what it cannot know."""

from __future__ import annotations

import bz2
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bertdata.beam.runner import Runner
from bertdata.cli.main import run_verb
from bertdata.corpus.dry_run import Planned, dry_run
from bertdata.corpus.estimate.figures import Estimate
from bertdata.corpus.estimate.rates import READ, READ_SMALL, REQUEST_SECONDS, TRANSFER_SECONDS
from bertdata.corpus.estimate.sample import FINISHED, BeginningsOf
from bertdata.corpus.settings import Settings
from bertdata.curation.settings import DedupConfig
from bertdata.engine.stages import BuildState
from bertdata.kernels.warmup import compiling_always
from bertdata.objectives.settings import ExamplesConfig, MixingConfig
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.settings import ShardsConfig
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from tests.data import data_path
from tests.pipelines.builds import SAMPLE, SETTINGS, build

RUNNER = Runner(1, quiet=True)
NEAR = 0.25


def planned(sources: Sources, settings: Settings, output: Path) -> Planned:
    return dry_run(sources, str(output), settings, RUNNER)


def estimated(sources: Sources, settings: Settings, output: Path) -> Estimate:
    estimate = planned(sources, settings, output).estimate
    assert estimate is not None
    assert not output.exists()
    return estimate


def size(*folders: Path) -> int:
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())


def near(estimated: float, real: float, most: float = NEAR) -> bool:
    return abs(estimated - real) <= most * real


def check(estimate: Estimate, manifest: dict[str, Any], output: Path) -> None:
    """Compare an estimate with a finished build."""
    stages = output / "stages"
    assert near(estimate.tokens, manifest["tokens"]["counts"]["tokens"])
    assert near(estimate.text_bytes, manifest["tokens"]["counts"]["text_bytes"])
    shards = sorted(output.glob("*/data-*.arrow"))
    assert near(estimate.shards, len(shards))
    assert near(
        estimate.ranges, sum(len(list(stages.glob(f"{name}/*.parquet"))) for name in ("wikipedia", "books", "tables"))
    )
    assert near(estimate.token_files, len(list((stages / "tokens").glob("*.arrow"))))
    examples = sum(split["counts"]["examples"] for split in manifest["splits"].values())
    assert near(estimate.examples, examples)
    made = sum(path.stat().st_size for path in shards)
    [written] = (work.stored for work in estimate.stages if work.title == "write shards")
    assert near(written, made)
    [encoded] = (work.stored for work in estimate.stages if work.title == "tokenize")
    assert near(encoded, size(stages / "tokens"))
    assert near(estimate.stored, size(stages) + made)


@pytest.mark.costly
def test_of_a_small_corpus(tmp_path: Path) -> None:
    estimate = estimated(SAMPLE, SETTINGS, tmp_path / "out")
    check(estimate, build(tmp_path / "out"), tmp_path / "out")
    assert estimate.jobs == ("clean wikipedia and clean books", "train vocabulary", "write shards")


def larger_dump(path: Path, copies: int) -> Path:
    """Write the pages of the sample dump several times, under other ids."""
    xml = bz2.decompress(Path(SAMPLE_DUMP).read_bytes()).decode()
    begin, end = xml.index("<page>"), xml.rindex("</mediawiki>")
    heads = re.split(r"(?<=</ns>)(\s*<id>)(\d+)", xml[begin:end])
    pages = []
    for copy in range(copies):
        numbered = [text if place % 3 != 2 else str(int(text) + copy * 10**6) for place, text in enumerate(heads)]
        pages.append("".join(numbered))
    path.write_text(xml[:begin] + "".join(pages) + xml[end:])
    return path


@pytest.mark.costly
def test_of_a_dump_of_which_a_part_is_sampled(tmp_path: Path) -> None:
    dump = larger_dump(tmp_path / "wiki.xml", 20)
    assert dump.stat().st_size > 2 * 8 * (256 << 10)
    settings = replace(
        SETTINGS,
        cleaning=CleaningConfig(range_bytes=400_000),
        sharding=ShardsConfig(shard_bytes=500_000, validation_fraction=0.1),
        phases=(PhaseConfig(examples=ExamplesConfig(masking="static", dupe_factor=3)),),
    )
    estimate = estimated(Sources((str(dump),)), settings, tmp_path / "out")
    manifest = build(tmp_path / "out", settings, Sources((str(dump),)))
    check(estimate, manifest, tmp_path / "out")
    assert "tokens are those of a vocabulary trained on the samples" in estimate.notes


@pytest.mark.costly
def test_of_compressed_rows_with_a_mixture(tmp_path: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(SAMPLE_BOOKS).glob("*.txt"))]
    words = " ".join(texts).split()
    for name, number in (("a", 3_000), ("b", 1_000)):
        draw = Random(name)
        starts = [draw.randrange(len(words) - 300) for _ in range(number)]
        rows = [
            {"text": " ".join(words[start : start + 300]), "key": f"{draw.getrandbits(8_000):x}"} for start in starts
        ]
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    assert (tmp_path / "a.jsonl.gz").stat().st_size > 8 * (256 << 10)
    sources = Sources(documents=(f"a={tmp_path}/a.jsonl.gz", f"b={tmp_path}/b.jsonl.gz"))
    settings = replace(
        SETTINGS,
        vocab="bertdata-30k-uncased",
        sharding=ShardsConfig(shard_bytes=1_000_000, validation_fraction=0.1),
        phases=(PhaseConfig(mixing=MixingConfig(mix=("a=1", "b=3"), train_epochs=2.0)),),
    )
    estimate = estimated(sources, settings, tmp_path / "out")
    check(estimate, build(tmp_path / "out", settings, sources), tmp_path / "out")


@pytest.mark.slow
def test_of_real_articles_and_books(tmp_path: Path) -> None:
    dump = data_path("wikipedia", "enwiki-dev-pages-articles-multistream.xml.bz2")
    books = sorted(data_path("books").glob("pg*.txt"))
    sources = Sources((str(dump),), tuple(map(str, books)))
    settings = replace(SETTINGS, cleaning=CleaningConfig(), sharding=ShardsConfig(), vocab="bertdata-30k-uncased")
    estimate = estimated(sources, settings, tmp_path / "out")
    check(estimate, build(tmp_path / "out", settings, sources), tmp_path / "out")


@pytest.mark.costly
def test_it_reads_the_same_samples_each_time(tmp_path: Path) -> None:
    assert estimated(SAMPLE, SETTINGS, tmp_path / "out") == estimated(SAMPLE, SETTINGS, tmp_path / "out")


def test_of_documents_that_were_written_before_some_row_groups_are_taken(sample_build: Path, tmp_path: Path) -> None:
    sampler = BeginningsOf(str(tmp_path))
    paths = sorted((sample_build / "stages" / "wikipedia").glob("*.parquet"))
    stage = ReadSource(
        "documents", {str(path): "documents" for path in paths}, str(tmp_path), CleaningConfig(), sampler=sampler
    )
    plan = stage.plan(BuildState())
    parts = plan.finish([[]]).documents
    assert 0 < len(parts) <= 4
    group = sampler.groups[FINISHED]
    assert group.weight == sum(
        json.loads(path.with_suffix(".json").read_text())["counts"]["text_bytes"] for path in paths
    )
    assert group.sampled == sum(record.counts["text_bytes"] for _, record in parts)


def test_of_documents_that_were_written_before(sample_build: Path, tmp_path: Path) -> None:
    folders = tuple(str(sample_build / "stages" / name) for name in ("wikipedia", "books"))
    settings = replace(SETTINGS, vocab="bertdata-30k-uncased")
    estimate = estimated(Sources(documents=folders), settings, tmp_path / "out")
    manifest = build(tmp_path / "out", settings, Sources(documents=folders))
    assert estimate.documents == manifest["tokens"]["counts"]["documents"]
    assert near(estimate.tokens, manifest["tokens"]["counts"]["tokens"])
    assert [work.title for work in estimate.stages] == ["tokenize", "write shards"]
    assert estimate.jobs == ("write shards",)


@pytest.mark.costly
def test_the_table_fits_into_80_columns_and_json_has_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--output", str(tmp_path / "out"), "--dry-run", "--workers", "2"]
    assert run_verb("build", command) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert re.search(r"^  time +2 workers \S+ s$", shown, re.M)
    assert run_verb("build", [*command, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert f"{values['estimate']['tokens']:,} tokens" in shown
    assert values["estimate"]["wall_seconds"].keys() == {"2"}
    assert ["runs on", "2 workers here"] in values["plan"]


def test_what_cannot_be_read_is_told_and_the_plan_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rows.jsonl").write_text('{"text": ""}\n' * 10)
    command = ["--documents", str(tmp_path / "rows.jsonl"), "--output", str(tmp_path / "out"), "--dry-run"]
    assert run_verb("build", command) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^estimate +not known: ", shown, re.M)
    assert "read documents" in shown


@pytest.mark.costly
@pytest.mark.parametrize("vocab", ["bertdata-30k-uncased", None])
def test_at_a_url_a_worker_holds_the_text_of_several_small_parts_and_asks_for_bytes(vocab: str | None) -> None:
    settings = replace(SETTINGS, vocab=vocab, sharding=ShardsConfig(shard_bytes=20_000))
    here, there = (dry_run(SAMPLE, output, settings, RUNNER).estimate for output in ("no-such", "memory://no-such/x"))
    assert here is not None
    assert there is not None
    if vocab:  # else the words that are trained from are more
        held = 4 * here.text_bytes / here.token_files
        assert there.worker_memory - here.worker_memory == pytest.approx(7 * held, rel=0.01)
    sources = [Path(SAMPLE_DUMP), *Path(SAMPLE_BOOKS).glob("*.txt")]
    moved = sum(path.stat().st_size for path in sources) + 2 * here.stored
    moved += 0 if vocab else sum(work.stored for work in here.stages if work.title.startswith("clean"))
    assert there.store_seconds - REQUEST_SECONDS * here.requests == pytest.approx(TRANSFER_SECONDS * moved / 1e6, 0.01)
    assert replace(there, worker_memory=here.worker_memory, store_seconds=0.0) == here


@pytest.mark.costly
def test_a_small_dump_is_cleaned_without_kernels(tmp_path: Path) -> None:
    sources = Sources((SAMPLE_DUMP,))
    megabytes = Path(SAMPLE_DUMP).stat().st_size / 1e6

    def cleaning() -> float:
        estimate = estimated(sources, SETTINGS, tmp_path / "out")
        return next(work.seconds for work in estimate.stages if work.title == "clean wikipedia")

    assert cleaning() == pytest.approx(READ_SMALL["wikipedia, bz2"] * megabytes, rel=0.01)
    with compiling_always():
        assert cleaning() == pytest.approx(READ["wikipedia, bz2"] * megabytes, rel=0.01)


def test_duplicates_are_not_known(tmp_path: Path) -> None:
    estimate = estimated(SAMPLE, replace(SETTINGS, dedup=DedupConfig(dedup="near")), tmp_path / "out")
    assert "duplicates are not known: figures are those without any" in estimate.notes
    assert "find duplicates" in [work.title for work in estimate.stages]
