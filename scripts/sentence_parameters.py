"""Train the sentence parameters of every language but English that come with bertdata.

Run: python scripts/sentence_parameters.py --help-pages FOLDER [--output FOLDER] [LANGUAGE ...]

What is learned from: the help pages of LibreOffice 7.4 (Debian's packages libreoffice-help-de, -fr, -it, -es, -nl,
-pl and -ru, unpacked in one folder with `dpkg -x`), the articles of small Wikipedia dumps, and two French books. The
last two are in the folder that BERTDATA_DATA names, or in ../shared/data. Half a million words are too few for Punkt
to find abbreviations by itself, so these come from LANGUAGE_abbreviations.txt beside this file, and only such with
periods inside are learned. `benchmarks/sentence_languages.py` says how good they are.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bertdata.cli.main import run_verb
from bertdata.sentences.parameters import SHIPPED, load_parameters, save_parameters

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("BERTDATA_DATA") or HERE.parents[1] / "shared" / "data")
LANGUAGES = {
    "german": "de",
    "french": "fr",
    "italian": "it",
    "spanish": "es",
    "dutch": "nl",
    "polish": "pl",
    "russian": "ru",
}
DUMPS = {"dutch": "semanticize_nlwiki-20140927-sample.xml", "italian": "itwiki_small-dump.xml.gz"}
SETTINGS = "--min-ortho-count 5 --min-ortho-share 0.05 --lower-case-starters --drop-idle-context --dotted-abbreviations"
SHORTEST = 40


def main() -> None:
    """Train each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=list(LANGUAGES), metavar="LANGUAGE", help=", ".join(LANGUAGES))
    parser.add_argument("--help-pages", type=Path, required=True, metavar="FOLDER", help="unpacked help packages")
    parser.add_argument("--output", type=Path, default=Path(SHIPPED), metavar="FOLDER")
    flags = parser.parse_args()
    for language in flags.languages:
        with tempfile.TemporaryDirectory() as folder:
            train(language, flags.help_pages, Path(folder), flags.output / language)


def train(language: str, help_pages: Path, work: Path, output: Path) -> None:
    """Train the parameters of one language in a working folder, and save them with the name of the language."""
    code = LANGUAGES[language]
    dump = DATA / "wikipedia-other" / DUMPS.get(language, f"{code}wiki.xml.bz2")
    call(run_verb("clean-wikipedia", [str(dump), "--output", str(work / "wikipedia")]))
    documents = [work / "wikipedia", write_paragraphs(help_pages, code, work / "help.jsonl")]
    if language == "french":
        call(run_verb("clean-books", [str(DATA / "books-french"), "--output", str(work / "books")]))
        documents.append(work / "books")
    arguments = ["--documents", *map(str, documents), "--output", str(work / language), *SETTINGS.split()]
    arguments += ["--abbreviations", str(HERE / f"{language}_abbreviations.txt")]
    call(run_verb("train-sentences", arguments))
    trained = load_parameters(str(work / language))
    save_parameters(dataclasses.replace(trained, card={**trained.card, "language": language}), str(output))


def call(status: int) -> None:
    """End where a pipeline failed."""
    if status:
        sys.exit(status)


def write_paragraphs(folder: Path, code: str, path: Path) -> Path:
    """Write the different paragraphs of the help pages of a language as documents."""
    pages = sorted(folder.rglob(f"help/{code}/text/**/*.html"))
    if not pages:
        sys.exit(f"no help pages in {code} below {folder}; unpack Debian's package libreoffice-help-{code} there")
    paragraphs = dict.fromkeys(text for page in pages for text in paragraphs_of(page.read_text(encoding="utf-8")))
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in paragraphs), encoding="utf-8")
    return path


def paragraphs_of(page: str) -> Iterator[str]:
    """Yield the paragraphs of a page that are sentences: long enough, and with a mark at their end."""
    from selectolax.lexbor import LexborHTMLParser

    for node in LexborHTMLParser(page).css("p"):
        text = " ".join(node.text().split())
        if len(text) > SHORTEST and text.endswith((".", "!", "?", ":")):
            yield text


if __name__ == "__main__":
    main()
