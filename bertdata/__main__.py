"""`python -m bertdata` is the `bertdata` command."""

import sys

from bertdata.cli import main

if __name__ == "__main__":
    sys.exit(main())
