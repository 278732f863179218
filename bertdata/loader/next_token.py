"""Targets of the next token: shifted labels, causal rows, and which ranks train causally (GPT-BERT).

GPT-BERT (Charpentier and Samuel 2024, section 2) trains one model on masked and on causal rows. For both to have the
same output, a masked token is predicted at the position before it (masked next token prediction), where a causal model
predicts it, too. A share of the ranks takes causal rows in all steps, the others masked ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.options.option import require
from bertdata.shards.columns import CU_SEQLENS
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import ShardInfo


def shift_left(labels: Ints, cu_seqlens: NDArray[np.integer] | None = None) -> Ints:
    """Return labels (N, L) one position to the left: at each position the label of the next one, -100 at the end.

    cu_seqlens: the offsets of the examples of a packed row, int32 (E + 1,); the last position of each has -100, too.
    The label of the first token of a row or an example, which has no position before it, is left out.

    >>> shift_left(np.array([[-100, 7, -100, 8]])).tolist()
    [[7, -100, 8, -100]]
    >>> shift_left(np.array([[-100, 7, 9, 8]]), np.array([0, 2, 4])).tolist()
    [[7, -100, 8, -100]]
    """
    shifted = np.full_like(labels, IGNORE_INDEX)
    shifted[:, :-1] = labels[:, 1:]
    if cu_seqlens is not None:
        shifted[0, cu_seqlens[1:] - 1] = IGNORE_INDEX
    return shifted


def causal_labels(input_ids: NDArray[np.integer], offsets: Ints, padding: NDArray[np.bool_] | None) -> Ints:
    """Return the label of each token of flat rows: its id, and -100 at the first of a row and at padding, int64 (T,).

    offsets: of the rows, int64 (E + 1,); padding: True at padding, bool (T,).

    >>> causal_labels(np.array([2, 7, 3, 0]), np.array([0, 4]), np.array([False, False, False, True])).tolist()
    [-100, 7, 3, -100]
    """
    labels = input_ids.astype(np.int64)
    labels[offsets[:-1]] = IGNORE_INDEX
    if padding is not None:
        labels[padding] = IGNORE_INDEX
    return labels


def causal_mask(attention_mask: Ints) -> NDArray[np.float32]:
    """Return the mask of rows in which a token attends to itself and those before it, float32 (N, 1, L, L).

    It is added to attention scores: 0 where token i attends to token j, at [k, 0, i, j], else the least float32.
    attention_mask: int64 (N, L), 0 at padding, to which nothing attends.

    >>> (causal_mask(np.array([[1, 1, 0]])) == 0).astype(int).tolist()
    [[[[1, 0, 0], [1, 1, 0], [1, 1, 0]]]]
    """
    width = attention_mask.shape[1]
    seen = np.tri(width, dtype=np.bool_)[None, None] & (attention_mask[:, None, None, :] > 0)
    return np.where(seen, np.float32(0), np.finfo(np.float32).min)


def with_shifted_labels(batch: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return a batch with shifted labels; weights of the loss, where it has some, go with them."""
    labels = shift_left(batch["labels"], batch.get(CU_SEQLENS))
    if "loss_weights" not in batch:
        return batch | {"labels": labels}
    weights = np.zeros_like(batch["loss_weights"])
    weights[:, :-1] = batch["loss_weights"][:, 1:]
    return batch | {"labels": labels, "loss_weights": np.where(labels == IGNORE_INDEX, np.float32(0), weights)}


def with_causal_attention(batch: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return a batch with what makes the attention of all its rows causal."""
    if CU_SEQLENS in batch:
        return batch | {"is_causal": np.array(True)}
    return batch | {"attention_mask": causal_mask(batch["attention_mask"])}


def with_causal_rows(batch: dict[str, NDArray[Any]], rows: NDArray[np.bool_], share: float | None) -> dict[str, Any]:
    """Return a batch of which some rows, bool (N,), are causal, with what makes their attention so.

    share: None for a mask; else the model makes it of causal_rows, and gets the share of causal rows as well.
    """
    if CU_SEQLENS in batch:
        padding = len(batch[CU_SEQLENS]) - 1 - len(rows)
        rows = np.concatenate([rows, np.zeros(padding, np.bool_)])
    if share is not None:
        return batch | {"causal_rows": rows, "causal_share": share}
    if CU_SEQLENS in batch:
        return batch | {"is_causal": rows}
    mask = batch["attention_mask"]
    whole = np.where(mask[:, None, None, :] > 0, np.float32(0), np.finfo(np.float32).min)
    return batch | {"attention_mask": np.where(rows[:, None, None, None], causal_mask(mask), whole)}


def check_next_token(info: ShardInfo, *, shifted: bool, causal: bool) -> None:
    """Raise ConfigError where shards do not give shifted labels, or causal rows."""
    require(
        isinstance(info, PretrainingInfo) or not (shifted or causal),
        f"shifted or causal was given, but these shards hold {info.purpose}, whose labels are not tokens of the rows; "
        "leave it out",
    )
    require(
        info.draws_masks or not causal,
        "causal was given, but the masks of these shards are static: written into them; build with --masking dynamic",
    )


def causal_ranks(world_size: int, share: float = 1 / 16) -> range:
    """Return the ranks that train causally, the last ones, as in GPT-BERT's code; its share is 1/16.

    They follow from the world size alone, so a run that is resumed on as many ranks has the same. Raises ConfigError
    where the share is not one of whole ranks.

    >>> causal_ranks(32), 31 in causal_ranks(32), 0 in causal_ranks(32)
    (range(30, 32), True, False)
    """
    require(world_size >= 1, f"world_size is {world_size}; expected at least 1")
    require(0 <= share <= 1, f"share is {share}; expected 0 to 1")
    number = round(world_size * share)
    require(
        abs(number - world_size * share) < 1e-6,
        f"a share of {share:g} of {world_size} ranks is {world_size * share:g} ranks; expected a whole number, as a "
        f"share of {max(number, 1)}/{world_size} gives",
    )
    return range(world_size - number, world_size)
