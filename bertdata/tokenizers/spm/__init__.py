"""SentencePiece's `.model` files: read and written, and made into a `tokenizer.json`."""
