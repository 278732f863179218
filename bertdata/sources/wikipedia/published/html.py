"""The prose of an article's HTML, as Parsoid writes it: what the wikitext cleaner would keep of the page.

HTML is parsed by selectolax (the extra `html`), whose parser is Lexbor's and follows the WHATWG's rules. Source:
https://www.mediawiki.org/wiki/Specs/HTML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bertdata.errors import MissingExtraError
from bertdata.sources.wikipedia.published.form import Skipped, parsed
from bertdata.sources.wikipedia.published.html_size import excess
from bertdata.sources.wikipedia.published.open_elements import TOO_DEEP
from bertdata.wikitext.character_references import undo_character_references
from bertdata.wikitext.mediawiki.language import Language, language_of
from bertdata.wikitext.reference.variants import variant_of_html
from bertdata.wikitext.rules import (
    FORMULA_LENGTH,
    LINE_BREAK,
    MAX_DEPTH,
    NOT_IN_FORMULAS,
    PLACEHOLDER,
    RESERVED,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INVISIBLE = _words("-comment link meta style script template")
_LEFT_OUT = _words(
    "audio button canvas del dl embed figcaption figure form iframe img input map menu noscript object ol picture pre "
    "rp rt s select strike svg table textarea ul video"
)
"""Elements that leave nothing, with what is in them."""
_BLOCKS = _words(
    "address article aside blockquote center details div dl figure footer form header hr li main menu nav ol p pre "
    "section summary table ul"
)
_LISTS = _words("dl ol table ul")
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_CLASSES_LEFT_OUT = _words(
    "ambox bandeau-container catlinks dablink error gallery geo-inline-hidden hatnote infobox infobox_v2 infobox_v3 "
    "IPA ipa metadata mw-broken-media mw-cite-backlink mw-editsection mw-empty-elt mw-ref mw-references "
    "mw-references-wrap navbox navigation-not-searchable noexcerpt nomobile noprint reference references reflist "
    "shortdescription sidebar sistersitebox thumb toc vertical-navbox"
)
_NO_SHOW = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
UNKNOWN = language_of("")
_RESERVED = str.maketrans(dict.fromkeys(RESERVED, ""))


class Prose(NamedTuple):
    """The paragraphs of a page, why it is not an article ("" if it is one), and whether most of it is a list."""

    paragraphs: list[str]
    reason: str = ""
    mostly_list: bool = False


def prose_of_html(html: str, language: Language = UNKNOWN, variant: str = "") -> Prose:
    """Return the prose of a page.

    language: the wiki's, variant: which of its variants is shown; default: the wiki's.

    Headings, lists, tables, figures, references, notes and boxes are left out, and sections without prose; a
    placeholder is where something was left out of a paragraph, for `finish` to clean up around it. Raises
    MissingExtraError without selectolax.

    >>> prose_of_html("<p>Salt is <b>old</b>.<sup class='mw-ref'>[1]</sup></p><h2>See also</h2><p>Sea.</p>")
    Prose(paragraphs=['Salt is old.\\x7f'], reason='', mostly_list=False)
    """
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError as error:
        raise MissingExtraError("selectolax", "html") from error
    if reason := excess(html):
        return Prose([], reason)
    tree = LexborHTMLParser(html)
    if tree.css_first('link[rel~="mw:PageProp/redirect"]') is not None:
        return Prose([], "redirect")
    if tree.css_first('meta[property="mw:PageProp/disambiguation"]') is not None:
        return Prose([], "disambiguation")
    reader = _Reader(language, variant)
    reader.read(tree.body)
    reader.end_paragraph()
    if reader.is_cut and not reader.paragraphs:
        return Prose([], TOO_DEEP)
    return Prose(reader.paragraphs, "", reader.listed >= sum(map(len, reader.paragraphs)))


class _Reader:
    """Collects paragraphs from elements in their order."""

    def __init__(self, language: Language, variant: str) -> None:
        self._language, self._variant = language, variant
        self.paragraphs: list[str] = []
        self.listed = 0
        self.is_cut = False
        self._texts: list[str] = []
        self._sections = Skipped()
        self._skipped = False

    def read(self, node: Any, depth: int = 0, *, verse: bool = False) -> None:
        """Take in what is in an element; what is nested deeper than 100 leaves nothing."""
        child = node.child if node is not None else None
        if depth >= MAX_DEPTH:
            self.is_cut, child = self.is_cut or child is not None, None
        while child is not None:
            tag = child.tag
            if tag == "-text":
                self._add(child.text_content or "", verse=verse)
            elif tag in _HEADINGS:
                self.end_paragraph()
                self._skipped = self._sections.enter(int(tag[1]), " ".join(child.text().split()))
            elif tag not in _INVISIBLE:
                self._read_element(child, tag, depth, verse=verse)
            child = child.next

    def _read_element(self, child: Any, tag: str, depth: int, *, verse: bool) -> None:
        attributes = child.attributes
        classes = (attributes.get("class") or "").split() if attributes else []
        if tag == "math" or "mwe-math-element" in classes:
            self._texts.append(_formula(child) or PLACEHOLDER)
        elif tag == "br":
            self._texts.append(LINE_BREAK if verse else " ")
        elif tag in _LEFT_OUT or _is_hidden(attributes, classes):
            if tag in _BLOCKS:
                self.end_paragraph()
            if tag in _LISTS and not _is_hidden(attributes, classes):
                self.listed += len(child.text())
            self._texts.append(PLACEHOLDER)
        elif "data-mw-variant" in attributes and not child.text().strip():
            self._read_variant(attributes["data-mw-variant"] or "", depth, verse=verse)
        elif tag in _BLOCKS:
            self.end_paragraph()
            self.read(child, depth + 1, verse=verse or "poem" in classes)
            self.end_paragraph()
        else:
            self.read(child, depth + 1, verse=verse)

    def _read_variant(self, data: str, depth: int, *, verse: bool) -> None:
        """Take in the text of `-{ }-`, which Parsoid keeps in an attribute."""
        from selectolax.lexbor import LexborHTMLParser

        text = variant_of_html(parsed(data), self._language, self._variant)
        if "<" not in text:
            self._add(undo_character_references(text), verse=verse)
        elif excess(text):
            self._texts.append(PLACEHOLDER)
        else:
            self.read(LexborHTMLParser(text).body, depth + 1, verse=verse)

    def _add(self, text: str, *, verse: bool) -> None:
        text = text.translate(_RESERVED)
        self._texts.append(LINE_BREAK.join(text.strip("\n").split("\n")) if verse else text)

    def end_paragraph(self) -> None:
        """Keep the texts since the last end as a paragraph, if there are any and their section is not skipped."""
        text = " ".join("".join(self._texts).split("\n")).strip(" \t")
        self._texts.clear()
        if text.strip(PLACEHOLDER + LINE_BREAK + " ") and not self._skipped:
            self.paragraphs.append(text)


def _is_hidden(attributes: Mapping[str, str | None], classes: Sequence[str]) -> bool:
    if classes and not _CLASSES_LEFT_OUT.isdisjoint(classes):
        return True
    style = (attributes.get("style") or "").lower()
    return bool(style) and _NO_SHOW.search(style) is not None


def _formula(node: Any) -> str:
    """Return the TeX of a formula where it is short and plain text, as the wikitext cleaner does."""
    math = node if node.tag == "math" else node.css_first("math")
    tex = (math.attributes.get("alttext") or "").strip() if math is not None else ""
    tex = tex.removeprefix("{\\displaystyle").removesuffix("}").strip() if tex.startswith("{\\displaystyle") else tex
    return tex if len(tex) <= FORMULA_LENGTH and not set(tex) & set(NOT_IN_FORMULAS) else ""
