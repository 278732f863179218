"""Prose out of wikitext: how whole and how clean, and how fast on one core, ours and other extractors.

Run: python benchmarks/wikitext.py [--megabytes 3] [--rounds 5]
Speed is bytes of wikitext over CPU seconds on articles of a real dump, redirects left out, all tools in turns on the
same core and pages; the slowest get a tenth of them. All get and give Python's strings, but for the row that says so.
wikiextractor has two rows: its default run expands the templates that the dump defines, with `--no-templates` it does
not. That is the fairer peer in speed, for ours expands none either, but writes the text of those it knows. Quality is
measured by `_quality.py`, apart for each set of rendered articles: goodwiki-dev.jsonl, which the rules were developed
on, and rendered-dev.jsonl, and on MediaWiki's own parser tests: the share of each kind of which exactly the prose comes
out. Before it measures, it checks that the compiled passes and their plain Python reference give
the same text for every page. It needs the folder that BERTDATA_DATA names, or ../shared/data; each peer gets an
environment of its own in a cache folder, and is left out, saying so, where that cannot be made. `dump.py` has the time
from a dump to documents.

`--structured EXPORT DUMP` scores our prose of a dump against a structured export of the same wiki (sections as JSON,
see docs/sources.md), by the articles of one title. Its paragraphs are those that the wiki renders, so it is gold of any
size and language; where the export and the dump are not of one day, articles changed between them lower the figures.

`--residue` measures something else: what markup is left in the prose of every article of the data's dumps, or of those
that are named, per million characters of prose, by kind.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BERTDATA_DATA") or ROOT.parent / "shared" / "data")
RENDERED = ("goodwiki-dev", "rendered-dev")
PARSER_TESTS = "mediawiki-parser-tests-dev"
OURS, OURS_UTF8, REFERENCE = "bertdata", "bertdata, UTF-8 in and out", "bertdata, plain Python reference"
GOLD = "the paragraphs of the rendered page"
"""What the figures of a tool would be that gave exactly the gold prose."""
PEERS = {
    "wikiextractor 3.1, `--no-templates`": ["wikiextractor==3.1.0"],
    "wikiextractor 3.1, templates expanded (its default)": ["wikiextractor==3.1.0"],
    "mwparserfromhell `strip_code`": ["mwparserfromhell"],
    "wikitextparser `plain_text`": ["wikitextparser"],
    "gensim `filter_wiki`": ["gensim"],
}
SLOW = (*PEERS, REFERENCE)
FIGURES = {
    "sentences whole": "sentences_whole",
    "with a digit": "sentences_whole_with_digit",
    "4-gram recall": "recall_4gram",
    "precision": "precision_4gram",
    "junk per M characters": "junk_per_million_chars",
}
RESIDUE = {
    "braces": r"\{\{|\}\}|\{\||\|\}",
    "brackets": r"\[\[|\]\]|\[https?:",
    "quotes": r"''+",
    "tags": r"</?[A-Za-z][A-Za-z0-9]{0,20}(?:\s[^<>\n]{0,200})?/?>|<!--",
    "entities": r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});",
    "headings": r"(?m)^==+[^=\n]+==+$",
    "lists and tables": r"(?m)^(?:[*#;]+ |\|[-}| ]|! )",
    "switches": r"__[A-Z]{4,40}__",
    "markers": r"[\x01-\x03\x0b\x7f]",
}
RESIDUE_OF_OTHER_LANGUAGES = {
    "English words": r"\b(?:German|French|English|Latin|Italian|Spanish|Russian|Greek|Japanese|Chinese|Arabic|Dutch|"
    r"Polish|Hebrew|Portuguese|Turkish): |, romanized: |\d (?:kilomet|met)res?\b|\d (?:miles|feet|square|pounds)\b",
    "empty brackets": r"（[\s、，；：]*）|[^\w\s]\(\s*\)|「」|『』|« ?»|„“|“”|《》",
}
"""What templates of the English table leave in the prose of other wikis, and what is dropped between brackets."""
Extract = Callable[[str, str], str]


def main() -> None:
    """Check, measure in turns, print one table."""
    import _harness as harness
    from _quality import figures, shares_by_kind

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--residue", nargs="*", metavar="DUMP", help="measure what markup is left, in these dumps")
    parser.add_argument("--structured", nargs=2, metavar=("EXPORT", "DUMP"), type=Path, help="score against sections")
    flags = parser.parse_args()
    if flags.structured:
        print(structured_table(*flags.structured))
        return
    if flags.residue is not None:
        folders = (DATA / "wikipedia", DATA / "wikipedia-other")
        every = [path for folder in folders for path in sorted(folder.glob("*.xml*"))]
        print(residue_table([Path(path) for path in flags.residue] or every))
        return
    dumps = sorted((DATA / "wikipedia").glob("*-pages-articles*.xml.bz2"))
    if not dumps:
        sys.exit(f"no dump below {DATA}; set BERTDATA_DATA to a folder with wikipedia/")
    pages, templates = articles(dumps[0], flags.megabytes * 1e6)
    gold = {name: rows_of(DATA / "wikipedia" / f"{name}.jsonl") for name in RENDERED}
    tests = rows_of(DATA / "wikipedia" / f"{PARSER_TESTS}.jsonl")
    scored = {name: [[row["title"], row["wikitext"]] for row in rows] for name, rows in gold.items()}
    scored[PARSER_TESTS] = [[row["id"], row["wikitext"]] for row in tests]
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        work = Path(folder) / "work.json"
        work.write_text(json.dumps({"pages": pages, "scored": scored, "templates": templates}))
        contestants = {}
        for name in (OURS, OURS_UTF8, REFERENCE, *PEERS):
            python: str | Path = sys.executable
            if name in PEERS:
                try:
                    python = harness.environment_of(name.split(maxsplit=1)[0].lower(), PEERS[name])
                except subprocess.CalledProcessError as error:
                    print(f"{name} is left out: its environment cannot be made ({error})", file=sys.stderr)
                    continue
            contestants[name] = harness.Contestant([python, __file__, "--work", work, name], core=0)
        said = harness.interleaved(contestants, flags.rounds)
        for contestant in contestants.values():
            contestant.end()
    speeds = {name: harness.median(answers, "bytes_per_second") for name, answers in said.items()}
    fast = {name: [f"{speed / 1e6:.1f}", f"{speeds[OURS] / speed:.1f}"] for name, speed in speeds.items()}
    print(f"{flags.megabytes} MB, {flags.rounds} rounds, one core of {harness.machine()}; kernels and reference agree")
    for name, rows in gold.items():
        gold_prose = {row["title"]: "\n\n".join(row["gold_prose"]) for row in rows}
        texts = {tool: contestant.first["texts"][name] for tool, contestant in contestants.items()} | {GOLD: gold_prose}
        lines = []
        for tool, prose in texts.items():
            measured = figures(rows, prose)
            shares = [f"{measured[key]:.1f}" if "junk" in key else f"{measured[key]:.4f}" for key in FIGURES.values()]
            lines.append([tool, *shares, *fast.get(tool, ["", ""])])
        head = ["tool", *FIGURES, "MB/s", "bertdata / this"]
        print(f"\n{name}: {len(rows)} articles\n\n{harness.table(head, lines)}")
    counts = Counter(row["kind"] for row in tests)
    lines = []
    for tool, contestant in contestants.items():
        kept = shares_by_kind(tests, contestant.first["texts"][PARSER_TESTS])
        lines.append([tool, *(f"{kept[kind]:.1%}" for kind in counts)])
    head = ["tool", *(f"{kind} ({number})" for kind, number in counts.items())]
    print(f"\n{PARSER_TESTS}: {len(tests)} tests of MediaWiki\n\n{harness.table(head, lines)}\n")


def residue_table(dumps: list[Path]) -> str:
    """Return a table of the markup that is left in the prose of each dump's articles, with the first two of a kind.

    Of a wiki that is not English it also says what is left where the templates of its language are not known.
    """
    import _harness as harness

    rows, examples = [], []
    for path in dumps:
        texts, language = list(documents(path)), wiki_language(path)
        prose = "\n".join(texts)
        kinds_of = RESIDUE if language == "en" else RESIDUE | RESIDUE_OF_OTHER_LANGUAGES
        plain = "" if language == "en" else "\n".join(documents(path, "en"))
        before = sum(len(re.findall(pattern, plain)) for pattern in kinds_of.values())
        remains = {kind: [match[0] for match in re.finditer(pattern, prose)] for kind, pattern in kinds_of.items()}
        total = sum(map(len, remains.values()))
        kinds = ", ".join(f"{kind} {len(matches)}" for kind, matches in remains.items() if matches)
        rate = f"{1e6 * total / len(prose):.1f}" if prose else ""
        change = [f"{len(prose) - len(plain):+,}", str(before)] if plain else ["", ""]
        rows.append([path.name, language, f"{len(texts):,}", f"{len(prose):,}", str(total), rate, *change, kinds])
        for kind, pattern in kinds_of.items():
            places = [match.start() for match in re.finditer(pattern, prose)][:2]
            examples += [f"{path.name}, {kind}: {prose[max(0, at - 60) : at + 40]!r}" for at in places]
    known = ["characters by its templates", "left without them"]
    head = ["dump", "language", "articles", "characters", "left", "per million", *known, "kinds"]
    return "\n".join([harness.table(head, rows), "", *examples])


def structured_table(export: Path, dump: Path) -> str:
    """Return a table of the figures of our prose of a dump, with the paragraphs of a structured export as gold."""
    import _harness as harness
    from _quality import figures

    from bertdata.sources.formats import FileRange
    from bertdata.sources.json_lines import JSON_LINES
    from bertdata.sources.parquet import PARQUET
    from bertdata.sources.wikipedia.published.form import parsed
    from bertdata.sources.wikipedia.published.sections import STRUCTURED, section_paragraphs

    texts, rows = dict(titled_documents(dump)), []
    table = PARQUET if export.suffix == ".parquet" else JSON_LINES
    for start, end, _ in table.ranges(str(export), 1 << 40, STRUCTURED.text_column):
        chosen = FileRange(str(export), "", start, end, STRUCTURED.text_column, table.name, form=STRUCTURED.name)
        for _, row in table.rows(chosen):
            if isinstance(row, dict) and row.get("name") in texts:
                sections = parsed(row["sections"])
                everything = json.dumps(sections, ensure_ascii=False).replace("\\n", " ")
                gold = {"gold_prose": list(section_paragraphs(sections)), "gold_all": [everything]}
                rows.append({"title": row["name"], **gold})
    texts = {row["title"]: texts[row["title"]] for row in rows}
    measured = figures(rows, texts)
    lines = [[f"{len(rows):,}", *(str(measured[figure]) for figure in FIGURES.values())]]
    return harness.table(["articles", *FIGURES], lines)


def documents(dump: Path, language: str = "") -> Iterator[str]:
    """Yield the prose of a dump's articles, by the templates of a language if one is given."""
    yield from (text for _, text in titled_documents(dump, language))


