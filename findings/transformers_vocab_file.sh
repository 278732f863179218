#!/usr/bin/env bash
# Claim: in transformers 5 the constructors of BERT's, ELECTRA's, DistilBERT's and RoBERTa's tokenizers take `vocab_file=` and
#   `merges_file=`, the names of these arguments in transformers 4, and read nothing: each word is the unknown token, or nothing at all,
#   without an error or a warning. The arguments are called `vocab` and `merges`; given by place they work in both.
# Packages: transformers 5.24.0 and 4.57.6 of PyPI.
# Guess: the old names are read, or refused as unknown arguments.
# It matters to whoever makes a tokenizer of a vocab.txt of their own, as most code for a trained vocabulary does: after an update the
#   model is trained on rows of [UNK].
# Date: 2026-11-30.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 5.24.0 4.57.6; do
    python3 -m venv "environment-$version"
    "environment-$version/bin/pip" install --quiet --disable-pip-version-check "transformers==$version"
done
printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' the lamp keep '##er' >vocab.txt
echo '{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 4, "l": 5, "a": 6, "la": 7}' >vocab.json
printf '%s\n' '#version: 0.2' 'l a' >merges.txt
cat >make.py <<'PYTHON'
"""Make tokenizers of files in two ways, and print their pieces of a text."""

import transformers

for name in ("BertTokenizerFast", "ElectraTokenizerFast", "DistilBertTokenizerFast"):
    kind = getattr(transformers, name)
    print(name, kind(vocab_file="vocab.txt").tokenize("the lamp keeper"), kind("vocab.txt").tokenize("the lamp keeper"))
kind = transformers.RobertaTokenizerFast
by_name, by_place = kind(vocab_file="vocab.json", merges_file="merges.txt"), kind("vocab.json", "merges.txt")
print(kind.__name__.removesuffix("Fast"), by_name.tokenize("lala"), by_place.tokenize("lala"))
PYTHON
for version in 5.24.0 4.57.6; do
    echo "$version"
    HF_HUB_OFFLINE=1 "environment-$version/bin/python" make.py 2>said
done | sed 's/TokenizerFast/Tokenizer/' | tee seen
cat >expected <<'TEXT'
5.24.0
BertTokenizer ['[UNK]', '[UNK]', '[UNK]'] ['the', 'lamp', 'keep', '##er']
ElectraTokenizer ['[UNK]', '[UNK]', '[UNK]'] ['the', 'lamp', 'keep', '##er']
DistilBertTokenizer ['[UNK]', '[UNK]', '[UNK]'] ['the', 'lamp', 'keep', '##er']
RobertaTokenizer [] ['la', 'la']
4.57.6
BertTokenizer ['the', 'lamp', 'keep', '##er'] ['the', 'lamp', 'keep', '##er']
ElectraTokenizer ['the', 'lamp', 'keep', '##er'] ['the', 'lamp', 'keep', '##er']
DistilBertTokenizer ['the', 'lamp', 'keep', '##er'] ['the', 'lamp', 'keep', '##er']
RobertaTokenizer ['la', 'la'] ['la', 'la']
TEXT
diff expected seen
