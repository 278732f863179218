"""A worker process without Beam for the tests of how workers are watched: does what `IDLE` says."""

from __future__ import annotations

import os
import sys
import time

from bertdata.beam.processes import read_pipelines

if __name__ == "__main__":
    pipelines = read_pipelines()
    todo = pipelines.get().get("IDLE") or os.environ.get("IDLE", "sleep")
    if todo == "next":
        todo = pipelines.get()["IDLE"]
    if todo == "sleep":
        sys.stdout.write("ready\n")  # one write, so that the lines of two workers do not mix
        sys.stdout.flush()
        time.sleep(60)
    if todo == "path":
        import random

        print(random.__file__, os.environ["PYTHONPATH"], sep="\n", flush=True)
    if todo == "raise":
        print("a warning nobody needs", file=sys.stderr)
        raise ImportError("No module named absent")
    sys.exit(int(todo) if todo.isdigit() else 0)
