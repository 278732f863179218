"""The worker process of a local run: Beam's own, tied to its parent and kept to one thread of arithmetic."""

from __future__ import annotations

import logging
import os
import signal
import sys


def main() -> None:
    """Run Beam's worker until the pipeline ends or the parent is gone.

    A failure goes through Beam to the parent, who tells it, so nothing is logged here; an interrupt is the parent's.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    from bertdata.beam.processes import end_with_parent, tell_of_compiling

    end_with_parent()
    tell_of_compiling()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logging.disable(logging.CRITICAL)

    import pyarrow as pa
    from apache_beam.runners.worker import sdk_worker_main

    pa.set_cpu_count(1)
    sdk_worker_main.main(sys.argv)


if __name__ == "__main__":
    main()
