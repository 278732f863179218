#!/usr/bin/env bash
# Claim: github.com/sugarme/tokenizer, the tokenizer.json reader of Go, gives a run of five equal characters or more other pieces than
#   tokenizers does with the same BPE: of pairs with one rank it does not take the leftmost first. "-----" becomes "-- - --" and not
#   "---- -"; words whose pairs differ have the same pieces.
# Packages: github.com/sugarme/tokenizer v0.3.0 (Go), tokenizers 0.23.3.
# Guess: the same pieces of every word of a byte-level BPE; other ones, if at all, at the edges of added tokens.
# It matters to whoever serves a RoBERTa, ModernBERT or GPT-2 in Go: rules of dashes, dots, underscores and zeros, in tables and code, are
#   other ids than those that the model was trained on.
# Date: 2026-12-01. Needs Go.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check tokenizers==0.23.3
cat >make.py <<'PYTHON'
"""Write a small BPE, and print the pieces of words by tokenizers."""

import pathlib

from tokenizers import Tokenizer, models, pre_tokenizers

merges = [("-", "-"), ("--", "--"), (".", "."), ("..", "."), ("s", "e"), ("se", "a")]
pieces = ["-", ".", "s", "e", "a", *map("".join, merges)]
tokenizer = Tokenizer(models.BPE({piece: number for number, piece in enumerate(pieces)}, merges))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer.save("tokenizer.json")
for word in pathlib.Path("words").read_text().split():
    print("tokenizers", *tokenizer.encode(word).tokens)
PYTHON
printf '%s\n' sea ---- ----- ------- --------- ..... >words
mkdir program
cat >program/main.go <<'GO'
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/sugarme/tokenizer/pretrained"
)

func main() {
	tokenizer, err := pretrained.FromFile("tokenizer.json")
	if err != nil {
		panic(err)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		encoding, err := tokenizer.EncodeSingle(lines.Text())
		if err != nil {
			panic(err)
		}
		fmt.Println("sugarme", strings.Join(encoding.Tokens, " "))
	}
}
GO
environment/bin/python make.py | tee seen
export GOPATH=$folder/modules GOFLAGS=-mod=mod
(
    cd program
    go mod init example.org/pieces
    go get github.com/sugarme/tokenizer@v0.3.0
    go mod tidy
    go build -o ../pieces .
) >log 2>&1 || { cat log; exit 1; }
./pieces <words | tee -a seen
cat >expected <<'TEXT'
tokenizers sea
tokenizers ----
tokenizers ---- -
tokenizers ---- -- -
tokenizers ---- ---- -
tokenizers .. ...
sugarme sea
sugarme ----
sugarme -- - --
sugarme -- - ----
sugarme -- - ---- --
sugarme ... ..
TEXT
diff expected seen
