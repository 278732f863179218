"""`bertdata score`: pairs and sentences from files, results by columns, scores in a file, refusals."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.cli.main import dispatch, main
from bertdata.errors import ConfigError, InputError
from bertdata.torch.scoring.likelihood import PseudoLikelihood
from bertdata.torch.scoring.minimal_pairs import Columns, accuracy, read_examples
from tests.torch.scoring.test_likelihood import own_model

PAIRS = [("w1 w2", "w2 w2", "x"), ("w3 w4 w5", "w5 w4 w3", "x"), ("w6", "w7", "y"), ("w6", "w6", "z")]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model of bertdata."""
    return own_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def expected(model: Path) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The scores of `PAIRS`, (N, 2)."""
    flat = PseudoLikelihood(model).scores([text for good, bad, _ in PAIRS for text in (good, bad)])
    return flat.reshape(-1, 2)


def write_jsonl(path: Path, names: tuple[str, ...] = ("sentence_good", "sentence_bad", "UID")) -> Path:
    path.write_text("".join(json.dumps(dict(zip(names, pair, strict=True))) + "\n" for pair in PAIRS))
    return path


def scored(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert dispatch(["score", *map(str, arguments), "--json"]) == 0
    summary: dict[str, Any] = json.loads(capsys.readouterr().out)
    return summary


def test_a_pair_is_right_where_the_good_sentence_has_the_higher_score(
    model: Path, expected: np.ndarray[Any, np.dtype[np.float64]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = write_jsonl(tmp_path / "pairs.jsonl")
    scores = scored(capsys, model, pairs, "--by", "UID", "--output", tmp_path / "scores.jsonl")
    right = expected[:, 0] > expected[:, 1]
    assert (scores["pairs"], scores["right"], scores["equal"]) == (4, int(right.sum()), 1)
    assert scores["accuracy"] == right.mean()
    by = scores["by"]["UID"]
    assert {value: (entry["pairs"], entry["accuracy"]) for value, entry in by.items()} == {
        "x": (2, right[:2].mean()), "y": (1, right[2]), "z": (1, 0.0)
    }  # fmt: skip
    assert scores["mean_accuracy"]["UID"] == pytest.approx(np.mean([right[:2].mean(), right[2], 0.0]))
    rows = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    np.testing.assert_allclose([[row["score_good"], row["score_bad"]] for row in rows], expected, atol=1e-5)
    assert [(row["sentence_good"], row["UID"]) for row in rows] == [(good, uid) for good, _, uid in PAIRS]
    assert [(row["tokens_good"], row["tokens_bad"]) for row in rows] == [(2, 2), (3, 3), (1, 1), (1, 1)]
    assert scored(capsys, model, pairs, "--by", "UID") == scores


@pytest.mark.parametrize(("ending", "separator"), [(".csv", ","), (".tsv", "\t"), (".tsv.gz", "\t")])
def test_tables_with_columns_of_other_names_and_folders_give_the_same(
    ending: str, separator: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = scored(capsys, model, write_jsonl(tmp_path / "pairs.jsonl"))
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, half in enumerate((PAIRS[:2], PAIRS[2:])):
        lines = "\n".join(separator.join(row) for row in [("right one", "wrong", "kind"), *half]) + "\n"
        path = folder / f"part-{number}{ending}"
        path.write_bytes(gzip.compress(lines.encode()) if ending.endswith(".gz") else lines.encode())
    scores = scored(capsys, model, folder, "--good-column", "right one", "--bad-column", "wrong")
    assert {name: scores[name] for name in whole} == whole
    assert list(scores["by"]["file"]) == [f"part-{number}{ending}" for number in (0, 1)]
    with pytest.raises(ConfigError, match="has no column 'sentence_good'"):
        dispatch(["score", str(model), str(folder)])


def test_single_sentences_have_likelihoods_and_a_perplexity(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts.txt").write_text("w1 w2 w3\n\nw4\n")
    scores = scored(capsys, model, tmp_path / "texts.txt", "--output", tmp_path / "scores.jsonl")
    first, two = PseudoLikelihood(model).scores(["w1 w2 w3", "w4"])
    assert (scores["sentences"], scores["tokens"]) == (2, 4)
    assert scores["score"] == pytest.approx(first + two)
    assert scores["pseudo_perplexity"] == pytest.approx(np.exp(-(first + two) / 4))
    rows = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert [row["text"] for row in rows] == ["w1 w2 w3", "w4"]
    assert [row["score"] for row in rows] == pytest.approx([first, two])
    of_column = scored(
        capsys, model, write_jsonl(tmp_path / "a.jsonl"), "--text-column", "sentence_good", "--by", "UID"
    )
    assert {value: entry["sentences"] for value, entry in of_column["by"]["UID"].items()} == {"x": 2, "y": 1, "z": 1}


def test_the_table_has_the_accuracy_and_a_line_for_each_value(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["score", str(model), str(write_jsonl(tmp_path / "pairs.jsonl")), "--by", "UID"]) == 0
    shown = capsys.readouterr().out
    assert "1 with equal scores, which are not right" in shown
    assert "by UID" in shown
    assert "  z        0.0% of 1 pair" in shown


def test_files_that_do_not_fit_are_refused(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = write_jsonl(tmp_path / "pairs.jsonl")
    (tmp_path / "texts.txt").write_text("w1\n")
    (tmp_path / "numbers.jsonl").write_text('{"sentence_good": "w1", "sentence_bad": 3}\n')
    (tmp_path / "empty.txt").write_text("\n")
    for paths, error, problem in (
        ([pairs, tmp_path / "texts.txt"], ConfigError, "holds single sentences, and other files hold pairs"),
        ([tmp_path / "numbers.jsonl"], InputError, "line 1 has 3 in 'sentence_bad'"),
        ([tmp_path / "empty.txt"], InputError, "holds no sentences"),
    ):
        with pytest.raises(error, match=problem):
            read_examples([str(path) for path in paths], Columns())
    with pytest.raises(ConfigError, match="has no column 'uid'; its columns are 'sentence_good'"):
        read_examples([str(pairs)], Columns(by=("uid",)))
    scores = tmp_path / "scores.jsonl"
    assert main(["score", str(model), str(pairs), "--output", str(scores), "--quiet"]) == 0
    assert main(["score", str(model), str(scores), "--output", str(tmp_path / "again.jsonl")]) == 1
    assert "has a column 'score_good' already" in capsys.readouterr().err


def test_the_standard_error_is_that_of_draws() -> None:
    generator = np.random.default_rng(0)
    draws = (generator.random((4000, 400)) < 0.7).mean(axis=1)
    scores = np.where(np.arange(400)[:, None] < 280, [[1.0, 0.0]], [[0.0, 1.0]])
    assert accuracy(scores)["standard_error"] == pytest.approx(draws.std(), rel=0.05)
