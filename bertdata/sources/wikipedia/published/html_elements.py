"""The sets of HTML elements by which a parser opens and closes elements: the tables of `html_elements.toml`."""

from __future__ import annotations

from bertdata.io.package_data import toml_beside

_TABLES: dict[str, str] = toml_beside(__file__)


def _names(table: str) -> frozenset[str]:
    return frozenset(_TABLES[table].split())


_IN_FOREIGN = {f"{space} {name}" for space in ("math", "svg") for name in _names(f"special_{space}")}
SPECIAL, FORMATTING = _names("special") | _IN_FOREIGN, _names("formatting")
"""An element of MathML or SVG has its name after that of its language, as "svg title"; those here hold HTML."""
SCOPE, BUTTON_SCOPE, LIST_ITEM_SCOPE = (
    _names(scope) | _IN_FOREIGN for scope in ("scope", "button_scope", "list_item_scope")
)
"""What ends the search for an open element: for most, for `<p>`, for `<li>`."""
TABLE_SCOPE = _names("table_scope")
IMPLIED = _names("implied")
"""The elements whose end tags may be left out."""
BLOCKS, ENDED_IN_SCOPE = _names("blocks"), _names("ended_in_scope")
"""The elements that begin outside of a paragraph, and those whose end tag closes all that is in them."""
OUT_OF_FOREIGN = _names("out_of_foreign")
"""The elements that end MathML or SVG that they are in."""
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
VOID = (
    _names("void")
    | _names("void_without_text")
    | {"base", "basefont", "bgsound", "col", "frame", "hr", "image", "input", "link", "meta"}
)
"""The elements without content."""
