#!/usr/bin/env bash
# Claim: splintr takes a character that a Unigram tokenizer.json has no piece for apart into its bytes wherever the vocabulary has
#   pieces of bytes, also where the file says "byte_fallback": false or does not speak of it; tokenizers gives the unknown token then.
# Packages: splintr-rs 0.22.0, tokenizers 0.23.1.
# Guess: equal ids, or a file that is refused, as splintr names every setting that it does not support.
# It matters to whoever reads DeBERTa-v3's published file with it: that has pieces of bytes, which SentencePiece used, and
#   byte_fallback false, so a model that was trained with one library is asked with other ids by the other.
# Date: 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check splintr-rs==0.22.0 tokenizers==0.23.1
cat >encode.py <<'PYTHON'
"""Print the tokens of one text by both packages, with and without byte_fallback in the file."""

import json

import splintr
from tokenizers import Tokenizer

pieces = [["<unk>", 0.0], *([f"<0x{byte:02X}>", -9.0] for byte in range(256)), ["▁", -2.0], ["▁sea", -1.0]]
metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
for setting in ({}, {"byte_fallback": False}, {"byte_fallback": True}):
    file = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": metaspace, "post_processor": None, "decoder": None,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces, **setting},
    }
    with open("tokenizer.json", "w") as target:
        json.dump(file, target)
    peer = Tokenizer.from_file("tokenizer.json")
    for name, ids in ("tokenizers", peer.encode("sea é").ids), ("splintr", splintr.from_json("tokenizer.json").encode("sea é")):
        print(json.dumps(setting), name, *[peer.id_to_token(token) for token in ids])
PYTHON
environment/bin/python encode.py | tee seen
cat >expected <<'TEXT'
{} tokenizers ▁sea ▁ <unk>
{} splintr ▁sea ▁ <0xC3> <0xA9>
{"byte_fallback": false} tokenizers ▁sea ▁ <unk>
{"byte_fallback": false} splintr ▁sea ▁ <0xC3> <0xA9>
{"byte_fallback": true} tokenizers ▁sea ▁ <0xC3> <0xA9>
{"byte_fallback": true} splintr ▁sea ▁ <0xC3> <0xA9>
TEXT
diff expected seen
