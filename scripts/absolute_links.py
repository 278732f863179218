"""Makes the links of a README absolute, for the package index: python scripts/absolute_links.py README.md PAGES FILES.

PAGES is the address of the repository's pages at a version, FILES that of its raw files, for pictures.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def absolute(markdown: str, pages: str, raw: str) -> str:
    """Return a README whose relative links and pictures have addresses.

    >>> absolute("[a](docs/a.md#b) [c](https://d) [e](#f)", "P", "R")
    '[a](P/docs/a.md#b) [c](https://d) [e](#f)'
    >>> absolute('<img src="docs/way.svg"> <source srcset="docs/dark.svg">', "P", "R")
    '<img src="R/docs/way.svg"> <source srcset="R/docs/dark.svg">'
    """
    markdown = re.sub(r"\]\((?!\w+:|#)([^()\s]+)\)", rf"]({pages}/\1)", markdown)
    return re.sub(r'\b(src|srcset)="(?!\w+:)([^"]+)"', rf'\1="{raw}/\2"', markdown)


def main() -> None:
    """Rewrite the file."""
    path, pages, raw = sys.argv[1:]
    Path(path).write_text(absolute(Path(path).read_text(encoding="utf-8"), pages, raw), encoding="utf-8")


if __name__ == "__main__":
    main()
