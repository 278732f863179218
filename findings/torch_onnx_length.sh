#!/usr/bin/env bash
# Claim: torch.onnx.export takes one side of an `if` on a length that was named as dynamic, and the file says that any length will do:
#   a longer row comes out otherwise than of the model, without a word. torch.export refuses to make the program, or its program the row.
# Packages: torch 2.13.0, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0.
# Guess: an error, as of torch.export with the same shapes, or a file for the lengths on that side alone.
# It matters to whoever exports an encoder with a window, as ModernBERT, that leaves out the mask for rows within it: an export from a
#   short example has no window at all.
# Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
tools/bin/uv venv --quiet onnx
tools/bin/uv pip install --quiet --python onnx torch==2.13.0 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.32.0
cat >lengths.py <<'PYTHON'
"""Make programs of a module that doubles rows of more than 65 numbers, from a row of 11."""

import numpy
import onnxruntime
import torch


class Doubled(torch.nn.Module):
    def forward(self, row):
        return row + 0 if row.shape[1] <= 65 else row * 2


short, long, module = torch.ones(1, 11), torch.ones(1, 100), Doubled().eval()
print("module", module(long)[0, 0].item())
try:
    torch.export.export(module, (short,), dynamic_shapes=({1: torch.export.Dim("length")},))
except Exception as error:
    print("torch.export, Dim", type(error).__name__)
program = torch.export.export(module, (short,), dynamic_shapes=({1: torch.export.Dim.AUTO},))
try:
    program.module()(long)
except Exception as error:
    print("torch.export, AUTO", type(error).__name__)
for shape in ("length", torch.export.Dim("length"), torch.export.Dim.DYNAMIC):
    torch.onnx.export(module, (short,), "row.onnx", dynamic_shapes=({1: shape},), verbose=False)
    session = onnxruntime.InferenceSession("row.onnx")
    [row] = session.run(None, {"row": numpy.ones((1, 100), numpy.float32)})
    print("torch.onnx", type(shape).__name__, type(session.get_inputs()[0].shape[1]).__name__, row[0, 0].item())
PYTHON
onnx/bin/python -W ignore lengths.py 2>said | tee seen
cat >expected <<'TEXT'
module 2.0
torch.export, Dim UserError
torch.export, AUTO AssertionError
torch.onnx str str 1.0
torch.onnx Dim str 1.0
torch.onnx _DimHint str 1.0
TEXT
diff expected seen
