"""Documents counted by columns, against a group-by of pyarrow's over the sources."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bertdata.cli.main import main
from bertdata.corpus import count_columns
from bertdata.curation.settings import AccountsConfig
from bertdata.engine.fingerprints import sealed
from bertdata.errors import ConfigError, VerificationError
from bertdata.shards import accounts
from bertdata.shards.settings import SelectionConfig
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from bertdata.verify.build import verify
from tests.pipelines.builds import SETTINGS, build, digests, with_phase
from tests.shards.build import text_of

NAMES = ("license", "domain(url)", "year(date)", "stars")


def rows() -> list[dict[str, Any]]:
    """Return documents of which some are the same, some have no licence, and some are too short for a filter."""
    made: list[dict[str, Any]] = []
    for number in range(120):
        row = {
            "id": f"d{number:03}",
            "text": "Short." if number % 11 == 0 else text_of(number % 100),
            "url": f"https://{'www.' * (number % 2)}site{number % 7}.co.uk/{number}",
            "date": f"{2001 + number % 5}-03-04",
            "stars": number % 4,
            "license": ["mit", "other", "", "cc-by-4.0\ud800"][number % 4],
        }
        if number % 9 == 0:
            del row["license"], row["date"]
        made.append(row)
    return made


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    folder = tmp_path_factory.mktemp("accounts")
    for name, own in (("web", rows()[:80]), ("notes", rows()[80:])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own))
    return Sources(documents=(f"web={folder / 'web.jsonl'}", f"notes={folder / 'notes.jsonl'}"))


SELECTED = replace(
    with_phase(selection=SelectionConfig(where="stars >= 1", source_where=("many=stars == 3",))),
    cleaning=CleaningConfig(filter=("min-characters=20",), range_bytes=4000),
    accounts=AccountsConfig(account=NAMES),
    dedup=replace(SETTINGS.dedup, dedup="exact"),
)


@pytest.fixture(scope="module")
def counted(sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("counted") / "corpus"
    build(output, SELECTED, sources)
    return output


def read(output: Path) -> dict[str, Any]:
    accounts_read: dict[str, Any] = json.loads((output / accounts.FOLDER / accounts.FILE).read_text())
    return accounts_read


def expected_values(output: Path) -> dict[str, list[str | None]]:
    """Return the values of the documents that are left, and their sources, worked out by hand."""
    seen: set[str] = set()
    values: dict[str, list[str | None]] = {name: [] for name in (*NAMES, "source", "text", "taken")}
    for number, row in enumerate(rows()):
        if row["text"] == "Short." or row["text"] in seen:
            continue
        seen.add(row["text"])
        license_ = row.get("license", "").replace("\ud800", "\ufffd")
        values["license"].append(license_ or None)
        values["domain(url)"].append(f"site{number % 7}.co.uk")
        values["year(date)"].append(row["date"][:4] if "date" in row else None)
        values["stars"].append(str(row["stars"]))
        values["source"].append("many" if row["stars"] == 3 else "web" if number < 80 else "notes")
        values["text"].append(row["text"])
        values["taken"].append("yes" if row["stars"] >= 1 else None)
    return values


def test_accounts_are_a_group_by_over_the_documents_that_are_left(counted: Path) -> None:
    expected, account = expected_values(counted), read(counted)
    words = pa.array([len((text or "").split()) for text in expected["text"]])
    for name in NAMES:
        table = pa.table({**{key: expected[key] for key in (name, "source", "taken")}, "words": words})
        groups = table.group_by([name, "source", "taken"]).aggregate([("words", "sum"), ("words", "count")])
        wanted = {
            (row["source"], row["taken"] is not None, row[name]): (row["words_count"], row["words_sum"])
            for row in groups.to_pylist()
        }
        counted_groups: dict[tuple[str, bool, str | None], Any] = {}
        for source, places in account["columns"][name].items():
            for place, entry in places.items():
                for value, (documents, number, _) in [*entry["values"].items(), (None, entry["none"])]:
                    if documents:
                        key = (source, place != "left_out", value)
                        before = counted_groups.get(key, (0, 0))
                        counted_groups[key] = (before[0] + documents, before[1] + number)
        assert counted_groups == wanted


def test_verify_adds_accounts_up_and_says_what_does_not(counted: Path, tmp_path: Path) -> None:
    verify(counted)
    manifest, path = counted / "manifest.json", counted / accounts.FOLDER / accounts.FILE
    before = manifest.read_bytes(), path.read_bytes()
    account = read(counted)
    account["columns"]["stars"]["many"]["train"]["values"]["3"][2] += 1
    path.write_text(json.dumps(account))
    values = json.loads(before[0])
    values["files"]["accounts/accounts.json"] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(sealed(values)))
    try:
        with pytest.raises(VerificationError, match="by stars, tokens of many in split train"):
            verify(counted)
    finally:
        manifest.write_bytes(before[0])
        path.write_bytes(before[1])


@pytest.mark.costly
def test_shards_do_not_depend_on_accounts_and_a_build_without_leaves_none(
    counted: Path, sources: Sources, tmp_path: Path
) -> None:
    output = tmp_path / "corpus"
    build(output, SELECTED, sources)
    build(output, replace(SELECTED, accounts=AccountsConfig()), sources)
    assert digests(output) == digests(counted)
    assert not (output / accounts.FOLDER).exists()
    assert "accounts" not in json.loads((output / "manifest.json").read_text())
    verify(output)


def test_stats_and_the_report_show_accounts(counted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(counted)]) == 0
    shown = capsys.readouterr().out
    assert "by domain(url)" in shown
    assert "without a value" in shown
    assert main(["stats", "--json", str(counted)]) == 0
    assert json.loads(capsys.readouterr().out)["accounts"] == read(counted)
    assert main(["report", str(counted), "--output", str(tmp_path / "report.html")]) == 0
    assert "tokens by license" in (tmp_path / "report.html").read_text()


def sums_of(numbers: Mapping[str, int], tmp_path: Path, passes: int) -> dict[str, Any]:
    schema = {name: pa.int64() for name in ("phase", "column", "source", "place", "documents", "words", "tokens")}
    paths = []
    for part in range(3):
        path = tmp_path / f"part-{part}.arrow"
        own = {
            value: number for place, (value, number) in enumerate(numbers.items()) if place % 3 == part or number > 5
        }
        columns = {name: pa.array([0] * len(own), kind) for name, kind in schema.items()}
        columns["documents"] = pa.array(list(own.values()), pa.int64())
        table = pa.table(columns | {"value": pa.array(list(own), pa.string())})
        with pa.ipc.new_stream(str(path), table.schema) as stream:
            stream.write_table(table)
        paths.append(str(path))
    config = AccountsConfig(account=("license",))
    return count_columns.account_of(count_columns.add_up(paths, passes), 0, ["web"], config)


@pytest.mark.parametrize("passes", [1, 4])
def test_of_many_values_the_largest_are_named_and_the_others_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passes: int
) -> None:
    monkeypatch.setattr(count_columns, "MOST_VALUES", 30)
    draws = np.random.default_rng(0).permutation(100) % 10 + 1
    numbers = {f"v{place:02}": int(number) for place, number in enumerate(draws)}
    added = {value: number * (3 if number > 5 else 1) for value, number in numbers.items()}
    largest = sorted(added, key=lambda value: (-added[value], value))[:30]
    account = sums_of(numbers, tmp_path, passes)
    entry = account["columns"]["license"]["web"]["train"]
    assert {value: row[0] for value, row in entry["values"].items()} == {value: added[value] for value in largest}
    assert entry["other"][0] == sum(added.values()) - sum(added[value] for value in largest)
    assert account["other_values"] == {"license": {"web": 70}}


def test_columns_that_nothing_has_are_refused(sources: Sources, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"names the column 'licence', .* did you mean 'license'"):
        build(tmp_path / "out", replace(SETTINGS, accounts=AccountsConfig(account=("licence",))), sources)
    for name, match in (("month(date)", "no function 'month'"), ("tokens", "another column"), ("a:b", "the name of a")):
        with pytest.raises(ConfigError, match=match):
            AccountsConfig(account=(name,))
    with pytest.raises(ConfigError, match="names license twice"):
        AccountsConfig(account=("license", "license"))
