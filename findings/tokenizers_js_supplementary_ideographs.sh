#!/usr/bin/env bash
# Claim: @huggingface/tokenizers in JavaScript does not set the rarer Chinese characters (those beyond U+FFFF, extension B and later)
#   apart as BERT's normalizer does; the library of the same name in Python does. One tokenizer.json, other tokens for the word that
#   holds one.
# Packages: @huggingface/tokenizers 0.2.0 of npm, tokenizers 0.23.3 of PyPI.
# Guess: equal ids, as both are of the same authors and read the same file, and common Chinese characters agree.
# It matters to whoever serves a Chinese BERT in a browser: names and classical texts, where these characters are, get other ids.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check tokenizers==0.23.3
npm install --silent --no-audit --no-fund @huggingface/tokenizers@0.2.0 >/dev/null
cat >save.py <<'PYTHON'
"""Save a BERT tokenizer and print its tokens of the texts."""

import json
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

words = ["[UNK]", "sea", "\u6d77", "\U00020000"]
tokenizer = Tokenizer(models.WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer()
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
tokenizer.save("tokenizer.json")
texts = ["\u6d77sea", "\U00020000sea", "\U00020000 sea"]
Path("texts.json").write_text(json.dumps(texts))
for text in texts:
    print("Python", ascii(text), json.dumps(tokenizer.encode(text).ids, separators=(",", ":")))
PYTHON
cat >encode.mjs <<'JAVASCRIPT'
import { readFileSync } from "fs";
import { Tokenizer } from "@huggingface/tokenizers";

const tokenizer = new Tokenizer(JSON.parse(readFileSync("tokenizer.json")), {});
for (const text of JSON.parse(readFileSync("texts.json")))
  console.log("JavaScript", [...text].map((c) => c.codePointAt(0).toString(16)).join(" "), JSON.stringify(tokenizer.encode(text).ids));
JAVASCRIPT
{ environment/bin/python save.py; node encode.mjs; } | tee seen
cat >expected <<'TEXT'
Python '\u6d77sea' [2,1]
Python '\U00020000sea' [3,1]
Python '\U00020000 sea' [3,1]
JavaScript 6d77 73 65 61 [2,1]
JavaScript 20000 73 65 61 [0]
JavaScript 20000 20 73 65 61 [3,1]
TEXT
diff expected seen
