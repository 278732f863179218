#!/usr/bin/env bash
# Claim: BertTokenizer of keras-hub with lowercase=True and strip_accents=True does not lowercase as an uncased BERT does: it folds case and
#   compatibility forms. "straße" is read as "strasse", a final sigma as another sigma, a circled one as 1; an ellipsis becomes three
#   points, and then is unknown; a soft hyphen, which BERT takes away, divides a word. There is no error and no warning, and plain
#   English has the same pieces.
# Packages: keras-hub 0.32.0, keras 3.15.1, tensorflow-cpu 2.21.0, tensorflow-text 2.21.1, tokenizers 0.23.3.
# Guess: the same pieces but for combinations of accents.
# It matters to whoever takes the vocab.txt of an uncased BERT to Keras, above all of a German or Greek one: words with an eszett and a
#   final sigma have other ids than those that the model was trained on.
# Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check keras-hub==0.32.0 keras==3.15.1 tensorflow-cpu==2.21.0 \
    tensorflow-text==2.21.1 tokenizers==0.23.3
cat >read.py <<'PYTHON'
"""Print the pieces of words by tokenizers, and by keras-hub with the same vocabulary."""

import keras_hub
from tokenizers import BertWordPieceTokenizer

pieces = "[PAD] [UNK] [CLS] [SEP] [MASK] sea cafe stra ##ß ##ss ##e λογο ##ς ##σ . … ① 1 in land ##land".split()
with open("vocab.txt", "w", encoding="utf-8") as file:
    file.write("\n".join(pieces))
uncased = BertWordPieceTokenizer({piece: number for number, piece in enumerate(pieces)}, lowercase=True, strip_accents=True)
keras = keras_hub.models.BertTokenizer(vocabulary="vocab.txt", lowercase=True, strip_accents=True)
for word in ("Sea", "Caf\u00e9", "Stra\u00dfe", "\u03bb\u03cc\u03b3\u03bf\u03c2", "\u2026", "\u2460", "in\u00adland"):
    folded = [keras.id_to_token(int(number)) for number in keras(word)]
    print(ascii(word), *uncased.encode(word, add_special_tokens=False).tokens, "|", *folded)
PYTHON
PYTHONIOENCODING=utf-8 TF_CPP_MIN_LOG_LEVEL=3 environment/bin/python read.py 2>log | tee seen || { cat log; exit 1; }
cat >expected <<'TEXT'
'Sea' sea | sea
'Caf\xe9' cafe | cafe
'Stra\xdfe' stra ##ß ##e | stra ##ss ##e
'\u03bb\u03cc\u03b3\u03bf\u03c2' λογο ##ς | λογο ##σ
'\u2026' … | [UNK]
'\u2460' ① | 1
'in\xadland' in ##land | in land
TEXT
diff expected seen
