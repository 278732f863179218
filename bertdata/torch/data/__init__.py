"""Shards in, batches of tensors out."""
