#!/usr/bin/env bash
# Claim: polars reads an escape of half a surrogate pair ("\ud83d" alone, as programs leave it that cut strings in the middle of an
#   emoji) as the character U+0000, without a word. pyarrow, DuckDB and orjson refuse the line, json keeps the half pair.
# Packages: polars 2.1.0, pyarrow 25.0.1, duckdb 2.0.1, orjson 3.13.0.
# Guess: an error, as a string of polars is UTF-8, which cannot have it.
# It matters to whoever reads web text in JSON lines: characters NUL get into the corpus, end strings in C, and BERT's normalizer
#   takes them away, so that two words become one.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check polars==2.1.0 pyarrow==25.0.1 duckdb==2.0.1 orjson==3.13.0
cat >read.py <<'PYTHON'
"""Print what each library gives of half a pair."""

import json
from pathlib import Path

import duckdb
import orjson
import polars
import pyarrow as pa
import pyarrow.json

path = Path("texts.jsonl")
path.write_text('{"text": "sea\\ud83d air"}\n')
for name, read in {
    "json": lambda: json.loads(path.read_bytes())["text"],
    "polars": lambda: polars.read_ndjson(path)["text"][0],
    "orjson": lambda: orjson.loads(path.read_bytes())["text"],
    "pyarrow": lambda: pyarrow.json.read_json(path)["text"][0].as_py(),
    "duckdb": lambda: duckdb.sql(f"SELECT text FROM read_json('{path}')").fetchall()[0][0],
}.items():
    try:
        print(name, ascii(read()))
    except (pa.ArrowInvalid, duckdb.Error, orjson.JSONDecodeError):
        print(name, "refused")
PYTHON
environment/bin/python read.py | tee seen
cat >expected <<'TEXT'
json 'sea\ud83d air'
polars 'sea\x00 air'
orjson refused
pyarrow refused
duckdb refused
TEXT
diff expected seen
