#!/usr/bin/env bash
# Claim: safetensors.numpy writes an array that lies in memory by columns (a transposed one, or what SciPy, R and FORTRAN hand over)
#   with its values in another order: the shape is right, the numbers are shuffled. No error, no warning. A slice with a step loses
#   its values in the same way.
# Packages: safetensors 0.8.0, numpy 2.4.6.
# Guess: an array is saved as its values say, whatever its strides, as np.save does; or it is refused, as safetensors.torch does with
#   tensors that are not contiguous.
# It matters to whoever moves weights between frameworks (kernels of TensorFlow and Flax are the transposes of torch's): the file
#   opens, all shapes fit, and the model is noise. np.ascontiguousarray before saving helps.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check safetensors==0.8.0 numpy==2.4.6
cat >save.py <<'PYTHON'
"""Print arrays as they come back from safetensors."""

import numpy as np
from safetensors.numpy import load, save

rows = np.arange(6, dtype=np.int32).reshape(2, 3)
for name, array in {"rows": rows, "transposed": rows.T, "step": rows[:, ::2], "copy": np.ascontiguousarray(rows.T)}.items():
    back = load(save({"array": array}))["array"]
    print(name, array.tolist(), "saved, loaded", back.tolist())
PYTHON
environment/bin/python save.py | tee seen
cat >expected <<'TEXT'
rows [[0, 1, 2], [3, 4, 5]] saved, loaded [[0, 1, 2], [3, 4, 5]]
transposed [[0, 3], [1, 4], [2, 5]] saved, loaded [[0, 1], [2, 3], [4, 5]]
step [[0, 2], [3, 5]] saved, loaded [[0, 1], [2, 3]]
copy [[0, 3], [1, 4], [2, 5]] saved, loaded [[0, 3], [1, 4], [2, 5]]
TEXT
diff expected seen
