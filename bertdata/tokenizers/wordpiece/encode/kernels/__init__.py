"""The tokenizer, compiled; the readable version is in `tests/oracles`."""
