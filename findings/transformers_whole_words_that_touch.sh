#!/usr/bin/env bash
# Claim: whole words in transformers 5 (`DataCollatorForLanguageModeling(whole_word_mask=True)`) are what stands between two spaces: a
#   word is masked together with the comma or quotation mark that touches it, "well-known" with its hyphen, and a sentence of Chinese
#   with its full stop as one word, so that all of it is masked or none. In transformers 4 (`DataCollatorForWholeWordMask`) words are
#   pieces with ##, as in BERT's own code.
# Packages: transformers 5.24.0 and 4.57.6, numpy 2.3.5 of PyPI.
# Guess: the new collator has the words of the old one: "##" joins, and punctuation and Chinese characters stand alone.
# It matters to whoever trains with whole words by transformers: another objective after an update, and in Chinese and Japanese rows
#   that are all mask, or have none. bertdata's words are those of the tokenizer's pre-tokenizer, as in BERT's code.
# Date: 2026-11-30.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 5.24.0 4.57.6; do
    python3 -m venv "environment-$version"
    "environment-$version/bin/pip" install --quiet --disable-pip-version-check "transformers==$version" numpy==2.3.5
done
cat >mask.py <<'PYTHON'
"""Mask texts many times by whole words, and print which tokens are always masked together."""

import random
import warnings

import numpy as np
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

warnings.simplefilter("ignore")
pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ",", "-", ".", '"', "。", "the", "lamp", "well", "known", "keep", "##er"]
pieces += list("灯塔照着河")
bert = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
bert.normalizer, bert.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
bert.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bert, **names)
is_new = transformers.__version__.startswith("5")
for text in ["the well-known keeper, the lamp.", '"the lamp"', "灯塔照着河。"]:
    row = tokenizer(text, return_offsets_mapping=is_new, return_special_tokens_mask=is_new)
    tokens = tokenizer.convert_ids_to_tokens(row["input_ids"])
    masks = []
    for seed in range(120):
        random.seed(seed)
        np.random.seed(seed)
        if is_new:
            collator = transformers.DataCollatorForLanguageModeling(
                tokenizer, mlm_probability=0.4, whole_word_mask=True, return_tensors="np", seed=seed
            )
        else:
            collator = transformers.DataCollatorForWholeWordMask(tokenizer, mlm_probability=0.4, return_tensors="np")
        masks.append(collator([dict(row)])["labels"][0] != -100)
    together = {}
    for token, column in zip(tokens, np.array(masks).T):
        if column.any():
            together.setdefault(column.tobytes(), []).append(token)
    print(" ".join("|".join(group) for group in together.values()))
PYTHON
for version in 5.24.0 4.57.6; do
    echo "$version"
    TRANSFORMERS_VERBOSITY=error "environment-$version/bin/python" mask.py 2>/dev/null
done | tee seen
cat >expected <<'TEXT'
5.24.0
the well|-|known keep|##er|, the lamp|.
"|the lamp|"
灯|塔|照|着|河|。
4.57.6
the well - known keep|##er , the lamp .
" the lamp "
灯 塔 照 着 河 。
TEXT
diff expected seen
