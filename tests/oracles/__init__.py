"""The same as kernels and compiled paths, in plain Python: what tests compare them with."""
