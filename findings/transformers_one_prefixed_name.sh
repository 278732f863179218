#!/usr/bin/env bash
# Claim: transformers 4 takes none of the weights of a BERT's file, and makes all of them at random, where one name of it begins with "bert."
#   and the others do not: the table of positions that older versions saved (bert.embeddings.position_ids) is enough. transformers 5
#   takes all of them.
# Packages: transformers 4.57.6 and 5.24.0, torch 2.13.0.
# Guess: the one name is not known and is left out, as in transformers 5.
# It matters to whoever joins, converts or renames checkpoints: the encoder is an untrained one, which a log line alone says.
# Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
for version in 4.57.6 5.24.0; do
    tools/bin/uv venv --quiet "with-$version"
    tools/bin/uv pip install --quiet --python "with-$version" torch==2.13.0 "transformers==$version"
done
cat >save.py <<'PYTHON'
"""Save an encoder, and another time with one name more."""

import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertModel

SHAPE = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
model = BertModel(BertConfig(**SHAPE))
for folder in ("as_saved", "one_name_more"):
    model.save_pretrained(folder)
weights = load_file("one_name_more/model.safetensors")
weights["bert.embeddings.position_ids"] = torch.arange(512)[None]
save_file(weights, "one_name_more/model.safetensors", metadata={"format": "pt"})
PYTHON
cat >open.py <<'PYTHON'
"""Count the weights that are those of the file."""

import torch
import transformers
from safetensors.torch import load_file
from transformers import BertModel

for folder in ("as_saved", "one_name_more"):
    saved, opened = load_file(f"{folder}/model.safetensors"), BertModel.from_pretrained(folder).state_dict()
    matrices = [name for name in opened if opened[name].ndim == 2 and name in saved]
    same = sum(torch.equal(opened[name], saved[name]) for name in matrices)
    print(transformers.__version__, folder, f"{same} of {len(matrices)} matrices")
PYTHON
with-5.24.0/bin/python -W ignore save.py 2>said
for version in 4.57.6 5.24.0; do "with-$version/bin/python" -W ignore open.py 2>>said; done | tee seen
cat >expected <<'TEXT'
4.57.6 as_saved 10 of 10 matrices
4.57.6 one_name_more 0 of 10 matrices
5.24.0 as_saved 10 of 10 matrices
5.24.0 one_name_more 10 of 10 matrices
TEXT
diff expected seen
