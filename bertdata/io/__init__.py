"""Paths and URLs in, bytes out: any file system, any compression, atomic writes."""
