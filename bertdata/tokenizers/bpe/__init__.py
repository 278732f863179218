"""Byte-level BPE, as GPT-2 and RoBERTa have it: pre-tokens counted, and a vocabulary trained from the counts."""
