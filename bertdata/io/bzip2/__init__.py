"""bz2, block by block: any block of a file is decoded by itself, wherever in the file it begins.

In come the bytes of a .bz2 file, out go the bytes that each of its blocks holds. `marks` has the marks and limits of
the format. `decoder` decodes one block, by kernels (`huffman_kernel`, `inverse_bwt_kernel`, `runs_kernel`) or by
Python's bz2 (`reference`). `streams` reads whole streams, as bz2 does; `block_reader` reads the blocks from any byte
of a file on, and passes over damaged ones.

The format: J. Seward, bzip2 and libbzip2 1.0.8; J. Tsai, BZIP2: Format Specification, 2016.
"""
