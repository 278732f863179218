#!/usr/bin/env bash
# Claim: with one `local_attention`, a local layer of transformers' ModernBertDecoder sees one token fewer to its left than one of its
#   ModernBert, in eager attention and in sdpa: of 8, three tokens and itself, where the encoder sees four on each side and itself.
# Packages: transformers 5.24.0, torch 2.13.0.
# Guess: four to the left in both, as both configurations say `sliding_window` 4.
# It matters to whoever compares an encoder with a decoder of the same weights, trains one from the other, or checks causal rows of an
#   encoder against the decoder's logits: local layers differ at the edge of the window from the first longer row on.
# Date: 2026-11-30.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 transformers==5.24.0
cat >windows.py <<'PYTHON'
"""Print how far from itself a token of one local layer sees, by what changes its output."""

import torch
from transformers import ModernBertConfig, ModernBertDecoderConfig, ModernBertDecoderModel, ModernBertModel

PLACE, LENGTH = 16, 33
SHAPE = {
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "local_attention": 8,
    "layer_types": ["sliding_attention"],
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "cls_token_id": 1,
    "sep_token_id": 2,
}


@torch.no_grad()
def seen(model):
    ids = torch.arange(LENGTH)[None] + 3
    output = model(input_ids=ids).last_hidden_state[0, PLACE]
    distances = []
    for other in range(LENGTH):
        changed = ids.clone()
        changed[0, other] = 40
        if not torch.equal(model(input_ids=changed).last_hidden_state[0, PLACE], output):
            distances.append(other - PLACE)
    return min(distances), max(distances)


for attention in ("eager", "sdpa"):
    for kind, config in ((ModernBertModel, ModernBertConfig), (ModernBertDecoderModel, ModernBertDecoderConfig)):
        torch.manual_seed(0)
        model = kind._from_config(config(**SHAPE), attn_implementation=attention).eval()
        print(attention, kind.__name__, model.config.sliding_window, *seen(model))
PYTHON
environment/bin/python -W ignore windows.py 2>said | tee seen
cat >expected <<'TEXT'
eager ModernBertModel 4 -4 4
eager ModernBertDecoderModel 4 -3 0
sdpa ModernBertModel 4 -4 4
sdpa ModernBertDecoderModel 4 -3 0
TEXT
diff expected seen
