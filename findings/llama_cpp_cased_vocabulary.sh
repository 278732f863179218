#!/usr/bin/env bash
# Claim: llama.cpp makes text small and takes its accents away for every BERT vocabulary, cased ones too, unless the GGUF file has two keys
#   that the released package for such files does not know of (tokenizer.ggml.normalizer.lowercase and .strip_accents). With a cased
#   vocabulary "Salt" has the id of salt, and "Sé", "sé" and "se" are one token; with the keys the ids are those of tokenizers.
# Packages: gguf 0.19.0 and tokenizers 0.23.3 of PyPI, node-llama-cpp 3.22.1 of npm (llama.cpp v0.5.0, built for x86-64).
# Guess: a vocabulary with capitals is read as cased, so that its ids are those of tokenizers.
# It matters to whoever serves a cased or multilingual BERT for embeddings or names from a GGUF file: capitals, by which names are known,
#   do not reach the model, and nothing is said.
# Date: 2026-12-02. Needs Node.js 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check gguf==0.19.0 tokenizers==0.23.3
npm install --silent --no-audit --no-fund --ignore-scripts node-llama-cpp@3.22.1 >/dev/null
cat >save.py <<'PYTHON'
"""Write a cased vocabulary as two GGUF files, and print its tokens of the texts."""

import json
from pathlib import Path

import gguf
from tokenizers import BertWordPieceTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [*SPECIAL, "Salt", "salt", "##s", "S\u00e9", "s\u00e9", "se", "\u2163", ".", "!"]
TEXTS = ["Salt salts Salt.", "S\u00e9 s\u00e9 se", "Salt!! \u2163"]


def as_gguf(piece):
    """Return a piece as GGUF files have those of BERT."""
    if piece in SPECIAL:
        return piece
    return piece[2:] if piece.startswith("##") else "\u2581" + piece


def write(name, normalizer):
    """Write a file that has the vocabulary alone."""
    writer = gguf.GGUFWriter(name, "bert")
    writer.add_context_length(64)
    writer.add_embedding_length(8)
    writer.add_block_count(1)
    writer.add_feed_forward_length(16)
    writer.add_head_count(1)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_vocab_size(len(PIECES))
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_type_count(2)
    writer.add_token_list([*map(as_gguf, PIECES)])
    writer.add_token_types([3] * len(SPECIAL) + [1] * (len(PIECES) - len(SPECIAL)))
    writer.add_token_scores([0.0] * len(PIECES))
    for number, role in enumerate(("pad", "unk", "bos", "sep", "mask")):
        getattr(writer, f"add_{role}_token_id")(number)
    for key, value in normalizer.items():
        writer.add_bool(f"tokenizer.ggml.normalizer.{key}", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


print("gguf knows the keys:", "normalizer" in Path(gguf.constants.__file__).read_text())
write("without.gguf", {})
write("with.gguf", {"lowercase": False, "strip_accents": False})
Path("texts.json").write_text(json.dumps([PIECES, TEXTS]))
Path("vocab.txt").write_text("\n".join(PIECES) + "\n")
tokenizer = BertWordPieceTokenizer("vocab.txt", lowercase=False)
for text in TEXTS:
    print("tokenizers", ascii(tokenizer.encode(text, add_special_tokens=False).tokens))
PYTHON
cat >encode.mjs <<'JAVASCRIPT'
import { readFileSync } from "fs";
import { getLlama } from "node-llama-cpp";

const [pieces, texts] = JSON.parse(readFileSync("texts.json"));
const llama = await getLlama({ gpu: false, build: "never", logLevel: "disabled" });
const ascii = (text) => text.replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
for (const file of ["without", "with"]) {
  const model = await llama.loadModel({ modelPath: `${file}.gguf`, vocabOnly: true });
  for (const text of texts) console.log("llama.cpp,", file, "the keys", ascii(model.tokenize(text).map((id) => pieces[id]).join(" ")));
}
process.exit(0);
JAVASCRIPT
{ environment/bin/python save.py; node encode.mjs; } | tee seen
cat >expected <<'TEXT'
gguf knows the keys: False
tokenizers ['Salt', 'salt', '##s', 'Salt', '.']
tokenizers ['S\xe9', 's\xe9', 'se']
tokenizers ['Salt', '!', '!', '\u2163']
llama.cpp, without the keys salt salt ##s salt .
llama.cpp, without the keys se se se
llama.cpp, without the keys salt ! ! [UNK]
llama.cpp, with the keys Salt salt ##s Salt .
llama.cpp, with the keys S\u00e9 s\u00e9 se
llama.cpp, with the keys Salt ! ! \u2163
TEXT
diff expected seen
