"""Wikipedia: pages out of a dump (`dump`), prose out of wikitext (`wikitext`)."""

from bertdata.sources.wikipedia.wikitext.clean import clean_wikitext

__all__ = ["clean_wikitext"]
