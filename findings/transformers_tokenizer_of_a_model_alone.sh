#!/usr/bin/env bash
# Claim: AutoTokenizer.from_pretrained opens a folder that holds a model's config.json and no file of a tokenizer. For BERT, ELECTRA,
#   ALBERT and XLM-R it gives a tokenizer whose every word is the unknown token, for RoBERTa one to which every text is empty, all
#   without an error or a warning. For ModernBERT the same folder is an error.
# Packages: transformers 5.24.0.
# Guess: an error for each family, as there is no vocabulary anywhere.
# It matters to whoever evaluates or fine-tunes a checkpoint of a training loop, which often has weights and config.json alone, or a
#   part of a model that was saved without its tokenizer (ELECTRA's generator): scores are those of a model that reads nothing.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check transformers==5.24.0
cat >open.py <<'PYTHON'
"""Print what the tokenizer of a folder with a config.json alone makes of a text, for models of some families."""

import json
import pathlib

from transformers import AutoTokenizer

for family in ("bert", "electra", "albert", "xlm-roberta", "roberta", "modernbert"):
    model = pathlib.Path(family)
    model.mkdir()
    (model / "config.json").write_text(json.dumps({"model_type": family}))
    try:
        tokenizer = AutoTokenizer.from_pretrained(model.absolute())
    except ValueError:
        print(family, "error")
        continue
    ids = tokenizer("the salty sea", add_special_tokens=False)["input_ids"]
    print(family, [tokenizer.convert_ids_to_tokens(token_id) for token_id in ids])
PYTHON
HF_HUB_OFFLINE=1 environment/bin/python open.py 2>said | tee seen
cat >expected <<'TEXT'
bert ['[UNK]', '[UNK]', '[UNK]']
electra ['[UNK]', '[UNK]', '[UNK]']
albert ['<unk>', '<unk>', '<unk>']
xlm-roberta ['<unk>', '<unk>', '<unk>']
roberta []
modernbert error
TEXT
diff expected seen
! grep -v "PyTorch was not found" said
