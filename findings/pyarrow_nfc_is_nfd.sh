#!/usr/bin/env bash
# Claim: utf8_normalize of pyarrow decomposes for every form: "NFC" gives what NFD is and "NFKC" what NFKD is. Composed text comes
#   out decomposed, two characters for an e with an accent and for a Korean syllable.
# Packages: pyarrow 25.0.1.
# Guess: NFC, with tables of Unicode 16 of 2024, as the other libraries that were tried compose an e with its accent.
# It matters to whoever normalizes a corpus in columns before looking for duplicates or training a vocabulary: the text is longer, words
#   with accents are not those of any other tool, and a cased BERT, which takes no accents away, has no tokens for them.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check pyarrow==25.0.1
cat >normalize.py <<'PYTHON'
"""Print the forms of texts by pyarrow and by Python."""

import unicodedata

import pyarrow as pa
import pyarrow.compute as pc

for text in ("e\u0301", "\xe9", "\uac00", "\ufb01"):
    for form in ("NFC", "NFKC", "NFD", "NFKD"):
        by_arrow = pc.utf8_normalize(pa.scalar(text), form).as_py()
        print(ascii(text), form, "pyarrow", ascii(by_arrow), "Python", ascii(unicodedata.normalize(form, text)))
PYTHON
environment/bin/python normalize.py | tee seen
cat >expected <<'TEXT'
'e\u0301' NFC pyarrow 'e\u0301' Python '\xe9'
'e\u0301' NFKC pyarrow 'e\u0301' Python '\xe9'
'e\u0301' NFD pyarrow 'e\u0301' Python 'e\u0301'
'e\u0301' NFKD pyarrow 'e\u0301' Python 'e\u0301'
'\xe9' NFC pyarrow 'e\u0301' Python '\xe9'
'\xe9' NFKC pyarrow 'e\u0301' Python '\xe9'
'\xe9' NFD pyarrow 'e\u0301' Python 'e\u0301'
'\xe9' NFKD pyarrow 'e\u0301' Python 'e\u0301'
'\uac00' NFC pyarrow '\u1100\u1161' Python '\uac00'
'\uac00' NFKC pyarrow '\u1100\u1161' Python '\uac00'
'\uac00' NFD pyarrow '\u1100\u1161' Python '\u1100\u1161'
'\uac00' NFKD pyarrow '\u1100\u1161' Python '\u1100\u1161'
'\ufb01' NFC pyarrow '\ufb01' Python '\ufb01'
'\ufb01' NFKC pyarrow 'fi' Python 'fi'
'\ufb01' NFD pyarrow '\ufb01' Python '\ufb01'
'\ufb01' NFKD pyarrow 'fi' Python 'fi'
TEXT
diff expected seen
