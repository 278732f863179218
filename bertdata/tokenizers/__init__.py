"""Text in, token ids out; and how vocabularies are trained."""
