"""Whether the kernels over wikitext give what their reference gives."""

from __future__ import annotations

from bertdata.wikitext.clean import extract_readable, without_reserved
from bertdata.wikitext.driver import extract_utf8
from bertdata.wikitext.template_calls import PageContext

PAGE = PageContext("Title")


def agree(source: str, page: PageContext = PAGE) -> bool:
    """Tell whether both give the same prose and the same reason."""
    data = without_reserved(source.encode("utf-8", "surrogatepass"))
    return extract_utf8(data, page) == extract_readable(data, page)
