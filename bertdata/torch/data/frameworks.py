"""What other people's frameworks say of themselves in this process."""

from __future__ import annotations

import sys
from typing import Any


def accelerate_processes() -> int | None:
    """Return the number of processes that Accelerate runs, None where it was not begun."""
    state = sys.modules.get("accelerate.state")
    shared: dict[str, Any] = state.PartialState._shared_state if state else {}
    return shared.get("num_processes")
