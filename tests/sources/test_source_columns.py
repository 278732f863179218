"""The columns of the text, the id and the language: one for all sources, others for some, templates over files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bertdata.cli.main import run_verb
from bertdata.engine.parts import run_once
from bertdata.engine.stages import BuildState, Plan
from bertdata.errors import ConfigError, InputError
from bertdata.sources.formats import write_documents
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.source_columns import SourceColumns
from bertdata.sources.stage import ReadSource


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Return files of a company, each of another source: path to source."""
    (tmp_path / "reports.jsonl").write_text(
        json.dumps({"doc_id": "R-1", "content": "Salt is white."})
        + "\n"
        + json.dumps({"doc_id": 2, "content": "It is cheap.", "meta": {"key": "x"}})
        + "\n"
    )
    (tmp_path / "tickets.csv").write_text(
        "ticket,title,description\nT-1,Lamp,The lamp is broken.\nT-2,Door,It creaks.\n"
    )
    (tmp_path / "notes.txt").write_text("We met.\n")
    names = {"reports.jsonl": "reports", "tickets.csv": "tickets", "notes.txt": "notes"}
    return {str(tmp_path / name): source for name, source in names.items()}


def planned(files: dict[str, str], output: Path, texts: Sequence[str], ids: Sequence[str] = ()) -> Plan:
    columns = SourceColumns.of(texts, ids)
    return ReadSource("documents", files, str(output), CleaningConfig(), own_columns=columns).plan(BuildState())


def documents(plan: Plan) -> dict[str, tuple[str, str]]:
    """Return the title and the text of each document by its id."""
    rows: dict[str, tuple[str, str]] = {}
    for task in plan.steps[0].tasks:
        run_once(task, write_documents)
        rows |= {row["id"]: (row["title"], row["text"]) for row in pq.read_table(task.path).to_pylist()}
    return rows


def test_each_source_has_a_column_of_its_own(files: dict[str, str], tmp_path: Path) -> None:
    plan = planned(files, tmp_path, ["content", "tickets=description"], ["reports=doc_id", "tickets=ticket"])
    assert documents(plan) == {
        "R-1": ("", "Salt is white."),
        "2": ("", "It is cheap."),
        "T-1": ("Lamp", "The lamp is broken."),
        "T-2": ("Door", "It creaks."),
        "notes.txt:0": ("", "We met."),
    }


def test_a_template_passes_where_one_of_its_columns_is_there_and_says_so(files: dict[str, str], tmp_path: Path) -> None:
    plan = planned(files, tmp_path, ["{content}{description}"], ["{doc_id}{ticket}"])
    rows = documents(plan)
    assert sorted(text for _, text in rows.values()) == [
        "It creaks.", "It is cheap.", "Salt is white.", "The lamp is broken.", "We met."
    ]  # fmt: skip
    assert {"R-1", "T-2"} <= {*rows}
    notes = [note for note in plan.notes if "it leaves nothing there" in note]
    assert [note[: note.index(" of --")] for note in notes] == [
        "the source tickets has no column 'content'",
        "the source reports has no column 'description'",
    ]


@pytest.mark.parametrize(
    ("texts", "ids", "error", "message"),
    [
        (["content"], [], InputError, "has no column 'content'.*of this source alone as tickets=NAME"),
        (
            ["{content}{descripton}"],
            [],
            InputError,
            "and 1 more have no column 'descripton', which .*did you mean 'description'",
        ),
        (
            ["content", r"tickets={Title}\n{description}"],
            [],
            InputError,
            r"has no column 'Title', which .* '\{Title\}\\n\{description\}' names; its .* mean 'title'\?$",
        ),
        (["{content}{description}"], ["doc_id"], InputError, "tickets.csv: has no column 'doc_id', which `id_column`"),
        (["{content}{description}", "notes=x"], [], ConfigError, "has no effect: the files of the source notes are no"),
    ],
)
def test_columns_that_are_not_there_are_refused(
    files: dict[str, str], tmp_path: Path, texts: list[str], ids: list[str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        planned(files, tmp_path, texts, ids)


def test_the_language_of_documents_is_read_from_the_column_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: dict[str, list[dict[str, Any]]] = {
        "web": [{"text": "Das Salz.", "lang": "de"}, {"text": "The salt.", "lang": "en"}, {"text": "Sel."}],
        "news": [{"text": "The sea is wide.", "meta": {"code": "en"}}],
        "other": [{"text": "The sea is deep.", "language": "en", "lang": "fr"}],
    }
    for name, of_source in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in of_source))
    named = ["--documents", *(f"{name}={tmp_path / name}.jsonl" for name in rows), "--workers", "1"]
    named += ["--vocab", "bertdata-30k-uncased", "--objective", "full-sentences", "--validation-fraction", "0"]
    columns = ["--language-column", "web=lang", "news=meta.code"]

    def languages(*flags: str) -> dict[str, int]:
        assert run_verb("build", [*named, "--output", str(tmp_path / "out"), *flags]) == 0
        counts = json.loads((tmp_path / "out" / "manifest.json").read_text())["splits"]["train"]["counts"]
        prefix = "documents_in_language_"
        return {name.removeprefix(prefix): number for name, number in counts.items() if name.startswith(prefix)}

    assert languages("--language-model", "source") == {"en": 1, "unknown": 4}
    assert "the source web has no column 'language', so --language-model source knows no" in capsys.readouterr().err
    assert languages("--language-model", "source", *columns) == {"de": 1, "en": 3, "unknown": 1}
    assert languages(*columns, "--where", "language == 'en'") == {"en": 3}
    with pytest.raises(ConfigError, match="--language-column is given, but the language is not read"):
        run_verb("build", [*named, "--output", str(tmp_path / "new"), *columns])
    with pytest.raises(InputError, match=r"has no column 'lng', which --language-column names"):
        run_verb(
            "build",
            [*named, "--output", str(tmp_path / "new"), "--language-column", "web=lng", "--language-model", "source"],
        )


