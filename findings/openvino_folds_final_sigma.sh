#!/usr/bin/env bash
# Claim: openvino-tokenizers folds case where a tokenizer.json lower-cases (BertNormalizer as well as Lowercase): a Greek word that ends
#   in "ς" is looked up with "σ", so the piece of the vocabulary is never found, and the text gets the id of another word, or is
#   unknown. So is the sign of micro "µ" that of the Greek letter "μ". There is no error; capitals and "ß" are as in tokenizers.
# Packages: openvino 2026.4.1, openvino-tokenizers 2026.4.1.0, tokenizers 0.23.3, transformers 5.24.0.
# Guess: the ids of transformers for every text of an uncased BERT.
# It matters to whoever serves an uncased Greek or multilingual encoder by OpenVINO: nearly every Greek sentence has a word in "ς", and
#   the model was trained on its piece.
# Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check openvino==2026.4.1 openvino-tokenizers==2026.4.1.0 \
    tokenizers==0.23.3 transformers==5.24.0
cat >pieces.py <<'PYTHON'
"""Print the pieces of words by a tokenizer of transformers, and by what openvino-tokenizers makes of it."""

import openvino
from openvino_tokenizers import convert_tokenizer
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

pieces = ["[UNK]", "[PAD]", "τοπος", "χωρα", "λογος", "λογοσ", "straße", "strasse", "µ", "μ"]
for normalizer in (normalizers.BertNormalizer(), normalizers.Lowercase()):
    tokenizer = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizers.BertPreTokenizer()
    opened = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]")
    converted = openvino.compile_model(convert_tokenizer(opened))
    for text in ("χωρα Χωρα", "τοπος", "λογος", "Straße", "µ"):
        ids = converted([text])["input_ids"][0].tolist()
        print(type(normalizer).__name__, text, opened.tokenize(text), [pieces[number] for number in ids])
PYTHON
HF_HUB_OFFLINE=1 PYTHONIOENCODING=utf-8 environment/bin/python pieces.py 2>said | tee seen
cat >expected <<'TEXT'
BertNormalizer χωρα Χωρα ['χωρα', 'χωρα'] ['χωρα', 'χωρα']
BertNormalizer τοπος ['τοπος'] ['[UNK]']
BertNormalizer λογος ['λογος'] ['λογοσ']
BertNormalizer Straße ['straße'] ['straße']
BertNormalizer µ ['µ'] ['μ']
Lowercase χωρα Χωρα ['χωρα', 'χωρα'] ['χωρα', 'χωρα']
Lowercase τοπος ['τοπος'] ['[UNK]']
Lowercase λογος ['λογος'] ['λογοσ']
Lowercase Straße ['straße'] ['straße']
Lowercase µ ['µ'] ['μ']
TEXT
diff expected seen
