#!/usr/bin/env bash
# Claim: the Precompiled normalizer, by which tokenizers runs the rules of SentencePiece models (T5, XLM-R, ALBERT and many others),
#   drops marks that SentencePiece composes with the letter before: the second of two accents, the accent after a capital letter
#   under rules that fold case, the accent after a full-width letter; the voice mark after a kana stays apart. Text in decomposed
#   form, as file names of macOS have it, becomes other words: "A" with an acute accent becomes "a" without one.
# Packages: tokenizers 0.23.3, sentencepiece 0.2.3.
# Guess: both apply the same rules, which are in the model file, and give the same text; so say the names.
# It matters to whoever trains with SentencePiece and serves with tokenizers (or the other way round), and to all Vietnamese, Japanese
#   and accented text that is not in form NFC: the ids differ, and letters are lost.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check tokenizers==0.23.3 sentencepiece==0.2.3
cat >normalize.py <<'PYTHON'
"""Print what both make of texts: the rules are read out of the bytes of the model, field 2 of its field 3."""

import io

import sentencepiece
from tokenizers import normalizers


def field(data: bytes, wanted: int) -> bytes:
    """Return the last field of a protobuf message that has a number and a length."""
    at, found = 0, b""

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            number()
        elif key & 7 == 5:
            at += 4
        else:
            size = number()
            found, at = (data[at : at + size] if key >> 3 == wanted else found), at + size
    return found


for rules in ("nmt_nfkc", "nmt_nfkc_cf"):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a few words to train on"] * 9), model_writer=model, vocab_size=25, minloglevel=2,
        hard_vocab_limit=False, normalization_rule_name=rules, add_dummy_prefix=False,
    )
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    ours = normalizers.Precompiled(field(field(model.getvalue(), 3), 2))
    for text in ("A\u0301", "\uff21\u0301", "\uff76\uff9e", "e\u0323\u0302"):
        print(rules, ascii(text), ascii(theirs.normalize(text)), ascii(ours.normalize_str(text)))
PYTHON
environment/bin/python normalize.py | tee seen
cat >expected <<'TEXT'
nmt_nfkc 'A\u0301' '\xc1' '\xc1'
nmt_nfkc '\uff21\u0301' '\xc1' 'A'
nmt_nfkc '\uff76\uff9e' '\u30ac' '\u30ab\u3099'
nmt_nfkc 'e\u0323\u0302' '\u1ec7' '\u1eb9'
nmt_nfkc_cf 'A\u0301' '\xe1' 'a'
nmt_nfkc_cf '\uff21\u0301' '\xe1' 'a'
nmt_nfkc_cf '\uff76\uff9e' '\u30ac' '\u30ab\u3099'
nmt_nfkc_cf 'e\u0323\u0302' '\u1ec7' '\u1eb9'
TEXT
diff expected seen
