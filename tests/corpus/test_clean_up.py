"""clean-up deletes the stages of a finished build that is whole, and of no other, wherever it is."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

import fsspec
import pytest

from bertdata.cli.main import main
from bertdata.corpus.clean_up import clean_up
from bertdata.corpus.in_python import build
from bertdata.engine import origin
from bertdata.engine.output_lock import locked
from bertdata.errors import ConfigError, InputError, OutputError
from tests.small_build import texts

SETTINGS: dict[str, Any] = {
    "vocab": "bertdata-30k-uncased",
    "masking": "static",
    "max_seq_length": [32, 64],
    "quiet": True,
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean-up")
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts(40)))
    build(str(folder / "corpus"), documents=str(rows), **SETTINGS)
    return folder / "corpus"


@pytest.fixture
def corpus(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "corpus"))


def below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_stages_go_and_all_else_stays(corpus: Path, built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stages = {name: data for name, data in below(corpus).items() if name.startswith("stages/")}
    assert main(["clean-up", str(corpus), "--dry-run", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    expected = {"files": len(stages), "bytes": sum(map(len, stages.values()))}
    assert said == {"directory": str(corpus), **expected, "removed": False}
    assert below(corpus) == below(built)
    assert clean_up(str(corpus)) == {"directory": str(corpus), **expected, "removed": True}
    assert below(corpus) == {name: data for name, data in below(built).items() if name not in stages}
    assert clean_up(str(corpus))["files"] == 0


def test_the_same_build_has_nothing_to_do_without_stages(corpus: Path, built: Path) -> None:
    clean_up(str(corpus))
    before = below(corpus)
    build(str(corpus), documents=str(built.parent / "rows.jsonl"), **SETTINGS)
    assert below(corpus) == before


def test_a_build_at_a_url_is_cleaned_up_too(corpus: Path) -> None:
    url = f"memory://{uuid.uuid4().hex}"
    store = fsspec.filesystem("memory")
    store.put(f"{corpus}/", url, recursive=True)
    assert clean_up(url)["bytes"] == sum(
        len(data) for name, data in below(corpus).items() if name.startswith("stages/")
    )
    left = {name.partition("/")[2] for name in (path.lstrip("/") for path in store.find(url))}
    assert left == {name for name in below(corpus) if not name.startswith("stages/")}
    store.rm(url, recursive=True)


def damages() -> dict[str, Any]:
    def append(path: Path) -> None:
        path.write_bytes(path.read_bytes() + b"x")

    return {
        "a shard changed": lambda corpus: append(next(corpus.glob("64/train/data-*.arrow"))),
        "a shard missing": lambda corpus: next(corpus.glob("32/validation/data-*.arrow")).unlink(),
        "a tokenizer changed": lambda corpus: append(corpus / "64" / "tokenizer" / "vocab.txt"),
        "a manifest of a phase missing": lambda corpus: (corpus / "64" / "manifest.json").unlink(),
        "a manifest changed": lambda corpus: append(corpus / "64" / "manifest.json"),
        "no manifest": lambda corpus: (corpus / "manifest.json").unlink(),
    }


@pytest.mark.parametrize("name", damages())
def test_a_damaged_or_unfinished_build_keeps_its_stages(name: str, corpus: Path) -> None:
    damages()[name](corpus)
    before = below(corpus)
    with pytest.raises(InputError, match=r"then clean up|restore it|JSON"):
        clean_up(str(corpus))
    assert below(corpus) == before


def test_a_run_that_was_begun_since_and_not_finished_keeps_the_stages(corpus: Path) -> None:
    finished, _ = origin.read_origin(str(corpus))
    assert finished is not None
    origin.begin(str(corpus), origin.Origin("build", finished.files), force=True)
    with pytest.raises(InputError, match="was begun here and is not finished: it goes on from the stages"):
        clean_up(str(corpus))
    assert (corpus / "stages").exists()


def test_a_build_that_is_being_written_is_left_alone(corpus: Path) -> None:
    with locked(str(corpus), "build"), pytest.raises(OutputError, match="another build is writing here"):
        clean_up(str(corpus))
    assert (corpus / "stages").exists()


def test_what_is_not_a_build_is_refused_and_nothing_is_made_there(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"is a part of the build {corpus}"):
        clean_up(str(corpus / "64"))
    with pytest.raises(ConfigError, match="is not a build"):
        clean_up(str(tmp_path / "none"))
    other = tmp_path / "documents"
    with locked(str(other), "documents"):
        (other / "stages").mkdir()
        (other / "part.parquet").touch()
    with pytest.raises(ConfigError, match="holds documents, and clean-up is for builds"):
        clean_up(str(other))
    assert sorted(os.listdir(tmp_path)) == ["corpus", "documents"]
    assert (other / "stages").exists()
