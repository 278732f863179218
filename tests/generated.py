"""How many examples hypothesis generates."""

from __future__ import annotations

import os


def examples(number: int) -> int:
    """Return the number where the slow tests run, too (`scripts/test --all`), else a third of it."""
    return number if os.environ.get("BERTDATA_TEST_ALL") else number // 3
