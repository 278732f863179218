"""`bertdata clean`: the prose of the wikitext of one page, or of the text of one book."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter

from bertdata.errors import InputError
from bertdata.io.decoding import decode_utf8
from bertdata.io.encodings import GUESS, find_bad_byte, fitting
from bertdata.sources.text_encodings import OF_A_VERB, STDIN, open_checked
from bertdata.sources.unsupported import what_it_is

_START = 4096
KINDS = ("auto", "wikitext", "book")
_MARKUP = re.compile(r"\[\[|\{\{|'''|^==|</?ref\b|^#redirect\b", re.M | re.I)
_DUMP = re.compile(r"\A\s*(<\?xml[^>]*>\s*)?<mediawiki\b")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata clean` to a parser."""
    text = "a text file, plain, .gz, .zst, .bz2 or .xz; - is standard input"
    parser.add_argument("path", metavar="FILE", help=text)
    parser.add_argument(
        "--kind", choices=KINDS, default="auto", help="what it is (default: auto, wikitext where there is markup)"
    )
    parser.add_argument("--title", default="", help="the title of the page, for templates that show it")
    parser.add_argument(
        "--language",
        default="",
        metavar="CODE",
        help="the language of the wiki, as de, for its names of namespaces and functions, numbers and templates",
    )
    parser.add_argument(
        "--variant",
        default="",
        metavar="CODE",
        help="which text of -{zh-hans:a;zh-hant:b}- is kept, as zh-hant (default: the one that the wiki shows)",
    )
    parser.add_argument("--encoding", default="", metavar="NAME", help=OF_A_VERB)


def run(arguments: argparse.Namespace) -> int:
    """Print the prose; raises InputError, with the reason, where there is none."""
    text = read_text(arguments.path, arguments.encoding, is_book=arguments.kind == "book")
    kind = kind_of(text) if arguments.kind == "auto" else arguments.kind
    drops: Counter[str] = Counter()
    if kind == "wikitext":
        from bertdata.wikitext.clean import clean_wikitext

        context = {"title": arguments.title, "language": arguments.language, "variant": arguments.variant}
        prose = clean_wikitext(text, **context, drops=drops)
    else:
        from bertdata.sources.books.read import clean_book

        prose = clean_book(text, drops=drops)
    if prose is None:
        reason = ", ".join(set(drops) - {"no prose"})
        because = f": the page is a {reason}" if reason else ""
        raise InputError(f"has no prose, read as {kind}{because}; --kind says how to read it", path=arguments.path)
    print(prose)
    return 0


def read_text(path: str, encoding: str = "", *, is_book: bool = False) -> str:
    """Return a text, decoded as `open_checked` does, of a book as `--books` does.

    Raises InputError where it is not UTF-8, or a whole dump.
    """
    if is_book and not encoding and path != STDIN and (bad := find_bad_byte(path)):
        encoding = GUESS
        print(f"read as {fitting(path, bad) or 'text of no encoding'}, as it is not UTF-8", file=sys.stderr)
    with open_checked(path, encoding) as stream:
        data = stream.read()
    kind = what_it_is(path, data[:_START])
    if kind and not _DUMP.match(data[:_START].decode("utf-8", "replace")):
        raise InputError(kind, path=path)
    text = decode_utf8(data, path, encoding="utf-8-sig")
    if _DUMP.match(text):
        raise InputError("is a dump of many pages, not the text of one; use `bertdata clean-wikipedia`", path=path)
    return text


def kind_of(text: str) -> str:
    """Return what a text is: wikitext where it has its markup, else book.

    >>> kind_of("'''Rome''' is a [[city]]."), kind_of("CHAPTER I\\n\\nIt was late.")
    ('wikitext', 'book')
    """
    return "wikitext" if _MARKUP.search(text) else "book"
