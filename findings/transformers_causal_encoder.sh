#!/usr/bin/env bash
# Claim: with "is_causal": true in the config of a BERT, transformers 5 lets tokens see those after them in a batch with padding, and not in
#   one without: one row has other states alone than beside a shorter row. transformers 4 takes no notice of the key.
# Packages: transformers 4.57.6 and 5.24.0, torch 2.13.0.
# Guess: the key has no effect on an encoder, or the same one in each batch.
# It matters to whoever has a config that was made for a decoder, or writes the key to be sure: embeddings depend on what else is in the
#   batch, and evaluation with rows of one length differs from training with padding.
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
cat >states.py <<'PYTHON'
"""Compare the states of a row alone with those beside a shorter row."""

import torch
import transformers
from transformers import BertConfig, BertModel

SHAPE = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
ids, mask = torch.tensor([[5, 6, 7, 8], [9, 10, 0, 0]]), torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
for keys in ({}, {"is_causal": True}):
    torch.manual_seed(0)
    model = BertModel(BertConfig(**SHAPE, initializer_range=0.5, **keys)).eval()
    with torch.no_grad():
        alone = model(ids[:1], attention_mask=mask[:1]).last_hidden_state[0]
        beside = model(ids, attention_mask=mask).last_hidden_state[0]
    print(transformers.__version__, keys, "same" if torch.allclose(alone, beside, atol=1e-4) else "other", "states")
PYTHON
for version in 4.57.6 5.24.0; do "with-$version/bin/python" -W ignore states.py 2>>said; done | tee seen
cat >expected <<'TEXT'
4.57.6 {} same states
4.57.6 {'is_causal': True} same states
5.24.0 {} same states
5.24.0 {'is_causal': True} other states
TEXT
diff expected seen
