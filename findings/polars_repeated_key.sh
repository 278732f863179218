#!/usr/bin/env bash
# Claim: of an object of JSON that has a key twice polars keeps the first value; json, orjson, msgspec and pandas keep the last, and
#   pyarrow and DuckDB refuse the line.
# Packages: polars 2.1.0, pandas 3.0.5, orjson 3.13.0, msgspec 0.22.0, pyarrow 25.0.1, duckdb 2.0.1.
# Guess: the last one from all of them, as JavaScript does.
# It matters to whoever amends records by writing a key again (exports that append `"text"` in a cleaned form): by polars the text is
#   the uncleaned one.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check \
    polars==2.1.0 pandas==3.0.5 orjson==3.13.0 msgspec==0.22.0 pyarrow==25.0.1 duckdb==2.0.1
cat >read.py <<'PYTHON'
"""Print what each library gives of a key that is there twice."""

import json
from pathlib import Path

import duckdb
import msgspec
import orjson
import pandas
import polars
import pyarrow as pa
import pyarrow.json

path = Path("texts.jsonl")
path.write_text('{"text": "first", "text": "last"}\n')
for name, read in {
    "json": lambda: json.loads(path.read_bytes())["text"],
    "orjson": lambda: orjson.loads(path.read_bytes())["text"],
    "msgspec": lambda: msgspec.json.decode(path.read_bytes())["text"],
    "pandas": lambda: pandas.read_json(path, lines=True)["text"][0],
    "polars": lambda: polars.read_ndjson(path)["text"][0],
    "pyarrow": lambda: pyarrow.json.read_json(path)["text"][0].as_py(),
    "duckdb": lambda: duckdb.sql(f"SELECT text FROM read_json('{path}')").fetchall()[0][0],
}.items():
    try:
        print(name, read())
    except (pa.ArrowInvalid, duckdb.Error):
        print(name, "refused")
PYTHON
environment/bin/python read.py | tee seen
cat >expected <<'TEXT'
json last
orjson last
msgspec last
pandas last
polars first
pyarrow refused
duckdb refused
TEXT
diff expected seen
