"""`PseudoLikelihood`: sentences in, the log-probability of each of their tokens, or their sums or means, out."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError, shortened
from bertdata.io import files
from bertdata.io.console import counted
from bertdata.tokenizers.loading import load_tokenizer
from bertdata.torch.scoring import METRICS
from bertdata.torch.scoring.masked_models import open_masked_model
from bertdata.torch.scoring.masked_rows import Ints, MaskedRow, Sentence, batches, masked_rows, padded
from bertdata.torch.scoring.settings import ScoreSettings
from bertdata.torch.training.optimization import choose_device

Floats = NDArray[np.float64]
CHUNK = 2048
"""Sentences that are scored together: batches are made among these, so memory does not grow with their number."""


class PseudoLikelihood:
    """A masked language model that scores sentences, in float32 and without dropout.

    model: the folder of a model with its tokenizer, of bertdata or transformers; library: whose classes, "" for
    bertdata's where it has the type, else transformers'. Raises ConfigError where the model predicts no tokens or does
    not fit its tokenizer, and InputError where files are missing or damaged.

        scorer = PseudoLikelihood("model")
        good, bad = scorer.scores(["The cats sleep.", "The cats sleeps."])
    """

    def __init__(
        self, model: str | os.PathLike[str], settings: ScoreSettings | None = None, *, library: str = ""
    ) -> None:
        self.directory, self.settings = files.path_text(model), settings or ScoreSettings()
        self.device = choose_device(self.settings.device)
        self.tokenizer = load_tokenizer(self.directory)
        self._mask = self.tokenizer.mask_token_id  # raises ConfigError where there is none
        self.model = open_masked_model(self.directory, self.tokenizer, library, self.device)

    def scores(self, texts: Sequence[str]) -> Floats:
        """Return the sum or the mean of the log-probabilities of each text's tokens, float64 (N,).

        Raises InputError as `token_scores`.
        """
        return self.reduced(self.token_scores(texts))

    def reduced(self, token_scores: Sequence[Floats]) -> Floats:
        """Return the sum or the mean of the scores of each text's tokens, float64 (N,)."""
        reduce = np.sum if self.settings.reduction == "sum" else np.mean
        return np.array([reduce(of_text) for of_text in token_scores], np.float64)

    def token_scores(
        self, texts: Sequence[str], report: Callable[[int], None] = lambda sentences: None
    ) -> list[Floats]:
        """Return the log-probability of each token of each text, special tokens aside: float64 (T,) each.

        report: gets the number of texts that were scored since it was last called. Raises InputError for a text without
        a token, one that spells a special token, and one that the model cannot take whole: none is cut.
        """
        distinct = list(dict.fromkeys(texts))
        by_text: dict[str, Floats] = {}
        for start in range(0, len(distinct), CHUNK):
            chunk = distinct[start : start + CHUNK]
            sentences = self._sentences(chunk)
            flat = self._flat_scores(sentences)
            ends = np.cumsum([len(sentence.places) for sentence in sentences])
            by_text.update(zip(chunk, np.split(flat, ends[:-1]), strict=True))
            report(len(chunk))
        return [by_text[text] for text in texts]

    def _sentences(self, texts: Sequence[str]) -> list[Sentence]:
        """Return the rows of texts; raises InputError for those that cannot be scored."""
        for text in texts:
            if spelt := next((token for token in self.tokenizer.special_tokens if token in text), ""):
                raise InputError(
                    f"the sentence {shortened(text)} spells {spelt}, a special token, which one library reads as that "
                    "and another as text; take it out of the sentence"
                )
        by_word = METRICS[self.settings.metric].by_word
        encoding = self.tokenizer(
            list(texts), truncation=False, return_special_tokens_mask=True, return_offsets_mapping=by_word
        )
        return [
            self._sentence(text, ids, special, encoding.word_ids(number) if by_word else None)
            for number, (text, ids, special) in enumerate(
                zip(texts, encoding["input_ids"], encoding["special_tokens_mask"], strict=True)
            )
        ]

    def _sentence(
        self, text: str, ids: Sequence[int], special: Sequence[int], words: Sequence[int | None] | None
    ) -> Sentence:
        places = np.flatnonzero(np.array(special, np.int64) == 0)
        if not len(places):
            raise InputError(f"the sentence {shortened(text)} has no token; leave it out")
        if len(ids) > self.model.longest:
            raise InputError(
                f"the sentence {shortened(text)} has {counted(len(ids), 'token')} with special ones, and the model "
                f"takes {self.model.longest:,}; none is cut: leave it out, or take a model of longer rows"
            )
        numbers: Ints = np.zeros(len(places), np.int64)
        if words is not None:
            # A token of no word is a word of its own.
            numbers = np.array(
                [-1 - place if words[place] is None else words[place] for place in places.tolist()], np.int64
            )
        return Sentence(np.array(ids, np.int64), places, numbers)

    def _flat_scores(self, sentences: Sequence[Sentence]) -> Floats:
        """Return the log-probabilities of the tokens of sentences, one after another: float64 (T,)."""
        scores = np.full(sum(len(sentence.places) for sentence in sentences), np.nan)
        rows = masked_rows(sentences, METRICS[self.settings.metric], self._mask)
        for batch in batches(rows, self.settings.batch_tokens):
            numbers = [place for row in batch for place, _ in row.scores]
            scores[numbers] = self._log_probabilities(batch)
        if not np.isfinite(scores).all():
            raise ConfigError(
                "the model gives log-probabilities that are not finite; take another checkpoint", path=self.directory
            )
        return scores / math.log(2) if self.settings.base_two else scores

    def _log_probabilities(self, batch: Sequence[MaskedRow]) -> Floats:
        """Return the log-probabilities of the tokens that rows of a batch score, in their order: float64 (S,)."""
        ids, taken, places = (
            torch.from_numpy(array).to(self.device) for array in padded(batch, self.model.pad_token_id)
        )
        pairs = [(number, token) for number, row in enumerate(batch) for _, token in row.scores]
        of_row, tokens = torch.tensor(pairs, device=self.device).T
        with torch.inference_mode():
            logits = self.model.logits(ids, None if bool(taken.all()) else taken, places).float()
            chosen = logits[of_row, tokens] - logits.logsumexp(-1)[of_row]
        return chosen.double().cpu().numpy()
