"""Template calls in, the text they leave out."""
