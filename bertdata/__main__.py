"""`python -m bertdata` is the `bertdata` command."""

from bertdata.cli import main

if __name__ == "__main__":
    main()
