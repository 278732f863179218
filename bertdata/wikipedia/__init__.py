"""Wikipedia: pages out of a dump (`dump`), prose out of wikitext (`wikitext`)."""

from bertdata.wikipedia.wikitext import clean_wikitext

__all__ = ["clean_wikitext"]
