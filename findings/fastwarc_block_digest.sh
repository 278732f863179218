#!/usr/bin/env bash
# Claim: FastWARC says that the block digest of a sound record is wrong, unless the iterator was told not to parse HTTP: with the
#   default parse_http=True the headers are already taken from the block when verify_block_digest looks at it. The payload's digest
#   is found right.
# Packages: fastwarc 2.0.1, warcio 1.8.1.
# Guess: True for a record that warcio wrote a moment ago, asked before anything was read.
# It matters to whoever throws away damaged records of a crawl: all responses are.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check fastwarc==2.0.1 warcio==1.8.1
cat >verify.py <<'PYTHON'
"""Print whether FastWARC finds the digests of a record right."""

import io

import fastwarc
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

file = io.BytesIO()
writer = WARCWriter(file, gzip=True)
headers = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], protocol="HTTP/1.1")
record = writer.create_warc_record("http://example.org/", "response", payload=io.BytesIO(b"the sea"), http_headers=headers)
writer.write_record(record)
for parse in (True, False):
    file.seek(0)
    for record in fastwarc.ArchiveIterator(file, parse_http=parse):
        print("parse_http", parse, "block", record.verify_block_digest())
file.seek(0)
for record in fastwarc.ArchiveIterator(file):
    print("payload", record.verify_payload_digest())
PYTHON
environment/bin/python verify.py | tee seen
cat >expected <<'TEXT'
parse_http True block False
parse_http False block True
payload True
TEXT
diff expected seen
