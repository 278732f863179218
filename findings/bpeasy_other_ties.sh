#!/usr/bin/env bash
# Claim: bpeasy and tokenizers, trained on the same lines with the same pattern of words and the same size, have other tokens: where
#   pairs are equally frequent they take others first, and the tokens that follow differ.
# Packages: bpeasy 0.1.6, tokenizers 0.23.3.
# Guess: the same set of tokens, as BPE is one algorithm; at most other numbers.
# It matters to whoever reproduces a vocabulary with the other tool: at the end of every vocabulary many pairs are equally frequent.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check bpeasy==0.1.6 tokenizers==0.23.3
cat >train.py <<'PYTHON'
"""Print the tokens that one library has and the other has not, of 40 that both learn."""

import bpeasy
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

lines = ["low lower lowest the sea the seas", "newer wider low sea cafe", "storms come in winter and the winter sea is cold"] * 20
pattern = r" ?\p{L}+|\s+"
learned = {token.decode() for token, number in bpeasy.train_bpe(iter(lines), pattern, 100, 296).items() if number >= 256}
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
    [pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
)
alphabet = pre_tokenizers.ByteLevel.alphabet()
trainer = trainers.BpeTrainer(vocab_size=296, initial_alphabet=alphabet, show_progress=False)
tokenizer.train_from_iterator(lines, trainer)
others = {token.replace("\u0120", " ") for token in tokenizer.get_vocab() if token not in alphabet}
print(len(learned), len(others))
print("bpeasy alone", sorted(learned - others))
print("tokenizers alone", sorted(others - learned))
PYTHON
environment/bin/python train.py | tee seen
cat >expected <<'TEXT'
40 40
bpeasy alone [' a', ' come', ' i', ' s', ' t', ' win', 'nd']
tokenizers alone [' an', ' is', 'an', 'inter', 'is', 'sea', 'the']
TEXT
diff expected seen
