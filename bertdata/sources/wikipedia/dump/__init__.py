"""A MediaWiki XML dump in, pages out."""
