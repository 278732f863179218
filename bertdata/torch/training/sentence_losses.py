"""Losses of sentence embeddings: functions of the embeddings of each text of the examples, (N, hidden_size) of each.

A loss is an object `SentenceLoss`, and a line in `SENTENCE_LOSSES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from bertdata.torch.training.sentence_copies import copies_among, numbers_of_texts

Embeddings = Sequence[Tensor]


@dataclass(frozen=True, kw_only=True)
class SentenceLoss:
    """A loss of sentence embeddings.

    compute: returns it, a scalar, of (embeddings, labels, settings); labels are the scores float32 (N,), None where
    there are none. texts: of how many texts the examples may be; scored: whether it needs scores. masks_copies: whether
    `compute` also takes `numbers`, those of the texts (`numbers_of_texts`).
    """

    help: str
    compute: Callable[..., Tensor]
    texts: tuple[int, ...]
    scored: bool = False
    masks_copies: bool = False


def multiple_negatives_ranking(
    embeddings: Embeddings, temperature: float, numbers: Sequence[Tensor] | None = None
) -> Tensor:
    """Return the cross-entropy of finding each text's own second text among those of the batch, by cosine.

    Third texts are found among as negatives of all. Henderson et al. 2017 (section 4.4), with the cosines over a
    temperature as in SimCSE (Gao et al. 2021, equation 1 and 5); sentence-transformers' scale is 1 / temperature.

    Copies in a batch are no negatives: a text that is the same as the own first or second one, and the second text of
    the same first one (`copies_among`). numbers: int64 (N,) of each text of the examples, the same for the same text;
    without them texts are the same whose embeddings are.

    >>> texts = torch.eye(2)
    >>> multiple_negatives_ranking([texts, texts], temperature=1.0)
    tensor(0.3133)
    >>> float(multiple_negatives_ranking([texts[[0, 0]], texts[[0, 0]]], temperature=1.0))
    0.0
    """
    same = copies_among(
        numbers_of_texts([embedding.detach() for embedding in embeddings]) if numbers is None else numbers
    )
    anchors, *others = (functional.normalize(states, dim=-1) for states in embeddings)
    scores = (anchors @ torch.cat(others).T / temperature).masked_fill(same, -torch.inf)
    return functional.cross_entropy(scores, torch.arange(len(anchors), device=scores.device))


def cosine_similarity_loss(embeddings: Embeddings, scores: Tensor) -> Tensor:
    """Return the mean squared error of the cosines of two texts at their scores (Sentence-BERT section 3).

    >>> cosine_similarity_loss([torch.eye(2), torch.eye(2)], torch.tensor([1.0, 0.0]))
    tensor(0.5000)
    """
    first, second = embeddings
    return functional.mse_loss(functional.cosine_similarity(first, second, dim=-1), scores)


def triplet_loss(embeddings: Embeddings, margin: float) -> Tensor:
    """Return the mean of how much nearer than the third text plus a margin the second is not, by Euclidean distance.

    Sentence-BERT section 3, where the margin is 1.

    >>> triplet_loss([torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 5.0]])], margin=1.0)
    tensor(1.0000)
    """
    anchors, positives, negatives = embeddings
    near, far = (functional.pairwise_distance(anchors, others) for others in (positives, negatives))
    return functional.relu(near - far + margin).mean()


def _scores(labels: Tensor | None) -> Tensor:
    assert labels is not None, "the loss is for examples with scores"
    return labels


MULTIPLE_NEGATIVES = SentenceLoss(
    help="each text's second text is to be found among those of the batch",
    compute=lambda embeddings, labels, settings, numbers=None: multiple_negatives_ranking(
        embeddings, settings.temperature, numbers
    ),
    texts=(2, 3),
    masks_copies=True,
)
COSINE_SIMILARITY = SentenceLoss(
    help="the cosine of two texts is to be their score",
    compute=lambda embeddings, labels, settings: cosine_similarity_loss(embeddings, _scores(labels)),
    texts=(2,),
    scored=True,
)
TRIPLET = SentenceLoss(
    help="the second text is to be nearer than the third",
    compute=lambda embeddings, labels, settings: triplet_loss(embeddings, settings.triplet_margin),
    texts=(3,),
)
