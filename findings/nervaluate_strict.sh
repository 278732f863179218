#!/usr/bin/env bash
# Claim: "strict" of nervaluate is not "strict" of seqeval. seqeval's strict mode counts an entity only where the tags are those of
#   the scheme (IOB2: it begins with B-); nervaluate's counts an entity that begins with I- as well, like seqeval's default mode, and
#   means by strict that span and type are right.
# Packages: nervaluate 1.2.1, seqeval 1.2.2.
# Guess: the two agree on tags in IOB2, as both are named strict and give F1 over entities.
# It matters to whoever compares named-entity scores of two reports: on tags with an I- at the start of an entity, as encoders often
#   predict them, they differ.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check nervaluate==1.2.1 seqeval==1.2.2
cat >score.py <<'PYTHON'
"""Print F1 of tags by both packages."""

import nervaluate
from seqeval.metrics import f1_score
from seqeval.scheme import IOB2

true = [["B-PER", "I-PER", "O", "B-LOC"]]
for predicted in ([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "I-LOC"]]):
    result = nervaluate.Evaluator(true, predicted, tags=["PER", "LOC"], loader="list").evaluate()
    print(
        predicted[0][-1], "seqeval", round(float(f1_score(true, predicted)), 3),
        "seqeval strict", round(float(f1_score(true, predicted, mode="strict", scheme=IOB2)), 3),
        "nervaluate strict", round(float(result["overall"]["strict"].f1), 3),
    )
PYTHON
environment/bin/python -W ignore score.py | tee seen
cat >expected <<'TEXT'
B-LOC seqeval 1.0 seqeval strict 1.0 nervaluate strict 1.0
I-LOC seqeval 1.0 seqeval strict 0.667 nervaluate strict 1.0
TEXT
diff expected seen
