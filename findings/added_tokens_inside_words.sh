#!/usr/bin/env bash
# Claim: an added token with single_word=true, which must not match inside a longer word, does so in @huggingface/tokenizers of npm and
#   in kitoken: both read the field of tokenizer.json and leave it out. kitoken also does not normalize an added token that has
#   normalized=true, so that "Foo" does not match in an uncased text.
# Packages: @huggingface/tokenizers 0.2.0 of npm, kitoken 0.11.1 and tokenizers 0.23.3 of PyPI.
# Guess: both treat added tokens as the file says, as they read lstrip and rstrip as well.
# It matters to whoever adds short words (names, units, genes) to a vocabulary: "bar" is cut out of "rebar" in one place and not in
#   the other, and so are its neighbours.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check tokenizers==0.23.3 kitoken==0.11.1
npm install --silent --no-audit --no-fund @huggingface/tokenizers@0.2.0 >/dev/null
cat >save.py <<'PYTHON'
"""Save a tokenizer with three added tokens and print its ids of the texts, and kitoken's."""

import json
from pathlib import Path

import kitoken
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

words = ["[UNK]", "[CLS]", "[SEP]", "rebar", "a", "re"]
tokenizer = Tokenizer(models.WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
tokenizer.add_tokens([AddedToken("bar", single_word=True), AddedToken("Foo", normalized=True), AddedToken("<l>", lstrip=True)])
tokenizer.decoder = decoders.WordPiece()
tokenizer.add_special_tokens(["[UNK]", "[CLS]", "[SEP]"])
tokenizer.save("tokenizer.json")
other = kitoken.Kitoken.from_file("tokenizer.json")
texts = ["a bar", "a rebar", "a foo", "a  <l>"]
Path("texts.json").write_text(json.dumps(texts))
for text in texts:
    print("tokenizers", text, json.dumps(tokenizer.encode(text).ids, separators=(",", ":")))
    print("kitoken", text, json.dumps(list(other.encode(text, True)), separators=(",", ":")))
PYTHON
cat >encode.mjs <<'JAVASCRIPT'
import { readFileSync } from "fs";
import { Tokenizer } from "@huggingface/tokenizers";

const tokenizer = new Tokenizer(JSON.parse(readFileSync("tokenizer.json")), {});
for (const text of JSON.parse(readFileSync("texts.json"))) console.log("npm", text, JSON.stringify(tokenizer.encode(text).ids));
JAVASCRIPT
{ environment/bin/python save.py; node encode.mjs; } | tee seen
cat >expected <<'TEXT'
tokenizers a bar [4,6]
kitoken a bar [4,6]
tokenizers a rebar [4,3]
kitoken a rebar [4,5,6]
tokenizers a foo [4,7]
kitoken a foo [4,0]
tokenizers a  <l> [4,8]
kitoken a  <l> [4,8]
npm a bar [4,6]
npm a rebar [4,5,6]
npm a foo [4,7]
npm a  <l> [4,8]
TEXT
diff expected seen
