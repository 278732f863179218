#!/usr/bin/env bash
# Claim: where tokenizer_config.json names a class of a Unigram tokenizer, AutoTokenizer of transformers 5 puts unknown text at the id
#   that the class has for it, not at the `unk_id` of tokenizer.json. With T5Tokenizer a word that is not in the vocabulary becomes
#   piece 2, with XLMRobertaTokenizer, MBartTokenizer and BarthezTokenizer piece 3, whatever these are: here the end of the text, and a
#   space, which is one with the space before it, so that the word is gone. There is no error and no warning, and other texts have
#   the ids of the file.
# Packages: transformers 5.24.0, tokenizers 0.23.2.
# Guess: the ids of tokenizer.json with each class, or an error.
# It matters to whoever trained a vocabulary whose unknown token is the first piece, as the trainer of tokenizers makes it, and saved it
#   under the class of a family: a T5 then reads the end of the text in the middle of it. PreTrainedTokenizerFast has the file's ids.
# Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check transformers==5.24.0 tokenizers==0.23.2
cat >open.py <<'PYTHON'
"""Print what classes make of a text with an unknown word, and what the tokenizer.json that they open makes of it."""

import json
import pathlib

from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
from transformers import AutoTokenizer

pieces = ["<unk>", "<pad>", "</s>", "\u2581", "\u2581salt", "\u2581sea"]
tokenizer = Tokenizer(models.Unigram([(piece, -2.0) for piece in pieces], 0))
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
tokenizer.add_special_tokens([AddedToken(piece, special=True) for piece in pieces[:3]])
classes = ["PreTrainedTokenizerFast", "CamembertTokenizer", "XLNetTokenizer"]
for class_name in [*classes, "T5Tokenizer", "XLMRobertaTokenizer", "MBartTokenizer", "BarthezTokenizer"]:
    model = pathlib.Path(class_name)
    model.mkdir()
    tokenizer.save(str(model / "tokenizer.json"))
    settings = {"tokenizer_class": class_name, "unk_token": "<unk>", "pad_token": "<pad>", "eos_token": "</s>"}
    (model / "tokenizer_config.json").write_text(json.dumps(settings))
    opened = AutoTokenizer.from_pretrained(model.absolute())
    ids = opened("salt x sea", add_special_tokens=False)["input_ids"]
    print(class_name, opened.convert_ids_to_tokens(ids))
print("tokenizer.json", tokenizer.encode("salt x sea").tokens)
PYTHON
HF_HUB_OFFLINE=1 PYTHONIOENCODING=utf-8 environment/bin/python open.py 2>said | tee seen
cat >expected <<'TEXT'
PreTrainedTokenizerFast ['▁salt', '▁', '<unk>', '▁sea']
CamembertTokenizer ['▁salt', '▁', '<unk>', '▁sea']
XLNetTokenizer ['▁salt', '▁', '<unk>', '▁sea']
T5Tokenizer ['▁salt', '▁', '</s>', '▁sea']
XLMRobertaTokenizer ['▁salt', '▁', '▁sea']
MBartTokenizer ['▁salt', '▁', '▁sea']
BarthezTokenizer ['▁salt', '▁', '▁sea']
tokenizer.json ['▁salt', '▁', 'x', '▁sea']
TEXT
diff expected seen
! grep -v "PyTorch was not found" said
