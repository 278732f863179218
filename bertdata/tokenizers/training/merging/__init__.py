"""Word counts in, tokens and merges out: what WordPiece and BPE have in common."""
