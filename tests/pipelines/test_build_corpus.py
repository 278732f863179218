"""A whole build: what is in it, what a rerun does, and what it says of bad input."""

from __future__ import annotations

import bz2
import gzip
import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bertdata import BertDataError, ConfigError, InputError, OutputError, VerificationError, open_shards
from bertdata.cli.main import run_verb
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.sentences import PunktParameters, load_parameters, save_parameters
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.settings import ShardsConfig
from bertdata.sources.inputs import Sources
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.verify.build import verify
from tests.pipelines.builds import SETTINGS, build, digests, run, run_here, with_examples


def test_the_manifest_accounts_for_every_page_and_book(sample_build: Path) -> None:
    sources = json.loads((sample_build / "manifest.json").read_text())["sources"]
    for name, unit in (("wikipedia", "pages"), ("books", "books")):
        counts, drops = sources[name]["counts"], sources[name]["drops"]
        assert counts[unit] == counts["documents"] + sum(drops.values())
    assert sources["wikipedia"]["drops"] == {"disambiguation": 1, "not an article": 4, "redirect": 8}


def test_documents_reach_the_shards_with_every_token(sample_build: Path) -> None:
    manifest = json.loads((sample_build / "manifest.json").read_text())
    splits = manifest["splits"]
    for name in ("documents", "tokens"):
        assert manifest["tokens"]["counts"][name] == sum(split["counts"][name] for split in splits.values())
    assert len(splits["train"]["shards"]) > 1
    assert splits["validation"]["counts"]["documents"] >= 2


def test_both_labels_are_about_as_frequent(sample_build: Path) -> None:
    shards = open_shards(sample_build)
    labels = Counter(shards.table["next_sentence_label"].to_pylist())
    # Binomial with n > 500: outside of 0.5 +- 4 / (2 sqrt(n)) about once in 16,000 seeds.
    assert abs(labels[1] / len(shards) - 0.5) < 2 / len(shards) ** 0.5


@pytest.mark.costly
def test_a_finished_build_is_left_alone(sample_build: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in sample_build.rglob("*") if path.is_file()}
    done = run(sample_build, "--workers", "2")
    assert done.returncode == 0
    assert "nothing to do" in done.stdout
    assert {path: path.stat().st_mtime_ns for path in sample_build.rglob("*") if path.is_file()} == before


def test_what_verify_finds_damaged_is_made_again_and_nothing_else(tmp_path: Path) -> None:
    output = tmp_path / "corpus"
    build(output)
    before, times = digests(output), _times(output)
    shard = sorted((output / "train").glob("data-00000-*.arrow"))[0]
    shard.write_bytes(shard.read_bytes()[:-9] + b"x" + shard.read_bytes()[-8:])
    with pytest.raises(VerificationError, match="delete it and build again"):
        verify(output)
    shard.unlink()
    (output / "tokenizer" / "vocab.txt").unlink()
    (output / "manifest.json").write_text("{}")
    build(output)
    assert verify(output)
    assert digests(output) == before
    assert {name for name, time in _times(output).items() if time != times[name]} <= {"shards"}


def test_a_finished_build_needs_its_stages_no_more(tmp_path: Path) -> None:
    output = tmp_path / "corpus"
    build(output)
    before = digests(output)
    shutil.rmtree(output / "stages")
    build(output)
    assert digests(output) == before
    assert not (output / "stages").exists()


@pytest.mark.costly
def test_a_changed_setting_rebuilds_only_the_stages_it_touches(tmp_path: Path) -> None:
    output = tmp_path / "corpus"
    build(output)
    before = _times(output)
    build(output, with_examples(seed=5))
    after = _times(output)
    assert {stage for stage in before if before[stage] != after[stage]} == {"shards"}
    build(output, replace(with_examples(seed=5), vocabulary=VocabularyConfig(vocab_size=1500)))
    last = _times(output)
    assert {stage for stage in after if after[stage] != last[stage]} == {"vocabulary", "tokens", "shards"}
    build(output)
    build(tmp_path / "fresh")
    assert digests(output) == digests(tmp_path / "fresh")


def _times(output: Path) -> dict[str, list[int]]:
    folders = [path for path in sorted((output / "stages").iterdir()) if path.is_dir()]
    return {
        folder.name: [path.stat().st_mtime_ns for path in sorted(folder.rglob("*")) if path.is_file()]
        for folder in folders
    }


