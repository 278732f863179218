"""How the kernel of single tokens finds the lowest draws; all kernels with bounds checks, and without compilation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.counter_rng import bits, key
from bertdata.masking.lowest_kernel import bound_of, take_lowest
from bertdata.masking.settings import MaskingConfig
from tests.masking.masker import mask_tokens

DRAWS = st.lists(st.integers(0, 2**32 - 1) | st.sampled_from([0, 1, 7, 2**32 - 2, 2**32 - 1]), min_size=1, max_size=60)


@given(DRAWS, st.data())
def test_a_bound_parts_the_lowest_draws_from_the_others_unless_some_are_equal(
    draws: list[int], data: st.DataObject
) -> None:
    needed = data.draw(st.integers(1, len(draws)))
    bound = bound_of(np.array(draws, np.uint32), len(draws), len(draws), needed)
    below = sum(draw < bound for draw in draws)
    assert below == needed or len(set(draws)) < len(draws) or sorted(draws)[needed - 1] == 2**32 - 1


def test_a_bound_is_found_among_evenly_spread_draws() -> None:
    generator = np.random.default_rng(0)
    for _ in range(2000):
        draws = np.unique(generator.integers(0, 2**32, generator.integers(1, 600), dtype=np.uint32))
        needed = int(generator.integers(1, len(draws) + 1))
        assert (draws < bound_of(draws, len(draws), len(draws), needed)).sum() == needed


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30), st.data())
def test_of_equal_draws_the_first_are_taken(row: list[tuple[int, bool]], data: st.DataObject) -> None:
    places = [place for place, (_, special) in enumerate(row) if not special]
    needed = data.draw(st.integers(0, len(places)))
    chosen = np.zeros(len(row) + 1, np.uint32)
    draws, special = np.array([draw for draw, _ in row], np.uint64), np.array([word for _, word in row])
    take_lowest(draws, special, needed, chosen)
    assert chosen[:needed].tolist() == sorted(places, key=lambda place: (row[place][0], place))[:needed]


@pytest.mark.parametrize("wanted", [35, 36, 37])
def test_draws_whose_high_halves_are_equal_are_told_apart_by_their_low_halves(wanted: int) -> None:
    # Of this example the 36th and the 37th lowest of 64 draws have the same high half: no bound on it parts them.
    example, places = 1_217_186, np.arange(1, 65)
    draws = bits(bits(key(0, "mask position"), 0), example, places)
    order = np.argsort(draws)
    assert draws[order[35]] >> np.uint64(32) == draws[order[36]] >> np.uint64(32)
    masked = mask_tokens(
        np.array([2, *[7] * 64, 3]),
        np.array([0, 66]),
        np.array([True, *[False] * 64, True]),
        np.array([example]),
        config=MaskingConfig(masked_lm_prob=0.9, max_predictions_per_seq=wanted),
        seed=0,
        epoch=0,
        mask_token_id=4,
        replacement_ids=np.arange(5, 10),
    )
    assert np.flatnonzero(masked.labels == 7).tolist() == sorted(places[order[:wanted]].tolist())


_DIGEST = """
import hashlib
import numpy as np
from bertdata.masking import MASK_UNITS
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.masked import count_masked
from tests.masking.masker import mask_tokens
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.settings import ExamplesConfig
from bertdata.objectives.rows import build_rows
from bertdata.tokenizers.pairs import bert_template
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
        told = mask_tokens(
            ids, np.concatenate([[0], np.cumsum(lengths)]), special, lengths,
            config=MaskingConfig(rate, 0.5, 0.5, limit, unit), seed=1, epoch=2, mask_token_id=4,
            replacement_ids=np.arange(5, 9), word_starts=generator.random(len(ids)) < 0.6,
        )
        digest.update(told.input_ids.tobytes() + told.labels.tobytes())
        digest.update(narrow.input_ids.tobytes() + narrow.labels.tobytes() + str(count_masked(narrow, 4)).encode())

weighed = mask_tokens(
    ids, np.concatenate([[0], np.cumsum(lengths)]), special, lengths, config=MaskingConfig(0.3, mask_smoothing=0.7),
    seed=1, epoch=2, mask_token_id=4, replacement_ids=np.arange(5, 9), delays=np.arange(30_000) << 15,
)
digest.update(weighed.input_ids.tobytes() + weighed.labels.tobytes())
in_turn = mask_tokens(
    ids, np.concatenate([[0], np.cumsum(lengths)]), special, lengths, seed=1, epoch=2, mask_token_id=4,
    config=MaskingConfig(0.3, mask_unit="token-ngram", mask_in_turn=True), replacement_ids=np.arange(5, 9),
)
digest.update(in_turn.input_ids.tobytes() + in_turn.labels.tobytes())
sizes = generator.integers(1, 60, 300)
ends = np.cumsum(sizes)
starts = generator.random(ends[-1]) < 0.7
starts[np.concatenate([[0], ends[:-1]])] = True
block = TokenBlock(
    np.arange(ends[-1]).astype(np.uint16), starts, ends, ends[[0, 40, 41, 200, 299]], np.arange(5).astype(np.uint64)
)
for objective in OBJECTIVES:
    config = ExamplesConfig(objective=objective, max_seq_length=48, short_seq_prob=0.5)
    plan = plan_examples(block, config, 1, bert_template(2, 3))
    rows = build_rows(block, plan, np.arange(len(plan.ids))[::-1].copy(), bert_template(2, 3))
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


@pytest.mark.costly
def test_plain_python_gives_the_same_masks(compiled: str) -> None:
    assert digest(NUMBA_DISABLE_JIT="1") == compiled


@pytest.mark.slow
def test_nothing_is_read_or_written_out_of_bounds(compiled: str, tmp_path: Path) -> None:
    assert digest(NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path)) == compiled


@pytest.mark.slow
def test_it_compiles_where_nothing_can_be_kept(compiled: str) -> None:
    assert digest(NUMBA_CACHE_DIR="/proc/nowhere") == compiled
