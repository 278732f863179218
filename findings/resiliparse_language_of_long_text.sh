#!/usr/bin/env bash
# Claim: detect_fast of Resiliparse gives another language for a text than for the same text written twenty times: an English sentence
#   becomes Catalan. The sentence in capitals has no language, and neither has a Russian one.
# Packages: resiliparse 2.0.1.
# Guess: English each time, Russian for Russian: more of the same text makes a detector surer, not unsure.
# It matters to whoever filters web pages by it: repetitive pages go to the wrong language, short ones are lost.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check resiliparse==2.0.1
cat >identify.py <<'PYTHON'
"""Print the languages that are found."""

from resiliparse.parse.lang import detect_fast

sentence = "The sea is salty and cold in winter "
print("once", *detect_fast(sentence))
print("20 times", *detect_fast(sentence * 20))
print("capitals", *detect_fast(sentence.upper()))
print("Russian", *detect_fast("\u043c\u043e\u0440\u0435 \u0441\u043e\u043b\u0435\u043d\u043e\u0435 \u0438 "
                              "\u0445\u043e\u043b\u043e\u0434\u043d\u043e\u0435 \u0437\u0438\u043c\u043e\u0439"))  # fmt: skip
PYTHON
environment/bin/python identify.py | tee seen
cat >expected <<'TEXT'
once en 1010
20 times ca 1026
capitals unknown 0
Russian unknown 0
TEXT
diff expected seen
