"""Hooks of the site (mkdocs.yml): links of docs/ to files elsewhere in the repository, and the flags of `build`.

A linked file becomes a text file of the site, CHANGELOG.md and CONTRIBUTING.md become pages. Code in a line of text or
in a cell breaks between words and in long paths, not at the hyphens of `doc-sentences`.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
FLAGS = re.compile(r"<!-- flags of build:.*?-->")
BLOCK = re.compile(r"(<pre.*?</pre>)", re.S)
CODE = re.compile(r"<code>([^<]*)</code>")
WORD = re.compile(r"\S+")
JOINT = re.compile(r"(/|::|_|\.(?=\w{6}))(?=[^/:_.])")
CELL = re.compile(r"<td>(.*?)</td>", re.S)
TAG = re.compile(r"<[^>]*>")
LONGEST_WORD, SHORTEST_PATH = 32, 14
"""The characters of the longest word that is kept whole: more do not fit on the screen of a phone; and of the shortest
word with a / that is not."""
SHORTEST_TEXT, LONG_TEXT = 30, 120
"""The characters of a cell from which on it is a text, whose column is not to become a word wide, and of a long one."""
LINK = re.compile(r"(?<=\]\()([^()\s#]+)(#[^()\s]*)?(?=\))")


def site_path(target: Path) -> str | None:
    """Return where a file of the repository is in the site, or None if it is no file or stands in docs/ itself.

    >>> site_path(ROOT / "examples/own_filter.py")
    'files/examples/own_filter.py.txt'
    """
    if not target.is_relative_to(ROOT) or target.is_relative_to(ROOT / "docs") or not target.is_file():
        return None
    inside = target.relative_to(ROOT).as_posix()
    return PAGES.get(inside, f"files/{inside}.txt")


def rewritten(markdown: str, folder: Path, page: str) -> str:
    """Return a page with the links of the site; `folder` is where its file stands, `page` its path in the site."""

    def link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / match[1]))
        if target.is_relative_to(ROOT / "docs") and target.exists():
            path = target.relative_to(ROOT / "docs").as_posix()
        else:
            path = site_path(target) or ""
        return os.path.relpath(path, Path(page).parent) + (match[2] or "") if path else match[0]

    return LINK.sub(link, markdown)


def on_files(files: Files, *, config: Any) -> Files:
    """Add the files outside of docs/ that some page links to."""
    for outside, page in PAGES.items():
        text = (ROOT / outside).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=rewritten(text, ROOT, page)))
    for file in list(files):
        if not file.is_documentation_page() or file.abs_src_path is None:
            continue
        for target, _ in LINK.findall(file.content_string):
            source = Path(os.path.normpath(Path(file.abs_src_path).parent / target))
            path = site_path(source)
            if path is not None and source.name not in PAGES and files.get_file_from_path(path) is None:
                files.append(File.generated(config, path, content=source.read_text(encoding="utf-8")))
    return files


def titled(words: str) -> str:
    """Return words as a heading, its first letter in upper case.

    >>> titled("how tokens are masked (BERT, section 3.1):")
    'How tokens are masked (BERT, section 3.1)'
    """
    return words[:1].upper() + words[1:].rstrip(":")


def flags_table() -> str:
    """Return all flags of `bertdata build` as tables of Markdown, from its parser."""
    from bertdata.cli.main import parser_of

    parser, lines = parser_of("build"), []
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.option_strings and action.help != "==SUPPRESS=="]
        if not actions:
            continue
        lines += [f"\n### {titled(group.title or 'options')}\n", "| flag | |", "|---|---|"]
        for action in actions:
            names = ", ".join(f"`{name}`" for name in action.option_strings)
            help_text = parser._get_formatter()._expand_help(action) if action.help else ""
            cell = re.sub(r"([|*_[])", r"\\\1", html.escape(help_text, quote=False))
            cell = "<br>".join(" ".join(line.split()) for line in cell.split("\n"))
            cell = re.sub(r"(?<![\w-])--[a-z][a-z0-9-]*", r"`\g<0>`", cell)
            lines.append(f"| {names} | {cell} |")
    return "\n".join(lines)


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Rewrite the links of one page."""
    if page.file.abs_src_path is None or page.file.src_uri in PAGES.values():
        return markdown
    markdown = FLAGS.sub(lambda _: flags_table(), markdown)
    return rewritten(markdown, Path(page.file.abs_src_path).parent, page.file.src_uri)


def whole_words(page: str) -> str:
    """Return the HTML of a page with code that breaks between words and in paths alone, and with cells of text marked.

    >>> whole_words("<p>as <code>--pack doc-sentences</code> of <code>docs/howto/index.md</code></p>")
    '<p>as <code><span class="word">--pack</span> <span class="word">doc-sentences</span></code> of \
<code>docs/<wbr>howto/<wbr>index.md</code></p>'
    """

    def word(match: re.Match[str]) -> str:
        if len(match[0]) > (SHORTEST_PATH if "/" in match[0] else LONGEST_WORD):
            return JOINT.sub(r"\1<wbr>", match[0])
        return f'<span class="word">{match[0]}</span>' if len(match[0]) > 12 or not match[0].isalnum() else match[0]

    def code(match: re.Match[str]) -> str:
        return f"<code>{WORD.sub(word, match[1])}</code>"

    def cell(match: re.Match[str]) -> str:
        size = len(TAG.sub("", match[1]))
        kind = "text long" if size > LONG_TEXT else "text"
        return f'<td class="{kind}">{match[1]}</td>' if size > SHORTEST_TEXT else match[0]

    page = CELL.sub(cell, page)
    parts = BLOCK.split(page)
    return "".join(part if place % 2 else CODE.sub(code, part) for place, part in enumerate(parts))


def on_page_content(html: str, *, page: Any, config: Any, files: Files) -> str:
    """Keep the words of code whole, and name a section in the navigation without the command in its heading."""
    sections = list(page.toc)
    for section in sections:
        section.title = section.title.partition(": python ")[0]
        sections += section.children
    return whole_words(html)
