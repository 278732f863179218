"""The passes over wikitext in plain Python, which the kernels are tested against."""
