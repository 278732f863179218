#!/usr/bin/env bash
# Claim: with_format("numpy") of datasets gives token ids of a column of uint16 as int64, four times their size, row by row and by
#   batch. Of the Arrow table below the same column comes as uint16.
# Packages: datasets 5.2.0, numpy 2.4.6.
# Guess: NumPy has the type, so the arrays have it; only torch, which long had no uint16, would need another.
# It matters to whoever stores ids narrowly to hold more of them: the loader's memory is that of int64, and what wrote int64 back
#   makes shards four times as large.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check datasets==5.2.0 numpy==2.4.6
cat >read.py <<'PYTHON'
"""Print the types that ids come back in."""

from datasets import Dataset, Features, List, Value

ids = Dataset.from_dict({"ids": [[1, 2], [3]]}, features=Features({"ids": List(Value("uint16"))}))
arrays = ids.with_format("numpy")
print("stored", ids.data.column("ids").type.value_type)
print("a row", arrays[0]["ids"].dtype, "a batch", [row.dtype.name for row in arrays[:]["ids"]])
print("with dtype", ids.with_format("numpy", dtype="uint16")[0]["ids"].dtype)
print("arrow", ids.with_format("arrow")[:]["ids"].combine_chunks().values.to_numpy().dtype)
PYTHON
HF_HUB_OFFLINE=1 environment/bin/python read.py | tee seen
cat >expected <<'TEXT'
stored uint16
a row int64 a batch ['int64', 'int64']
with dtype uint16
arrow uint16
TEXT
diff expected seen
