#!/usr/bin/env bash
# Claim: tokie opens a tokenizer.json of a Unigram model whose normalizer is NFKC, and does not normalize: full-width letters,
#   ligatures and decomposed accents become unknown tokens. No error says that a part of the file was left out.
# Packages: tokie 0.1.4, tokenizers 0.23.3.
# Guess: the same ids as tokenizers, as with the same library's BERT files, or a refusal of what it does not know.
# It matters to whoever encodes a corpus with the faster library and trains, or serves, with the other.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check tokie==0.1.4 tokenizers==0.23.3
cat >encode.py <<'PYTHON'
"""Print the ids of texts by both libraries, from one file."""

import tokie
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

pieces = [("<unk>", 0.0), ("\u2581", -3.0), ("a", -2.0), ("b", -2.0), ("f", -2.0), ("i", -2.0), ("\xe9", -2.0)]
tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
tokenizer.normalizer = normalizers.NFKC()
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
tokenizer.save("tokenizer.json")
other = tokie.Tokenizer.from_json("tokenizer.json")
for text in ("ab", "\uff41\uff42", "\ufb01", "e\u0301"):
    print(ascii(text), "tokenizers", tokenizer.encode(text).ids, "tokie", list(other.encode(text, add_special_tokens=False).ids))
PYTHON
environment/bin/python encode.py | tee seen
cat >expected <<'TEXT'
'ab' tokenizers [1, 2, 3] tokie [1, 2, 3]
'\uff41\uff42' tokenizers [1, 2, 3] tokie [1, 0]
'\ufb01' tokenizers [1, 4, 5] tokie [1, 0]
'e\u0301' tokenizers [1, 6] tokie [1, 0]
TEXT
diff expected seen
