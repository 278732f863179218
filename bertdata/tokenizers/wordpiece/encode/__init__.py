"""Text in, ids and offsets out."""
