"""Gets dumps and books: `bertdata download`."""

from __future__ import annotations

import argparse
import os
import re

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.io.http import Client
from bertdata.options.flags import add_log_format
from bertdata.sources.download import CONTACT, DATASETS, GUTENBERG, WIKIMEDIA, gutenberg, wikipedia
from bertdata.sources.wikipedia.dump.published import LATEST


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata download` to a parser."""
    sources = parser.add_subparsers(dest="source", required=True, metavar="wikipedia|gutenberg")
    wiki = sources.add_parser(
        "wikipedia",
        help="a Wikipedia: the newest Content File Export, else the newest multistream dump",
        description="Fetch a Wikipedia as Wikimedia publishes it: its newest MediaWiki Content File Export, monthly "
        "files {wiki}-{date}-p{first page}p{last page}.xml.bz2 of all namespaces with SHA256SUMS and _SUCCESS (enwiki "
        "2026-09-01: 19 files, 46.4 GB); else the newest legacy dump, pages-articles-multistream with its index. Three "
        "files come at once, which is what the server allows; each is checked, and the same command goes on after an "
        "interruption. Then: bertdata build --wikipedia DIR",
    )
    wiki.add_argument(
        "--language",
        required=True,
        metavar="CODE",
        help="the code in the wiki's address, as en or de, or a wiki's name, as dewiktionary",
    )
    wiki.add_argument("--date", default=LATEST, metavar="DATE", help="YYYY-MM-DD; default: the newest that is finished")
    wiki.add_argument(
        "--dataset",
        default="auto",
        choices=("auto", *DATASETS),
        help="content-current: the Content File Export; pages-articles-multistream: the legacy dump; "
        "auto: the first of these that there is (default)",
    )
    wiki.add_argument("--mirror", default=WIKIMEDIA, metavar="URL", help=f"where the dumps are (default: {WIKIMEDIA})")
    books = sources.add_parser("gutenberg", help="plain texts of Project Gutenberg books")
    books.add_argument("--ids", nargs="+", type=int, required=True, metavar="N", help="the numbers of the books")
    books.add_argument(
        "--mirror",
        default=GUTENBERG,
        metavar="URL",
        help=f"where the books are (default: {GUTENBERG}); not Project Gutenberg's own site, which is for people: "
        "www.gutenberg.org/MIRRORS.ALL lists the mirrors",
    )
    for subparser in (wiki, books):
        add_log_format(subparser)
        subparser.add_argument("--output", required=True, metavar="DIR", help="a local folder")
        subparser.add_argument(
            "--contact",
            default=os.environ.get(CONTACT, ""),
            metavar="ADDRESS",
            help="your e-mail address or web page for the User-Agent, which Wikimedia asks for "
            f"(default: the environment variable {CONTACT}, else none)",
        )


def run(arguments: argparse.Namespace, client: Client | None = None) -> int:
    """Download as parsed arguments say and print the paths."""
    if files.is_remote(arguments.output):
        raise ConfigError("--output is a URL; downloads go to a local folder", path=arguments.output)
    if not re.fullmatch("[ -~]*", arguments.contact):
        raise ConfigError(f"--contact is {arguments.contact!r}; expected one line of ASCII, as me@example.org")
    if arguments.source == "wikipedia":
        client = client or Client(contact=arguments.contact)
        chosen = {name: getattr(arguments, name) for name in ("date", "dataset", "mirror")}
        paths = wikipedia(arguments.language, arguments.output, client, **chosen)
    else:
        if any(number < 1 for number in arguments.ids):
            raise ConfigError("--ids are the numbers of books; expected 1 or more")
        client = client or Client(pause=1.0, contact=arguments.contact)
        paths = gutenberg(arguments.ids, arguments.output, client, mirror=arguments.mirror)
    print("\n".join(paths))
    return 0
