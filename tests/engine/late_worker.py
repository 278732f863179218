"""A worker process that is never ready."""

from __future__ import annotations

import time

from bertdata.engine.worker import _read_messages

if __name__ == "__main__":
    _read_messages()
    time.sleep(600)
