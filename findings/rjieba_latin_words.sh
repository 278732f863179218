#!/usr/bin/env bash
# Claim: rjieba, the port of jieba that transformers' RoFormer cuts Chinese with, gives other words than jieba: with unknown words
#   looked for (HMM, as both do unless told otherwise) a Latin word with a hyphen is one word to rjieba and three to jieba, and two
#   rare characters beyond U+FFFF are one word to rjieba and two to jieba. With HMM off the two agree.
# Packages: jieba 0.42.1, rjieba 0.2.2.
# Guess: the same words, as it has the dictionary, the algorithm and the arguments of jieba.
# It matters to whoever masks whole words in Chinese: corpora cut by the two have other words masked together.
# Date: 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check jieba==0.42.1 rjieba==0.2.2 setuptools==80.9.0
cat >cut.py <<'PYTHON'
"""Print the words of sentences by both packages."""

import logging

import jieba
import rjieba

jieba.setLogLevel(logging.ERROR)
for text in ("BERT-base模型", "海水很冷。", "𠀀𠀁是字"):
    for hmm in (True, False):
        print(text, "HMM" if hmm else "no HMM", "jieba", "/".join(jieba.cut(text, HMM=hmm)), "rjieba", "/".join(rjieba.cut(text, hmm)))
PYTHON
environment/bin/python -W ignore cut.py | tee seen
cat >expected <<'TEXT'
BERT-base模型 HMM jieba BERT/-/base/模型 rjieba BERT-base/模型
BERT-base模型 no HMM jieba BERT/-/base/模型 rjieba BERT/-/base/模型
海水很冷。 HMM jieba 海水/很/冷/。 rjieba 海水/很/冷/。
海水很冷。 no HMM jieba 海水/很/冷/。 rjieba 海水/很/冷/。
𠀀𠀁是字 HMM jieba 𠀀/𠀁/是/字 rjieba 𠀀𠀁/是/字
𠀀𠀁是字 no HMM jieba 𠀀/𠀁/是/字 rjieba 𠀀/𠀁/是/字
TEXT
diff expected seen
