#!/usr/bin/env bash
# Claim: transformers 5 takes special tokens that older versions added to a vocab.txt for ordinary words: it does not read the
#   additional_special_tokens of special_tokens_map.json when it looks which tokens of added_tokens.json are special. In an uncased model
#   the marker [ENT] is then found as "[ent]" in any text, its name is "[ent]", and skip_special_tokens leaves it in.
# Packages: transformers 4.57.6 and 5.24.0 with the tokenizers that each wants.
# Guess: both versions read a folder of an older transformers with the same special tokens.
# It matters to whoever opens a model with markers of entities (relation extraction, dense retrieval) that was saved without a
#   tokenizer.json before 4.34: texts can spell the markers, and what is decoded holds them, while all_special_tokens still names them.
# Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 4.57.6 5.24.0; do
    python3 -m venv "$version"
    "$version/bin/pip" install --quiet --disable-pip-version-check "transformers==$version"
done
cat >save.py <<'PYTHON'
"""Write an uncased BERT vocabulary with an added marker, in the files of transformers before 4.34, without a tokenizer.json."""

import json
from pathlib import Path

tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "river", "ent", "[", "]"]
contents = {
    "vocab.txt": "\n".join(tokens),
    "added_tokens.json": json.dumps({"[ENT]": len(tokens)}),
    "special_tokens_map.json": json.dumps({"additional_special_tokens": ["[ENT]"]}),
    "tokenizer_config.json": json.dumps({"do_lower_case": True, "tokenizer_class": "BertTokenizer"}),
    "config.json": json.dumps({"model_type": "bert"}),
}
Path("saved").mkdir()
for name, text in contents.items():
    Path("saved", name).write_text(text)
PYTHON
cat >encode.py <<'PYTHON'
"""Print the tokens of a text with the marker, and the text without special tokens."""

import transformers

tokenizer = transformers.AutoTokenizer.from_pretrained("saved")
ids = tokenizer("the [ENT] river [ent]")["input_ids"]
print(transformers.__version__, tokenizer.convert_ids_to_tokens(ids), "|", tokenizer.decode(ids, skip_special_tokens=True))
PYTHON
4.57.6/bin/python save.py
for version in 4.57.6 5.24.0; do TRANSFORMERS_VERBOSITY=error "$version/bin/python" encode.py 2>errors; done | tee seen
cat >expected <<'TEXT'
4.57.6 ['[CLS]', 'the', '[ENT]', 'river', '[', 'ent', ']', '[SEP]'] | the river [ ent ]
5.24.0 ['[CLS]', 'the', '[ent]', 'river', '[ent]', '[SEP]'] | the [ent] river [ent]
TEXT
diff expected seen
