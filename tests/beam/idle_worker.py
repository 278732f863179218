"""A worker without Beam for the tests of the pool: waits for a job as `IDLE` says, and sleeps."""

from __future__ import annotations

import sys
import time

from bertdata.beam.pool_worker import read_jobs

if __name__ == "__main__":
    read_jobs().get()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    time.sleep(600)
