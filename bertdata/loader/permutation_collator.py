"""`PermutationCollator`: batches for permutation language modelling, as XLNet is trained (Yang et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bertdata.arrays import Ints
from bertdata.errors import ConfigError
from bertdata.loader.collator import BatchCollator
from bertdata.loader.draws import Draw, DrawnBy, special_of
from bertdata.loader.layouts import Batch, Tokens
from bertdata.loader.padding import padded_length
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.permutation import Rows, factorization_ranks, perm_mask, seed_keys
from bertdata.options.option import require


@dataclass(frozen=True)
class Permutations:
    """A drawn factorisation order of some tokens, which are predicted; the settings are those of the collator."""

    masker: Masker
    probability: float
    max_span: int
    multiple: int
    by_epoch: bool = True

    def columns(self, tokens: Tokens, by: DrawnBy) -> dict[str, Ints]:
        """Return the ids as they are, and as labels the ranks of `factorization_ranks`."""
        special = special_of(tokens, self.masker)
        begins = self.masker.word_begins(tokens.input_ids, tokens.offsets, special, tokens.word_starts)
        rows = Rows(tokens.offsets, by.ids, begins, special, by.epochs, seed_keys(self.masker.seed))
        ranks = factorization_ranks(rows, self.probability, self.max_span)
        return {"input_ids": tokens.input_ids.astype(np.int64), "labels": ranks}

    def finished(self, batch: Batch, lengths: Ints, by: DrawnBy) -> Batch:
        """Return a batch with perm_mask, target_mapping and the labels of predictions in place of ranks."""
        ids, ranks = batch["input_ids"], batch["labels"]
        number = (ranks >= 0).sum(1)
        width = padded_length(max(int(number.max()), 1), self.multiple)
        row, place = np.nonzero(ranks >= 0)
        column = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
        labels = np.full((len(ids), width), IGNORE_INDEX)
        labels[row, column] = ids[row, place]
        targets = np.zeros((len(ids), width, ids.shape[1]), np.float32)
        targets[row, column, place] = 1
        return batch | {"labels": labels, "target_mapping": targets, "perm_mask": perm_mask(ranks)}


class PermutationCollator(BatchCollator):
    """Makes padded batches of examples in which some tokens are predicted in a drawn factorisation order.

    A batch holds input_ids, attention_mask and token_type_ids as `BatchCollator` has them, all tokens as they are in
    the text, and, named as in transformers' XLNet:

    - perm_mask, float32 (N, L, L): 1.0 at [k, i, j] where token i may not attend to token j;
    - target_mapping, float32 (N, P, L): 1.0 at [k, p, i] where prediction p is of token i; 0.0 after the last one;
    - labels, int64 (N, P): the id of each prediction, in the order of the text; -100 after the last one.

    P is the most predictions of a row of the batch, up to a multiple of `pad_to_multiple_of`. So
    `XLNetLMHeadModel(**batch)` computes the queries of predicted tokens alone. The label of pairs is left out: XLNet's
    rows are of two segments, of one document or of two, but nothing is learnt from which (section 2.5).

    plm_probability is the share of the tokens that is predicted, 1/K with K = 6 in the paper, and `max_span` the most
    tokens of a span; special tokens are never predicted. Where the masking unit of `masking`, or else of the shards, is
    of whole words (`MaskingConfig(mask_unit="word")`), spans are of up to `max_span` words. How spans and orders are
    drawn is in `bertdata.masking.permutation`: they depend on nothing but the seed, the epoch, the example's id and the
    position. Epochs, `seed`, and the other errors are as in `BatchCollator`. Raises ConfigError where shards have
    static masks or `packing` is asked for.

    This follows the paper, and differs from `DataCollatorForPermutationLanguageModeling` of transformers in that

    - predicted tokens are not replaced by a mask token: a prediction sees those before it in the order as they are;
    - any token may come before any other in the order, while there those of the first half of a row come before those
      of the second, which is for memory from the row before, and needs rows of even length: here any length is right;
    - [SEP] and [CLS] are tokens that are not predicted, and so are in front of the order;
    - the share of predicted tokens is exact, while there special tokens and padding take a part of it;
    - P is the number of predictions, while there each token has a row of target_mapping.

    A batch of two examples in epoch 0:

        collator = PermutationCollator(examples)
        batch = collator(examples.__getitems__([(0, 1), (0, 2)]))
    """

    def __init__(self, *arguments: Any, plm_probability: float = 1 / 6, max_span: int = 5, **keywords: Any) -> None:
        self.plm_probability, self.max_span = plm_probability, max_span
        super().__init__(*arguments, **keywords)
        require(0 < plm_probability < 1, f"plm_probability is {plm_probability}; expected more than 0 and less than 1")
        require(max_span >= 1, f"max_span is {max_span}; expected at least 1")
        for wrong, why in (
            (self.static, "the masks of these shards are static: written into them"),
            (self.packing, "perm_mask is for padded rows, and packing was asked for"),
            (
                self.shifted or self.causal,
                "target_mapping says where tokens are predicted; leave out shifted, causal and --training",
            ),
        ):
            if wrong:
                raise ConfigError(f"permutation language modelling needs rows without masks, padded: {why}")
        self._scalars.pop(self.info.label or "", None)

    def _draw_of(self) -> Draw:
        if self._masker is None:  # which is refused
            return super()._draw_of()
        return Permutations(self._masker, self.plm_probability, self.max_span, self.pad_to_multiple_of)
