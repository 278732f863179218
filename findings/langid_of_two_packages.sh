#!/usr/bin/env bash
# Claim: py3langid, the maintained fork of langid.py with the same functions, gives other languages than langid.py: it has a model
#   of its own by now. Short Dutch is German to one, a little Latin Spanish to the other, digits English or "no language".
# Packages: py3langid 0.4.0, langid 1.1.6.
# Guess: the same language for each text: a fork "for Python 3", faster, whose model is langid.py's.
# It matters to whoever replaces one by the other in a filter by language: other documents are kept.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check py3langid==0.4.0 langid==1.1.6 numpy==2.4.6 "setuptools<81"
cat >identify.py <<'PYTHON'
"""Print the language of texts by both packages."""

import langid
import py3langid

for text in ("The cat sat on the mat.", "een kleine hond", "Ik ben hier", "Quo usque tandem", "12345"):
    print(text, langid.classify(text)[0], py3langid.classify(text)[0])
PYTHON
environment/bin/python -W ignore identify.py | tee seen
cat >expected <<'TEXT'
The cat sat on the mat. en en
een kleine hond de nl
Ik ben hier de nl
Quo usque tandem es la
12345 en zxx
TEXT
diff expected seen
