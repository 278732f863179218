#!/usr/bin/env bash
# Claim: WordPieceTrainer makes another vocabulary in each process, of the same lines in the same order: ids differ always, and which
#   pieces are in it often. BpeTrainer, which does the work, makes one vocabulary of them.
# Packages: tokenizers 0.23.3.
# Guess: training is deterministic, as that of BpeTrainer is, whose merges WordPieceTrainer takes.
# It matters to whoever trains a BERT vocabulary again to reproduce one: token ids, and with them all shards and weights, do not fit.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check tokenizers==0.23.3
cat >train.py <<'PYTHON'
"""Print the ids of a vocabulary as one line."""

import json
import sys

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

lines = ["the sea is salty and cold", "a cat sat on a mat", "storms come in winter", "the winter sea is cold", "seals eat eels"] * 3
model, trainer = {
    "WordPieceTrainer": (models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer),
    "BpeTrainer": (models.BPE(unk_token="[UNK]"), trainers.BpeTrainer),
}[sys.argv[1]]
tokenizer = Tokenizer(model)
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.train_from_iterator(lines, trainer(vocab_size=60, special_tokens=["[UNK]"], show_progress=False))
print(json.dumps(sorted(tokenizer.get_vocab().items())))
PYTHON
for trainer in WordPieceTrainer BpeTrainer; do
    vocabularies=$(for _ in $(seq 20); do environment/bin/python train.py "$trainer"; done | sort -u | wc -l)
    echo "$trainer: $([ "$vocabularies" = 1 ] && echo one vocabulary || echo several vocabularies) in 20 runs"
done | tee seen
cat >expected <<'TEXT'
WordPieceTrainer: several vocabularies in 20 runs
BpeTrainer: one vocabulary in 20 runs
TEXT
diff expected seen
