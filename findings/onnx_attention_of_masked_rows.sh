#!/usr/bin/env bash
# Claim: a row of ONNX's Attention whose mask lets it see nothing comes out as zeros, from onnxruntime and from ONNX's own reference;
#   the same computed from Softmax, as models were exported before that operator, is NaN.
# Packages: onnx 1.23.2, onnxruntime 1.32.0, numpy 2.4.6.
# Guess: NaN from both, as softmax of a row of minus infinities is 0 / 0.
# It matters to whoever compares an exported encoder with the original on rows of padding: a check by `isnan`, or a mean over all
#   positions, gives another answer after the export.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
cat >attend.py <<'PYTHON'
"""Print attention of two positions of which the second sees nothing."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

values = {
    "q": np.array([[[[1.0, 0.0], [0.0, 1.0]]]], np.float32),
    "v": np.array([[[[1.0, 2.0], [3.0, 4.0]]]], np.float32),
    "m": np.array([[True, False], [False, False]]),
    "bias": np.array([[0.0, -np.inf], [-np.inf, -np.inf]], np.float32),
}
graphs = {
    "Attention": [helper.make_node("Attention", ["q", "q", "v", "m"], ["y"])],
    "Softmax": [
        helper.make_node("Transpose", ["q"], ["k"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "k"], ["s"]),
        helper.make_node("Add", ["s", "bias"], ["b"]),
        helper.make_node("Softmax", ["b"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "v"], ["y"]),
    ],
}
for name, nodes in graphs.items():
    used = [key for key in values if any(key in node.input for node in nodes)]
    inputs = [helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(values[key].dtype), values[key].shape) for key in used]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 2, 2])
    model = helper.make_model(
        helper.make_graph(nodes, name, inputs, [output]), opset_imports=[helper.make_opsetid("", 23)], ir_version=10
    )
    feed = {key: values[key] for key in used}
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    print(name, "onnxruntime", session.run(None, feed)[0][0, 0].tolist())
    print(name, "reference", ReferenceEvaluator(model).run(None, feed)[0][0, 0].tolist())
PYTHON
environment/bin/python -W ignore attend.py 2>said | tee seen
cat >expected <<'TEXT'
Attention onnxruntime [[1.0, 2.0], [0.0, 0.0]]
Attention reference [[1.0, 2.0], [0.0, 0.0]]
Softmax onnxruntime [[1.0, 2.0], [nan, nan]]
Softmax reference [[1.0, 2.0], [nan, nan]]
TEXT
diff expected seen
