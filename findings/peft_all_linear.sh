#!/usr/bin/env bash
# Claim: peft's target_modules="all-linear" works for BERT that classifies texts, and is a TypeError for BERT that labels tokens or
#   answers questions: it leaves out the last layer of models for sequence classification alone, and the last layer cannot be saved
#   whole and have an adapter.
# Packages: peft 0.21.2, transformers 5.24.0.
# Guess: it works for each task type, as peft knows each, and its documentation says that the output layer is left out.
# It matters to whoever tunes encoders for named entities or questions: the setting that QLoRA's authors advise cannot be used, and the
#   layers have to be named.
# Date: 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
tools/bin/uv venv --quiet environment
tools/bin/uv pip install --quiet --python environment torch==2.13.0 peft==0.21.2 transformers==5.24.0
cat >adapt.py <<'PYTHON'
"""Put adapters into small models of three tasks and print what of the last layer is trained."""

import transformers
from peft import LoraConfig, get_peft_model

config = transformers.BertConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, vocab_size=50)
for task, head, last in (
    ("SEQ_CLS", "SequenceClassification", "classifier"), ("TOKEN_CLS", "TokenClassification", "classifier"),
    ("QUESTION_ANS", "QuestionAnswering", "qa_outputs"),
):
    model = getattr(transformers, f"BertFor{head}")(config)
    try:
        adapted = get_peft_model(model, LoraConfig(task_type=task, target_modules="all-linear"))
        print(task, *[name for name, weight in adapted.named_parameters() if weight.requires_grad and last in name])
    except TypeError as error:
        print(task, "TypeError:", error)
PYTHON
environment/bin/python -W ignore adapt.py 2>/dev/null | tee seen
cat >expected <<'TEXT'
SEQ_CLS base_model.model.classifier.modules_to_save.default.weight base_model.model.classifier.modules_to_save.default.bias
TOKEN_CLS TypeError: modules_to_save cannot be applied to modules of type <class 'peft.tuners.lora.layer.Linear'>
QUESTION_ANS TypeError: modules_to_save cannot be applied to modules of type <class 'peft.tuners.lora.layer.Linear'>
TEXT
diff expected seen
