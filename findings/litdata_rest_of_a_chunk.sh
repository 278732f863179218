#!/usr/bin/env bash
# Claim: with litdata's TokensLoader the tokens at the end of every chunk that do not fill a block are in no row: of eight documents with 53
#   tokens, in four chunks and blocks of five, 40 come out, and the cut documents go on in no other row. Chunks end between documents, so
#   that nearly each of them has such a rest, and `chunk_size` that is a multiple of the block does not prevent it.
# Packages: litdata 0.2.76, torch 2.13.0, numpy 2.4.6.
# Guess: one stream of tokens, of which the last block of all alone may be lost, as when texts are joined and cut.
# It matters to whoever packs documents for a masked language model by litdata: rows and tokens are fewer than a count of the corpus says,
#   by up to a block for each chunk and worker, and which are lost depends on the size of chunks.
# Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
tools/bin/uv venv --quiet environment
tools/bin/uv pip install --quiet --python environment torch==2.13.0 litdata==0.2.76 numpy==2.4.6
cat >pack.py <<'PYTHON'
"""Write eight documents of tokens in chunks of about twenty, and read rows of five."""

import litdata
import torch
from litdata.streaming.item_loader import TokensLoader

LENGTHS = [7, 5, 9, 4, 11, 3, 8, 6]


def tokens_of(document):
    """Yield the tokens of a document: hundreds are its number."""
    yield torch.arange(100 * document, 100 * document + LENGTHS[document], dtype=torch.int32)


if __name__ == "__main__":
    litdata.optimize(tokens_of, [*range(8)], "packed", chunk_size=20, num_workers=1, item_loader=TokensLoader(block_size=5))
    rows = litdata.StreamingDataset("packed", item_loader=TokensLoader(block_size=5), shuffle=False)
    for number in range(len(rows)):
        print("row", rows[number].tolist(), flush=True)
    print("row", 5 * len(rows), "tokens of", sum(LENGTHS))
PYTHON
environment/bin/python pack.py 2>/dev/null | grep '^row' | tee seen
cat >expected <<'TEXT'
row [0, 1, 2, 3, 4]
row [5, 6, 100, 101, 102]
row [200, 201, 202, 203, 204]
row [205, 206, 207, 208, 300]
row [400, 401, 402, 403, 404]
row [405, 406, 407, 408, 409]
row [600, 601, 602, 603, 604]
row [605, 606, 607, 700, 701]
row 40 tokens of 53
TEXT
diff expected seen
