"""Texts in, word counts and a vocabulary out."""
