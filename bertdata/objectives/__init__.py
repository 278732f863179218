"""Pretraining examples: which tokens stand together (`segments`), as rows (`rows`), which are predicted (`masking`)."""
