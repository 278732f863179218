#!/usr/bin/env bash
# Claim: kitoken lowercases a text as a whole, so that the last sigma of a Greek word in capitals becomes the final one; tokenizers,
#   whose files it reads, lowercases each character by itself. The same tokenizer.json gives other ids for Greek in capitals.
# Packages: kitoken 0.11.1, tokenizers 0.23.3.
# Guess: the ids of a file are those of tokenizers; kitoken says that it reads BERT's files, and other text agrees.
# It matters to whoever serves an uncased Greek or multilingual model with another library than it was trained with: headlines and
#   names in capitals are other words, often unknown ones.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check kitoken==0.11.1 tokenizers==0.23.3
cat >encode.py <<'PYTHON'
"""Print the tokens of Greek words by both libraries, from one file."""

import kitoken
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

words = ["[UNK]", "[CLS]", "[SEP]", "\u03c3\u03b1\u03c3", "\u03c3\u03b1\u03c2"]
tokenizer = Tokenizer(models.WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
tokenizer.decoder = decoders.WordPiece()
tokenizer.add_special_tokens(["[UNK]", "[CLS]", "[SEP]"])
tokenizer.save("tokenizer.json")
other = kitoken.Kitoken.from_file("tokenizer.json")
for text in ("\u03c3\u03b1\u03c2", "\u03a3\u0391\u03a3", "\u03a3\u03b1\u03c3"):
    print(ascii(text), "tokenizers", tokenizer.encode(text).ids, "kitoken", list(other.encode(text, True)))
PYTHON
environment/bin/python encode.py | tee seen
cat >expected <<'TEXT'
'\u03c3\u03b1\u03c2' tokenizers [4] kitoken [4]
'\u03a3\u0391\u03a3' tokenizers [3] kitoken [4]
'\u03a3\u03b1\u03c3' tokenizers [3] kitoken [3]
TEXT
diff expected seen
