"""A pool of workers beside a task manager of Flink, an executor of Spark, or Prism, for builds there.

Run: python -m bertdata.cli.worker_pool --service_port=50000 [--idle=2], in an environment that has bertdata.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from bertdata.beam import worker_pool
from bertdata.beam.quiet_import import import_beam
from bertdata.cli import command_line
from bertdata.errors import ConfigError

_PORTS = 65535


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a pool until it is interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m bertdata.cli.worker_pool", description="Start workers for builds on Flink, Spark and Prism."
    )
    parser.add_argument("--service_port", type=int, required=True, help="the port that --environment_config names")
    parser.add_argument("--idle", type=int, default=1, help="workers that wait for the next job (default: 1)")
    parsed = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    if not 0 < parsed.service_port <= _PORTS:
        raise ConfigError(f"--service_port is {parsed.service_port}; expected 1 to {_PORTS}")
    if parsed.idle < 0:
        raise ConfigError(f"--idle is {parsed.idle}; expected 0 or more")
    import_beam(without_packages=True)
    with worker_pool.WorkerPool(parsed.idle) as pool:
        server = worker_pool.serve(pool, parsed.service_port)
        try:
            print(f"the pool of workers is at localhost:{parsed.service_port}", flush=True)
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:  # Ctrl-C or SIGTERM
            return 0
        finally:
            server.stop(0)


if __name__ == "__main__":
    command_line.console(main)
