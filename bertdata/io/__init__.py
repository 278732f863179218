"""Paths and URLs in, bytes out: any file system, any compression, whole files or none."""
