"""Builds of named sources, through Beam: several tables, books and dumps, each weighted by its name."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from bertdata.cli.main import dispatch, run_verb
from bertdata.corpus.ledger import ledger
from bertdata.errors import ConfigError, InputError
from bertdata.loader import ShardExamples, numpy_batches
from bertdata.objectives.settings import MixingConfig
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.shards import open_shards
from bertdata.sources.inputs import Sources
from bertdata.verify.build import verify
from tests.pipelines.builds import FLAGS, build, digests, with_phase

WORDS = ["salt", "river", "lamp", "keeper", "clock", "bread", "garden", "winter", "stone", "water"]


def rows(path: Path, first: int, number: int) -> str:
    """Write a table of documents of a few sentences."""
    lines = []
    for input_file in range(first, first + number):
        said = [
            f"The {WORDS[(input_file * 7 + n) % 10]} {n} is {WORDS[(input_file + n * n) % 10]} {input_file}."
            for n in range(9)
        ]
        lines.append(json.dumps({"text": " ".join(said)}) + "\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))
    return str(path)


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tables of two sources in folders below the working directory."""
    monkeypatch.chdir(tmp_path)
    for place, (name, number) in enumerate({"pubmed/1": 40, "pubmed/2": 40, "news": 60}.items()):
        rows(tmp_path / f"{name}.jsonl", 1000 * place, number)
    return tmp_path


def command(output: str, *flags: str) -> list[str]:
    return ["--output", output, *FLAGS, "--workers", "1", *flags]


