#!/usr/bin/env bash
# Claim: the MinHash signatures of datasketch 2 are others than those of datasketch 1, for the same tokens, seed and num_perm. An
#   estimate across the two, of a set with itself, is near 0 instead of 1.
# Packages: datasketch 1.6.5 and 2.0.0.
# Guess: equal: the seed is an argument so that signatures can be compared later, and are stored in Redis or Cassandra.
# It matters to whoever keeps signatures or an index of a corpus and looks new documents up in it after an update: no document is a
#   duplicate any more.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 1.6.5 2.0.0; do
    python3 -m venv "$version"
    "$version/bin/pip" install --quiet --disable-pip-version-check "datasketch==$version"
done
cat >sign.py <<'PYTHON'
"""Print the estimate of a set with itself, and with what the other version made of it."""

import importlib.metadata
from pathlib import Path

import numpy as np
from datasketch import MinHash

signature = MinHash(num_perm=128, seed=1)
for word in "the sea is salty and cold in the winter".split():
    signature.update(word.encode())
print(importlib.metadata.version("datasketch"), signature.hashvalues[:3].tolist())
stored = Path("stored.npy")
if stored.exists():
    print("equal to itself", signature.jaccard(signature), "to what is stored", float(np.mean(signature.hashvalues == np.load(stored))))
else:
    np.save(stored, signature.hashvalues)
PYTHON
for version in 1.6.5 2.0.0; do "$version/bin/python" sign.py; done | tee seen
cat >expected <<'TEXT'
1.6.5 [133570545, 97085922, 1971494]
2.0.0 [208646873, 344839330, 182869272]
equal to itself 1.0 to what is stored 0.0
TEXT
diff expected seen
