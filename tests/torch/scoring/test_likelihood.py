"""Scores of sentences: those of a loop over tokens, of minicons, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bertdata.errors import ConfigError, InputError
from bertdata.torch import BertConfig, BertForMaskedLM, ElectraConfig, ElectraForReplacedTokenDetection
from bertdata.torch.scoring import METRICS
from bertdata.torch.scoring.likelihood import PseudoLikelihood
from bertdata.torch.scoring.settings import ScoreSettings
from tests.torch.build import tokenizer_of
from tests.torch.scoring.small_scorers import SENTENCES, saved

METRIC_NAMES = list(METRICS)
MODELS = [
    ("bert", "", ""),
    ("roberta", "", "transformers"),
    *(
        pytest.param(*one, marks=pytest.mark.slow)
        for one in (
            ("bert", "bertdata-30k-cased", "transformers"),
            ("modernbert", "bertdata-32k-bpe", ""),
            ("roberta", "bertdata-32k-bpe", "transformers"),
        )
    ),
]


def by_a_loop(directory: Path, metric: str) -> list[list[float]]:
    """Return the log-probability of each token of each sentence, one row at a time, by transformers alone."""
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    model = transformers.AutoModelForMaskedLM.from_pretrained(directory).eval()
    scores = []
    for sentence in SENTENCES:
        encoding = tokenizer(sentence, return_tensors="pt")
        words, ids = encoding.word_ids(0), encoding["input_ids"][0]
        of_sentence = []
        for place, word in enumerate(words):
            if word is None:
                continue
            masked = ids.clone()
            masked[place] = tokenizer.mask_token_id
            for other in range(place + 1, len(ids)):
                if metric == "within-word-l2r" and words[other] == word:
                    masked[other] = tokenizer.mask_token_id
            with torch.no_grad():
                logits = model(input_ids=masked[None]).logits[0, place].double()
            of_sentence.append(float(logits[ids[place]] - logits.logsumexp(-1)))
        scores.append(of_sentence)
    return scores


@pytest.mark.costly
@pytest.mark.parametrize("metric", METRIC_NAMES)
@pytest.mark.parametrize(("kind", "vocabulary", "library"), MODELS)
def test_scores_are_those_of_a_loop_over_the_tokens(
    kind: str, vocabulary: str, library: str, metric: str, tmp_path: Path
) -> None:
    saved(tmp_path, kind, vocabulary)
    scorer = PseudoLikelihood(tmp_path, ScoreSettings(metric=metric, batch_tokens=60), library=library)
    expected = by_a_loop(tmp_path, metric)
    scores = scorer.token_scores(SENTENCES)
    assert [len(score) for score in scores] == [len(scores_of_loop) for scores_of_loop in expected]
    for scores_of_loop, other in zip(scores, expected, strict=True):
        np.testing.assert_allclose(scores_of_loop, other, atol=2e-5)
    assert all(np.array_equal(*two) for two in zip(scores, scorer.token_scores(SENTENCES), strict=True))
    np.testing.assert_allclose(
        scorer.scores(SENTENCES), [sum(scores_of_loop) for scores_of_loop in expected], atol=2e-4
    )


def test_a_model_whose_last_layer_is_not_known_has_the_same_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers")
    saved(tmp_path, "roberta", "")
    scores = PseudoLikelihood(tmp_path).scores(SENTENCES)
    monkeypatch.setattr(transformers.RobertaForMaskedLM, "get_output_embeddings", lambda model: None)
    np.testing.assert_allclose(PseudoLikelihood(tmp_path).scores(SENTENCES), scores, atol=1e-4)


@pytest.mark.parametrize("metric", METRIC_NAMES)
@pytest.mark.parametrize(("kind", "vocabulary", "library"), MODELS)
def test_scores_are_those_of_minicons(kind: str, vocabulary: str, library: str, metric: str, tmp_path: Path) -> None:
    minicons = pytest.importorskip("minicons.scorer", reason="comparing with minicons needs it: pip install minicons")
    saved(tmp_path, kind, vocabulary)
    peer = minicons.MaskedLMScorer(str(tmp_path))
    # Given texts, minicons 0.3.39 calls a method that tokenizers of transformers 5 do not have.
    encoded = peer.tokenizer(SENTENCES, padding=True, return_tensors="pt")
    name = metric.replace("-", "_")
    for reduction, reduce in (("sum", torch.sum), ("mean", torch.mean)):
        for base_two in (False, True):
            settings = ScoreSettings(metric=metric, reduction=reduction, base_two=base_two)

            def reduced(scores: Any, reduce: Any = reduce) -> float:
                return float(reduce(scores))

            theirs = peer.sequence_score(encoded, reduction=reduced, base_two=base_two, PLL_metric=name)
            ours = PseudoLikelihood(tmp_path, settings, library=library).scores(SENTENCES)
            np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=2e-5)


def own_model(folder: Path, **more: Any) -> Path:
    torch.manual_seed(0)
    tokenizer_of().save_pretrained(folder)
    BertForMaskedLM(BertConfig.tiny(vocab_size=100, max_position_embeddings=16, **more)).save_pretrained(folder)
    return folder


def test_reductions_and_bases_are_those_of_the_token_scores(tmp_path: Path) -> None:
    own_model(tmp_path)
    texts = ["w1 w2 w3", "w7"]
    scores = PseudoLikelihood(tmp_path).token_scores(texts)
    for reduction, of in (("sum", sum), ("mean", np.mean)):
        for base_two, scale in ((False, 1.0), (True, np.log(2))):
            settings = ScoreSettings(reduction=reduction, base_two=base_two)
            expected = [float(of(score)) / scale for score in scores]
            np.testing.assert_allclose(PseudoLikelihood(tmp_path, settings).scores(texts), expected)


@pytest.mark.parametrize("library", ["", "transformers"])
def test_a_sentence_that_cannot_be_scored_whole_is_refused(library: str, tmp_path: Path) -> None:
    scorer = PseudoLikelihood(own_model(tmp_path), library=library)
    assert len(scorer.token_scores(["w1 " * 14])[0]) == 14
    with pytest.raises(InputError, match="has 17 tokens with special ones, and the model takes 16"):
        scorer.scores(["w2", "w1 " * 15])
    with pytest.raises(InputError, match="has no token"):
        scorer.scores(["w2", " "])
    with pytest.raises(InputError, match=r"spells \[MASK\]"):
        scorer.scores(["w2 [MASK]"])


def test_models_that_predict_no_tokens_are_refused(tmp_path: Path) -> None:
    torch.manual_seed(0)
    tokenizer_of().save_pretrained(tmp_path)
    ElectraForReplacedTokenDetection(ElectraConfig.tiny(vocab_size=100)).save_pretrained(tmp_path)
    with pytest.raises(ConfigError, match="detects replaced tokens"):
        PseudoLikelihood(tmp_path)
    tokenizer_of().save_pretrained(tmp_path / "generator")
    assert np.isfinite(PseudoLikelihood(tmp_path / "generator").scores(["w1 w2"])).all()
    transformers = pytest.importorskip("transformers")
    sizes = {"vocab_size": 100, "n_layer": 1, "n_embd": 32, "n_head": 2, "pad_token_id": 0}
    transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes)).save_pretrained(tmp_path / "gpt2")
    tokenizer_of().save_pretrained(tmp_path / "gpt2")
    with pytest.raises(ConfigError, match="no gpt2 model for masked tokens"):
        PseudoLikelihood(tmp_path / "gpt2")


@pytest.mark.parametrize("library", ["", "transformers"])
def test_a_model_without_a_trained_head_is_refused(library: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    )
    transformers.BertModel(config).save_pretrained(tmp_path)
    tokenizer_of().save_pretrained(tmp_path)
    with pytest.raises(InputError, match="has no weight"):
        PseudoLikelihood(tmp_path, library=library)


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(tmp_path: Path) -> None:
    own_model(tmp_path)
    tokenizer_of(200).save_pretrained(tmp_path)
    with pytest.raises(ConfigError, match="is for 100 tokens, and the tokenizer beside it has 205"):
        PseudoLikelihood(tmp_path)
