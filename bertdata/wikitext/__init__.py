"""The wikitext of a page in, its prose out."""
