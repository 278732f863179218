"""The compiled cores under bounds checks, without compilation, and where nothing can be kept on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_DIGEST = """
import hashlib
import numpy as np
from bertdata.masking import MASK_UNITS
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.masking import count_masked
from tests.masking.masker import mask_tokens
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.settings import ExamplesConfig
from bertdata.objectives.rows import build_rows
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.objective import plan_examples

generator = np.random.default_rng(0)
lengths = np.concatenate([[0, 1, 2, 0], generator.integers(0, 90, 40), [700], [0]])
ids = generator.integers(0, 70_000, int(lengths.sum()))
special = generator.random(len(ids)) < 0.1
continuation = generator.random(30_000) < 0.4  # shorter than the ids
digest = hashlib.sha256()
for unit in MASK_UNITS:
    for limit, rate in ((0, 0.15), (1, 0.5), (20, 0.99)):
        masked = mask_tokens(
            ids, np.concatenate([[0], np.cumsum(lengths)]), special, generator.integers(0, 2**62, len(lengths)),
            config=MaskingConfig(rate, 0.5, 0.5, limit, unit), seed=1, epoch=2, mask_token_id=4,
            replacement_ids=np.arange(5, 9), continuation=continuation,
        )
        digest.update(masked.input_ids.tobytes() + masked.labels.tobytes() + bytes([masked.capped]))
        narrow = mask_tokens(
            (ids % 30_000).astype(np.uint16), np.concatenate([[0], np.cumsum(lengths)]), special, lengths,
            config=MaskingConfig(rate, 0.5, 0.5, limit, unit), seed=1, epoch=2, mask_token_id=4,
            replacement_ids=np.arange(5, 9), continuation=continuation, narrow=True,
        )
        digest.update(narrow.input_ids.tobytes() + narrow.labels.tobytes() + str(count_masked(narrow, 4)).encode())

sizes = generator.integers(1, 60, 300)
ends = np.cumsum(sizes)
starts = generator.random(ends[-1]) < 0.7
starts[np.concatenate([[0], ends[:-1]])] = True
block = TokenBlock(
    np.arange(ends[-1]).astype(np.uint16), starts, ends, ends[[0, 40, 41, 200, 299]], np.arange(5).astype(np.uint64)
)
for objective in OBJECTIVES:
    plan = plan_examples(block, ExamplesConfig(objective=objective, max_seq_length=48, short_seq_prob=0.5), 1)
    rows = build_rows(block, plan, np.arange(len(plan.ids))[::-1].copy(), cls_token_id=2, sep_token_id=3)
    digest.update(plan.spans.tobytes() + rows.input_ids.tobytes())
    digest.update(rows.token_type_ids.tobytes() + rows.special.tobytes())
print(digest.hexdigest())
"""


def digest(**variables: str) -> str:
    environment = os.environ | variables
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _DIGEST], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def compiled() -> str:
    return digest()


def test_plain_python_gives_the_same_masks(compiled: str) -> None:
    assert digest(NUMBA_DISABLE_JIT="1") == compiled


@pytest.mark.slow
def test_nothing_is_read_or_written_out_of_bounds(compiled: str, tmp_path: Path) -> None:
    assert digest(NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path)) == compiled


@pytest.mark.slow
def test_it_compiles_where_nothing_can_be_kept(compiled: str) -> None:
    assert digest(NUMBA_CACHE_DIR="/proc/nowhere") == compiled
