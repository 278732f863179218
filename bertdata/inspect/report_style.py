"""The style of the page, `report.css`: light or dark as the reader's system is, nothing loaded from elsewhere."""

from __future__ import annotations

from pathlib import Path

PARTS = ("c0", "c1", "s0", "s1", "s2", "s3", "s4", "s5", "d0", "d1", "d2", "d3", "d4", "d5", "mask", "random", "kept")
"""The colours of the parts of charts."""

_RULES = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
STYLE = (
    "\n"
    + _RULES
    + "\n".join(
        f".swatch.{name}, b.{name}, .strip .{name}, .bar .{name} {{ background: var(--{name}); }}" for name in PARTS
    )
)
