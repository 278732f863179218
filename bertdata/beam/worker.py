"""The worker process of a local run: Beam's own, tied to its parent and kept to one thread of arithmetic."""

from __future__ import annotations

import logging
import os
import sys


def main() -> None:
    """Run Beam's worker until the pipeline ends or the parent is gone.

    A failure goes through Beam to the parent, who tells it, so nothing is logged or printed here.
    """
    from bertdata.beam.liveness import hold_line, say_bye

    line = hold_line()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logging.disable(logging.CRITICAL)

    import pyarrow as pa
    from apache_beam.runners.worker import sdk_worker_main

    pa.set_cpu_count(1)
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    sdk_worker_main.main(sys.argv)
    say_bye(line)


if __name__ == "__main__":
    main()