@pytest.mark.costly
def test_fewer_shards_leave_no_old_shard_behind(tmp_path: Path) -> None:
    output = tmp_path / "corpus"
    build(output)
    many = digests(output)
    build(output, replace(SETTINGS, sharding=ShardsConfig(validation_fraction=0)))
    assert list(digests(output)) == ["train/data-00000-of-00001.arrow"]
    assert len(many) > 2
    assert not (output / "validation").exists()


def test_a_corpus_too_small_for_its_vocabulary_says_so(tmp_path: Path) -> None:
    done = run_here(tmp_path / "corpus", "--vocab-size", "30000", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert "the corpus is too small for the 30,000 asked for" in done.stdout


def test_a_given_vocabulary_is_used_as_it_is(sample_build: Path, tmp_path: Path) -> None:
    vocabulary = sample_build / "tokenizer" / "vocab.txt"
    build(tmp_path / "corpus", replace(SETTINGS, vocab=str(vocabulary)))
    assert (tmp_path / "corpus" / "tokenizer" / "vocab.txt").read_bytes() == vocabulary.read_bytes()
    assert digests(tmp_path / "corpus") == digests(sample_build)


def test_documents_of_other_tables_are_built_too(tmp_path: Path) -> None:
    rows = [{"text": f"Row {n} tells of rivers. It has a second sentence.", "other": n} for n in range(40)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    manifest = build(tmp_path / "corpus", sources=Sources(documents=(str(tmp_path / "rows.jsonl"),)))
    assert manifest["sources"]["documents"]["counts"]["rows"] == 40
    assert manifest["tokens"]["counts"]["sentences"] == 80


def test_plain_text_with_a_sentence_a_line_is_built_and_adds_up(tmp_path: Path) -> None:
    lines = [f"River number {n} is long\nIt flows past Mt. Salt and on.\n" for n in range(40)]
    (tmp_path / "rivers.txt").write_text("\n".join(lines))
    manifest = build(tmp_path / "corpus", sources=Sources(documents=(str(tmp_path),)))
    assert manifest["sources"]["documents"]["counts"]["rows"] == manifest["tokens"]["counts"]["documents"] == 40
    assert manifest["tokens"]["counts"]["sentences"] == 80
    verify(tmp_path / "corpus")


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "corpus"
    assert run_verb("build", ["--output", str(output), "--dry-run"]) == 0
    assert "clean wikipedia   1 part\n" in capsys.readouterr().out
    assert not output.exists()


def test_a_single_broken_page_is_dropped_counted_and_named(tmp_path: Path) -> None:
    text = bz2.decompress(_dump()).replace(b"<title>Salt</title>", b"<title>Salt\xff\xfe</title>")
    dump = tmp_path / "wiki.xml"
    dump.write_bytes(text)
    manifest = build(tmp_path / "corpus", sources=Sources((str(dump),)))
    [broken] = manifest["sources"]["wikipedia"]["broken"]
    assert broken["title"].startswith("Salt")
    assert broken["path"] == "wiki.xml"
    assert manifest["sources"]["wikipedia"]["drops"][f"broken: {broken['reason']}"] == 1


def test_a_damaged_block_of_a_dump_is_named_in_the_manifest_and_the_rest_is_built(tmp_path: Path) -> None:
    (tmp_path / "wiki.xml.bz2").write_bytes(_corrupt(_dump()))
    sources = Sources((str(tmp_path / "wiki.xml.bz2"),))
    entry = build(tmp_path / "corpus", sources=sources)["sources"]["wikipedia"]
    assert {entry_of_row["reason"] for entry_of_row in entry["broken"]} == {"damaged block"}
    assert entry["drops"]["broken: damaged block"] == len(entry["broken"])
    assert entry["counts"]["documents"] > 0


def _dump() -> bytes:
    return Path(SAMPLE_DUMP).read_bytes()


def _cut(data: bytes) -> bytes:
    return data[: len(data) * 2 // 3]


def _corrupt(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes(64) + data[middle + 64 :]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("empty.xml.bz2", b"", "empty"),
        ("cut.xml.bz2", _cut(_dump()), "cut off"),
        ("corrupt.xml.gz", _corrupt(gzip.compress(bz2.decompress(_dump()), mtime=0)), "corrupt"),
        ("page.xml", b"<html><body>Not found</body></html>", "dump"),
    ],
)
def test_a_bad_dump_is_one_clear_error_and_leaves_nothing_half_written(
    name: str, data: bytes, words: str, tmp_path: Path
) -> None:
    dump = tmp_path / name
    dump.write_bytes(data)
    done = run_here(tmp_path / "corpus", "--wikipedia", str(dump), "--workers", "1")
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1, done.stderr
    assert name in errors[0]
    assert words in errors[0]
    assert "Traceback" not in done.stderr
    if len(data) > 100:
        assert "byte " in errors[0]
    assert not list((tmp_path / "corpus").rglob("data-*"))
    assert not [path for path in (tmp_path / "corpus").rglob("*") if ".bertdata-tmp-" in path.name]


@pytest.mark.slow
def test_an_error_on_a_worker_process_is_told_as_it_was(tmp_path: Path) -> None:
    dump = tmp_path / "cut.xml.bz2"
    dump.write_bytes(_cut(_dump()))
    done = run(tmp_path / "corpus", "--wikipedia", str(dump), "--workers", "2")
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if "cut.xml.bz2, byte" in line]
    assert "Traceback" not in done.stderr


def test_a_path_that_matches_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="matches nothing"):
        build(tmp_path / "corpus", sources=Sources((str(tmp_path / "no-such-*.xml.bz2"),)))
    assert not (tmp_path / "corpus").exists()


