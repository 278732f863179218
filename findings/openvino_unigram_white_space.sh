#!/usr/bin/env bash
# Claim: openvino-tokenizers does not read the pre-tokenizer of a Unigram tokenizer.json. After WhitespaceSplit and Metaspace, as ALBERT's
#   and XLNet's have them, each line feed and each tab is an unknown token, and the word after it has the pieces of the middle of a
#   word; a space at the end is a piece. With Metaspace alone two spaces are one. There is no error and no warning.
# Packages: openvino 2026.4.1, openvino-tokenizers 2026.4.1.0, tokenizers 0.23.3, transformers 5.24.0.
# Guess: the ids of transformers for ordinary texts of several lines; where the normalizer makes spaces of line feeds, as XLM-R's does,
#   they are.
# It matters to whoever serves an ALBERT, an XLNet or a Unigram model of their own by OpenVINO: paragraphs of more than one line are
#   other ids than those that the model was trained on.
# Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check openvino==2026.4.1 openvino-tokenizers==2026.4.1.0 \
    tokenizers==0.23.3 transformers==5.24.0
cat >pieces.py <<'PYTHON'
"""Print the pieces of texts by a tokenizer of transformers, and by what openvino-tokenizers makes of it."""

import openvino
from openvino_tokenizers import convert_tokenizer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

pieces = ["<unk>", "<pad>", "_", "_sea", "_salt", "sea", "salt"]
pieces = [piece.replace("_", "\u2581") for piece in pieces]
metaspace = pre_tokenizers.Metaspace()
split = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace])
for name, pre_tokenizer in (("WhitespaceSplit, Metaspace", split), ("Metaspace", metaspace)):
    tokenizer = Tokenizer(models.Unigram([(piece, -2.0 - number / 10) for number, piece in enumerate(pieces)], 0))
    tokenizer.pre_tokenizer = pre_tokenizer
    opened = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>")
    converted = openvino.compile_model(convert_tokenizer(opened))
    for text in ("sea salt", "sea\nsalt", "sea\tsalt", "sea  salt", "sea "):
        both = opened(text)["input_ids"], converted([text])["input_ids"][0].tolist()
        shown = [" ".join(pieces[number] for number in ids).replace("\u2581", "_") for ids in both]
        print(f"{name}: {text!r}: {shown[0]} | {shown[1]}")
PYTHON
HF_HUB_OFFLINE=1 environment/bin/python pieces.py 2>said | tee seen
cat >expected <<'TEXT'
WhitespaceSplit, Metaspace: 'sea salt': _sea _salt | _sea _salt
WhitespaceSplit, Metaspace: 'sea\nsalt': _sea _salt | _sea <unk> salt
WhitespaceSplit, Metaspace: 'sea\tsalt': _sea _salt | _sea <unk> salt
WhitespaceSplit, Metaspace: 'sea  salt': _sea _salt | _sea _salt
WhitespaceSplit, Metaspace: 'sea ': _sea | _sea _
Metaspace: 'sea salt': _sea _salt | _sea _salt
Metaspace: 'sea\nsalt': _sea <unk> salt | _sea <unk> salt
Metaspace: 'sea\tsalt': _sea <unk> salt | _sea <unk> salt
Metaspace: 'sea  salt': _sea _ _salt | _sea _salt
Metaspace: 'sea ': _sea _ | _sea _
TEXT
diff expected seen