def test_the_remedy_for_a_source_without_the_id_column_is_true(files: dict[str, str], tmp_path: Path) -> None:
    plan = planned(files, tmp_path, ["content", "tickets=description"], ["doc_id", "tickets=id"])
    assert {"R-1", "tickets.csv:1"} <= {*documents(plan)}


def test_what_a_source_reads_decides_its_parts_and_no_others(files: dict[str, str], tmp_path: Path) -> None:
    def parts(*ids: str) -> dict[str, str]:
        plan = planned(files, tmp_path, ["content", "tickets=description"], ids)
        return {task.name: task.fingerprint for task in plan.steps[0].tasks}

    before, after = parts(), parts("tickets=ticket")
    assert {name for name in before if before[name] != after[name]} == {"tickets.csv-00000"}


def test_the_first_row_need_not_have_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n{"id": 2, "text": "Salt."}\n')
    plan = planned({str(tmp_path / "a.jsonl"): "a"}, tmp_path, [])
    assert documents(plan) == {"2": ("", "Salt.")}


def test_two_columns_for_one_source_or_an_unknown_source_are_refused() -> None:
    with pytest.raises(ConfigError, match="two columns for all sources: content and description; name a source before"):
        SourceColumns.of(["content", "description"])
    with pytest.raises(ConfigError, match="two columns for the source a"):
        SourceColumns.of([], ["a=x", "a=y"])
    with pytest.raises(ConfigError, match="names the source ticket, but the sources are: tickets, did you mean"):
        SourceColumns.of(["ticket=x"]).check_sources(["tickets"])


def test_sources_are_known_again_with_their_columns() -> None:
    sources = Sources(documents=("a=x.jsonl",), columns=SourceColumns.of(["a=body"], ["a=key"]))
    assert Sources.from_given(json.loads(json.dumps(sources.given()))).columns == sources.columns
    assert "columns" not in Sources(documents=("a=x.jsonl",)).given()


def test_the_language_of_documents_that_are_left_out_is_not_warned_of(tmp_path: Path) -> None:
    texts = {"de": "Das Salz der Meere ist weiß, und es löst sich gut.", "en": "The salt of the sea is white and dry."}
    rows = [{"text": f"{texts[code]} {n}.", "language": code} for n in range(40) for code in texts]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    named = [
        "--documents",
        str(tmp_path / "rows.jsonl"),
        "--output",
        str(tmp_path / "out"),
        "--quiet",
        "--workers",
        "1",
    ]
    named += ["--vocab", "bertdata-30k-uncased", "--objective", "full-sentences", "--language-model", "source"]

    def warned(*flags: str) -> bool:
        assert run_verb("build", [*named, *flags]) == 0
        warnings = json.loads((tmp_path / "out" / "manifest.json").read_text())["warnings"]
        return any(warning["about"] == "language of documents" for warning in warnings)

    assert warned()
    assert not warned("--where", "language == 'en'")
    assert warned("--where", "language == 'de'")
    assert not warned("--where", "language == 'de'", "--sentences", "german")


def test_a_command_that_reads_no_languages_has_no_flag_for_their_column(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"text": f"Salt number {n}.", "lang": "en", "n": n}) + "\n" for n in range(40)))
    named = ["--documents", str(path), "--output", str(tmp_path / "out"), "--quiet", "--workers", "1"]
    with pytest.raises(SystemExit):
        run_verb("train-vocab", [*named, "--language-column", "lang"])
    named += ["--vocab", "bertdata-30k-uncased", "--objective", "full-sentences", "--language-column", "lang"]
    with pytest.raises(ConfigError, match="compares numbers with strings"):
        run_verb("build-shards", [*named, "--where", "language == 'en' and n == '3'"])
    assert run_verb("build-shards", [*named, "--where", "language == 'en' and n > 20"]) == 0
