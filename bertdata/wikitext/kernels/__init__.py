"""The passes over wikitext, compiled; the readable versions are in `reference`."""
