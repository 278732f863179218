"""What a pretraining step is measured by: sums that add up over parts of a batch, over processes and over steps.

So a loss is the mean over all labelled tokens of a batch, however the batch was parted. What this module does not do:
the losses themselves (`bert`, `electra`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from bertdata.masking.masking import IGNORE_INDEX
from bertdata.torch.models.bert_pretraining import PretrainingOutput
from bertdata.torch.models.electra import DISCRIMINATOR_WEIGHT, ReplacedTokenOutput
from bertdata.torch.models.flops import Work

Batch = Mapping[str, Tensor]


class Counts(NamedTuple):
    """What a batch holds: labelled tokens, pairs, tokens that are no padding, the squares of the rows' lengths."""

    labelled: float
    pairs: float
    tokens: float
    squares: float

    @property
    def work(self) -> Work:
        """The same for `training_flops`."""
        return Work(self.tokens, self.squares, self.labelled)


def count(batch: Batch, label: str | None, pad_token_id: int) -> Counts:
    """Count what is in a batch, padded or packed."""
    labelled = int((batch["labels"] != IGNORE_INDEX).sum())
    pairs = 0 if label is None else len(batch[label])
    if "cu_seqlens" in batch:
        lengths = batch["cu_seqlens"].diff().long()
        tokens = int((batch["input_ids"] != pad_token_id).sum())
        squares = int((lengths**2).sum()) - (int(lengths.sum()) - tokens) ** 2
    else:
        lengths = batch["attention_mask"].sum(1)
        tokens, squares = int(lengths.sum()), int((lengths**2).sum())
    return Counts(labelled, pairs, tokens, squares)


def add(counts: Sequence[Counts]) -> Counts:
    """Return the sum of counts.

    >>> add([Counts(1, 2, 3, 4), Counts(1, 0, 1, 0)])
    Counts(labelled=2, pairs=2, tokens=4, squares=4)
    """
    return Counts(*map(sum, zip(*counts, strict=True)))


def loss_of(result: PretrainingOutput | ReplacedTokenOutput, part: Counts, whole: Counts) -> Tensor:
    """Return a part's loss, weighted so that those of all parts add up to the loss of the whole batch."""
    assert result.mlm_loss is not None
    loss = result.mlm_loss * (part.labelled / max(whole.labelled, 1))
    if isinstance(result, ReplacedTokenOutput):
        return loss + DISCRIMINATOR_WEIGHT * result.replaced_loss * (part.tokens / whole.tokens)
    return loss if result.pair_loss is None else loss + result.pair_loss * (part.pairs / whole.pairs)


def sums_of(result: PretrainingOutput | ReplacedTokenOutput, batch: Batch, label: str | None) -> dict[str, Tensor]:
    """Return sums over a part: losses and right answers, each with the number it is of."""
    assert result.mlm_loss is not None
    targets = batch["labels"][batch["labels"] != IGNORE_INDEX]
    number = torch.tensor(float(len(targets)))
    right = (result.prediction_logits.detach().argmax(-1) == targets).sum()
    sums = {"labelled": number, "mlm_loss": result.mlm_loss.detach() * len(targets), "mlm_right": right}
    if isinstance(result, ReplacedTokenOutput):
        truth, guess = result.replaced, result.replaced_logits.detach() > 0
        sums |= {
            "tokens": torch.tensor(float(len(truth))),
            "replaced_loss": result.replaced_loss.detach() * len(truth),
            "replaced": truth.sum(),
            "replaced_found": (truth & guess).sum(),
            "kept_found": (~truth & ~guess).sum(),
        }
    elif label is not None and result.pair_loss is not None and result.seq_relationship_logits is not None:
        sums |= {
            "pairs": torch.tensor(float(len(batch[label]))),
            "pair_loss": result.pair_loss.detach() * len(batch[label]),
            "pair_right": (result.seq_relationship_logits.detach().argmax(-1) == batch[label]).sum(),
        }
    return {name: value.double() for name, value in sums.items()}


def means_of(sums: Mapping[str, float]) -> dict[str, float]:
    """Return what the log shows of sums: loss, mlm_loss, mlm_accuracy, and those of pairs or of replaced tokens.

    replaced_accuracy is the mean of the shares of replaced and of kept tokens that were told right: 0.5 is chance.

    >>> means_of({"labelled": 4.0, "mlm_loss": 8.0, "mlm_right": 1.0})
    {'loss': 2.0, 'mlm_loss': 2.0, 'mlm_accuracy': 0.25}
    """

    def share(part: str, whole: float) -> float:
        return sums[part] / whole if whole else 0.0

    mlm = {"mlm_loss": share("mlm_loss", sums["labelled"]), "mlm_accuracy": share("mlm_right", sums["labelled"])}
    if "replaced" in sums:
        kept, loss = sums["tokens"] - sums["replaced"], share("replaced_loss", sums["tokens"])
        found = (share("replaced_found", sums["replaced"]) + share("kept_found", kept)) / 2
        more = {"replaced_loss": loss, "replaced_accuracy": found, "replaced_share": share("replaced", sums["tokens"])}
        return {"loss": mlm["mlm_loss"] + DISCRIMINATOR_WEIGHT * loss, **mlm, **more}
    if "pairs" not in sums:
        return {"loss": mlm["mlm_loss"], **mlm}
    pair = {"pair_loss": share("pair_loss", sums["pairs"]), "pair_accuracy": share("pair_right", sums["pairs"])}
    return {"loss": mlm["mlm_loss"] + pair["pair_loss"], **mlm, **pair}
