"""The vocabulary trainer, compiled; the readable version is in `reference`."""
