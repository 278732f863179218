"""The compiled parts: bitmaps of characters and words, the cache from word to ids, the models."""
