from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

from bertdata.errors import ConfigError, MissingExtraError
from bertdata.finetune.tag_schemes import scheme_of, why_no_entities
from bertdata.torch.training.metrics import (
    answer_f1,
    answer_scores,
    f1,
    macro_f1,
    matthews_correlation,
    normalized_answer,
    pearson,
    require_seqeval,
    spearman,
    tag_scores,
    text_scores,
)


def test_macro_f1_counts_each_class_alike_also_one_that_was_never_guessed() -> None:
    scores = text_scores(["accuracy", "macro_f1"], [0, 0, 0, 1], [0, 0, 0, 0])
    assert scores == {"accuracy": 0.75, "macro_f1": pytest.approx((6 / 7 + 0) / 2)}


def test_entities_count_whole_by_their_tags() -> None:
    pytest.importorskip("seqeval")
    truth = [["B-PER", "I-PER", "O"], ["B-LOC", "O", "O"]]
    predicted = [["B-PER", "O", "O"], ["B-LOC", "O", "B-LOC"]]
    scores = tag_scores(truth, predicted)
    assert scores["accuracy"] == pytest.approx(4 / 6)
    assert (scores["precision"], scores["recall"], scores["f1"]) == pytest.approx((1 / 3, 1 / 2, 2 / 5))
    assert tag_scores([["O", "O"]], [["O", "O"]])["f1"] == 0


SCHEMES = {"BIO": "BI", "BIOES": "BIES", "BILOU": "BILU", "BMES": "BMES", "BMEWO": "BMEW"}


@pytest.mark.parametrize("name", SCHEMES)
def test_entities_are_those_that_seqeval_has_of_the_scheme(name: str) -> None:
    pytest.importorskip("seqeval")
    from seqeval import metrics, scheme

    tags = ["O", *(f"{letter}-{kind}" for letter in SCHEMES[name] for kind in ("X", "Y"))]
    draw = np.random.default_rng(5)
    strict = {"BILOU": scheme.BILOU, "BMES": scheme.IOBES, "BMEWO": scheme.IOBES}.get(name)
    rules = {"mode": "strict", "scheme": strict} if strict else {}
    letters = str.maketrans("MW", "IS") if name.startswith("BM") else {}
    for _ in range(40):
        truth, predicted = ([list(draw.choice(tags, 6)) for _ in range(4)] for _ in range(2))
        rows = [[[tag.translate(letters) for tag in row] for row in sentences] for sentences in (truth, predicted)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = {
                score: getattr(metrics, f"{score}_score")(*rows, zero_division=0, **rules)
                for score in ("precision", "recall", "f1")
            }
        scores = tag_scores(truth, predicted, tags)
        del scores["accuracy"]
        assert scores == pytest.approx(expected)


def test_neighbouring_units_of_bilou_and_bmes_are_entities_of_their_own() -> None:
    pytest.importorskip("seqeval")
    for unit, last, inside in (("U", "L", "I"), ("S", "E", "M")):
        truth = [[f"{unit}-P", f"{unit}-P", "O", "B-L", f"{last}-L", f"{unit}-L"]]
        predicted = [["B-P", f"{last}-P", "O", "B-L", f"{inside}-L", f"{last}-L"]]
        assert tag_scores(truth, predicted)["f1"] == 0
        assert tag_scores(truth, truth)["f1"] == 1


def test_tags_without_types_are_entities_too_and_a_set_that_no_scheme_fits_says_so() -> None:
    assert tag_scores([["B", "E", "S"]], [["B", "E", "S"]], ["B", "M", "E", "S"])["f1"] == 1
    for labels in (["B_PER", "I_PER", "O"], ["O", "PER-B"], ["-", "B-PER", "O"], ["B-PER", "S-PER"], ["O", "B-X", "B"]):
        assert scheme_of(labels) is None
        assert "fit no scheme of entities" in why_no_entities(labels)
        assert set(tag_scores([[labels[0]]], [[labels[0]]], labels)) == {"accuracy"}
    assert [why_no_entities(labels) for labels in (["NOUN", "VERB"], ["B-PER", "O"])] == ["", ""]


def test_tags_of_words_have_an_accuracy_alone() -> None:
    assert tag_scores([["NOUN", "VERB"]], [["NOUN", "NOUN"]]) == {"accuracy": 0.5}


def test_a_missing_seqeval_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "seqeval", None)
    with pytest.raises(MissingExtraError, match=r"pip install \".\[finetune\]\""):
        require_seqeval()


def test_answers_are_compared_as_squad_does() -> None:
    assert normalized_answer(" An  apple, a day. THE end") == "apple day end"
    assert normalized_answer("Atheism") == "atheism"
    assert answer_f1("in the year 1066", "1066") == pytest.approx(2 * 1 / 4)
    assert answer_f1("salt salt", "salt") == pytest.approx(2 / 3)


def test_the_best_reference_counts_and_no_answer_must_be_none() -> None:
    scores = answer_scores({"a": "the North Sea", "b": ""}, {"a": ["sea", "North Sea"], "b": [], "c": ["x"], "d": []})
    assert scores == {"exact_match": 0.75, "f1": 0.75}
    with pytest.raises(ConfigError, match="no questions"):
        answer_scores({}, {})


def test_correlations_and_scores_of_classes_are_those_of_scipy_and_scikit_learn() -> None:
    stats, scores = pytest.importorskip("scipy.stats"), pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(3)
    for size, classes in ((50, 2), (50, 4), (7, 3)):
        truth, predicted = (generator.integers(0, classes, size).tolist() for _ in range(2))
        numbers = (generator.integers(0, 6, size) / 2).tolist()
        guesses = (np.asarray(numbers) + generator.normal(0, 1, size)).round(1).tolist()
        assert pearson(numbers, guesses) == pytest.approx(stats.pearsonr(numbers, guesses).statistic)
        assert spearman(numbers, guesses) == pytest.approx(stats.spearmanr(numbers, guesses).statistic)
        assert matthews_correlation(truth, predicted) == pytest.approx(scores.matthews_corrcoef(truth, predicted))
        of_class_1 = scores.f1_score(truth, predicted, labels=[1], average="macro", zero_division=0)
        assert f1(truth, predicted) == pytest.approx(of_class_1)
        assert macro_f1(truth, predicted) == pytest.approx(scores.f1_score(truth, predicted, average="macro"))


def test_correlations_with_what_does_not_vary_are_0() -> None:
    assert pearson([1, 2, 3], [2, 2, 2]) == spearman([4, 4], [1, 2]) == 0
    assert matthews_correlation([0, 1, 1], [1, 1, 1]) == 0
    assert f1([0, 0], [0, 0]) == 0
