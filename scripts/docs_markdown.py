"""Hooks of the site (mkdocs.yml): the Markdown of every page beside it, and `llms.txt`, the list of them for programs.

The form of `llms.txt` is that of llmstxt.org: a heading, a line that says what the project is, and links by section. A
page of Python names, which mkdocstrings writes, is Markdown again after its HTML is made.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from markdownify import markdownify

GENERATED = re.compile(r"^::: ", re.M)
COMMENT = re.compile(r"<!--.*?-->\n?", re.S)
ANCHOR = re.compile(r"\[¶\]\([^)]*\)")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
OF_HTML = re.compile(r"\]\((?!\w+:)([^()\s#]*/)(#[^()\s]*)?\)")
SENTENCE = re.compile(r".+?[.:](?=\s|$)")


@dataclass
class Pages:
    """The pages of a site: their Markdown by the path of their file, and the links of each section of `llms.txt`."""

    markdown: dict[str, str] = field(default_factory=dict)
    sections: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


PAGES = Pages()


def on_nav(nav: Any, *, config: Any, files: Any) -> Any:
    """Note the pages in the order of the navigation, by their section of the highest level."""
    PAGES.markdown.clear()
    PAGES.sections.clear()
    for page in nav.pages:
        section = page.ancestors[-1].title if page.ancestors else "Start"
        PAGES.sections.setdefault(section, []).append((page.file.src_uri, page.title or ""))
    return nav


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Keep the Markdown of a page, as `docs_hooks` has made it."""
    PAGES.markdown[page.file.src_uri] = COMMENT.sub("", markdown)
    return markdown


def on_page_content(html: str, *, page: Any, config: Any, files: Any) -> str:
    """Keep the Markdown of a page whose text mkdocstrings has written."""
    if GENERATED.search(PAGES.markdown[page.file.src_uri]):
        text = ANCHOR.sub("", markdownify(html, heading_style="ATX", code_language="python"))
        PAGES.markdown[page.file.src_uri] = OF_HTML.sub(
            lambda link: f"]({of_markdown(link[1], page)}{link[2] or ''})", text
        )
    return html


def of_markdown(link: str, page: Any) -> str:
    """Return a link of the HTML of a page, which ends in a folder, as one of its Markdown."""
    target = posixpath.normpath(posixpath.join(page.url, link))
    return posixpath.relpath(
        "index.md" if target == "." else f"{target}.md", posixpath.dirname(page.file.src_uri) or "."
    )


def on_post_build(*, config: Any) -> None:
    """Write the Markdown of each page, and `llms.txt`."""
    place = Path(config.site_dir)
    for path, text in PAGES.markdown.items():
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.strip() + "\n", encoding="utf-8")
    lines = [f"# {config.site_name}", "", f"> {config.site_description}."]
    for section, pages in PAGES.sections.items():
        lines += ["", f"## {section}", ""]
        for path, title in pages:
            link = f"- [{title or heading(path)}]({address(path, config.site_url)})"
            lines.append(f"{link}: {sentence}" if (sentence := about(path)) else link)
    (place / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def address(path: str, site: str | None) -> str:
    """Return the link to the Markdown of a page, relative where the address of the site is not known.

    >>> address("howto/s3.md", "https://example.org/docs/"), address("howto/s3.md", "")
    ('https://example.org/docs/howto/s3.md', 'howto/s3.md')
    """
    return urljoin(site, path) if site else path


def heading(path: str) -> str:
    """Return the first heading of a page."""
    return next(line for line in PAGES.markdown[path].split("\n") if line.startswith("# ")).removeprefix("# ")


def about(path: str) -> str:
    """Return the first sentence of a page, without its links and marks; "" where it has no prose."""
    paragraphs = FENCE.sub("", PAGES.markdown[path]).split("\n\n")
    prose = next((text for text in map(str.strip, paragraphs) if re.match(r"[A-Z`*\[0-9]", text)), "")
    plain = re.sub(r"[`*\\]", "", LINK.sub(r"\1", " ".join(prose.split())))
    sentence = SENTENCE.match(plain)
    return f"{(sentence[0] if sentence else plain).rstrip('.:')}." if plain else ""
