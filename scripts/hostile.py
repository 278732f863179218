"""Give hostile input to the public commands: each ends in time with a right result or a message, never a traceback.

Run: python scripts/hostile.py [--only WORD ...] [--keep FOLDER]

A case writes its input, runs one command with limits on time and memory (first on processor time, so that a busy
machine is not taken for a hang), and has the allowed outcomes: a message (exit code 1 or 2 and a line that begins with
"error:"), or a result (exit code 0) that a function accepts. Never allowed are a traceback, a signal, the repr of an
object, an escape character from a name, a hang, and more than 3 GiB. The exit code is 1 if any case fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import hostile_models  # noqa: F401 - its cases register themselves
import hostile_rows  # noqa: F401
import hostile_settings  # noqa: F401
import hostile_shards  # noqa: F401
import hostile_sources  # noqa: F401
from hostile_cases import CASES, PROSE

MAIN = """
import json, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for kind, most in json.loads(sys.argv.pop(1)):
    resource.setrlimit(kind, (most, most))
from bertdata.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
MOST_MEMORY = 3 << 30
PROCESSOR_SECONDS = 300  # of a process, those of compiling kernels too
SECONDS = 900.0


class _Liar(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind = self.path.split("/")[1]
        self.send_response(302 if kind in ("loop", "ftp") else 200)
        if kind in ("loop", "ftp"):
            self.send_header("Location", self.path if kind == "loop" else "ftp://127.0.0.1/5.txt")
        self.send_header("Content-Length", {"length": "²", "more": "0", "huge": str(10**17)}.get(kind, "0"))
        self.end_headers()
        if kind in ("length", "huge"):
            self.wfile.write(PROSE.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


def run(name: str, folder: Path) -> str | None:
    """Run a case in a folder of its own; returns what went wrong, None where nothing did."""
    (folder / "in").mkdir(parents=True)
    case = CASES[name](folder)
    limits = [*case.limits, (resource.RLIMIT_CPU, PROCESSOR_SECONDS)]
    with open(folder / "log", "wb+") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, json.dumps(limits), *case.command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=os.environ | {"no_proxy": "127.0.0.1"} | ({"PYTHONPATH": case.packages} if case.packages else {}),
        )
        timer = threading.Timer(SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        late = not timer.is_alive()
        timer.cancel()
    process.returncode = code = os.waitstatus_to_exitcode(status)
    printed = (folder / "log").read_bytes().decode(errors="replace")
    faults = {
        f"a hang of {SECONDS:.0f} s": late,
        f"more than {PROCESSOR_SECONDS} s of the processor": code == -signal.SIGXCPU,
        f"{used.ru_maxrss >> 10} MiB": used.ru_maxrss << 10 > MOST_MEMORY,
        "a traceback": "Traceback (most recent" in printed,
        "the repr of an object": re.search(r"object at 0x", printed) is not None,
        "an escape character": "\x1b" in printed,
        f"the code {code}": code not in (0, 1, 2),
        "no message": code in (1, 2) and not re.search(r"^error: .", printed, re.MULTILINE),
        "a message where the result should be right": code in (1, 2) and not case.message,
        "a wrong result": code == 0 and not (case.right and case.right(folder / "out")),
    }
    problems = [what for what, is_so in faults.items() if is_so]
    return f"{', '.join(problems)}\n{printed[-1500:]}" if problems else None


def main() -> int:
    """Run the cases one after another; returns 1 where one went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="cases with one of these words")
    parser.add_argument("--keep", metavar="FOLDER", help="work in this folder and keep it")
    flags = parser.parse_args()
    place = Path(flags.keep or tempfile.mkdtemp(prefix="bertdata-hostile-"))
    names = [name for name in CASES if any(word in name for word in flags.only)]
    faults = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), _Liar) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        os.environ["BERTDATA_HOSTILE_SERVER"] = f"http://127.0.0.1:{server.server_address[1]}"
        os.environ["BERTDATA_HOSTILE_BUILD"] = str(place / "build")
        own = [sys.executable, "-c", MAIN, "[]", "build", "--output", str(place / "build")]
        subprocess.run(own, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for number, name in enumerate(names):
            began = time.monotonic()
            fault = run(name, place / f"case-{number:02d}")
            faults += fault is not None
            print(f"{'FAULT' if fault else 'good '} {time.monotonic() - began:5.1f} s  {name}", flush=True)
            if fault:
                print(fault, flush=True)
        server.shutdown()
    if not flags.keep:
        shutil.rmtree(place, ignore_errors=True)
    print(f"{len(names)} forms of hostile input, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
