"""Texts in, reasons out: the published rules of Gopher, C4 and FineWeb, each with a threshold of its own."""
