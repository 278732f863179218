"""Unigram, as ALBERT and XLNet have it: words counted, and a SentencePiece model trained from the counts."""
