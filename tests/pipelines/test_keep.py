"""Columns of documents that rows carry, from tables to batches."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bertdata
from bertdata.corpus.built_corpus import BuiltCorpus
from bertdata.errors import ConfigError, InputError, VerificationError
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.shards.kept_columns import parse_kept
from bertdata.verify.build import verify


def documents_in(folder: Path, number: int = 40, **wrong: Any) -> str:
    """Write documents whose only word is their year, with a score of half of it; `wrong` is of the last."""
    rows = [
        {"id": str(year), "text": f"{year} {year} {year}.\n{year} {year}.", "year": year, "score": year / 2}
        for year in range(1900, 1900 + number)
    ]
    rows[-1] |= wrong
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def built(folder: Path, documents: str, **settings: Any) -> BuiltCorpus:
    options: dict[str, Any] = {
        "vocab": "bertdata-30k-uncased",
        "workers": 1,
        "quiet": True,
        "keep": ("year=int", "score=float"),
    }
    options |= {"validation_fraction": 0.0, "max_seq_length": 16, "objective": "doc-sentences"}
    return bertdata.build(str(folder / "corpus"), documents=documents, **options | settings)


def rows_of(corpus: BuiltCorpus) -> list[dict[str, Any]]:
    return [corpus.train[number] for number in range(len(corpus.train))]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> BuiltCorpus:
    """A build that nobody changes."""
    folder = tmp_path_factory.mktemp("keep")
    return built(folder, documents_in(folder))


@pytest.mark.costly
@pytest.mark.parametrize(
    "settings",
    [{"pack": True}, {"masking": "static", "dupe_factor": 2}, pytest.param({"bin_size": 8}, marks=pytest.mark.slow)],
)
def test_rows_have_the_values_of_their_documents(tmp_path: Path, settings: dict[str, Any]) -> None:
    corpus = built(tmp_path, documents_in(tmp_path), **settings)
    verify(corpus.path)
    years = set()
    for row in rows_of(corpus):
        each = np.atleast_1d(row["year"]).tolist()
        assert np.atleast_1d(row["score"]).tolist() == [year / 2 for year in each]
        if "masking" not in settings:
            words = corpus.train.tokenizer().decode(row["input_ids"], skip_special_tokens=True)
            assert [int(word) for word in dict.fromkeys(words.replace(".", " ").split())] == each
        years |= {*each}
    assert years == {*range(1900, 1940)}


def test_a_batch_has_the_columns_that_are_asked_for(plain: BuiltCorpus) -> None:
    examples = ShardExamples(f"{plain.path}/train")
    rows = examples.__getitems__([(0, 3), (0, 5)])
    assert not {"year", "score"} & {*BatchCollator(examples)(rows)}
    batch = BatchCollator(examples, columns=("score", "year"))(rows)
    assert batch["year"].tolist() == [rows[0]["year"], rows[1]["year"]]
    assert (batch["year"] / 2).tolist() == batch["score"].tolist()
    with pytest.raises(
        ConfigError,
        match="carry no column 'scor' of their documents; expected one of year, score, did you mean 'score'",
    ):
        BatchCollator(examples, columns=("scor",))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"year": None}, "1 of 40 documents of a shard have no year, which `keep` names; leave them out by `where`"),
        ({"year": 1900.5}, "the column year of `keep` year=int holds other values"),
        ({"score": float("inf")}, "the column score of `keep` score=float holds other values: infinity"),
    ],
)
def test_a_document_without_such_a_number_is_refused(tmp_path: Path, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        built(tmp_path, documents_in(tmp_path, **wrong))


def test_documents_without_a_number_can_be_left_out(tmp_path: Path) -> None:
    corpus = built(tmp_path, documents_in(tmp_path, year=None), where="year is not None")
    assert {row["year"] for row in rows_of(corpus)} == {*range(1900, 1939)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["score"], "'score' is not a column and its type; expected as score=float or year=int"),
        (["score=text"], "is not a column and its type"),
        (["labels=int"], "names 'labels', which rows have for something else"),
        (["input_ids_2=int"], "which rows have for something else"),
        (["a=int", "a=float"], "names 'a' twice"),
    ],
)
def test_what_is_no_column_and_type_is_refused(given: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_kept(given)


def test_verify_counts_the_values_again(plain: BuiltCorpus, tmp_path: Path) -> None:
    manifest = Path(shutil.copytree(plain.path, tmp_path / "corpus"), "manifest.json")
    content = json.loads(manifest.read_text())
    content["splits"]["train"]["counts"]["kept_year"] += 1
    content["splits"]["train"]["shards"][0]["counts"]["kept_year"] += 1
    manifest.write_text(json.dumps(content))
    with pytest.raises(VerificationError, match="kept_year"):
        verify(str(manifest.parent))


def test_torch_batches_have_them_as_tensors(plain: BuiltCorpus) -> None:
    pytest.importorskip("torch")
    from bertdata.torch import DeviceCollator, PretrainingCollator, ShardDataset

    dataset = ShardDataset(f"{plain.path}/train")
    rows = [dataset[(0, 3)], dataset[(0, 5)]]
    years = [row["year"] for row in rows]
    assert PretrainingCollator(dataset, columns=("year",))(rows)["year"].tolist() == years
    on_device = DeviceCollator(dataset, columns=("year",))
    assert on_device.finish(on_device(rows))["year"].tolist() == years


def test_what_a_score_made_is_kept_as_other_columns(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("1901\n1902\n")
    corpus = built(tmp_path, documents_in(tmp_path), score=f"old=terms:{tmp_path / 'terms.txt'}", keep=("old=float",))
    assert {int(row["old"]) for row in rows_of(corpus)} == {0, 1}


def test_a_batch_of_whole_and_other_numbers_has_none_of_them_cut(plain: BuiltCorpus, tmp_path: Path) -> None:
    rows = [json.loads(line) | {"year": 0.5} for line in Path(documents_in(tmp_path)).read_text().splitlines()]
    (tmp_path / "halves.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    halves = built(tmp_path, str(tmp_path / "halves.jsonl"), keep=("year=float",))
    examples = ShardExamples([f"{plain.path}/train", f"{halves.path}/train"])
    pair = examples.__getitems__([(0, 0), (0, len(examples) - 1)])
    assert BatchCollator(examples, columns=("year",))(pair)["year"].tolist() == [pair[0]["year"], 0.5]
