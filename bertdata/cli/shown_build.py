"""What a command prints of a build."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.corpus import summary
from bertdata.corpus.warning_lines import warning_lines, warnings_in
from bertdata.io import log
from bertdata.io.console import Row, table


def print_build(manifest: Mapping[str, Any], timings: Sequence[Row] = (), *, quiet: bool = False) -> None:
    """Print a summary of a build, and the warnings of its manifest; only these, to stderr, where it is to be quiet."""
    lines = warning_lines(manifest)
    for _, warning in warnings_in(manifest):
        log.event("warning", **{name: warning[name] for name in ("about", "found", "remedy")})
    if quiet and log.is_json():
        return
    if quiet:
        for line in lines:
            print(line, file=sys.stderr)
        return
    print(table([*summary.build_rows(manifest), *timings]))
    if lines:
        print("\n" + "\n".join(lines))
