"""Training by merges, compiled; the readable version is in `tests/oracles`."""
