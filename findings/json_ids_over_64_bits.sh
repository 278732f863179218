#!/usr/bin/env bash
# Claim: a number of a JSON file that needs more than 64 bits, such as a document's 128-bit hash, comes exactly from polars (as
#   Int128), msgspec and json; pyarrow, DuckDB and orjson make a float of it, in which neighbouring ids are equal, and simdjson
#   refuses it. For pyarrow the same begins at 2**63, the upper half of 64-bit hashes.
# Packages: polars 2.1.0, pyarrow 25.0.1, duckdb 2.0.1, orjson 3.13.0, msgspec 0.22.0, pysimdjson 7.0.2.
# Guess: null or an error from polars, which has columns of one type; floats from pyarrow, DuckDB and orjson.
# It matters to whoever joins or removes documents by such ids: as floats two documents have one id.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check \
    polars==2.1.0 pyarrow==25.0.1 duckdb==2.0.1 orjson==3.13.0 msgspec==0.22.0 pysimdjson==7.0.2
cat >read.py <<'PYTHON'
"""Print whether ids come back as they were written."""

import json
from pathlib import Path

import duckdb
import msgspec
import orjson
import polars
import pyarrow.json
import simdjson

readers = {
    "json": lambda path: json.loads(path.read_bytes())["id"],
    "polars": lambda path: polars.read_ndjson(path)["id"][0],
    "msgspec": lambda path: msgspec.json.decode(path.read_bytes())["id"],
    "orjson": lambda path: orjson.loads(path.read_bytes())["id"],
    "pyarrow": lambda path: pyarrow.json.read_json(path)["id"][0].as_py(),
    "duckdb": lambda path: duckdb.sql(f"SELECT id FROM read_json('{path}')").fetchall()[0][0],
    "simdjson": lambda path: simdjson.loads(path.read_bytes())["id"],
}
path = Path("ids.jsonl")
for power in (63, 64, 100):
    path.write_text(json.dumps({"id": 2**power + 1}) + "\n")
    for name, read in readers.items():
        try:
            value = read(path)
        except (ValueError, RuntimeError):
            value = "refused"
        print(f"2**{power} + 1", name, "exact" if value == 2**power + 1 and isinstance(value, int) else value)
PYTHON
environment/bin/python read.py | tee seen
cat >expected <<'TEXT'
2**63 + 1 json exact
2**63 + 1 polars exact
2**63 + 1 msgspec exact
2**63 + 1 orjson exact
2**63 + 1 pyarrow 9.223372036854776e+18
2**63 + 1 duckdb exact
2**63 + 1 simdjson exact
2**64 + 1 json exact
2**64 + 1 polars exact
2**64 + 1 msgspec exact
2**64 + 1 orjson 1.8446744073709552e+19
2**64 + 1 pyarrow 1.8446744073709552e+19
2**64 + 1 duckdb 1.8446744073709552e+19
2**64 + 1 simdjson refused
2**100 + 1 json exact
2**100 + 1 polars exact
2**100 + 1 msgspec exact
2**100 + 1 orjson 1.2676506002282294e+30
2**100 + 1 pyarrow 1.2676506002282294e+30
2**100 + 1 duckdb 1.2676506002282294e+30
2**100 + 1 simdjson refused
TEXT
diff expected seen
