#!/usr/bin/env bash
# Claim: pysbd drops a whole sentence, or a word of it, where the text has one of the signs with which it marks places for itself
#   while it works (♭, ♬, ♨, ∯, ȸ and others): nothing of "The second movement is in E♭ minor." comes out, with or without `char_span`. Other
#   signs of music and mathematics are kept.
# Packages: pysbd 0.3.4.
# Guess: with `clean=False` the sentences together are the text.
# It matters to whoever cuts articles on music and mathematics with it, as for pairs of sentences: what is lost is not counted.
# Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check pysbd==0.3.4
cat >cut.py <<'PYTHON'
"""Print the sentences of texts, and whether they are the text together."""

import pysbd

for text in (
    "The second movement is in E♭ minor. It is slow.",
    "The second movement is in F♯ minor. It is slow.",
    "The total flux is ∯ B dA. It is zero.",
    "The total flux is ∫ B dA. It is zero.",
    "It has the letter ȸ in it. It is rare.",
):
    for spans in (False, True):
        cut = pysbd.Segmenter(language="en", clean=False, char_span=spans).segment(text)
        sentences = [each.sent if spans else each for each in cut]
        print("with spans" if spans else "sentences", "all" if "".join(sentences) == text else "not all", sentences)
PYTHON
environment/bin/python -W ignore cut.py | tee seen
cat >expected <<'TEXT'
sentences not all ['It is slow.']
with spans not all ['It is slow.']
sentences all ['The second movement is in F♯ minor. ', 'It is slow.']
with spans all ['The second movement is in F♯ minor. ', 'It is slow.']
sentences not all ['It is zero.']
with spans not all ['It is zero.']
sentences all ['The total flux is ∫ B dA. ', 'It is zero.']
with spans all ['The total flux is ∫ B dA. ', 'It is zero.']
sentences not all ['It has the letter ', 'in it. ', 'It is rare.']
with spans not all ['It has the letter ', 'in it. ', 'It is rare.']
TEXT
diff expected seen
