"""`bertdata build`: dumps, books and other documents to a vocabulary and shards, all stages."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from bertdata.cli import command_line
from bertdata.cli.build_flags import add_arguments
from bertdata.cli.shown_build import print_build
from bertdata.corpus.build import build_corpus
from bertdata.corpus.dry_run import dry_run
from bertdata.corpus.recipe_settings import save_settings
from bertdata.corpus.requests import Named, read_streams, settings_of_request
from bertdata.errors import ConfigError
from bertdata.options.request import Request
from bertdata.shards.phases import plan_phases

__all__ = ["add_arguments", "run"]
DESCRIPTION = "Dumps, books and other documents to shards; the sample corpus if none are given."
BETWEEN_STEPS = "start and checks"


def run(request: Request) -> int:
    """Build; with no sources, the sample corpus."""
    began = time.monotonic()
    if request.json and request.save_recipe:
        raise ConfigError("--json is for the result of a build, or of --dry-run; leave out --save-recipe, or --json")
    read_streams(request)
    sources, settings = settings_of_request(request)
    runner = command_line.runner(request)
    if request.save_recipe:
        save_settings(request.save_recipe, settings, request.model_max_length)
        return 0
    output, named = request.output, Named.by(request)
    if request.dry_run:
        planned = dry_run(sources, output, settings, runner, force=request.force, named=named)
        print(json.dumps(planned.values(), indent=1) if request.json else planned.text())
        return 0
    manifest, worked = build_corpus(sources, output, settings, runner, force=request.force, named=named)
    seconds = time.monotonic() - began
    if request.json:
        print(json.dumps(result_of(output, manifest, runner.seconds, seconds, worked=worked), indent=1))
        return 0
    if not worked:
        if not request.quiet:
            print(f"nothing to do: {output} is finished, from these sources and settings ({seconds:.1f} s)")
        return 0
    print_build(manifest, time_rows(runner.seconds, seconds), quiet=request.quiet)
    if not request.quiet:
        first = plan_phases(output, settings.phases)[0].output
        print(f"\nLook at it: bertdata show {first}")
    return 0


def result_of(
    output: str, manifest: dict[str, Any], steps: Sequence[tuple[str, float]], seconds: float, *, worked: bool
) -> dict[str, Any]:
    """Return what --json prints: where the build is, whether there was anything to do, the seconds, the manifest."""
    took = {
        "seconds": round(seconds, 3),
        "steps": [{"title": name, "seconds": round(taken, 3)} for name, taken in steps],
    }
    return {"output": output, "worked": worked, **took, "manifest": manifest}


def time_rows(steps: Sequence[tuple[str, float]], seconds: float) -> list[tuple[str, str]]:
    """Return rows of the seconds that a build took: of its steps, and of what was between them.

    >>> time_rows([("clean wikipedia", 6.0), ("train vocabulary", 3.0)], 10.0)
    [('seconds', '10.0'), ('  clean wikipedia', '6.0'), ('  train vocabulary', '3.0'), ('  start and checks', '1.0')]
    """
    between = max(0.0, seconds - sum(taken for _, taken in steps))
    of_steps = [(f"  {name}", f"{taken:.1f}") for name, taken in [*steps, (BETWEEN_STEPS, between)]]
    return [("seconds", f"{seconds:.1f}"), *of_steps]