@pytest.mark.costly
def test_two_named_tables_and_a_dump_are_mixed_told_apart_and_verified(
    tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = ["--documents", "pubmed=pubmed/*.jsonl", "news=news.jsonl"]
    mix = ["--mix", "pubmed=2", "news=1", "wikipedia=3"]
    assert run_verb("build", command("corpus", "--wikipedia", SAMPLE_DUMP, *paths, *mix)) == 0
    printed = capsys.readouterr().out
    assert "news: rows in" in printed
    assert "epochs (weight 3)" in printed
    verify("corpus")
    shards = open_shards("corpus")
    assert shards.info.sources == ("wikipedia", "news", "pubmed")
    manifest = json.loads((tables / "corpus" / "manifest.json").read_text())
    assert [manifest["sources"][name]["counts"].get("rows", 0) for name in shards.info.sources] == [0, 60, 80]
    assert [input_file["name"] for input_file in manifest["sources"]["pubmed"]["inputs"]] == ["1.jsonl", "2.jsonl"]
    rows_of_source = Counter(shards.table["source"].to_pylist())
    counts = manifest["splits"]["train"]["counts"]
    assert {name: rows_of_source[n] for n, name in enumerate(shards.info.sources)} == {
        name: counts[f"examples_of_{name}"] for name in shards.info.sources
    }
    assert {name: share["weight"] for name, share in manifest["mix"].items()} == {
        "wikipedia": 3,
        "news": 1,
        "pubmed": 2,
    }
    assert manifest["mix"]["pubmed"]["epochs"] > manifest["mix"]["wikipedia"]["epochs"] > 0
    assert not any(step.difference for step in ledger(manifest))
    # The same, whatever the order of flags and the shell's part of the work.
    paths = ["--documents", "news=news.jsonl", "pubmed=pubmed/2.jsonl", "pubmed=pubmed/1.jsonl"]
    assert run_verb("build", command("turned", *mix[:1], *mix[:0:-1], *paths, "--wikipedia", SAMPLE_DUMP)) == 0
    assert digests(tables / "turned") == digests(tables / "corpus")
    weights = {"pubmed": 1.0, "news": 2.0, "wikipedia": 1.0}
    sampler = numpy_batches("corpus", 8, weights=weights).sampler
    drawn = Counter(ShardExamples("corpus").sources[[number for batch in sampler for _, number in batch]].tolist())
    assert abs(drawn[1] / drawn.total() - 0.5) < 0.05
    capsys.readouterr()
    assert dispatch(["show", "corpus", "--count", "20"]) == 0
    shown = [line.rsplit(" ", 1)[1] for line in capsys.readouterr().out.splitlines() if line.startswith("example ")]
    assert shown == [shards.info.sources[number] for number in shards.table["source"][:20].to_pylist()]
    assert dispatch(["report", "corpus", "--output", "report.html"]) == 0
    assert "Sources: news, pubmed, wikipedia." in (tables / "report.html").read_text()


def test_documents_and_their_ids_do_not_know_the_names(tables: Path) -> None:
    plain = Sources(documents=("pubmed", "news.jsonl"))
    others = Sources(documents=("pubmed=pubmed", "news=news.jsonl"))
    for output, sources in (("plain", plain), ("named", others)):
        build(tables / output, sources=sources)
    ids = [sorted(open_shards(output).table["example_id"].to_pylist()) for output in ("plain", "named")]
    assert ids[0] == ids[1]
    assert open_shards("plain").info.sources == ("documents",)


@pytest.mark.costly
def test_another_name_cleans_nothing_again_and_a_source_that_is_left_out_goes(tables: Path) -> None:
    output = tables / "corpus"
    build(output, sources=Sources(documents=("one=pubmed", "two=news.jsonl")))
    stages = [*(output / "stages" / "tables").iterdir(), *(output / "stages" / "tokens").iterdir()]
    before = {path: path.stat().st_mtime_ns for path in stages}
    manifest = build(output, sources=Sources(documents=("one=pubmed", "three=news.jsonl")))
    assert list(manifest["sources"]) == ["one", "three"]
    assert open_shards(output).info.sources == ("one", "three")
    assert before == {path: path.stat().st_mtime_ns for path in stages}
    swapped = build(output, sources=Sources(documents=("three=pubmed", "one=news.jsonl")))
    assert swapped["sources"]["one"]["counts"]["rows"] == 60
    assert before == {path: path.stat().st_mtime_ns for path in stages if path.exists()}
    manifest = build(output, sources=Sources(documents=("three=pubmed",)), force=True)
    assert not list((output / "stages" / "tables").glob("news*"))
    build(tables / "fresh", sources=Sources(documents=("three=pubmed",)))
    assert digests(output) == digests(tables / "fresh")
    verify(output)


def test_books_of_two_names_are_in_parts_of_their_own_and_a_new_name_leaves_the_others(tables: Path) -> None:
    books = sorted(Path(SAMPLE_BOOKS).glob("*.txt"))
    for number, book in enumerate(books):
        shutil.copy(book, tables / f"{number}.txt")
    output = tables / "corpus"
    build(output, sources=Sources(books=("old=0.txt", "old=1.txt", "2.txt")))
    parts = {path.stem for path in (output / "stages" / "books").glob("*.parquet")}
    assert {part.rsplit("-", 1)[0] for part in parts} == {"old", "books"}
    kept = {path: path.stat().st_mtime_ns for path in (output / "stages" / "books").glob("old-*")}
    manifest = build(output, sources=Sources(books=("old=0.txt", "old=1.txt", "new=2.txt", "3.txt")))
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    assert {name: source["counts"]["books"] for name, source in manifest["sources"].items()} == {
        "books": 1,
        "new": 1,
        "old": 2,
    }
    verify(output)


def test_a_name_may_hold_dumps_books_and_tables(tables: Path) -> None:
    sources = Sources((f"en={SAMPLE_DUMP}",), (f"en={SAMPLE_BOOKS}",), ("en=news.jsonl", "pubmed=pubmed"))
    manifest = build(tables / "corpus", with_phase(mixing=MixingConfig(("en=1", "pubmed=1"))), sources)
    assert list(manifest["sources"]) == ["en", "pubmed"]
    counts = manifest["sources"]["en"]["counts"]
    assert [counts[unit] for unit in ("pages", "books", "rows")] == [81, 4, 60]
    assert len(manifest["sources"]["en"]["inputs"]) == 6
    assert not any(step.difference for step in ledger(manifest))
    verify(tables / "corpus")


@pytest.mark.costly
def test_shards_of_cleaned_folders_and_tables_take_the_same_names(tables: Path) -> None:
    sources = Sources((f"en={SAMPLE_DUMP}",), (SAMPLE_BOOKS,), ("news=news.jsonl",))
    build(tables / "corpus", with_phase(mixing=MixingConfig(("en=1", "books=2", "news=1"))), sources)
    given = ["news=.//news.jsonl", "en=corpus/stages//wikipedia//", "corpus/stages/books"]
    flags = ["--output", "shards", "--vocab", "corpus/tokenizer", "--shard-bytes", "80000", "--workers", "1"]
    flags += ["--validation-fraction", "0.1", "--mix", "news=1", "en=1", "books=2"]
    assert run_verb("build-shards", ["--documents", *given, *flags]) == 0
    assert digests(tables / "shards") == digests(tables / "corpus")
    assert open_shards("shards").info.sources == ("books", "en", "news")
    verify("shards")
    flags = ["--output", "vocabulary", "--workers", "1", "--vocab-size", "2000"]
    assert run_verb("train-vocab", ["--documents", *given, *flags]) == 0
    vocabularies = [(tables / place / "vocab.txt").read_text() for place in ("vocabulary", "corpus/tokenizer")]
    assert vocabularies[0] == vocabularies[1]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--mix", "news=1"], "--mix gives no weight to pubmed; the sources of this build are: news, pubmed"),
        (["--mix", "news=1", "pubmed=1", "documents=1"], "--mix names documents, but the sources of this build are"),
    ],
)
def test_weights_of_other_names_are_refused_before_any_work(flags: list[str], words: str, tables: Path) -> None:
    given = ["--documents", "news=news.jsonl", "pubmed=pubmed", "--output", "corpus", *flags]
    with pytest.raises(ConfigError, match=words):
        run_verb("build", given)
    with pytest.raises(ConfigError, match=words):
        run_verb("build-shards", [*given, "--vocab", "bertdata-30k-uncased"])
    assert not (tables / "corpus").exists()


