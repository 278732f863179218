"""The stage that reads documents: parts of our own are taken as they are, other files are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import pytest

from bertdata.beam.runner import Runner
from bertdata.curation.languages import LANGUAGE, SOURCE
from bertdata.curation.where import parse_condition
from bertdata.documents import DocumentWriter, cut_ranges, open_parquet, read_range
from bertdata.engine.parts import Counters, PartResult, Task, run_once
from bertdata.engine.run_stages import run_stages
from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.sources.inputs import find_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource


def read(*paths: str, into: Path | str, text_column: str = "text") -> Sequence[PartResult]:
    """Return the parts of documents that stand after paths were read into a folder."""
    stage = ReadSource("documents", find_documents(paths), str(into), CleaningConfig(), text_column)
    return run_stages([stage], Runner(1, quiet=True)).documents


def compression_of(path: str) -> str:
    """Return how the texts of a part of documents are compressed."""
    with files.open_raw(path) as raw:
        group = open_parquet(raw, path).metadata.row_group(0)
        codecs = {group.column(place).path_in_schema: group.column(place).compression for place in range(5)}
    return str(codecs["text"])


def test_documents_are_compressed_at_a_url_alone_and_a_run_continues_from_either(tmp_path: Path) -> None:
    given = tmp_path / "rows.jsonl"
    given.write_text(
        "".join(json.dumps({"id": str(number), "text": "Salt is white. " * 40}) + "\n" for number in range(9))
    )
    folder, url = tmp_path / "tables", f"memory://{tmp_path.name}/tables"
    [(here, _)], [(there, _)] = read(str(given), into=folder), read(str(given), into=url)
    codecs = [compression_of(task.path) for task in (here, there)]
    assert codecs == ["UNCOMPRESSED", "ZSTD"]
    for suffix in ("parquet", "json"):  # as another version of bertdata left them
        (folder / f"{here.name}.{suffix}").write_bytes(files.read_bytes(f"{url}/{there.name}.{suffix}"))
    [(kept, record)] = read(str(given), into=folder)
    assert compression_of(kept.path) == "ZSTD"
    [documents] = cut_ranges([(kept.path, record)])
    [table] = read_range(documents)
    assert table["id"].to_pylist() == [str(number) for number in range(9)]


def flip(path: str, place: int) -> None:
    """Flip a bit of a file, which keeps its size."""
    data = bytearray(Path(path).read_bytes())
    data[place] ^= 1
    Path(path).write_bytes(data)


def test_damaged_documents_of_the_users_own_are_refused_and_named(tmp_path: Path) -> None:
    def write(task: Task, file: BinaryIO) -> Counters:
        with DocumentWriter(file, counters := Counters()) as writer:
            writer.add("a", "s", "", "", "text " * 90)
        return counters

    part = Task(str(tmp_path), "wiki-00000", ".parquet", "f", 1, None)
    run_once(part, write)
    whole = Path(part.path).read_bytes()
    flip(part.path, 60)
    with pytest.raises(InputError, match=rf"{part.path}: its SHA-256 is .*clean-wikipedia or clean-books again"):
        read(part.path, into=tmp_path / "tables")
    Path(part.path).write_bytes(whole)
    (tmp_path / ".bertdata.json").write_text('{"kind": "documents"}')
    read(part.path, into=tmp_path / "tables")
    flip(part.record_path, 5)
    with pytest.raises(InputError, match="the record beside these documents is missing, damaged"):
        read(part.path, into=tmp_path / "tables")


def write_documents(task: Task, file: BinaryIO) -> Counters:
    counters = Counters()
    with DocumentWriter(file, counters) as writer:
        for name in task.payload:
            writer.add(name, "test", "", "", f"The text of {name}.")
    return counters


def names(parts: Sequence[PartResult]) -> list[str]:
    ranges = cut_ranges([(task.path, record) for task, record in parts])
    return [
        name for document_range in ranges for table in read_range(document_range) for name in table["id"].to_pylist()
    ]


def test_a_column_that_is_missing_is_refused_beside_the_language_that_a_model_gives(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"text": "Salt."}))
    config = CleaningConfig(language_model=SOURCE)
    sources = find_documents([str(tmp_path / "rows.jsonl")])
    stage = ReadSource("documents", sources, str(tmp_path / "parts"), config, columns=(LANGUAGE, "score"))
    with pytest.raises(ConfigError, match="names the column 'score', which these documents do not have"):
        run_stages([stage], Runner(1, quiet=True))


def test_a_text_without_quotes_in_a_condition_is_told_from_a_misspelt_column(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"text": "Salt.", "owner": "lee"}))
    sources = find_documents([str(tmp_path / "rows.jsonl")])
    for where, hint in (("owner != lee", "in quotes, 'lee'. Their columns"), ("ownr != 'lee'", "did you mean 'owner'")):
        condition = parse_condition(where)
        parts, conditions = str(tmp_path / "parts"), {"documents": (condition,)}
        stage = ReadSource(
            "documents", sources, parts, CleaningConfig(), columns=condition.columns, conditions=conditions
        )
        with pytest.raises(ConfigError, match=hint):
            run_stages([stage], Runner(1, quiet=True))


def test_parts_of_our_own_are_taken_as_they_are_and_other_tables_are_read(tmp_path: Path) -> None:
    own = Task(str(tmp_path / "own"), "part-00000", ".parquet", "f", 1, ["own:1", "own:2"])
    run_once(own, write_documents)
    lines = [json.dumps({"id": "theirs:1", "body": "Some text."}), json.dumps({"body": "More text."})]
    (tmp_path / "theirs.jsonl").write_text("\n".join(lines))
    target = tmp_path / "stages" / "tables"
    parts = read(str(tmp_path / "own"), str(tmp_path / "theirs.jsonl"), into=target, text_column="body")
    assert names(parts) == ["own:1", "own:2", "theirs:1", "theirs.jsonl:41"]
    assert parts[0][0].path == own.path
    assert [task.directory for task, _ in parts[1:]] == [str(target)]


def test_parts_of_our_own_alone_write_nothing(tmp_path: Path) -> None:
    own = Task(str(tmp_path / "own"), "part-00000", ".parquet", "f", 1, ["own:1"])
    run_once(own, write_documents)
    parts = read(str(tmp_path / "own"), into=tmp_path / "tables")
    assert names(parts) == ["own:1"]
    assert not (tmp_path / "tables").exists()
