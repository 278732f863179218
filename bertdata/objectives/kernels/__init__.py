"""Spans, pairs and rows of examples, compiled."""
