"""Repeated text in a whole build: left out across sources and parts, counted, verified, shown, and remade as needed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bertdata.cli.main import main
from bertdata.curation.settings import DecontaminationConfig, DedupConfig, DedupSpansConfig
from bertdata.engine.fingerprints import sealed
from bertdata.inspect.report import report_html
from bertdata.sources.inputs import Sources
from tests.pipelines.builds import SAMPLE, SETTINGS, build, digests, run_here

SHARED = "Every morning at seven the harbour master writes down which boats came in. He reads it out. Nobody listens."
NAMES = ("first", "second", "third")


def paragraph(number: int) -> str:
    return " ".join(
        f"Sentence {k} is of number {number * 10 + k} and of nothing else that was written." for k in range(6)
    )


def rows(name: str) -> list[dict[str, str]]:
    base = 1000 * NAMES.index(name)
    rows = []
    for n in range(12):
        own = [paragraph(base + 2 * n), paragraph(base + 2 * n + 1)]
        own[1:1] = [SHARED.upper() if n % 2 else SHARED] if n % 3 == 0 else []
        rows.append({"id": f"{name}:{n:02d}", "text": "\n\n".join(own)})
    return [*rows, {"id": f"{name}:short", "text": f"It is of {name}.\n\n{SHARED}"}]


def write(path: Path, documents: list[dict[str, str]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in documents))
    return str(path)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    folder = tmp_path_factory.mktemp("sources")
    return Sources((), (), tuple(f"{name}={write(folder / f'{name}.jsonl', rows(name))}" for name in NAMES))


def settings_for(kind: str = "paragraphs", **changes: Any) -> Any:
    return replace(SETTINGS, dedup_spans=DedupSpansConfig(kind, **changes))


@pytest.fixture(scope="module")
def built(sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("spans") / "corpus"
    build(output, settings_for(), sources)
    return output


def manifest_of(output: Path) -> dict[str, Any]:
    return dict(json.loads((output / "manifest.json").read_text()))


def test_repeated_paragraphs_are_left_out_across_sources_and_the_ledger_adds_up(built: Path) -> None:
    manifest = manifest_of(built)
    sources, account = manifest["sources"], manifest["dedup_spans"]
    left_out = sum(source["counts"].get("paragraphs left out, repeated", 0) for source in sources.values())
    dropped = sum(source["drops"].get("too short without repeated text", 0) for source in sources.values())
    assert left_out + dropped == 14  # of 15 with the paragraph one keeps it
    assert dropped in (2, 3)
    assert (account["left_out"], account["documents_dropped"], account["documents"]) == (left_out, dropped, 39)
    size = sum(source["counts"]["text_bytes"] for source in sources.values())
    assert account["text_bytes"] == size + account["bytes_left_out"] + account["bytes_dropped"]
    assert account["samples"][0]["text"].lower() == SHARED.lower()
    assert main(["verify", str(built)]) == 0


def test_verify_recounts_what_was_left_out(built: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = built / "manifest.json"
    before = path.read_bytes()
    try:
        for name in ("bytes_left_out", "documents_left", "left_out"):
            manifest = manifest_of(built)
            manifest["dedup_spans"][name] += 1
            path.write_text(json.dumps(sealed(manifest)))
            assert main(["verify", str(built)]) == 1
            assert "repeated" in capsys.readouterr().err
    finally:
        path.write_bytes(before)


def test_it_is_shown(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(built), "--dropped", "too short without repeated text"]) == 0
    assert "It is of" in capsys.readouterr().out
    page = report_html(str(built))
    assert "repeated paragraphs: documents searched" in page
    assert "Every morning at seven the harbour master" in page or "EVERY MORNING" in page
    assert "Dropped documents" in page
    assert "changed by dedup-spans" in page


def test_what_is_left_is_what_a_corpus_without_it_gives(built: Path, sources: Sources, tmp_path: Path) -> None:
    paths = sorted((built / "stages" / "repeated" / "documents").glob("*.parquet"))
    left = {row["id"]: row["text"] for path in paths for row in pq.read_table(path).to_pylist()}
    assert sum(SHARED.lower() in text.lower() for text in left.values()) == 1
    again = []
    for name in NAMES:
        kept = [row | {"text": left[row["id"]]} for row in rows(name) if row["id"] in left]
        again.append(f"{name}={write(tmp_path / f'{name}.jsonl', kept)}")
    build(tmp_path / "corpus", SETTINGS, Sources((), (), tuple(again)))
    assert digests(tmp_path / "corpus") == digests(built)


@pytest.mark.parametrize(
    "flags",
    [["--workers", "1"], pytest.param(["--workers", "2", "--range-bytes", "3000"], marks=pytest.mark.slow)],
)
def test_any_cut_and_number_of_workers_gives_the_same(
    flags: list[str], built: Path, sources: Sources, tmp_path: Path
) -> None:
    done = run_here(
        tmp_path / "corpus", "--documents", *reversed(sources.documents), "--dedup-spans", "paragraphs", *flags
    )
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "corpus") == digests(built)
    assert "repeated paragraphs: documents searched" in done.stdout
    assert "paragraphs left out, repeated" in done.stdout


@pytest.mark.costly
def test_another_setting_makes_only_what_depends_on_it_and_none_takes_it_away(sources: Sources, tmp_path: Path) -> None:
    output = tmp_path / "corpus"
    build(output, settings_for("sentences"), sources)
    folder = output / "stages" / "repeated"

    def times(name: str) -> list[int]:
        return [path.stat().st_mtime_ns for path in sorted((folder / name).glob("*.arrow"))]

    before = times("signatures"), times("repeats")
    manifest = build(output, settings_for("sentences", dedup_spans_words_left=0, dedup_spans_sentences_left=0), sources)
    assert (times("signatures"), times("repeats")) == before
    assert manifest["dedup_spans"]["documents_dropped"] == 0
    assert manifest["dedup_spans"]["left_out"] == 3 * 14
    build(output, settings_for("sentences", dedup_spans_min_words=11), sources)
    assert times("signatures") != before[0]
    manifest = build(output, SETTINGS, sources)
    assert "dedup_spans" not in manifest
    assert not folder.exists()


@pytest.mark.costly
def test_it_works_after_duplicates_and_before_test_data_is_looked_for(sources: Sources, tmp_path: Path) -> None:
    more = {"id": "more", "text": paragraph(9000)}
    twice = write(tmp_path / "twice.jsonl", [*rows("first")[:5], more])
    test = tmp_path / "test.txt"
    test.write_text("Every morning at seven the harbour master writes down which boats came in.")
    for action in ("drop", "cut"):
        chosen = replace(
            settings_for(),
            dedup=DedupConfig("exact"),
            decontamination=DecontaminationConfig((str(test),), decontaminate_action=action),
        )
        manifest = build(tmp_path / action, chosen, Sources((), (), (*sources.documents, f"zwice={twice}")))
        drops = [source["drops"] for source in manifest["sources"].values()]
        assert sum(drops_of_source.get("exact duplicate", 0) for drops_of_source in drops) == 5
        assert manifest["dedup_spans"]["documents"] == 40
        assert manifest["decontamination"]["contaminated"] == 1
        assert main(["verify", str(tmp_path / action)]) == 0


def test_a_build_without_it_has_the_fingerprint_that_it_had() -> None:
    assert "dedup_spans" not in SETTINGS.stored()
    assert SETTINGS.stored() == replace(SETTINGS, dedup_spans=DedupSpansConfig()).stored()
    assert settings_for().stored()["dedup_spans"] == {"dedup_spans": "paragraphs"}


def test_a_dry_run_counts_the_stage_and_its_parts(sources: Sources, tmp_path: Path) -> None:
    flags = ["--documents", *sources.documents, "--dedup-spans", "sentences", "--dry-run", "--json"]
    done = run_here(tmp_path / "corpus", *flags)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert ["find repeated text", "known once those before it are done"] in said["plan"]
    stages = {work["title"]: work for work in said["estimate"]["stages"]}
    assert stages["find repeated text"]["parts"] >= 9
    assert stages["find repeated text"]["stored"] > 0
    assert stages["leave out repeated text"]["parts"] >= 3
    assert any("repeated text is not known" in note for note in said["estimate"]["notes"])


@pytest.mark.slow
def test_the_sample_has_the_same_shards_where_nothing_repeats(tmp_path: Path) -> None:
    build(tmp_path / "with", settings_for(dedup_spans_min_words=60), SAMPLE)
    manifest = manifest_of(tmp_path / "with")
    build(tmp_path / "without", SETTINGS, SAMPLE)
    assert manifest["dedup_spans"]["left_out"] == 0
    assert digests(tmp_path / "with") == digests(tmp_path / "without")
