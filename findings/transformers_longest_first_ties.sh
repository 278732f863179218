#!/usr/bin/env bash
# Claim: where two texts are equally long, truncation="longest_first" of a fast tokenizer takes the token from the first text, and
#   that of a Python tokenizer of the same library from the second, as BERT's own script does. So the same pair, cut to the same
#   length, keeps other tokens.
# Packages: transformers 5.24.0, tokenizers 0.23.3.
# Guess: one rule for one name: from the second text, as in BERT's truncate_seq_pair (`if len(a) > len(b)`, else b).
# It matters to whoever compares scores of sentence pairs (MNLI, QQP) between a tokenizer in Python and a fast one, or checks rows
#   against BERT's script: where an odd number of tokens is left, the texts keep other numbers of them.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check transformers==5.24.0 tokenizers==0.23.3
cat >cut.py <<'PYTHON'
"""Print how many tokens of both texts are left, by a Python tokenizer of characters and by a fast one."""

from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import CanineTokenizer, PreTrainedTokenizerFast

backend = Tokenizer(models.WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4}, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
backend.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
)
fast, python = PreTrainedTokenizerFast(tokenizer_object=backend), CanineTokenizer()
a, b = python("a", add_special_tokens=False)["input_ids"] + python("b", add_special_tokens=False)["input_ids"]
for first, second, length in ((3, 3, 8), (3, 3, 7), (3, 3, 6), (4, 2, 6), (5, 3, 8)):
    pair = {"text": "a" * first, "text_pair": "b" * second, "max_length": length, "truncation": "longest_first"}
    by_fast, by_python = fast(**pair)["input_ids"], python(**pair)["input_ids"]
    print(
        f"{first} + {second} tokens to {length - 3}: fast {by_fast.count(3)} + {by_fast.count(4)},",
        f"Python {by_python.count(a)} + {by_python.count(b)}",
    )
PYTHON
TRANSFORMERS_VERBOSITY=error environment/bin/python cut.py 2>said | tee seen
cat >expected <<'TEXT'
3 + 3 tokens to 5: fast 2 + 3, Python 3 + 2
3 + 3 tokens to 4: fast 2 + 2, Python 2 + 2
3 + 3 tokens to 3: fast 1 + 2, Python 2 + 1
4 + 2 tokens to 3: fast 2 + 1, Python 2 + 1
5 + 3 tokens to 5: fast 3 + 2, Python 3 + 2
TEXT
diff expected seen