def titled_documents(dump: Path, language: str = "") -> Iterator[tuple[str, str]]:
    """Yield the titles and the prose of a dump's articles, cleaned as the pipeline does, up to where it is cut off."""
    from bertdata.errors import InputError
    from bertdata.sources.wikipedia.articles import article
    from bertdata.sources.wikipedia.dump.ranges import plan_ranges
    from bertdata.sources.wikipedia.dump.reader import Page, read_pages
    from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo
    from bertdata.wikitext.mediawiki.site_config import Namespaces
    from bertdata.wikitext.templates.table import templates_of

    site = read_siteinfo(str(dump))
    namespaces = Namespaces.from_siteinfo(site.namespaces)
    templates = templates_of(language or wiki_language(dump))
    for span in plan_ranges(str(dump), 1 << 30).ranges:
        try:
            for page in read_pages(span, site):
                if isinstance(page, Page):
                    text, reason = article(page, namespaces, templates)
                    if not reason:
                        yield page.title, text.decode()
        except InputError as error:
            print(error, file=sys.stderr)


def wiki_language(dump: Path) -> str:
    """Return the language that a dump's articles are cleaned by: that of its name, else that of its head."""
    from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo

    return language_of(dump) or read_siteinfo(str(dump)).content_language


def language_of(dump: Path) -> str:
    """Return the language that the name of a dump states, "" where it states none: the data has samples with the head
    of another wiki.
    """
    match = re.search(r"(?:\A|_)([a-z]{2,3})wiki[-_.]", dump.name)
    return match[1] if match else ""


