"""SIGTERM ends a command as an interrupt does: one line, a code of its own, and what it began is tidied up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bertdata import INTERRUPTED

ROOT = Path(__file__).parents[2]
TERMINATED = "terminated: run the same command again to go on; what is done is kept"
STOPPED = """
import os, signal, sys
{before}
import bertdata.cli.main
def main(arguments):
    from bertdata.cli import command_line
    def work():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            for _ in range(1000):
                pass
        finally:
            if "loaders" in globals():
                del globals()["loaders"]
            print("tidied")
        return 0
    from bertdata.io import log
    log.use({format!r})
    return command_line.run(work)
bertdata.cli.main.main = main
from bertdata.__main__ import main
main()
"""


def stopped(before: str = "", log_format: str = "text", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", STOPPED.format(before=before, format=log_format)],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_sigterm_is_one_line_and_code_143() -> None:
    done = stopped()
    assert (done.returncode, done.stdout, done.stderr) == (143, "tidied\n", TERMINATED + "\n")


def test_queues_of_workers_that_are_not_forks_are_no_warning_of_leaked_semaphores() -> None:
    done = stopped(before='import multiprocessing; queues = [multiprocessing.get_context("spawn").Queue()]')
    assert (done.returncode, done.stdout, done.stderr) == (143, "tidied\n", TERMINATED + "\n")


MAKES_A_CLASS = """
import sys, types

class Interrupting:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt

def command(arguments):
    return type("Made", (), {{"field": Interrupting()}})

if {in_a_command}:
    from bertdata.cli import command_line
    sys.exit(command_line.run(lambda: command([])))
sys.modules["bertdata.cli.main"] = types.ModuleType("bertdata.cli.main")
sys.modules["bertdata.cli.main"].main = command
from bertdata.__main__ import main
main()
"""


@pytest.mark.parametrize("in_a_command", [True, False])
def test_an_interrupt_while_a_class_is_made_is_one(in_a_command: bool) -> None:
    script = MAKES_A_CLASS.format(in_a_command=in_a_command)
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == (f"{INTERRUPTED}\n", 130)


def test_a_log_of_json_ends_with_why_and_with_the_code() -> None:
    done = stopped(log_format="json")
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(event["event"], event["code"]) for event in events] == [("error", 143), ("end", 143)]
    assert events[0]["text"] == TERMINATED


@pytest.mark.parametrize("before", ["signal.signal(signal.SIGTERM, signal.SIG_IGN)"])
def test_a_sigterm_that_is_ignored_stays_so(before: str) -> None:
    assert stopped(before).returncode == 0


def test_workers_of_a_loader_that_end_as_well_are_no_error() -> None:
    handler = "def of_torch(*_):\n    raise RuntimeError('DataLoader worker is killed by signal')"
    loader = """
class Loader:
    def __del__(self):
        child = subprocess.Popen(["sleep", "100"])
        child.terminate()
        child.wait()
        print("ended")
loaders = [Loader()]
"""
    done = stopped(f"import subprocess\n{handler}\nsignal.signal(signal.SIGCHLD, of_torch)\n{loader}")
    assert (done.returncode, done.stderr) == (143, TERMINATED + "\n")


WITH_ANOTHER = """
kill = os.kill
def both(process, number):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, number])
    kill(process, signal.SIGCHLD)
    kill(process, number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD, number])
os.kill = both
signal.signal(signal.SIGCHLD, lambda *_: None)
"""


def test_a_signal_that_comes_with_sigterm_is_no_error() -> None:
    done = stopped(WITH_ANOTHER)
    assert (done.returncode, done.stdout, done.stderr) == (143, "tidied\n", TERMINATED + "\n")


def test_under_torchrun_sigterm_is_left_to_it() -> None:
    done = stopped(WORLD_SIZE="2")
    assert (done.returncode, done.stderr) == (-15, "")


def test_sigterm_while_python_imports_is_the_same() -> None:
    code = """
import os, signal, sys
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == "argparse":
            os.kill(os.getpid(), signal.SIGTERM)
            for _ in range(1000):
                pass
sys.meta_path.insert(0, Stop())
sys.argv = ["bertdata", "--version"]
from bertdata.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (143, "", TERMINATED + "\n")


IN_A_DESTRUCTOR = """
import os, signal, sys, time
import bertdata.cli.main
class Held:
    def __del__(self):
        os.kill(os.getpid(), signal.{number})
        for _ in range(1000):
            pass
def main(arguments):
    from bertdata.cli import command_line
    def work():
        for held in [Held(), Held()]:
            del held
        for _ in range(3000):
            time.sleep(0.01)
        print("went on")
        return 0
    return command_line.run(work)
bertdata.cli.main.main = main
from bertdata.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("number", "code", "message"),
    [("SIGTERM", 143, TERMINATED), ("SIGINT", 130, TERMINATED.replace("terminated", "interrupted"))],
)
def test_a_stop_that_comes_in_a_destructor_is_not_lost(number: str, code: int, message: str) -> None:
    script = IN_A_DESTRUCTOR.format(number=number)
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", message + "\n")


@pytest.mark.parametrize(
    ("text", "is_reported"), [("DataLoader worker (pid 4289) is killed by signal: Killed. ", False), ("other", True)]
)
def test_a_worker_that_dies_while_an_object_is_taken_away_is_not_reported_twice(text: str, is_reported: bool) -> None:
    held = f"""
class Held:
    def __del__(self):
        raise RuntimeError({text!r})
del [Held()][0]
"""
    script = f"from bertdata.cli.interrupts import raise_at_sigterm\nraise_at_sigterm()\n{held}print('on')"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "on\n")
    assert ("Exception ignored" in done.stderr) == is_reported
