"""Finds the optional real data: `BERTDATA_DATA`, else `../shared/data` beside the checkout, else the test skips."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("BERTDATA_DATA") or Path(__file__).resolve().parents[1].parent / "shared" / "data")


def data_path(*parts: str) -> Path:
    """Return a path below the real data, or skip the test that asked."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no real data at {path}; set BERTDATA_DATA to a folder that has it")
    return path