def articles(dump: Path, size: float) -> tuple[list[list[str]], list[list[str]]]:
    """Return the titles and wikitext of articles spread over the dump, about so many bytes, and of its templates."""
    from bertdata.sources.wikipedia.dump.ranges import plan_ranges
    from bertdata.sources.wikipedia.dump.reader import Page, read_pages
    from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo

    site = read_siteinfo(str(dump))
    spans = plan_ranges(str(dump), 1 << 30).ranges
    pages = [page for span in spans for page in read_pages(span, site) if isinstance(page, Page)]
    kept = [[page.title, page.text] for page in pages if page.ns == 0 and page.redirect is None]
    step = max(1, round(sum(len(text) for _, text in kept) / size))
    return kept[::step], [[page.title, page.text] for page in pages if page.ns == 10]


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rendered articles of a file, none where it is not there."""
    return [json.loads(line) for line in path.open(encoding="utf-8")] if path.exists() else []


def contest(work: str, name: str) -> None:
    """Be one contestant: say the text of the rendered articles, then the speed of each round."""
    given = json.loads(Path(work).read_text())
    pages: list[list[str]] = given["pages"][::10] if name in SLOW else given["pages"]
    extract = tool(name, given["templates"])
    texts = {
        name: {title: extract(title, source) for title, source in articles}
        for name, articles in given["scored"].items()
    }
    if name == OURS:
        reference = tool(REFERENCE, [])
        differing = [title for title, source in pages if extract(title, source) != reference(title, source)]
        if differing:
            sys.exit(f"the kernels and their reference differ on {differing[:5]}")
    run: Callable[[str, Any], Any] = extract
    given_pages: list[tuple[str, Any]] = [(title, source) for title, source in pages]
    if name == OURS_UTF8:
        from bertdata.wikitext.clean import clean_utf8

        run = lambda title, source: clean_utf8(source, title=title)  # noqa: E731
        given_pages = [(title, source.encode()) for title, source in pages]
    for title, source in given_pages:
        run(title, source)
    print(json.dumps({"texts": texts}), flush=True)
    size = sum(len(source.encode()) for _, source in pages)
    for _ in sys.stdin:
        began = time.process_time()
        for title, source in given_pages:
            run(title, source)
        print(json.dumps({"bytes_per_second": size / (time.process_time() - began)}), flush=True)


def tool(name: str, templates: list[list[str]]) -> Extract:
    """Return the function that extracts the prose of a page, given its title and wikitext, and the wiki's templates."""
    if name in (OURS, OURS_UTF8, REFERENCE):
        from bertdata import clean_wikitext

        compiled = False if name == REFERENCE else None  # what a user calls
        return lambda title, source: clean_wikitext(source, title=title, compiled=compiled) or ""
    if name.startswith("wikiextractor"):
        module: Any = importlib.import_module("wikiextractor.extract")
        logging.disable(logging.CRITICAL)
        expand = "expanded" in name
        known: dict[str, str] = {}
        redirects: dict[str, str] = {}
        for template, text in templates if expand else ():
            module.define_template(template, text.splitlines(keepends=True), known, redirects)

        def wikiextractor(title: str, source: str) -> str:
            extractor = module.Extractor("1", "1", "", title, [source], known, redirects, "Template:")
            return "\n".join(extractor.clean_text(source, expand_templates=expand, html_safe=False))

        return wikiextractor
    if name.startswith("mwparserfromhell"):
        parser: Any = importlib.import_module("mwparserfromhell")
        return lambda title, source: str(parser.parse(source).strip_code())
    if name.startswith("gensim"):
        gensim: Any = importlib.import_module("gensim.corpora.wikicorpus")
        return lambda title, source: str(gensim.filter_wiki(source))
    parser = importlib.import_module("wikitextparser")
    return lambda title, source: str(parser.parse(source).plain_text())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        contest(*sys.argv[2:4])
    else:
        main()
