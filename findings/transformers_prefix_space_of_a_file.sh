#!/usr/bin/env bash
# Claim: transformers 4 changes the pre-tokenizer of a tokenizer.json when it opens it: where the file puts a space before each text
#   (ByteLevel with add_prefix_space, as NER models of RoBERTa and Longformer have it) and tokenizer_config.json does not say so,
#   the space is taken away, since the argument is false by default. The first word of each text gets other ids. transformers 5
#   takes the file as it is, and there it is the other way round: what the settings say of the space changes nothing.
# Packages: transformers 4.57.6 and 5.24.0 with the tokenizers that each wants.
# Guess: PreTrainedTokenizerFast, which has no pipeline of its own, encodes as the tokenizer.json says, in both versions.
# It matters to whoever saves a tokenizers.Tokenizer and writes the settings by hand, or moves a model between the versions: the
#   first word of each sentence is another token than in training, and nothing says so.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 4.57.6 5.24.0; do
    python3 -m venv "$version"
    "$version/bin/pip" install --quiet --disable-pip-version-check "transformers==$version"
done
cat >save.py <<'PYTHON'
"""Save a byte-level BPE that puts a space before each text, with settings that say nothing of it, true, or false."""

import json
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers

letters = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = Tokenizer(models.BPE({letter: number for number, letter in enumerate(letters)}, []))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
for said in (None, True, False):
    Path(str(said)).mkdir()
    tokenizer.save(f"{said}/tokenizer.json")
    settings = {"tokenizer_class": "PreTrainedTokenizerFast"} | ({} if said is None else {"add_prefix_space": said})
    Path(f"{said}/tokenizer_config.json").write_text(json.dumps(settings))
PYTHON
cat >encode.py <<'PYTHON'
"""Print the tokens that AutoTokenizer makes of a text with the saved files."""

import transformers

for said in (None, True, False):
    print(transformers.__version__, said, transformers.AutoTokenizer.from_pretrained(str(said)).tokenize("ab"))
PYTHON
4.57.6/bin/python save.py
for version in 4.57.6 5.24.0; do TRANSFORMERS_VERBOSITY=error "$version/bin/python" encode.py 2>errors; done | tee seen
cat >expected <<'TEXT'
4.57.6 None ['a', 'b']
4.57.6 True ['Ġ', 'a', 'b']
4.57.6 False ['a', 'b']
5.24.0 None ['Ġ', 'a', 'b']
5.24.0 True ['Ġ', 'a', 'b']
5.24.0 False ['Ġ', 'a', 'b']
TEXT
diff expected seen