def test_one_document_refuses_next_sentence_prediction(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(json.dumps({"text": "Only one. With two sentences."}) + "\n")
    sources = Sources(documents=(str(tmp_path / "one.jsonl"),))
    with pytest.raises(ConfigError, match="nsp takes B from another document"):
        build(tmp_path / "corpus", sources=sources)


def test_a_vocabulary_without_mask_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n")
    with pytest.raises(BertDataError, match=r"vocab\.txt.*\[MASK\]"):
        build(tmp_path / "corpus", replace(SETTINGS, vocab=str(tmp_path / "vocab.txt")))


def test_an_output_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match=r"thesis\.tex"):
        build(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_books_that_are_not_utf8_are_read_or_named(tmp_path: Path) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    for path in Path(SAMPLE_BOOKS).glob("*.txt"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "latin.txt").write_bytes(
        ("Le café était fermé. Il pleuvait à verse sur la ville. " * 60).encode("latin-1")
    )
    manifest = build(tmp_path / "corpus", sources=Sources(books=(str(folder),)))
    assert manifest["sources"]["books"]["counts"]["books"] == 5


def test_a_cluster_refuses_local_paths(tmp_path: Path) -> None:
    done = run_here(tmp_path / "corpus", "--", "--runner=DataflowRunner", "--project=p", "--region=r")
    assert done.returncode == 1
    assert "cannot see a local path" in done.stderr


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--objectve", "nsp"], "there is no"),
        (["--", "--no_such_flag=1"], "no_such_flag"),
        (["--", "--num_workers=4"], "--workers"),
        (["--masked-lm-prob", "1.5"], "masked-lm-prob"),
    ],
)
def test_a_typo_in_a_flag_is_an_error(flags: list[str], words: str, tmp_path: Path) -> None:
    done = run_here(tmp_path / "corpus", *flags)
    assert done.returncode in (1, 2)
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.costly
def test_sentence_parameters_of_ones_own_are_used_copied_and_told(tmp_path: Path) -> None:
    save_parameters(PunktParameters(abbrev_types=frozenset({"x"})), str(tmp_path / "punkt"))
    manifests = [
        build(tmp_path / name, replace(SETTINGS, sentences=SentencesConfig(sentences)))
        for name, sentences in (("own", str(tmp_path / "punkt")), ("shipped", "english"))
    ]
    counted = [manifest["tokens"]["counts"]["sentences"] for manifest in manifests]
    assert counted[0] > counted[1] > 0
    parameters_named = [manifest["sentences"]["parameters"] for manifest in manifests]
    copies = [str(tmp_path / name / "sentences") for name in ("own", "shipped")]
    assert parameters_named == [load_parameters(copy).fingerprint for copy in copies]
    assert parameters_named[0] != parameters_named[1]


@pytest.mark.costly
def test_unknown_sentence_parameters_are_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no sentence parameters 'klingon'"):
        build(tmp_path / "out", replace(SETTINGS, sentences=SentencesConfig("klingon")))
    assert not (tmp_path / "out").exists()
