"""Test data in a whole build: dropped or cut, counted in the ledger, and told where there is none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bertdata import ConfigError, InputError
from bertdata.curation.settings import DecontaminationConfig, DedupConfig
from bertdata.inspect.report import report_html
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from tests.pipelines.builds import SETTINGS, build, digests, run_here

QUESTION = "Which of the seven lakes in the valley was dry when the first settlers came to it in spring?"
SHOUTED = QUESTION.upper().replace(" ", " - ")
FILLER = "The harbour was quiet and the boats lay still in the morning light of the bay. "


def rows() -> list[dict[str, str]]:
    plain = [{"id": f"row:{n:02d}", "text": FILLER.replace("quiet", f"quiet{n}") * 12} for n in range(30)]
    plain[4]["text"] += QUESTION
    plain[17]["text"] = plain[17]["text"][:600] + f"\n{SHOUTED}\n" + plain[17]["text"]
    return plain


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    path = tmp_path_factory.mktemp("sources") / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    return Sources((), (), (str(path),))


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("tests")
    (folder / "lakes.jsonl").write_text(json.dumps({"question": QUESTION, "label": 1}) + "\n")
    (folder / "other.txt").write_text(
        "Nobody has ever written these words, in this order, in any book that I know of.\n"
    )
    (folder / "short.tsv").write_text("text\tlabel\nGood.\t1\n")
    return [str(folder / name) for name in ("lakes.jsonl", "other.txt", "short.tsv")]


def settings_for(tests: list[str], **changes: Any) -> Any:
    return replace(SETTINGS, decontamination=DecontaminationConfig(tuple(tests), **changes))


@pytest.fixture(scope="module")
def dropped(sources: Sources, tests: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("drop") / "corpus"
    build(output, settings_for(tests), sources)
    return output


def test_documents_with_test_data_are_dropped_and_counted_by_file(dropped: Path) -> None:
    manifest = json.loads((dropped / "manifest.json").read_text())
    assert manifest["sources"]["documents"]["drops"] == {"test data of lakes.jsonl": 2}
    assert manifest["sources"]["documents"]["counts"]["documents"] == 28
    account = manifest["decontamination"]
    assert (account["documents"], account["contaminated"], account["ngram"], account["action"]) == (30, 2, 13, "drop")
    lakes = account["files"]["lakes.jsonl"]
    assert (lakes["ngrams"], lakes["documents"], lakes["hits"]) == (7, 2, 14)
    assert {sample["id"] for sample in lakes["samples"]} == {"row:04", "row:17"}
    assert all("which of the seven lakes" in sample["ngram"] for sample in lakes["samples"])


def test_no_hit_is_told_as_none_of_so_many(dropped: Path) -> None:
    files = json.loads((dropped / "manifest.json").read_text())["decontamination"]["files"]
    assert files["other.txt"] == {"texts": 1, "too_short": 0, "ngrams": 4, "documents": 0, "hits": 0, "samples": []}
    assert files["short.tsv"] == {"texts": 4, "too_short": 4, "ngrams": 0, "documents": 0, "hits": 0, "samples": []}


def test_the_report_shows_what_was_hit(dropped: Path) -> None:
    page = report_html(str(dropped))
    assert "14 hits in 2 documents, of 7 n-grams of 13 words" in page
    assert "lakes.jsonl, in row:04" in page
    assert QUESTION in page


def test_what_is_left_is_what_a_corpus_without_these_documents_gives(dropped: Path, tmp_path: Path) -> None:
    clean = [row for row in rows() if row["id"] not in ("row:04", "row:17")]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in clean))
    build(tmp_path / "corpus", SETTINGS, Sources((), (), (str(tmp_path / "rows.jsonl"),)))
    assert digests(tmp_path / "corpus") == digests(dropped)


def test_a_passage_is_cut_and_the_rest_stays(sources: Sources, tests: list[str], tmp_path: Path) -> None:
    manifest = build(tmp_path / "corpus", settings_for(tests, decontaminate_action="cut"), sources)
    source = manifest["sources"]["documents"]
    assert source["drops"] == {}
    assert source["counts"]["documents"] == 30
    assert source["counts"]["changed by decontamination"] == 2
    paths = (tmp_path / "corpus" / "stages" / "decontamination").rglob("*.parquet")
    left = {row["id"]: row["text"] for path in paths for row in pq.read_table(path).to_pylist()}
    assert len(left) == 30
    assert not any("lakes" in text.lower() for text in left.values())
    assert left["row:05"] == rows()[5]["text"].strip()
    assert left["row:17"].startswith("The harbour")
    assert source["counts"]["text_bytes"] == sum(len(text.encode()) for text in left.values())
    again = build(tmp_path / "corpus", SETTINGS, sources)
    assert "decontamination" not in again
    assert not (tmp_path / "corpus" / "stages" / "decontamination").exists()


def test_after_duplicates_the_right_rows_go(sources: Sources, tests: list[str], tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [rows()[0] | {"id": "a"}, *rows()]))
    sums = set()
    both = replace(settings_for(tests), dedup=DedupConfig("exact"), cleaning=CleaningConfig())
    for action in ("drop", "cut"):
        chosen = replace(both, decontamination=replace(both.decontamination, decontaminate_action=action))
        source = build(tmp_path / action, chosen, Sources((), (), (str(path),)))["sources"]["documents"]
        assert source["drops"]["exact duplicate"] == 1
        assert source["counts"]["documents"] == (28 if action == "drop" else 30)
        assert sum(source["drops"].values()) + source["counts"]["documents"] == 31
        removed = {name: size for name, size in source["counts"].items() if name.startswith("bytes removed")}
        assert list(removed) == ["bytes removed, exact duplicate", "bytes removed, test data of lakes.jsonl"]
        sums.add(sum(removed.values()) + source["counts"]["text_bytes"])
        done = run_verify(tmp_path / action)
        assert done == 0
    assert len(sums) == 1
    assert digests(tmp_path / "drop") != digests(tmp_path / "cut")


def run_verify(output: Path) -> int:
    from bertdata.cli.main import main

    return main(["verify", str(output)])


def test_other_contents_of_a_test_file_are_another_build(sources: Sources, tmp_path: Path) -> None:
    test = tmp_path / "test.txt"
    test.write_text(QUESTION)
    assert build(tmp_path / "corpus", settings_for([str(test)]), sources)["decontamination"]["contaminated"] == 2
    test.write_text(QUESTION.replace("dry", "wet").replace("seven", "six"))
    assert build(tmp_path / "corpus", settings_for([str(test)]), sources)["decontamination"]["contaminated"] == 0


def test_test_data_of_which_nothing_can_be_looked_for_is_refused(
    sources: Sources, tests: list[str], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"no text of the test data \(short\.tsv\) has 13 words.*lower"):
        build(tmp_path / "corpus", settings_for(tests[2:]), sources)
    with pytest.raises(InputError, match=r"nowhere.*matches nothing"):
        build(tmp_path / "corpus", settings_for([str(tmp_path / "nowhere.txt")]), sources)
    assert not (tmp_path / "corpus").exists()


def test_the_command_says_what_was_looked_for_and_found(sources: Sources, tests: list[str], tmp_path: Path) -> None:
    done = run_here(tmp_path / "corpus", "--documents", *sources.documents, "--decontaminate", *tests)
    assert done.returncode == 0, done.stderr
    assert "short.tsv: none of its 4 texts has 13 words, so nothing of it is looked for" in done.stderr
    assert "14 hits in 2 documents, of 7 n-grams of 13 words" in done.stdout
    assert "0 hits in 0 documents, of 4 n-grams of 13 words" in done.stdout
