#!/usr/bin/env bash
# Claim: `take` of a Lance dataset leaves out rows that are not there, without an error, if one of those asked for is there: of [12, 1] of ten
#   rows it returns one row; of [12] alone it raises. pyarrow raises in either case.
# Package: pylance 14.0.2 (and pyarrow 25.0.0).
# Guess: an IndexError, as pyarrow's `take` and a list have.
# It matters to whoever draws rows of token shards by their numbers, from an order that was drawn for another version of the dataset: batches
#   are shorter than asked for, labels no longer stand beside their rows, and nothing is said.
# Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check pylance==14.0.2 pyarrow==25.0.0
cat >take.py <<'PYTHON'
"""Take rows of ten, some of which are not there."""

import lance
import pyarrow as pa

rows = pa.table({"id": pa.array(range(10))})
lance.write_dataset(rows, "rows.lance", max_rows_per_file=4)
dataset = lance.dataset("rows.lance")
for places in ([3, 1, 3], [12, 1], [1, 12, 9, 10], [12]):
    for name, source in (("lance", dataset), ("pyarrow", rows)):
        try:
            print(name, places, source.take(places)["id"].to_pylist())
        except (OSError, pa.ArrowIndexError) as error:
            print(name, places, type(error).__name__)
PYTHON
environment/bin/python take.py | tee seen
cat >expected <<'TEXT'
lance [3, 1, 3] [3, 1, 3]
pyarrow [3, 1, 3] [3, 1, 3]
lance [12, 1] [1]
pyarrow [12, 1] ArrowIndexError
lance [1, 12, 9, 10] [1, 9]
pyarrow [1, 12, 9, 10] ArrowIndexError
lance [12] OSError
pyarrow [12] ArrowIndexError
TEXT
diff expected seen
