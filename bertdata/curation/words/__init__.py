"""Texts in, words out: the tokens that spaCy's English tokenizer finds, which datatrove's filters take for words."""
