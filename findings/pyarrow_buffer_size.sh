#!/usr/bin/env bash
# Claim: since pyarrow 25 `ParquetFile(file, buffer_size=N)` reads the column chunk of a row group whole, whatever N is:
#   the default of `pre_buffer` became True, with which `buffer_size` is ignored without a word. Up to pyarrow 24 the same call
#   reads a little at a time. `pre_buffer=False` brings that back.
# Packages: pyarrow 24.0.0 and 25.0.1.
# Guess: "If positive, perform read buffering when deserializing individual column chunks" bounds a read by about N bytes in
#   both, as nothing was said of it.
# It matters to whoever reads long texts (a book a row) from large row groups and bounds the memory of a worker by
#   `buffer_size`: after an update a worker holds the compressed column of a whole row group.
# Date: 2026-11-27.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 24.0.0 25.0.1; do
    python3 -m venv "$version"
    "$version/bin/pip" install --quiet --disable-pip-version-check "pyarrow==$version"
done
cat >reads.py <<'PYTHON'
"""Print how many reads of more than 128 KiB a column of 4 MB takes, by the arguments of ParquetFile."""

import random

import pyarrow as pa
import pyarrow.parquet as pq

letters = random.Random(0)
texts = ["".join(letters.choices("abcdefgh ", k=1000)) for _ in range(4000)]
pq.write_table(pa.table({"text": texts}), "texts.parquet", row_group_size=4000, compression="none", use_dictionary=False)


class Counted:
    """A file that notes the sizes of its reads."""

    def __init__(self, path):
        self.file, self.sizes, self.closed = open(path, "rb"), [], False

    def read(self, size=-1):
        data = self.file.read(size)
        self.sizes.append(len(data))
        return data

    def seek(self, *place):
        return self.file.seek(*place)

    def tell(self):
        return self.file.tell()

    def close(self):
        self.closed = True


for arguments in ({}, {"buffer_size": 65536}, {"buffer_size": 65536, "pre_buffer": False}):
    file = Counted("texts.parquet")
    rows = sum(len(batch) for batch in pq.ParquetFile(file, **arguments).iter_batches(100))
    largest = max(file.sizes)
    print(pa.__version__, arguments, rows, "rows; the largest read is of", "the column" if largest > 3_900_000 else "at most 2 MB")
PYTHON
cat >expected <<'TEXT'
24.0.0 {} 4000 rows; the largest read is of the column
24.0.0 {'buffer_size': 65536} 4000 rows; the largest read is of at most 2 MB
24.0.0 {'buffer_size': 65536, 'pre_buffer': False} 4000 rows; the largest read is of at most 2 MB
25.0.1 {} 4000 rows; the largest read is of the column
25.0.1 {'buffer_size': 65536} 4000 rows; the largest read is of the column
25.0.1 {'buffer_size': 65536, 'pre_buffer': False} 4000 rows; the largest read is of at most 2 MB
TEXT
for version in 24.0.0 25.0.1; do
    "$version/bin/python" reads.py
done | tee seen
diff expected seen
