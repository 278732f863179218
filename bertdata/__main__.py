"""`python -m bertdata` is the `bertdata` command."""

from bertdata.cli.main import main

if __name__ == "__main__":
    main()
