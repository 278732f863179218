"""A corpus of the user's own is not replaced by what a command was not told to make."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from bertdata import BertDataError, ConfigError, OutputError
from bertdata.cli.main import run_verb
from bertdata.corpus.requests import sources_of
from bertdata.engine.fingerprints import sealed
from bertdata.engine.origin import Origin, begin
from bertdata.finetune.task_shards import encode_task
from bertdata.formats import export
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from tests.pipelines.builds import FLAGS, digests

FEW = [*FLAGS, "--workers", "1"]


def rows(path: Path, number: int = 40, first: int = 0) -> str:
    texts = [f"Row {n} tells of the river {n}. It has a second sentence." for n in range(first, first + number)]
    path.write_text("".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(texts, first)))
    return str(path)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finished corpus of rows.jsonl, in the folder `corpus`, which a later command may leave to its default."""
    monkeypatch.chdir(tmp_path)
    rows(tmp_path / "rows.jsonl")
    assert run_verb("build", ["--documents", "news=rows.jsonl", "--output", "corpus", *FEW]) == 0
    return tmp_path / "corpus"


def manifest(output: Path) -> dict[str, dict[str, object]]:
    value: dict[str, dict[str, object]] = json.loads((output / "manifest.json").read_text())
    return value


def test_sources_left_out_are_those_of_the_corpus(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = digests(own)
    assert run_verb("build", ["--output", "corpus", "--mask-unit", "word", "--masking", "static", *FEW]) == 0
    assert list(manifest(own)["sources"]) == ["news"]
    assert digests(own) != before
    said = capsys.readouterr().err
    assert f"sources: those of corpus, news={own.parent}/rows.jsonl" in said
    assert "changed --mask-unit: token -> word" in said


def test_sources_left_out_are_found_from_another_folder(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run_verb("build", ["--output", str(own), *FEW]) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_sources_that_are_gone_are_one_clear_error(own: Path) -> None:
    (own.parent / "rows.jsonl").rename(own.parent / "moved.jsonl")
    before = digests(own)
    with pytest.raises(ConfigError, match=r"no sources were named.*rows\.jsonl.*name where they are now"):
        run_verb("build", ["--output", "corpus", *FEW])
    assert digests(own) == before
    assert run_verb("build", ["--documents", "news=moved.jsonl", "--output", "corpus", *FEW]) == 0
    assert digests(own) == before


def test_a_corpus_that_does_not_say_its_sources_is_not_replaced_by_the_sample(own: Path) -> None:
    (own / ".bertdata-origin.json").unlink()
    before = digests(own)
    with pytest.raises(ConfigError, match="does not say what it was made from; name its sources again"):
        run_verb("build", ["--output", "corpus", *FEW])
    assert digests(own) == before


def test_documents_of_another_command_are_no_sources_of_a_build(tmp_path: Path) -> None:
    begin(str(tmp_path), Origin("import", {}, {"documents": ["rows.jsonl"]}))
    with pytest.raises(ConfigError, match="was made by `bertdata import`"):
        sources_of(str(tmp_path))


def test_a_build_that_leaves_a_source_out_needs_force(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = rows(own.parent / "other.jsonl", first=1000)
    before = digests(own)
    command = ["--documents", other, "--output", "corpus", *FEW]
    with pytest.raises(OutputError, match=r"rows\.jsonl too, which this command leaves out; add --force"):
        run_verb("build", command)
    assert digests(own) == before
    capsys.readouterr()
    assert run_verb("build", [*command, "--dry-run"]) == 0
    planned = capsys.readouterr().out
    assert "refused" in planned
    assert "rows.jsonl, left out now" in planned
    assert run_verb("build", [*command, "--force"]) == 0
    assert "replaced: corpus is made by `bertdata build` from" in capsys.readouterr().err
    assert manifest(own)["sources"]["documents"]["inputs"] == [  # type: ignore[index]
        {"bytes": Path(other).stat().st_size, "name": "other.jsonl"}
    ]


def test_a_source_is_added_without_force_and_told(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = rows(own.parent / "other.jsonl", first=1000)
    paths = ["news=rows.jsonl", f"more={other}"]
    assert run_verb("build", ["--documents", *paths, "--output", "corpus", *FEW]) == 0
    assert f"added: {other}" in capsys.readouterr().err
    assert list(manifest(own)["sources"]) == ["more", "news"]


def test_the_plan_says_what_would_be_made_again_and_why(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run_verb("build", ["--output", "corpus", *FEW, "--dry-run"]) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert run_verb("build", ["--output", "corpus", *FEW, "--dry-run", "--vocab-size", "500"]) == 0
    planned = {line[:20].strip(): line for line in capsys.readouterr().out.split("\n\n")[0].splitlines()}
    assert planned["read documents"].endswith("1 part: 1 kept")
    assert planned["count words"].endswith("1 part: 1 kept")
    assert planned["train vocabulary"].endswith(
        "17 tasks: 16 kept, 1 to be made again: what they are made from changed"
    )
    assert planned["write shards"].endswith("known once those before it are done")
    assert planned["vocabulary"].endswith("500 tokens by likelihood")
    assert planned["changed --vocab-size"].endswith("2000 -> 500")
    rows(own.parent / "rows.jsonl", 50)
    assert run_verb("build", ["--output", "corpus", *FEW, "--dry-run"]) == 0
    assert "1 part: 1 to be made again: what they are made from changed" in capsys.readouterr().out


@pytest.mark.costly
def test_the_sample_corpus_gives_way_to_any_other(own: Path, tmp_path: Path) -> None:
    assert run_verb("build", ["--output", "tried", *FEW]) == 0
    assert run_verb("build", ["--output", "tried", *FEW, "--documents", "rows.jsonl"]) == 0
    assert list(manifest(tmp_path / "tried")["sources"]) == ["documents"]


@pytest.mark.costly
def test_the_output_of_one_command_is_not_replaced_by_another(own: Path, tmp_path: Path) -> None:
    documents = str(tmp_path / "documents")
    assert run_verb("clean-wikipedia", [SAMPLE_DUMP, "--output", documents, "--workers", "1"]) == 0
    parts = {path: path.read_bytes() for path in Path(documents).glob("*.parquet")}
    with pytest.raises(OutputError, match="bertdata clean-wikipedia"):
        run_verb("clean-books", [SAMPLE_BOOKS, "--output", documents, "--workers", "1"])
    assert {path: path.read_bytes() for path in Path(documents).glob("*.parquet")} == parts
    before = digests(own)
    with pytest.raises(OutputError, match="bertdata build"):
        run_verb(
            "build-shards",
            ["--documents", documents, "--vocab", "corpus/tokenizer", "--output", "corpus", "--workers", "1"],
        )
    assert digests(own) == before
    other = rows(tmp_path / "other.jsonl", first=1000)
    for verb in ("train-vocab", "train-sentences"):
        output = str(tmp_path / verb)
        small = ["--vocab-size", "900"] if verb == "train-vocab" else []
        assert run_verb(verb, ["--documents", documents, "--output", output, "--workers", "1", *small]) == 0
        with pytest.raises(OutputError, match="add --force"):
            run_verb(verb, ["--documents", other, "--output", output, "--workers", "1", *small])
        assert run_verb(verb, ["--documents", other, "--output", output, "--workers", "1", *small, "--force"]) == 0


def test_an_export_and_task_data_of_something_else_are_not_replaced(own: Path, tmp_path: Path) -> None:
    output = str(tmp_path / "out")
    export("corpus", "jsonl", output)
    export("corpus", "jsonl", output)
    assert run_verb("build", ["--documents", "rows.jsonl", "--output", "second", *FEW]) == 0
    with pytest.raises(BertDataError, match=r"corpus/manifest\.json"):
        export("second", "jsonl", output)
    export("second", "jsonl", output, force=True)
    rows_of = '{"text": "It rained.", "label": "x"}\n{"text": "It was dry.", "label": "y"}\n'
    (tmp_path / "a.jsonl").write_text(rows_of)
    (tmp_path / "b.jsonl").write_text(rows_of * 2)
    encode_task(tmp_path / "task", "corpus/tokenizer", {"train": str(tmp_path / "a.jsonl")})
    with pytest.raises(OutputError, match=r"a\.jsonl too"):
        encode_task(tmp_path / "task", "corpus/tokenizer", {"train": str(tmp_path / "b.jsonl")})
    encode_task(tmp_path / "task", "corpus/tokenizer", {"train": str(tmp_path / "b.jsonl")}, force=True)


def test_a_folder_of_the_users_named_by_a_number_stays(own: Path) -> None:
    (own / "2024").mkdir()
    (own / "2024" / "notes.txt").write_text("mine")
    assert run_verb("build", ["--output", "corpus", *FEW, "--seed", "3"]) == 0
    assert (own / "2024" / "notes.txt").read_text() == "mine"


PHASES = """
objective = "doc-sentences"

[[phase]]
name = "short"
max_seq_length = 32

[[phase]]
name = "long"
max_seq_length = 64
"""


def test_a_build_of_a_recipe_is_not_replaced_where_the_recipe_is_left_out(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two.toml").write_text(PHASES)
    few = ["--output", "phases", *FEW]
    assert run_verb("build", ["--recipe", "two.toml", "--documents", "rows.jsonl", *few]) == 0
    before = digests(tmp_path / "phases" / "long")
    assert before
    with pytest.raises(OutputError, match=r"has the phases short, long, which this command leaves out"):
        run_verb("build", ["--documents", "rows.jsonl", *few])
    capsys.readouterr()
    assert run_verb("build", ["--documents", "rows.jsonl", *few, "--dry-run"]) == 0
    planned = capsys.readouterr().out
    assert "two.toml -> none" in planned
    assert "doc-sentences -> nsp" in planned
    assert "refused" in planned
    assert digests(tmp_path / "phases" / "long") == before
    for recipe in ([], ["--recipe", "two.toml"]):  # left out with the sources, it is taken as they are
        assert run_verb("build", [*recipe, *few]) == 0
        assert "nothing to do" in capsys.readouterr().out
    assert run_verb("build", ["--documents", "rows.jsonl", *few, "--force"]) == 0
    assert not (tmp_path / "phases" / "long").exists()


def test_settings_left_out_with_the_sources_are_those_of_the_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.csv").write_text("Text\nDas Caf\xe9 war offen. Es war voll.\nDer Fluss stieg an.\n", "latin1")
    reading = ["--documents", "old=old.csv", "--text-column", "Text", "--encoding", "latin1"]
    small = ["--objective", "doc-sentences", "--max-seq-length", "32", "--vocab-size", "400", "--workers", "1"]
    assert run_verb("build", [*reading, *small, "--output", "of-old"]) == 0
    before = digests(tmp_path / "of-old")
    capsys.readouterr()
    assert run_verb("build", ["--output", "of-old"]) == 0
    out, err = capsys.readouterr()
    assert "nothing to do" in out
    assert "settings: those of of-old, --encoding latin1 --max-seq-length 32 --objective doc-sentences" in err
    assert digests(tmp_path / "of-old") == before
    assert run_verb("build", ["--output", "of-old", "--max-seq-length", "64", "--workers", "1"]) == 0
    [change] = [line for line in capsys.readouterr().err.splitlines() if "changed --" in line]
    assert change.endswith("--max-seq-length: 32 -> 64")
    assert run_verb("build", [*reading, *small, "--max-seq-length", "64", "--output", "of-old"]) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_a_vocabulary_that_is_named_later_takes_the_place_of_one_that_was_trained(own: Path) -> None:
    vocabulary = shutil.copytree(own / "tokenizer", own.parent / "vocabulary")
    assert run_verb("build", ["--output", "corpus", "--vocab", str(vocabulary), "--workers", "1"]) == 0
    assert run_verb("build", ["--output", "corpus", "--vocab-size", "500", "--workers", "1"]) == 0


def test_a_build_that_was_interrupted_goes_on_without_its_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = rows(tmp_path / "rows.jsonl")
    command = ["--documents", f"news={path}", "--objective", "doc-sentences", "--vocab-size", "400", "--workers", "1"]
    with monkeypatch.context() as patched:
        patched.setattr("bertdata.corpus.build.run_stages", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_verb("build", [*command, "--output", "begun"])
    assert run_verb("build", ["--output", "begun", "--workers", "1"]) == 0
    assert "changed --" not in capsys.readouterr().err
    assert run_verb("build", [*command, "--output", "whole"]) == 0
    assert digests(tmp_path / "begun") == digests(tmp_path / "whole")


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_code_that_a_corpus_names_is_not_imported_unasked(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "their_rules.py").write_text("def short(text):\n    return text[:40]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    origin = json.loads((own / ".bertdata-origin.json").read_text())
    del origin["checksum"]
    for run in ("finished", "begun"):
        origin[run]["named"]["clean"] = ["their_rules:short"]
    (own / ".bertdata-origin.json").write_text(json.dumps(sealed(origin)))
    before = digests(own)
    with pytest.raises(ConfigError, match="--plugin their_rules"):
        run_verb("build", ["--output", "corpus", "--workers", "1"])
    assert "their_rules" not in sys.modules
    assert digests(own) == before


def test_a_vocabulary_that_is_given_changes_nothing_of_how_one_is_trained(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ["--documents", "rows.jsonl", "--output", "corpus", *FEW, "--dry-run"]
    place = named.index("--vocab-size")
    with_vocab = [*named[:place], "--vocab", "bertdata-30k-uncased", *named[place + 2 :]]
    capsys.readouterr()
    assert run_verb("build", with_vocab) == 0
    planned = capsys.readouterr().out
    assert "changed --vocab " in planned
    assert "--vocab-size" not in planned
    assert run_verb("build", [*with_vocab[2:]]) == 0  # without sources, whose settings it would have to name again
    assert "refused" not in capsys.readouterr().out


@pytest.mark.costly
def test_an_interrupted_build_of_the_sample_goes_on_without_its_flags(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BertDataError, match="no document of train is left"):
        run_verb("build", ["--output", "tried", *FEW, "--where", "tokens > 99999999"])
    capsys.readouterr()
    assert run_verb("build", ["--output", "tried", "--dry-run"]) == 0
    shown = capsys.readouterr()
    assert "settings: those of tried, " in shown.err
    assert "changed" not in shown.out
    assert run_verb("build", ["--output", "tried", "--where", "tokens > 1"]) == 0
    assert run_verb("build", ["--output", "tried", "--dry-run"]) == 0  # a finished one gives way to any settings
    assert "changed --where" in capsys.readouterr().out