def test_a_file_of_two_names_is_refused_before_any_work(tables: Path) -> None:
    for verb in ("build", "build-shards"):
        with pytest.raises(ConfigError, match=r"is given twice, with (documents=|no name) and news="):
            run_verb(
                verb, ["--documents", ".", "news=news.jsonl", "--vocab", "bertdata-30k-uncased", "--output", "corpus"]
            )
    assert not (tables / "corpus").exists()


def test_a_source_of_which_no_document_is_left_is_refused_before_a_vocabulary_is_trained(tables: Path) -> None:
    (tables / "empty.jsonl").write_text('{"text": ""}\n{"text": " "}\n')
    sources = Sources(documents=("news.jsonl", "blank=empty.jsonl"))
    with pytest.raises(InputError, match=r"no document is left of the source blank \(dropped: no text: 2\)"):
        build(tables / "corpus", sources=sources)
    assert not (tables / "corpus" / "stages" / "words").exists()
    flags = ["--vocab", "bertdata-30k-uncased", "--output", "shards", "--workers", "1"]
    with pytest.raises(InputError, match="no document is left of the source blank"):
        run_verb("build-shards", ["--documents", *sources.documents, *flags])


@pytest.mark.parametrize("mix", [(), ("--mix", "blank=1", "news=1")])
def test_a_source_that_a_filter_empties_is_a_warning(mix: tuple[str, ...], tables: Path) -> None:
    (tables / "short.jsonl").write_text('{"text": "Short."}\n{"text": "Brief."}\n')
    given = ["--documents", "news=news.jsonl", "blank=short.jsonl", "--filter", "min-characters=12", *mix]
    assert run_verb("build", command("corpus", *given)) == 0
    manifest = json.loads((tables / "corpus" / "manifest.json").read_text())
    assert manifest["sources"]["blank"]["counts"].get("documents", 0) == 0
    [warning] = [input_file for input_file in manifest["warnings"] if input_file["about"] == "empty source"]
    assert warning["found"] == (
        "no document is left of the source blank; most of it was dropped as: filter min-characters=12"
    )
    assert warning["remedy"] == "change the rule that drops it, or leave the source out"
    verify("corpus")


def test_the_plan_tells_sources_by_name(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--wikipedia", f"en={SAMPLE_DUMP}", "--documents", "pubmed=pubmed", "news.jsonl", "--output", "corpus"]
    assert run_verb("build", [*given, "--dry-run"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed[:3]] == ["documents", "en", "pubmed"]
    assert " ".join(printed[2].split()).startswith("pubmed 2 files, ")


def test_another_text_column_builds_again(tables: Path) -> None:
    lines = [json.dumps({"text": f"Salt {n}. Water {n}.", "body": f"Stone {n}. Bread {n}."}) for n in range(40)]
    (tables / "both.jsonl").write_text("\n".join(lines))
    build(tables / "corpus", sources=Sources(documents=("both.jsonl",)))
    before = digests(tables / "corpus")
    build(tables / "corpus", sources=Sources(documents=("both.jsonl",), text_column="body"))
    assert digests(tables / "corpus") != before


def test_a_flag_given_twice_adds_to_the_first(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--documents", "pubmed=pubmed", "--documents", "news.jsonl", "--mix", "pubmed=1", "--mix", "documents=2"]
    assert run_verb("build", [*given, "--output", "corpus", "--dry-run"]) == 0
    assert "documents 2" in capsys.readouterr().out
