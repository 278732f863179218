#!/usr/bin/env bash
# Claim: pyconll writes other lines than it read: the features of MISC and the heads of DEPS come out sorted by name, and a value
#   list of FEATS too. conllu, opened and written, gives the bytes that came in.
# Packages: pyconll 3.3.1, conllu 6.0.0.
# Guess: a file that is valid comes back unchanged from both, as both say that they keep it.
# It matters to whoever edits a treebank by it and compares versions, or joins columns by line: each sentence with two notes changes.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check pyconll==3.3.1 conllu==6.0.0
cat >copy.py <<'PYTHON'
"""Print the lines of a sentence that come back changed."""

import conllu
import pyconll

lines = [
    "# text = sea air",
    "1\tsea\tsea\tNOUN\t_\tNumber=Sing\t2\tcompound\t2:compound\tTranslit=si|Gloss=water",
    "2\tair\tair\tNOUN\t_\tNumber=Sing\t0\troot\t0:root\tSpaceAfter=No",
]
text = "\n".join(lines) + "\n\n"
for name, back in {"conllu": conllu.parse(text)[0].serialize(), "pyconll": pyconll.load_from_string(text).conll()}.items():
    print(name, [(old.split("\t")[-1], new.split("\t")[-1]) for old, new in zip(text.split("\n"), back.split("\n")) if old != new])
PYTHON
environment/bin/python copy.py | tee seen
cat >expected <<'TEXT'
conllu []
pyconll [('Translit=si|Gloss=water', 'Gloss=water|Translit=si')]
TEXT
diff expected seen
