"""Write `bertdata/wikitext/mediawiki/disambiguation_names.toml`: by what names wikis know disambiguation pages.

    python scripts/disambiguation_names.py FRAMEWORK REVISION

FRAMEWORK is a checkout of DBpedia's extraction framework (dbpedia/extraction-framework), REVISION its commit. Taken are
the templates that each wiki itself lists on its page `MediaWiki:Disambiguationspage`, as the framework keeps what the
wiki's API answered; where it keeps no answer, the names in its `CuratedDisambiguation`; and what titles have in
parentheses, of its `DisambiguationExtractorConfig`. Names alone are taken.

Languages that `page_kinds.toml` has names for are left to it, and so are English names, which hold in every wiki: some
wikis list also those of English templates for lists and for names of families, whose pages hold prose.
"""

from __future__ import annotations

import html
import json
import re
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

from bertdata.wikitext.mediawiki.facts import code_of
from bertdata.wikitext.mediawiki.folding import fold_name

FOLDER = Path(__file__).parents[1] / "bertdata/wikitext/mediawiki"
SETTINGS = "core/src/main/settings"
PARSER = "core/src/main/scala/org/dbpedia/extraction/wikiparser/impl/wikipedia/CuratedDisambiguation.scala"
TITLES = "core/src/main/scala/org/dbpedia/extraction/config/mappings/DisambiguationExtractorConfig.scala"
HEAD = """# What tells in the wikis of a language that a page is a disambiguation, where page_kinds.toml does not.
# From DBpedia's extraction framework, commit {revision}, by scripts/disambiguation_names.py.
"""


def language_of_wiki(code: str) -> str:
    """Return the language by which the package looks names up."""
    return code_of(code).partition("-")[0]


def folded(name: str) -> str:
    """Return the name of a template as the package looks it up, with a small first letter."""
    name = fold_name(html.unescape(name))
    return name[0].lower() + name[1:]


def templates(framework: Path) -> dict[str, set[str]]:
    """Return the folded names of templates, by language."""
    names = defaultdict[str, set[str]](set)
    for path in (framework / SETTINGS).glob("*wiki-disambiguation-templates.xml"):
        links = re.findall(r'<pl ns="10"[^>]*>[^<:]*:([^<]*)</pl>', path.read_text(encoding="utf-8"))
        names[language_of_wiki(path.name.partition("wiki-")[0])].update(map(folded, links))
    for code, curated in curated_names(framework).items():
        names[language_of_wiki(code)] = names[language_of_wiki(code)] or curated
    return names


def curated_names(framework: Path) -> dict[str, set[str]]:
    """Return the folded names of templates that the framework lists itself, by the code of the wiki."""
    lines = re.findall(r'^ *"([\w-]+)" -> Set\((.*)\)', (framework / PARSER).read_text(encoding="utf-8"), re.MULTILINE)
    return {code: set(map(folded, re.findall(r'"([^":]+)"', listed))) for code, listed in lines}


def titles(framework: Path) -> dict[str, set[str]]:
    """Return what titles have in parentheses, by language."""
    words = re.findall(r'^ *"(\w+)" -> " \((.+?)\)"', (framework / TITLES).read_text(encoding="utf-8"), re.MULTILINE)
    return {language_of_wiki(code): {word.lower()} for code, word in words}


def table(name: str, values: dict[str, set[str]], others: set[str], written: dict[str, str]) -> str:
    """Return a table of the file without these other names, and without the languages that are written by hand."""
    lines = [f"\n[{name}]\n"]
    for language in sorted(values.keys() - written.keys() - {""}):
        if own := sorted(values[language] - others):
            lines.append(f"{language} = {json.dumps(own, ensure_ascii=False)}\n")
    return "".join(lines)


def main() -> None:
    framework, revision = Path(sys.argv[1]), sys.argv[2]
    written = tomllib.loads((FOLDER / "page_kinds.toml").read_text(encoding="utf-8"))
    text = HEAD.format(revision=revision)
    english = set(re.split(r"[,\n]\s*", written["disambiguation"]["en"])) | curated_names(framework)["en"]
    text += table("disambiguation", templates(framework), english, written["disambiguation"])
    text += table("disambiguation_titles", titles(framework), set(), written["disambiguation_titles"])
    (FOLDER / "disambiguation_names.toml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
