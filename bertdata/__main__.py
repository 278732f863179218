"""The `bertdata` command, also as `python -m bertdata`.

The other modules are imported inside `main`, where an interrupt is already caught and reported in one line.
"""

import os
import sys

from bertdata import INTERRUPTED, INTERRUPTED_CODE

_LEAST = 288 << 20
"""Bytes of address space below which NumPy and pyarrow cannot be imported."""
_LEAST_OF_BUILD = 2200 << 20
"""Bytes of address space that a build takes, as its runner checks again."""


def main(*verb: str) -> None:
    """Run the command with the arguments of the process, after `verb` if given, and exit with its code.

    After a failure the process exits at once, without waiting for the threads of an interrupted pipeline. Otherwise it
    skips the last pass of the garbage collector, which takes half a second after Beam was imported.
    """
    try:
        if message := _short_of_memory():
            print(message, file=sys.stderr, flush=True)
            os._exit(1)
        from bertdata.cli.interrupts import raise_at_sigterm
        from bertdata.io import imports

        raise_at_sigterm()
        from bertdata.cli.main import main as command

        imports.is_command = True
        code = command([*verb, *sys.argv[1:]])
    except (KeyboardInterrupt, RuntimeError) as error:
        interrupts = sys.modules.get("bertdata.cli.interrupts")
        stop = getattr(interrupts, "interrupt_of", _itself)(error)
        if stop is None:
            raise
        text, code = getattr(interrupts, "ending", _interrupted)(stop)
        print(text, file=sys.stderr, flush=True)
    if code:
        getattr(sys.modules.get("bertdata.cli.interrupts"), "exit_at_once", os._exit)(code)
    import gc

    gc.freeze()
    sys.exit(0)


def _itself(error: BaseException) -> KeyboardInterrupt | None:
    return error if isinstance(error, KeyboardInterrupt) else None


def _interrupted(_: KeyboardInterrupt) -> tuple[str, int]:
    return INTERRUPTED, INTERRUPTED_CODE


def _leave_out_current_folder() -> None:
    """Import nothing from the current folder, where `python -m` looks first: as the command, which does not.

    A corpus of somebody else may hold a file named as a package that a command imports.
    """
    first = sys.path[0] if sys.path and not sys.flags.safe_path else None
    if first == os.getcwd() != os.path.dirname(os.path.dirname(os.path.abspath(__file__))):
        del sys.path[0]


def _short_of_memory() -> str:
    """Return the error where libraries would fail to load in ways that nobody can report: OpenBLAS raises SIGINT.

    It does where its threads get no memory. Where that is scarce it is given one thread: few commands use it.
    """
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < _LEAST_OF_BUILD:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if limit == resource.RLIM_INFINITY or limit >= _LEAST:
        return ""
    return (
        f"error: the address space is limited to {limit >> 20} MiB (ulimit -v); a command needs at least "
        f"{_LEAST >> 20} MiB to start, and a build at least {_LEAST_OF_BUILD >> 20:,} MiB, and more for its data"
    )


if __name__ == "__main__":
    _leave_out_current_folder()
    main()
