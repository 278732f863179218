"""The `bertdata` command, also as `python -m bertdata`.

Nothing costly is imported before an interrupt is caught, so that one that comes while Python imports the rest is told
in one line, as at any later time.
"""

import os
import sys

INTERRUPTED = "interrupted: run the same command again to go on; what is done is kept"
INTERRUPTED_CODE = 130


def main() -> None:
    """Run the command with the arguments of the process, and end the process with its exit code.

    A command that failed ends at once: threads of a pipeline that was broken off are not waited for.
    """
    try:
        from bertdata.cli.main import main as command

        code = command(sys.argv[1:])
    except KeyboardInterrupt:
        print(INTERRUPTED, file=sys.stderr, flush=True)
        code = INTERRUPTED_CODE
    if code:
        os._exit(code)
    sys.exit(0)


if __name__ == "__main__":
    main()
