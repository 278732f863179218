#!/usr/bin/env bash
# Claim: BlingFire, whose sentence model is said to be of all languages, does not cut at the full stops of Devanagari, Ethiopic,
#   Armenian, Burmese, Khmer and Tibetan, nor at the Greek question mark; it cuts at those of Urdu, Japanese and Chinese. sentencex,
#   which has rules by language, leaves Khmer and Tibetan whole.
# Packages: blingfire 0.1.8, sentencex 1.0.32, numpy 2.4.6.
# Guess: two sentences each time from both, as each of these marks ends a sentence in its script.
# It matters to whoever makes sentences of a multilingual corpus: a Hindi article is one sentence, and next-sentence pairs and limits of
#   length mean something else than in English.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check blingfire==0.1.8 sentencex==1.0.32 numpy==2.4.6
cat >split.py <<'PYTHON'
"""Print how many sentences there are in two sentences of each language."""

import blingfire
import sentencex

for language, text in {
    "hi": "यह समुद्र है। पानी ठंडा है।",
    "ur": "یہ سمندر ہے۔ پانی ٹھنڈا ہے۔",
    "am": "ባሕር ነው። ውሃ ቀዝቃዛ ነው።",
    "hy": "Սա ծով է։ Ջուրը սառն է։",
    "my": "ပင်လယ်ဖြစ်သည်။ ရေအေးသည်။",
    "ja": "海です。水は冷たい。",
    "el": "Είναι κρύα; Ναι.",
    "km": "នេះជាសមុទ្រ។ ទឹកត្រជាក់។",
    "bo": "མཚོ་རེད། ཆུ་གྲང་མོ་རེད།",
}.items():
    by_language = [sentence for sentence in sentencex.segment(language, text) if sentence.strip()]
    print(language, "blingfire", len(blingfire.text_to_sentences(text).split("\n")), "sentencex", len(by_language))
PYTHON
environment/bin/python split.py | tee seen
cat >expected <<'TEXT'
hi blingfire 1 sentencex 2
ur blingfire 2 sentencex 2
am blingfire 1 sentencex 2
hy blingfire 1 sentencex 2
my blingfire 1 sentencex 2
ja blingfire 2 sentencex 2
el blingfire 1 sentencex 2
km blingfire 1 sentencex 1
bo blingfire 1 sentencex 1
TEXT
diff expected seen
