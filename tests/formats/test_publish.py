"""A folder for a hub: read by `datasets` and mlcroissant, with nothing of the machine in it."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import warnings
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from bertdata.cli.main import main
from bertdata.curation.settings import AccountsConfig
from bertdata.errors import ConfigError, OutputError
from bertdata.formats.publish import publish
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.card_metadata import license_id, size_category
from bertdata.shards.phases import PhaseConfig
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from tests.pipelines.builds import SETTINGS, build
from tests.shards.build import text_of


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("private-folder")
    rows = [
        {"id": f"d{number}", "text": text_of(number), "license": ["MIT", "CC BY 4.0"][number % 2], "language": "no"}
        for number in range(60)
    ]
    (folder / "secret-rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    phases = tuple(PhaseConfig(ExamplesConfig(max_seq_length=length)) for length in (64, 128))
    settings = replace(
        SETTINGS,
        phases=phases,
        accounts=AccountsConfig(account=("license",)),
        cleaning=CleaningConfig(language_model="source"),
    )
    build(folder / "corpus", settings, Sources(documents=(f"web={folder / 'secret-rows.jsonl'}",)))
    return folder / "corpus"


def metadata_of(card: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    metadata: dict[str, Any] = yaml.safe_load(card.read_text().split("---\n")[1])
    return metadata


@pytest.mark.parametrize("file_format", ["parquet", "arrow"])
def test_datasets_read_the_rows_of_the_shards_and_nothing_private_is_there(
    built: Path, tmp_path: Path, file_format: str
) -> None:
    datasets = pytest.importorskip("datasets")
    publish(str(built), str(tmp_path / "hub"), file_format)
    for phase in ("64", "128"):
        opened = datasets.load_dataset(str(tmp_path / "hub"), phase, cache_dir=str(tmp_path / "cache"))
        for split, rows in opened.items():
            expected = open_shards(built / phase, split).table
            assert rows.data.table.column_names == expected.column_names
            assert rows.to_list() == expected.to_pylist()
    for path in (tmp_path / "hub").rglob("*"):
        assert "secret" not in path.name
        assert not path.name.startswith(".bertdata")
        if path.is_file():
            content = path.read_bytes()
            for private in (str(built.parent), str(tmp_path), os.path.expanduser("~") + "/", "secret-rows"):
                assert private.encode() not in content, (path, private)
    assert not {"stages", "manifest.json", "accounts"} & {path.name for path in (tmp_path / "hub").rglob("*")}


def test_the_card_says_what_is_known(built: Path, tmp_path: Path) -> None:
    publish(str(built), str(tmp_path / "hub"))
    card = metadata_of(tmp_path / "hub" / "README.md")
    assert (card["license"], card["language"], card["size_categories"]) == ("other", ["no"], ["n<1K"])
    assert [config["config_name"] for config in card["configs"]] == ["64", "128"]
    body = (tmp_path / "hub" / "64" / "README.md").read_text()
    assert "## Documents by license" in body
    assert "| MIT | 30 |" in body
    size = sum(path.stat().st_size for path in (tmp_path / "hub" / "64" / "train").iterdir())
    assert f"| {size:,} |" in body


def test_mlcroissant_validates_and_reads_the_description(
    built: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    publish(str(built), str(tmp_path / "hub"), name="my rows")
    with caplog.at_level(logging.ERROR), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rdflib and pandas, which it uses
        described = mlcroissant.Dataset(jsonld=str(tmp_path / "hub" / "croissant.json"))
        records = list(islice(described.records("64/train"), 5))
    assert not described.metadata.ctx.issues.errors
    assert described.metadata.name == "my rows"
    expected = open_shards(built / "64", "train").table.slice(0, 5).to_pylist()
    assert [{name.rpartition("/")[2]: value for name, value in record.items()} for record in records] == expected
    for resource in described.metadata.distribution:
        if getattr(resource, "sha256", None):
            assert hashlib.sha256((tmp_path / "hub" / resource.content_url).read_bytes()).hexdigest() == resource.sha256


def test_a_folder_that_holds_something_is_refused(built: Path, tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    assert main(["publish", str(built), str(hub), "--format", "arrow"]) == 0
    with pytest.raises(OutputError, match="an earlier publication"):
        publish(str(built), str(hub))
    publish(str(built), str(hub), force=True)
    assert not list(hub.rglob("*.arrow"))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="something else"):
        publish(str(built), str(tmp_path / "own"), force=True)
    with pytest.raises(ConfigError, match="the build itself"):
        publish(str(built), str(built), force=True)
    assert (built / "64" / "manifest.json").exists()


@pytest.mark.parametrize("name", [".git/HEAD", "notes.md", "64/train/mine.parquet", "64/notes/a.txt", "128/train.csv"])
def test_replacing_a_publication_never_deletes_what_it_did_not_write(built: Path, tmp_path: Path, name: str) -> None:
    hub = tmp_path / "hub"
    publish(str(built), str(hub))
    before = sorted(hub.rglob("*"))
    (hub / name).parent.mkdir(exist_ok=True)
    (hub / name).write_text("mine")
    with pytest.raises(OutputError, match=r"beside an earlier publication, and .*force.* would delete all of it"):
        publish(str(built), str(hub), force=True)
    assert (hub / name).read_text() == "mine"
    assert set(before) < set(hub.rglob("*"))


OBJECT = {"@type": "cr:FileObject", "@id": "train/data-00000-of-00001.parquet"}
NO_PUBLICATIONS = [
    {},
    {"keywords": None, "distribution": [OBJECT]},
    {"keywords": "not of bertdata", "distribution": [OBJECT]},
    {"keywords": 7, "distribution": [OBJECT]},
    {"keywords": ["bertdata"]},
    {"keywords": ["bertdata"], "distribution": []},
    {"keywords": ["bertdata"], "distribution": {"@type": "cr:FileObject"}},
    {"keywords": ["bertdata"], "distribution": [OBJECT | {"@id": 7}]},
    {"keywords": ["bertdata"], "distribution": [OBJECT, OBJECT | {"@id": "thesis.txt"}]},
    {"keywords": ["bertdata"], "distribution": [OBJECT, OBJECT | {"@id": "../train/data-1.parquet"}]},
    {"keywords": ["bertdata"], "distribution": [OBJECT, OBJECT | {"@id": "/train/data-1.parquet"}]},
]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("described", NO_PUBLICATIONS)
def test_a_description_of_somebody_else_is_no_leave_to_delete(
    built: Path, tmp_path: Path, described: dict[str, Any], force: bool
) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    (tmp_path / "croissant.json").write_text(json.dumps(described))
    with pytest.raises(OutputError, match="something else"):
        publish(str(built), str(tmp_path), force=force)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_names_of_licences_and_sizes() -> None:
    assert [license_id(name) for name in ("CC-BY-SA-4.0", "cc by 4.0", "Proprietary")] == [
        "cc-by-sa-4.0",
        "cc-by-4.0",
        "",
    ]
    assert [size_category(rows) for rows in (999, 1000, 99_999, 10**12)] == ["n<1K", "1K<n<10K", "10K<n<100K", "n>1T"]
