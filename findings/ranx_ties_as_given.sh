#!/usr/bin/env bash
# Claim: ranx leaves documents of one score in the order in which they were given; trec_eval puts them by their ids, the last first. With
#   equal scores for all documents the reciprocal rank is 1 in ranx where the relevant one was given first, and a third in trec_eval
#   (by pytrec_eval-terrier) whatever the order.
# Packages: ranx 0.3.21, pytrec-eval-terrier 0.5.11.
# Guess: the same scores of both, since ranx is tested against trec_eval.
# It matters to whoever scores an encoder for retrieval: lists to be ranked again often have the relevant document first, so that an
#   encoder whose vectors are all alike is scored as perfect; vectors of bits or of few digits have many equal scores.
# Date: 2026-12-01. ranx compiles for some minutes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check ranx==0.3.21 pytrec-eval-terrier==0.5.11
cat >scores.py <<'PYTHON'
"""Print the reciprocal rank of a document among three of one score, by two programs."""

import pytrec_eval
from ranx import Qrels, Run, evaluate

for relevant in ("salt", "pepper"):
    qrels = {"query": {relevant: 1}}
    for order in (["pepper", "rosemary", "salt"], ["salt", "rosemary", "pepper"]):
        run = {"query": dict.fromkeys(order, 0.5)}
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"})
        trec_eval = evaluator.evaluate(run)["query"]["recip_rank"]
        ranx = evaluate(Qrels(qrels), Run(run), "mrr")
        print(f"{relevant} of {', '.join(order)}: trec_eval {trec_eval:.2f}, ranx {ranx:.2f}")
PYTHON
environment/bin/python scores.py 2>said | tee seen
cat >expected <<'TEXT'
salt of pepper, rosemary, salt: trec_eval 1.00, ranx 0.33
salt of salt, rosemary, pepper: trec_eval 1.00, ranx 1.00
pepper of pepper, rosemary, salt: trec_eval 0.33, ranx 1.00
pepper of salt, rosemary, pepper: trec_eval 0.33, ranx 0.33
TEXT
diff expected seen
