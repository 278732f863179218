from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.kernels.jit import kernel
from bertdata.tokenizers.training.merging.merge_score import natural_log

_COMPILED = kernel(natural_log)


@settings(deadline=None)
@given(st.integers(1, 1 << 53))
def test_the_logarithm_is_right_to_the_last_digits(n: int) -> None:
    assert math.isclose(natural_log(n), math.log(n), rel_tol=4e-16, abs_tol=4e-16)


@settings(deadline=None)
@given(st.integers(1, 1 << 53))
def test_the_compiled_logarithm_has_the_same_bits(n: int) -> None:
    assert _COMPILED(n) == natural_log(n)


@settings(deadline=None)
@given(st.integers(1, 1 << 40))
def test_the_logarithm_rises(n: int) -> None:
    assert natural_log(n) < natural_log(n + 1)
