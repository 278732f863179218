"""Stages in, finished parts with their records out: what is done is kept, and the rest is planned and run."""
