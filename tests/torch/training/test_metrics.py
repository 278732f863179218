from __future__ import annotations

import sys

import pytest

from bertdata.errors import ConfigError, MissingExtraError
from bertdata.torch.training.metrics import (
    answer_f1,
    answer_scores,
    classification_scores,
    normalized_answer,
    require_seqeval,
    tag_scores,
)


def test_macro_f1_counts_each_class_alike_also_one_that_was_never_guessed() -> None:
    scores = classification_scores([0, 0, 0, 1], [0, 0, 0, 0])
    assert scores == {"accuracy": 0.75, "macro_f1": pytest.approx((6 / 7 + 0) / 2)}


def test_entities_count_whole_by_their_tags() -> None:
    pytest.importorskip("seqeval")
    truth = [["B-PER", "I-PER", "O"], ["B-LOC", "O", "O"]]
    found = [["B-PER", "O", "O"], ["B-LOC", "O", "B-LOC"]]
    scores = tag_scores(truth, found)
    assert scores["accuracy"] == pytest.approx(4 / 6)
    assert (scores["precision"], scores["recall"], scores["f1"]) == pytest.approx((1 / 3, 1 / 2, 2 / 5))
    assert tag_scores([["O", "O"]], [["O", "O"]])["f1"] == 0


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
