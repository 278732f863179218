"""What compiled code shares: how it is compiled, SIMD instructions, random numbers."""
