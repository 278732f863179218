"""What differs from language to language in MediaWiki: names, numbers, plural forms, dates, variants of a script.

The facts are MediaWiki's own, written to `languages.bin` by `scripts/mediawiki_facts.py`.
"""
