"""Masking of one batch as a function of everything it depends on, by `Masker` and by the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.masking.masked import Masked
from bertdata.masking.masking import Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.similar_words import SimilarWords
from tests.oracles.masking import mask_row

CLS, SEP, MASK = 2, 3, 4
REPLACEMENTS = np.arange(100, 200)

Rows = list[tuple[list[int], int]]
"""The ids of each row, and the id of its example."""
SimilarEntries = dict[tuple[int, ...], list[tuple[int, ...]]]
"""The ids of words, and those of the similar words of each."""


def masker_of(
    config: MaskingConfig,
    seed: int = 0,
    mask_token_id: int = 4,
    replacement_ids: NDArray[np.integer] | None = None,
    continuation: NDArray[np.bool_] | None = None,
    similar_words: SimilarWords | None = None,
    delays: NDArray[np.int64] | None = None,
) -> Masker:
    """Return a masker of a vocabulary in which [CLS] is 2 and [SEP] 3."""
    choices = np.arange(5, 10) if replacement_ids is None else replacement_ids
    return Masker(config, seed, 2, 3, mask_token_id, choices, continuation, 0, similar_words, delays)


def mask_tokens(
    input_ids: NDArray[np.integer],
    offsets: NDArray[np.int64],
    special: NDArray[np.bool_],
    example_ids: NDArray[np.int64],
    *,
    epoch: int,
    word_starts: NDArray[np.bool_] | None = None,
    narrow: bool = False,
    level: int = 0,
    **vocabulary: Any,
) -> Masked:
    """Mask a flat batch at a level of the run; the other arguments are those of `masker_of`."""
    return masker_of(**vocabulary).mask(
        *(input_ids, offsets, example_ids, epoch),
        levels=level,
        special=special,
        word_starts=word_starts,
        narrow=narrow,
    )


def mask_rows(rows: Rows, **options: Any) -> Masked:
    """Mask rows, in which [CLS] and [SEP] are special; options are those of `mask_tokens`, all with a default."""
    flat = np.array([token for row, _ in rows for token in row], np.uint16)
    offsets, ids = np.cumsum([0, *(len(row) for row, _ in rows)]), np.array([word for _, word in rows], np.int64)
    defaults: dict[str, Any] = {"config": MaskingConfig(), "seed": 0, "epoch": 0, "replacement_ids": REPLACEMENTS}
    return mask_tokens(flat, offsets, np.isin(flat, [CLS, SEP]), ids, **(defaults | options))


def assert_masked_as_by_the_reference(
    rows: Rows,
    config: MaskingConfig,
    seed: int,
    epoch: int,
    continuation: NDArray[np.bool_] | None = None,
    word_starts: NDArray[np.bool_] | None = None,
    similar_words: SimilarEntries | None = None,
    delays: NDArray[np.int64] | None = None,
    level: int = 0,
) -> None:
    """Assert that a batch is masked as the plain loop masks each of its rows."""
    table = None if similar_words is None else SimilarWords.of(similar_words)
    words = {
        "continuation": continuation,
        "word_starts": word_starts,
        "similar_words": table,
        "delays": delays,
        "level": level,
    }
    masked = mask_rows(rows, config=config, seed=seed, epoch=epoch, **words)
    ends = np.cumsum([len(row) for row, _ in rows])
    expected = [
        mask_row(
            row,
            [token in (CLS, SEP) for token in row],
            example_id,
            config=config.at(level),
            seed=seed,
            epoch=epoch,
            mask_token_id=MASK,
            replacement_ids=REPLACEMENTS.tolist(),
            continuation=() if continuation is None else continuation.tolist(),
            word_starts=None if word_starts is None else word_starts[end - len(row) : end].tolist(),
            similar_words=similar_words,
            delays=() if delays is None else delays.tolist(),
            schedule=config if config.mask_schedule else None,
        )
        for (row, example_id), end in zip(rows, ends.tolist(), strict=True)
    ]
    assert masked.input_ids.tolist() == [token for ids, _, _ in expected for token in ids]
    assert masked.labels.tolist() == [label for _, labels, _ in expected for label in labels]
    assert masked.capped == sum(capped for _, _, capped in expected)
