#!/usr/bin/env bash
# Claim: transformers 5 opens a BERT, ELECTRA or RoBERTa whose positions are relative ("position_embedding_type": "relative_key" or
#   "relative_key_query"), as transformers 4 saved it, drops their weights, and computes with absolute positions alone: an encoder of
#   another kind, with one log line that names the weights. The states of transformers 4 are other ones.
# Packages: transformers 4.57.6 and 5.24.0, torch 2.13.0.
# Guess: the same states, or an error that names the key.
# It matters to whoever opens such a published encoder, or one of their own, after an update: embeddings and labels change, and fine-tuning
#   begins from a model that nobody trained.
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
"""Save encoders with each kind of positions, and the states of a row."""

import torch
from transformers import BertConfig, BertModel

SHAPE = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
for kind in ("absolute", "relative_key", "relative_key_query"):
    torch.manual_seed(0)
    model = BertModel(BertConfig(**SHAPE, position_embedding_type=kind, initializer_range=0.5)).eval()
    model.save_pretrained(kind)
    with torch.no_grad():
        torch.save(model(torch.arange(5, 15)[None]).last_hidden_state, f"{kind}/states.pt")
PYTHON
cat >open.py <<'PYTHON'
"""Open them, and say whether the states are those that were saved, and how many weights are of distances."""

import torch
import transformers
from transformers import BertModel

for kind in ("absolute", "relative_key", "relative_key_query"):
    model = BertModel.from_pretrained(kind).eval()
    with torch.no_grad():
        states = model(torch.arange(5, 15)[None]).last_hidden_state
    saved = torch.load(f"{kind}/states.pt")
    tables = sum("distance" in name for name in model.state_dict())
    print(transformers.__version__, kind, "same" if torch.allclose(states, saved, atol=1e-4) else "other", "states,", tables, "tables")
PYTHON
with-4.57.6/bin/python -W ignore save.py 2>said
for version in 4.57.6 5.24.0; do "with-$version/bin/python" -W ignore open.py 2>>said; done | tee seen
cat >expected <<'TEXT'
4.57.6 absolute same states, 0 tables
4.57.6 relative_key same states, 2 tables
4.57.6 relative_key_query same states, 2 tables
5.24.0 absolute same states, 0 tables
5.24.0 relative_key other states, 0 tables
5.24.0 relative_key_query other states, 0 tables
TEXT
diff expected seen
