#!/usr/bin/env bash
# Claim: of a .gz file that a broken copy cut short, indexed_gzip and rapidgzip give the beginning and no error, whether it has one
#   member or several, as files that were appended to. gzip of Python, isal, zlib-ng, pgzip and mgzip raise EOFError.
# Packages: indexed_gzip 1.10.3, rapidgzip 0.16.2, isal 1.9.1, zlib-ng 1.1.0, pgzip 0.4.0, mgzip 0.2.5 of PyPI.
# Guess: all of them raise an error, as the last member lacks its checksum and length.
# It matters to whoever reads shards of text by one of these two, for reading at any place or for speed: after a copy that broke off,
#   the last documents are missing, and the vocabulary and the shards are made of the others.
# Date: 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check indexed_gzip==1.10.3 rapidgzip==0.16.2 isal==1.9.1 zlib-ng==1.1.0 \
    pgzip==0.4.0 mgzip==0.2.5
cat >read.py <<'PYTHON'
"""Cut .gz files of one and of two members short, and print what each reader makes of them."""

import gzip

import indexed_gzip
import mgzip
import pgzip
import rapidgzip
from isal import igzip
from zlib_ng import gzip_ng

text = "".join(f"The keeper of lamp {number} walks along the river.\n" for number in range(20_000)).encode()
half = len(text) // 2
first, second, whole = gzip.compress(text[:half]), gzip.compress(text[half:]), gzip.compress(text)
files = {
    "whole": first + second,
    "one member, cut": whole[: len(whole) // 2],
    "two members, the second cut": first + second[: len(second) // 2],
}
readers = {
    "gzip": gzip.open,
    "isal": igzip.open,
    "zlib-ng": gzip_ng.open,
    "pgzip": pgzip.open,
    "mgzip": mgzip.open,
    "indexed_gzip": indexed_gzip.open,
    "rapidgzip": lambda path: rapidgzip.open(path, parallelization=2),
}
for name, stored in files.items():
    with open("text.gz", "wb") as file:
        file.write(stored)
    for reader, opened in readers.items():
        try:
            with opened("text.gz") as file:
                read = file.read()
            seen = "all of it" if read == text else "its beginning" if text.startswith(read) else "something else"
        except Exception as error:
            seen = f"raises {type(error).__name__}"
        print(f"{name}: {reader}: {seen}")
PYTHON
environment/bin/python read.py 2>/dev/null | tee seen
cat >expected <<'TEXT'
whole: gzip: all of it
whole: isal: all of it
whole: zlib-ng: all of it
whole: pgzip: all of it
whole: mgzip: all of it
whole: indexed_gzip: all of it
whole: rapidgzip: all of it
one member, cut: gzip: raises EOFError
one member, cut: isal: raises EOFError
one member, cut: zlib-ng: raises EOFError
one member, cut: pgzip: raises EOFError
one member, cut: mgzip: raises EOFError
one member, cut: indexed_gzip: its beginning
one member, cut: rapidgzip: its beginning
two members, the second cut: gzip: raises EOFError
two members, the second cut: isal: raises EOFError
two members, the second cut: zlib-ng: raises EOFError
two members, the second cut: pgzip: raises EOFError
two members, the second cut: mgzip: raises EOFError
two members, the second cut: indexed_gzip: its beginning
two members, the second cut: rapidgzip: its beginning
TEXT
diff expected seen
