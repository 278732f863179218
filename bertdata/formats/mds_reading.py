"""MDS files of ids as rows: columns of lists of numbers and of numbers are read; others, such as text, are not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pyarrow as pa

from bertdata.errors import InputError
from bertdata.formats.base import ImportFormat
from bertdata.formats.static import Fields
from bertdata.formats.tokenised import record_fields
from bertdata.io.mds_files import SUFFIXES, read_head, read_samples
from bertdata.io.mds_index import check_hashes
from bertdata.tokenizers.base import Tokenizer

_ROWS = 1000


def read_mds(path: str, tokenizer: Tokenizer) -> Iterator[Fields]:
    """Yield the rows of an MDS file as Google's fields; raises InputError where it is damaged or another file."""
    check_hashes(path)
    samples = read_samples(path)
    while rows := list(islice(samples, _ROWS)):
        if not rows[0]:
            kinds = ", ".join(f"{name} ({kind})" for name, (kind, _) in read_head(path).columns.items())
            raise InputError(f"has no column of numbers; its columns are {kinds or 'none'}", path=path)
        table = {name: pa.array([row[name] for row in rows]) for name in rows[0]}
        yield from record_fields([pa.record_batch(table)], path, tokenizer)


MDS_IMPORT = ImportFormat(help="MDS of ids", suffixes=SUFFIXES, read_tokens=read_mds)
