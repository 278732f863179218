#!/usr/bin/env bash
# Claim: a Unigram model of SentencePiece depends on the order of the lines and on the number of threads, although every line is
#   read: scores differ with the threads, pieces with the order. A BPE model of the same lines does not.
# Packages: sentencepiece 0.2.3.
# Guess: the vocabulary is one of counts of words, so neither matters; at most the last digits of scores.
# It matters to whoever trains a vocabulary from the shards of a parallel job, whose order varies, or on another machine: ids differ.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check sentencepiece==0.2.3
cat >train.py <<'PYTHON'
"""Print whether models of the same lines are equal, by order and threads."""

import io

import sentencepiece

lines = [
    "the sea is salty and cold", "a cat sat on a mat", "storms come in winter", "the winter sea is cold", "cats and mats and seas",
] * 30 + ["coal boats sail", "seals eat eels"] * 9  # fmt: skip


def train(lines, kind, threads):
    """Return the pieces of a model and their scores."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=60, hard_vocab_limit=False, model_type=kind,
        num_threads=threads, minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [(processor.id_to_piece(number), processor.get_score(number)) for number in range(len(processor))]


for kind in ("unigram", "bpe"):
    model = train(lines, kind, 1)
    for name, other in (
        ("again", train(lines, kind, 1)),
        ("8 threads", train(lines, kind, 8)),
        ("sorted", train(sorted(lines), kind, 1)),
        ("reversed", train(lines[::-1], kind, 1)),
    ):
        print(kind, name, "pieces equal", {p for p, _ in other} == {p for p, _ in model}, "all equal", other == model)
PYTHON
environment/bin/python train.py | tee seen
cat >expected <<'TEXT'
unigram again pieces equal True all equal True
unigram 8 threads pieces equal True all equal False
unigram sorted pieces equal False all equal False
unigram reversed pieces equal False all equal False
bpe again pieces equal True all equal True
bpe 8 threads pieces equal True all equal True
bpe sorted pieces equal True all equal True
bpe reversed pieces equal True all equal True
TEXT
diff expected seen
