"""The sample corpus that ships with the package: a small multistream dump with its index, and a few short books.

All of it was written for bertdata, under bertdata's own licence.
`scripts/build_sample_dump.py` makes the dump from its sources.
"""

from pathlib import Path

SAMPLE_DUMP = str(Path(__file__).parent / "wikipedia" / "samplewiki-pages-articles-multistream.xml.bz2")
SAMPLE_BOOKS = str(Path(__file__).parent / "books")
