#!/usr/bin/env bash
# Claim: Punkt of NLTK 3.10 cuts after a closing curly quote, where NLTK 3.9 does not: the same parameters and the same text give
#   other sentences. Straight quotes are cut by both.
# Packages: nltk 3.9.1 and 3.10.4.
# Guess: Punkt is an algorithm of 2006 whose parameters are in the data package; sentences change with those, not with the code.
# It matters to whoever numbers sentences, or makes pairs of neighbouring sentences: books and news, which have curly quotes, are cut
#   otherwise after an update, and labels by sentence no longer fit.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 3.9.1 3.10.4; do
    python3 -m venv "$version"
    "$version/bin/pip" install --quiet --disable-pip-version-check "nltk==$version"
done
cat >split.py <<'PYTHON'
"""Print the sentences of a text with straight and with curly quotes, by Punkt without any parameters."""

import nltk
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

punkt = PunktSentenceTokenizer(PunktParameters())
for text in ('"No." Go! He said: "Yes." Then he left.', "\u201cNo.\u201d Go! He said: \u201cYes.\u201d Then he left."):
    print(nltk.__version__, ascii(punkt.tokenize(text)))
PYTHON
for version in 3.9.1 3.10.4; do "$version/bin/python" split.py; done | tee seen
cat >expected <<'TEXT'
3.9.1 ['"No."', 'Go!', 'He said: "Yes."', 'Then he left.']
3.9.1 ['\u201cNo.\u201d Go!', 'He said: \u201cYes.\u201d Then he left.']
3.10.4 ['"No."', 'Go!', 'He said: "Yes."', 'Then he left.']
3.10.4 ['\u201cNo.\u201d', 'Go!', 'He said: \u201cYes.\u201d', 'Then he left.']
TEXT
diff expected seen
