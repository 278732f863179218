"""Encoders: their shapes, layers, heads and weights."""
