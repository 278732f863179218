#!/usr/bin/env bash
# Claim: the graph that gen_processing_models of onnxruntime-extensions makes of an uncased BertTokenizer keeps accents where the settings
#   do not name strip_accents, which for BERT means that they go. Then, and wherever a letter is unknown, a word becomes its first pieces
#   and [UNK], not one [UNK]: "caf [UNK]" for "café", which tokenizers reads as "cafe". There is no error and no warning, and plain
#   English has the same ids.
# Packages: onnxruntime 1.32.0, onnxruntime-extensions 0.15.2, onnx 1.23.2, transformers 5.24.0, tokenizers 0.23.3.
# Guess: equal ids but for invisible characters, such as soft hyphens; these are equal.
# It matters to whoever puts the tokenizer of an uncased BERT into its ONNX graph: bert-base-uncased and most models made from it leave
#   strip_accents out, or say null. With "strip_accents": true in tokenizer_config.json accents go; unknown letters stay as they are here.
# Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check onnxruntime==1.32.0 onnxruntime-extensions==0.15.2 onnx==1.23.2 \
    transformers==5.24.0 tokenizers==0.23.3
cat >graph.py <<'PYTHON'
"""Print the tokens of texts by a tokenizer, and by the graph that is made of it."""

import json
import pathlib

import numpy as np
import onnxruntime
from onnxruntime_extensions import gen_processing_models, get_library_path
from transformers import AutoTokenizer

vocabulary = "[PAD] [UNK] [CLS] [SEP] [MASK] the cafe caf ##e in ##land".split()
for named in ({}, {"strip_accents": None}, {"strip_accents": True}):
    model = pathlib.Path(f"model{len(list(pathlib.Path().iterdir()))}").absolute()
    model.mkdir()
    (model / "vocab.txt").write_text("\n".join(vocabulary))
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, **named}
    (model / "tokenizer_config.json").write_text(json.dumps(settings))
    tokenizer = AutoTokenizer.from_pretrained(model)
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(get_library_path())
    graph = gen_processing_models(tokenizer, pre_kwargs={})[0].SerializeToString()
    session = onnxruntime.InferenceSession(graph, options)
    for text in ("The inland", "in\u00adland", "the caf\u00e9", "inyland"):
        ids = session.run(None, {"text": np.array([text])})[0].ravel().tolist()
        print(named, ascii(text), *tokenizer.tokenize(text), "|", *tokenizer.convert_ids_to_tokens(ids)[1:-1])
PYTHON
HF_HUB_OFFLINE=1 PYTHONIOENCODING=utf-8 environment/bin/python graph.py 2>said | tee seen
cat >expected <<'TEXT'
{} 'The inland' the in ##land | the in ##land
{} 'in\xadland' in ##land | in ##land
{} 'the caf\xe9' the cafe | the caf [UNK]
{} 'inyland' [UNK] | in [UNK]
{'strip_accents': None} 'The inland' the in ##land | the in ##land
{'strip_accents': None} 'in\xadland' in ##land | in ##land
{'strip_accents': None} 'the caf\xe9' the cafe | the caf [UNK]
{'strip_accents': None} 'inyland' [UNK] | in [UNK]
{'strip_accents': True} 'The inland' the in ##land | the in ##land
{'strip_accents': True} 'in\xadland' in ##land | in ##land
{'strip_accents': True} 'the caf\xe9' the cafe | the cafe
{'strip_accents': True} 'inyland' [UNK] | in [UNK]
TEXT
diff expected seen
! grep -v "PyTorch was not found" said
