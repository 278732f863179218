"""The worker process of a local run: Beam's own, which exits with its parent and computes on one thread."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading


def main() -> None:
    """Run Beam's worker until the pipeline ends or the parent exits.

    Failures reach the parent through Beam, which reports them, so nothing is logged here; interrupts are the parent's.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    exit_with_parent()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logging.disable(logging.CRITICAL)

    import pyarrow as pa
    from apache_beam.runners.worker import sdk_worker_main

    from bertdata.beam.processes import COMPILING
    from bertdata.kernels import warmup

    warmup.listeners.append(lambda: print(COMPILING.decode(), end="", file=sys.stderr, flush=True))
    pa.set_cpu_count(1)
    sdk_worker_main.main(sys.argv)


def exit_with_parent() -> None:
    """Start a thread that reads the pipe from the parent, and exits as soon as that is closed."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    main()
