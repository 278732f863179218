#!/usr/bin/env bash
# Claim: with NumPy 2, fastText's `predict` of a list of texts gives every label of a text the probability of its likeliest one, without
#   a word; with NumPy 1 each label has its own.
# Packages: fasttext-wheel 0.9.2, numpy 1.26.4 and 2.2.6.
# Guess: a list gives for each text what the text alone gives, or fails with NumPy 2 as `predict` of a text alone does.
# It matters to whoever scores documents by one label of several, as educational or not: in a list, a text that has the label second
#   gets the probability of the first.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
cat >predict.py <<'PYTHON'
"""Print the probabilities of the two labels of a text in a list."""

import fasttext
import numpy

with open("train.txt", "w") as file:
    file.writelines(["__label__good salt dissolves in water\n", "__label__bad buy now and save\n"] * 20)
model = fasttext.train_supervised("train.txt", epoch=20, dim=8, thread=1, seed=1, verbose=0)
_, [shares] = model.predict(["salt and water"], k=2)
print("NumPy", numpy.__version__[0], "the two are equal:", float(shares[0]) == float(shares[1]))
PYTHON
for version in 1.26.4 2.2.6; do
    environment/bin/pip install --quiet --disable-pip-version-check fasttext-wheel==0.9.2 numpy==$version
    environment/bin/python -W ignore predict.py 2>said | tee -a seen
done
cat >expected <<'TEXT'
NumPy 1 the two are equal: False
NumPy 2 the two are equal: True
TEXT
diff expected seen
