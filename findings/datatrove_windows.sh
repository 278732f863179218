#!/usr/bin/env bash
# Claim: datatrove's DatatroveFileDataset cuts a file of token ids into windows of seq_len + 1 tokens that do not overlap, so a causal
#   model that trains on them (input: all but the last token, target: all but the first) is never asked for the first token of a window:
#   one token in seq_len + 1 is no target, and its predecessor is never seen as the end of a context. The rest of the file is left out.
# Packages: datatrove 0.10.1.
# Guess: windows overlap by one token, as those of Megatron and nanoGPT, which read the same stream of ids.
# It matters to whoever compares losses or counts of trained tokens over .ds files with those of another loader.
# Date: 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
tools/bin/uv venv --quiet environment
tools/bin/uv pip install --quiet --python environment torch==2.13.0 datatrove==0.10.1 numpy==2.3.5
cat >windows.py <<'PYTHON'
"""Print the windows of ten tokens, and the tokens that are a target in none."""

import numpy as np
from datatrove.utils.dataset import DatatroveFileDataset

np.arange(10, dtype=np.uint16).tofile("tokens.ds")
dataset = DatatroveFileDataset("tokens.ds", seq_len=3)
windows = [dataset[index]["input_ids"].tolist() for index in range(len(dataset))]
print("windows", *windows)
print("never a target", *sorted({*range(10)} - {token for window in windows for token in window[1:]}))
PYTHON
environment/bin/python -W ignore windows.py | tee seen
cat >expected <<'TEXT'
windows [0, 1, 2, 3] [4, 5, 6, 7]
never a target 0 4 8 9
TEXT
diff expected seen
