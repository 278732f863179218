"""Words of a pre-tokenizer to ids through a cache; the model of a tokenizer is asked for new words only."""
