#!/usr/bin/env bash
# Claim: two added tokens that one normalizer makes the same text ("Foo" and "foo" under Lowercase) are both kept, and which of
#   their ids a text gets is drawn anew in each process. The same file and the same text give other ids in the next run, in the
#   worker of a data loader, or on another machine.
# Packages: tokenizers 0.23.3.
# Guess: the second one is refused, or takes the place of the first, or the first one wins; whichever, always the same.
# It matters to whoever adds the words of a list to an uncased tokenizer (names, chemical formulas): token ids written to disk by
#   several workers disagree with each other, and with the model that is trained on them.
# Date: 2026-11-27.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check tokenizers==0.23.3
cat >encode.py <<'PYTHON'
"""Print the ids of one text by a tokenizer of four tokens."""

from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "sea": 1}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.Lowercase()
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.add_tokens([AddedToken("Foo", normalized=True), AddedToken("foo", normalized=True)])
print(tokenizer.encode("the foo sea").ids)
PYTHON
for _ in $(seq 40); do environment/bin/python encode.py; done | sort -u | tee seen
printf '[0, 2, 1]\n[0, 3, 1]\n' >expected
diff expected seen
