"""Prose out of small pages in many languages, ours and other extractors: the share that is what MediaWiki shows.

Run: python benchmarks/wikitext_languages.py [--languages]
A row is right if the text is MediaWiki's prose, white space apart (`mediawiki-languages-dev.jsonl`, made with a real
MediaWiki: files and categories by their local names, magic words, numbers, variants, links); with the shares of pages
with a word too many (leak) and with one missing (hole). Each tool is called as its documentation says for a page; ours
is told the language of the wiki, which no peer takes. `--languages` adds the share of each language. It needs the
folder that BERTDATA_DATA names, or ../shared/data; each peer gets an environment of its own in a cache folder,
wtf_wikipedia by npm, and is left out, saying so, where that cannot be made.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import _harness as harness
from wikitext import DATA, OURS, PEERS, rows_of, tool

GOLD = DATA / "mediawiki" / "mediawiki-languages-dev.jsonl"
WTF = "wtf_wikipedia `text()`"
WTF_PACKAGE, WTF_VERSION = "wtf_wikipedia", "10.4.2"
_WTF_CODE = """
const {createRequire} = require('module'), fs = require('fs')
const wtf = createRequire(process.argv[1] + '/')('wtf_wikipedia')
const pages = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'))
console.log(JSON.stringify(pages.map(page => wtf(page[1], {title: page[0]}).text())))
"""
_WORD = re.compile(r"\w+|[^\w\s]")

Shares = tuple[float, float, float]
"""Of some pages the shares that are right, have a word too many, and lack one."""


def main() -> None:
    """Let each tool extract all pages, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--languages", action="store_true", help="add a table of the languages")
    flags = parser.parse_args()
    rows = rows_of(GOLD)
    if not rows:
        sys.exit(f"there is no {GOLD}; set BERTDATA_DATA to a folder with mediawiki/")
    texts = texts_of_tools(rows)
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    lines = []
    for name, prose in texts.items():
        by_kind = shares_by(rows, prose, "kind")
        right, leak, hole = shares_of([judged(row["ideal"], text) for row, text in zip(rows, prose, strict=True)])
        lines.append([name, *(f"{share:.3f}" for share in (right, leak, hole, *(by_kind[kind][0] for kind in kinds)))])
    counts = Counter(row["kind"] for row in rows)
    head = ["tool", "right", "leak", "hole", *(f"{kind} ({counts[kind]})" for kind in kinds)]
    languages = len({row["language"] for row in rows})
    print(f"{len(rows):,} pages in {languages} languages\n\n{harness.table(head, lines)}\n")
    if flags.languages:
        by_tool = {name: shares_by(rows, prose, "language") for name, prose in texts.items()}
        table = [
            [language, *(f"{shares[language][0]:.3f}" for shares in by_tool.values())]
            for language in sorted({row["language"] for row in rows})
        ]
        print(f"{harness.table(['language', *by_tool], table)}\n")


def texts_of_tools(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return what each tool extracts of each row's wikitext."""
    texts: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        work = Path(folder) / "pages.json"
        work.write_text(json.dumps([[row["title"], row["wikitext"], row["language"]] for row in rows]))
        for name in (OURS, WTF, *PEERS):
            try:
                if name == WTF:
                    command: list[str | Path] = ["node", "-e", _WTF_CODE, node_environment(), work]
                else:
                    python: str | Path = sys.executable
                    if name != OURS:
                        python = harness.environment_of(name.split(maxsplit=1)[0].lower(), PEERS[name])
                    command = [python, __file__, "--work", work, name]
                texts[name] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            except (subprocess.CalledProcessError, OSError) as error:
                print(f"{name} is left out: it cannot be run ({error})", file=sys.stderr)
    return texts


def node_environment() -> Path:
    """Return a folder in which npm has installed wtf_wikipedia, made once in the cache folder."""
    folder = harness.CACHE / f"{WTF_PACKAGE}-{WTF_VERSION}"
    if not (folder / "whole").exists():
        print(f"installing {WTF_PACKAGE} in {folder}", file=sys.stderr, flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        install: list[str | Path] = ["npm", "install", "--silent", "--prefix", folder, f"{WTF_PACKAGE}@{WTF_VERSION}"]
        subprocess.run(install, check=True, stdout=sys.stderr)
        (folder / "whole").touch()
    if os.environ.get(harness.ENVIRONMENTS):
        with open(os.environ[harness.ENVIRONMENTS], "a") as file:
            file.write(json.dumps({WTF_PACKAGE: WTF_VERSION}) + "\n")
    return folder


def extract_all(work: str, name: str) -> None:
    """Print what one tool extracts of each page, as a JSON list."""
    pages = json.loads(Path(work).read_text())
    if name == OURS:
        from bertdata import clean_wikitext

        texts = [clean_wikitext(source, title=title, language=language) or "" for title, source, language in pages]
    else:
        extract = tool(name, [])
        texts = [extract(title, source) for title, source, _ in pages]
    print(json.dumps(texts))


def shares_by(rows: Sequence[Mapping[str, Any]], texts: Sequence[str], column: str) -> dict[str, Shares]:
    """Return the shares of the rows of each value of a column.

    >>> rows = [{"kind": "file", "ideal": "It rained."}, {"kind": "link", "ideal": "It is."}]
    >>> shares_by(rows, ["It rained. ", "It is old."], "kind")
    {'file': (1.0, 0.0, 0.0), 'link': (0.0, 1.0, 0.0)}
    """
    results: dict[str, list[tuple[bool, bool, bool]]] = defaultdict(list)
    for row, text in zip(rows, texts, strict=True):
        results[row[column]].append(judged(row["ideal"], text))
    return {value: shares_of(some) for value, some in results.items()}


def shares_of(results: Sequence[tuple[bool, bool, bool]]) -> Shares:
    """Return how many of some results are right, have a word too many, and lack one, as shares."""
    right, leak, hole = (sum(values) / max(1, len(results)) for values in zip(*results, strict=True))
    return right, leak, hole


def judged(ideal: str | None, text: str) -> tuple[bool, bool, bool]:
    """Tell whether a text is the ideal one, white space apart, has a word more, and lacks one.

    >>> judged("It is a city.", "It  is a city."), judged("It is a city.", "It is thumb a.")
    ((True, False, False), (False, True, True))
    """
    expected, words = (Counter(_WORD.findall(text_there or "")) for text_there in (ideal, text))
    return (ideal or "").split() == text.split(), bool(words - expected), bool(expected - words)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        extract_all(*sys.argv[2:4])
    else:
        main()
