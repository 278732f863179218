"""WordPiece in plain Python, which the kernels are tested against."""
