"""Rows of token ids in, masked rows and the positions to predict out."""
