"""Tests of what differs from language to language in MediaWiki."""
