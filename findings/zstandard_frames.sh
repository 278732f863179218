#!/usr/bin/env bash
# Claim: of the ways in which zstandard decompresses, some read all frames of a file and some stop after the first: open,
#   stream_reader and copy_stream read on; decompress, read_to_iter and decompressobj end there, without an error. So what a
#   file holds depends on the function.
# Packages: zstandard 0.25.0.
# Guess: all of them stop after the first frame, as read_across_frames is documented to be false.
# It matters to whoever writes shards that can be read from the middle, which have many frames (seekable zstd, `cat` of parts, pzstd):
#   a reader by decompress or read_to_iter sees the first frame alone and ends without an error.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check zstandard==0.25.0
cat >read.py <<'PYTHON'
"""Print what each way of reading gives of two frames."""

import io

import zstandard

frames = zstandard.ZstdCompressor().compress(b"one ") + zstandard.ZstdCompressor().compress(b"two")
reader = zstandard.ZstdDecompressor()
copied = io.BytesIO()
reader.copy_stream(io.BytesIO(frames), copied)
print("open", zstandard.open(io.BytesIO(frames)).read())
print("stream_reader", reader.stream_reader(io.BytesIO(frames)).read())
print("copy_stream", copied.getvalue())
print("decompress", reader.decompress(frames))
print("read_to_iter", b"".join(reader.read_to_iter(io.BytesIO(frames))))
print("decompressobj", reader.decompressobj().decompress(frames))
PYTHON
environment/bin/python read.py | tee seen
cat >expected <<'TEXT'
open b'one two'
stream_reader b'one two'
copy_stream b'one two'
decompress b'one '
read_to_iter b'one '
decompressobj b'one '
TEXT
diff expected seen
