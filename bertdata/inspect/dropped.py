"""The documents of a build that were dropped where documents were written, as lines: how many, and samples of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertdata.documents import DROPPED_TEXTS
from bertdata.errors import ConfigError, expected_one_of, printable


def dropped_lines(manifest: Mapping[str, Any], reason: str = "") -> list[str]:
    """Return samples of the documents that were dropped where documents were written, for one reason or for all.

    Raises ConfigError for a reason for which nothing was dropped.
    """
    sources = next(iter(manifest["phases"].values()))["sources"] if "phases" in manifest else manifest["sources"]
    every = sorted({one for source in sources.values() for one in source["drops"]})
    if reason and reason not in every:
        raise ConfigError(
            f"nothing was dropped as {reason!r}"
            + (expected_one_of(reason, every) if every else "; nothing was dropped at all where documents were written")
        )
    lines = []
    for name, source in sources.items():
        for one in sorted(source["drops"], key=lambda one: (-source["drops"][one], one)):
            if reason not in ("", one):
                continue
            samples = source.get(DROPPED_TEXTS, {}).get(one, [])
            shown = f", {len(samples)} of them here" if samples else "; no samples (see --rejects for those of wikis)"
            lines.append(f"{name}: {source['drops'][one]:,} dropped as {one}{shown}")
            for _, number, title, text in samples:
                named = f"{number} ({title})" if title else number
                lines.append(f"  {printable(named)}: {printable(' '.join(text.split())) or '(no text left)'}")
    return lines or ["nothing was dropped where documents were written"]
