#!/usr/bin/env bash
# Claim: a model of model2vec, opened by sentence-transformers as it is, gives other embeddings of every text with an unknown word:
#   model2vec leaves unknown tokens out of the mean, sentence-transformers' StaticEmbedding counts the vector of [UNK].
# Packages: model2vec 0.10.0, sentence-transformers 6.2.0.
# Guess: equal, as sentence-transformers reads the folder by itself and both take the mean of the tokens' vectors.
# It matters to whoever makes static embeddings of an encoder (distilled from it, for duplicates or for retrieval) in one library and
#   uses them in the other: distances change for texts with rare words, and a text of unknown words alone is zero or a direction.
# Date: 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
tools/bin/uv venv --quiet environment
tools/bin/uv pip install --quiet --python environment torch==2.13.0 model2vec==0.10.0 sentence-transformers==6.2.0 tokenizers==0.23.1
cat >embed.py <<'PYTHON'
"""Print the embeddings of texts by both packages; the vector of a token has a 1 in its own place."""

import numpy as np
from model2vec import StaticModel
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, models, pre_tokenizers

tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "sea": 1, "cold": 2, "[PAD]": 3}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
model = StaticModel(np.eye(4, dtype=np.float32), tokenizer, normalize=False)
model.save_pretrained("model")
other = SentenceTransformer("model", device="cpu")
for text in ("cold sea", "sea shells", "shells"):
    print(text, "model2vec", model.encode(text).tolist(), "sentence-transformers", other.encode(text).tolist())
PYTHON
environment/bin/python -W ignore embed.py | tee seen
cat >expected <<'TEXT'
cold sea model2vec [0.0, 0.5, 0.5, 0.0] sentence-transformers [0.0, 0.5, 0.5, 0.0]
sea shells model2vec [0.0, 1.0, 0.0, 0.0] sentence-transformers [0.5, 0.5, 0.0, 0.0]
shells model2vec [0.0, 0.0, 0.0, 0.0] sentence-transformers [1.0, 0.0, 0.0, 0.0]
TEXT
diff expected seen
