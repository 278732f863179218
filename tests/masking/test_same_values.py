"""What is drawn for given documents is what was drawn before: other values need another `SHARDS_REVISION`.

The digests are those of the values, whole; inputs are hashes of numbers, so that no generator but ours has a say.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bertdata.counter_rng import bits, randint
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.smoothing import delays
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.objective import plan_examples
from bertdata.objectives.settings import ExamplesConfig
from tests.masking.masker import mask_tokens
from tests.objectives.blocks import BERT


def numbers(purpose: int, count: int, n: int) -> NDArray[np.int64]:
    return randint(bits(purpose, np.arange(count)), n)


def digest(*arrays: NDArray[Any]) -> str:
    return sha256(b"".join(np.ascontiguousarray(array, np.int64).tobytes() for array in arrays)).hexdigest()[:16]


def block_of(sentences: list[int]) -> TokenBlock:
    """Return documents of so many sentences of 1 to 30 tokens, a few of them longer than a row."""
    count = sum(sentences)
    lengths = 1 + numbers(1, count, 30) + 90 * (numbers(2, count, 50) == 0)
    ends = np.cumsum(lengths)
    word_start = numbers(3, int(ends[-1]), 10) < 7
    word_start[np.concatenate([[0], ends[:-1]])] = True
    keys = bits(4, np.arange(len(sentences)))
    return TokenBlock(np.arange(ends[-1]).astype(np.uint32), word_start, ends, ends[np.cumsum(sentences) - 1], keys)


BLOCKS = {"many": [7] * 300, "few": [12, 9, 14], "one large": [400, 3, 2]}


@pytest.mark.parametrize(
    ("objective", "documents", "expected"),
    [
        ("nsp", "many", "293338ec9b080b94"),
        ("nsp", "few", "1b723fa04feec527"),
        ("nsp", "one large", "dd25fa9f94115e80"),
        ("sentence-pair-nsp", "many", "1dff43d9b51108c7"),
        ("sentence-pair-nsp", "few", "7561f95fe722c3ea"),
        ("sop", "many", "cd8dc7db471234e7"),
        ("doc-sentences", "many", "eb31b15d8b5fe56f"),
        ("full-sentences", "many", "0a98bba47d2e0f12"),
        ("single-segment", "many", "f7c322c3d5e1186c"),
    ],
)
def test_examples_are_the_ones_that_were_always_planned(objective: str, documents: str, expected: str) -> None:
    block = block_of(BLOCKS[documents])
    arrays: list[NDArray[Any]] = []
    for copy, length in ((0, 64), (3, 32)):
        plan = plan_examples(
            block, ExamplesConfig(objective, max_seq_length=length, short_seq_prob=0.3, seed=5), copy, BERT
        )
        arrays += [plan.spans, plan.types, plan.offsets, plan.labels, plan.ids]
    assert digest(*arrays) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"mask_unit": "token"}, "a1ef7b8a08f0ba08"),
        ({"mask_unit": "token", "max_predictions_per_seq": 4, "random_tokens": "vocabulary"}, "c30a3d1e89cf2bb2"),
        ({"mask_smoothing": 0.7}, "d25673ac57fc635f"),
        ({"mask_in_turn": True, "mask_unit": "token-ngram", "masked_lm_prob": 0.3}, "dfe252cc34175e9c"),
        ({"mask_unit": "word"}, "d57930554e372e02"),
        ({"mask_unit": "word", "max_predictions_per_seq": 4}, "5cd010e59e851ccb"),
        ({"mask_unit": "ngram"}, "9f857c2bfe54f1db"),
        ({"mask_unit": "ngram", "max_predictions_per_seq": 4, "replace_unit": "unit"}, "cb374dd1301488e2"),
        ({"mask_unit": "span"}, "e553bce3acdc3218"),
        ({"mask_unit": "span", "max_predictions_per_seq": 4, "replace_unit": "unit"}, "f7efe20664c13eb4"),
    ],
)
def test_masks_are_the_ones_that_were_always_drawn(options: dict[str, Any], expected: str) -> None:
    lengths = 3 + numbers(5, 200, 60)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    ids = 5 + numbers(6, int(offsets[-1]), 90)
    special = np.zeros(len(ids), np.bool_)
    special[offsets[:-1]] = special[offsets[1:] - 1] = True
    special[offsets[:-1] + lengths // 2] = True
    masked = mask_tokens(
        ids,
        offsets,
        special,
        numbers(7, 200, 1 << 32),
        config=MaskingConfig(**options),
        seed=9,
        epoch=2,
        mask_token_id=4,
        replacement_ids=np.arange(5, 60),
        continuation=np.arange(100) >= 70,
        delays=delays(numbers(8, 100, 1 << 30), [7], 0.7),
    )
    assert digest(masked.input_ids, masked.labels, np.array([masked.capped])) == expected
