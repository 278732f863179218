"""A worker process for the tests of how workers are watched: does what the environment variable `IDLE` says."""

from __future__ import annotations

import os
import sys
import time

from bertdata.engine.messages import READY, TOOK, message_of, write_message
from bertdata.engine.worker import _read_messages

if __name__ == "__main__":
    messages = _read_messages()
    todo = os.environ.get("IDLE", "sleep")
    if todo == "raise":
        print("a warning nobody needs", file=sys.stderr)
        raise ImportError("No module named absent")
    if todo != "begin":  # and never be ready
        write_message(sys.stdout.buffer, (READY, None))
    if todo == "echo":
        write_message(sys.stdout.buffer, (TOOK, message_of(messages.get())))
    if todo == "arguments":
        write_message(sys.stdout.buffer, (TOOK, sys.argv[1:]))
    if todo == "path":
        import random

        write_message(sys.stdout.buffer, (TOOK, (random.__file__, os.environ["PYTHONPATH"])))
    if not todo.isdigit():
        time.sleep(600)
    sys.exit(int(todo))
