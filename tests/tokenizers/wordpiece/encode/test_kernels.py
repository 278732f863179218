from __future__ import annotations

from typing import Any

import numba
import pytest
from numba.core import caching

from bertdata.kernels import jit
from bertdata.kernels.jit import typed_kernel


def _double(n: int) -> int:
    return 2 * n


@pytest.mark.parametrize("error", [None, RuntimeError, OSError])
def test_a_kernel_compiles_where_no_cache_can_be_kept(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception] | None
) -> None:
    def fail(*_: Any) -> None:
        assert error is not None
        raise error("no space left")

    if error is None:
        monkeypatch.setattr(jit._CacheImpl, "_locator_classes", [])
    else:
        monkeypatch.setattr(caching.FunctionCache, "save_overload", fail)
        monkeypatch.setattr(caching.FunctionCache, "load_overload", lambda *_: None)
    assert typed_kernel(numba.int64(numba.int64))(_double)(21) == 42
