"""Scores of texts, against a plain loop over n-grams and against fastText itself, and as columns of a build."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.curation.decontamination.ngram_words import words_of
from bertdata.curation.scores import parse_score
from bertdata.curation.scores.terms import density, tables_of
from bertdata.curation.settings import AccountsConfig
from bertdata.errors import ConfigError, InputError
from bertdata.shards.settings import SelectionConfig
from bertdata.sources.inputs import Sources
from bertdata.verify.build import verify
from tests.pipelines.builds import SETTINGS, build
from tests.shards.build import text_of

WORDS = ["heart", "Attack", "ÉCOLE", "école", "ecole", "a", "日", "本", "rate"]


def plain_density(text: str, terms: list[str]) -> float:
    """Return the share of words inside terms, by a loop over all n-grams, the longest first."""
    words = [word for word, _, _ in words_of(text)]
    known = {tuple(word for word, _, _ in words_of(term)) for term in terms}
    taken = [False] * len(words)
    for length in sorted({len(term) for term in known}, reverse=True):
        for begin in range(len(words) - length + 1):
            place = slice(begin, begin + length)
            if tuple(words[place]) in known and not any(taken[place]):
                taken[place] = [True] * length
    return sum(taken) / len(words) if words else 0.0


@given(
    st.lists(st.lists(st.sampled_from([*WORDS, "—", "\n\n"]), max_size=25).map(" ".join), min_size=1, max_size=5),
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map("-".join), min_size=1, max_size=8),
)
def test_density_is_that_of_a_loop_over_ngrams(texts: list[str], terms: list[str]) -> None:
    tables = tables_of(terms)
    expected = [plain_density(text, terms) for text in texts]
    assert density(pa.array(texts), tables).to_pylist() == expected
    assert density(pa.array(["before", *texts])[1:], tables).to_pylist() == expected


def test_nested_and_overlapping_terms_count_a_word_once() -> None:
    tables = tables_of(["heart attack rate", "heart attack", "heart", "attack rate", "rate of"])
    densities = density(pa.array(["The heart attack rate of hearts", "attack rate of", ""]), tables).to_pylist()
    assert densities == [3 / 6, 2 / 3, 0.0]


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"heart\n\xff\n", "UTF-8"), (b"heart\n---\n", "line 2, '---', has 0 words"), (b"\n", "holds no term")],
)
def test_files_without_terms_are_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "terms.txt").write_bytes(content)
    with pytest.raises(InputError, match=words):
        _ = parse_score(f"medical=terms:{tmp_path / 'terms.txt'}").identity


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("terms:a.txt", "is not NAME=KIND:ARGUMENT"),
        ("tokens=terms:a.txt", "documents have a column 'tokens' already"),
        ("my-score=terms:a.txt", "cannot be the name of a column"),
        ("one=term:a.txt", "did you mean 'terms'"),
    ],
)
def test_what_is_no_score_is_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        AccountsConfig(score=(text,))


@pytest.mark.parametrize("loss", ["softmax", "ova"])
def test_a_probability_is_that_of_the_matrices_of_the_library(tmp_path: Path, loss: str) -> None:
    fasttext = pytest.importorskip("fasttext")
    texts = ["Salt dissolves in water.\n\nIt is a mineral.", "Buy now and save", "", "a\tb\x85c é"]
    lines = [" ".join(text.split()) for text in texts]
    labelled = [f"__label__{label} {line}\n" for line, label in zip(lines, "gbgx", strict=True)] * 9
    (tmp_path / "train.txt").write_text("".join(labelled))
    model = fasttext.train_supervised(str(tmp_path / "train.txt"), epoch=9, dim=8, verbose=0, loss=loss)
    model.save_model(str(tmp_path / "model.bin"))
    score = parse_score(f"good=fasttext:{tmp_path / 'model.bin'}:g")
    hidden = np.array([model.get_sentence_vector(line) for line in lines])
    raised = np.exp(hidden @ model.get_output_matrix().T)
    shares = raised / (1 + raised) if loss == "ova" else raised / raised.sum(axis=1, keepdims=True)
    expected = shares[:, model.get_labels().index("__label__g")]
    assert score.of(pa.array(texts)).to_pylist() == pytest.approx(expected.tolist(), abs=1e-2)  # its sigmoid is a table
    assert score.identity[-2] == "g"
    with pytest.raises(ConfigError, match=r"no label 'y'.*its labels are"):
        _ = parse_score(f"good=fasttext:{tmp_path / 'model.bin'}:y").identity


@pytest.fixture
def documents(tmp_path: Path) -> Sources:
    (tmp_path / "terms.txt").write_text("heart attack\n")
    rows = [{"id": f"{number}", "text": f"{text_of(number)} Heart attack." * (number % 3)} for number in range(60)]
    for row in rows:
        row["text"] = row["text"] or text_of(int(row["id"]))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Sources(documents=(str(tmp_path / "rows.jsonl"),))


def test_a_score_is_a_column_whose_threshold_changes_without_tokenizing(documents: Sources, tmp_path: Path) -> None:
    scored = AccountsConfig(score=(f"medical=terms:{tmp_path / 'terms.txt'}",))
    [phase] = SETTINGS.phases

    def made(where: str) -> int:
        selection = SelectionConfig(where=where, source_where=("dense=medical >= 0.05",))
        settings = replace(SETTINGS, accounts=scored, phases=(replace(phase, selection=selection),))
        manifest = build(tmp_path / "out", settings, documents)
        verify(tmp_path / "out")
        return sum(split["counts"]["documents"] for split in manifest["splits"].values())

    assert made("medical > 0") == 40
    store = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "stages" / "tokens").iterdir()}
    assert made("medical == 0") == 20
    assert store == {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "stages" / "tokens").iterdir()}
    account = json.loads((tmp_path / "out" / "accounts" / "accounts.json").read_text())
    by_source = account["scores"]["medical"].values()
    splits = [entry for of in by_source for place, entry in of.items() if place != "left_out"]
    assert sum(row[0] for entry in splits for row in entry["values"].values()) == 20
    (tmp_path / "terms.txt").write_text("heart attack\nno such term\n")
    made("medical == 0")
    assert store != {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "stages" / "tokens").iterdir()}


def test_a_column_that_documents_have_is_refused_as_a_score(documents: Sources, tmp_path: Path) -> None:
    rows = [json.loads(line) | {"medical": 1} for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scored = AccountsConfig(score=(f"medical=terms:{tmp_path / 'terms.txt'}",))
    with pytest.raises(ConfigError, match="makes the column 'medical', which these documents have"):
        build(tmp_path / "out", replace(SETTINGS, accounts=scored), documents)
