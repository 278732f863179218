"""The tokenizer of a build, which must make the rows that are asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bertdata.options.option import require
from bertdata.shards.phases import PhaseConfig
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer
from bertdata.tokenizers.roles import require_rows


def load_tokenizer_for(vocab: str, phases: Sequence[PhaseConfig]) -> Tokenizer:
    """Return the tokenizer of a build; raises ConfigError where masked rows cannot be made with it."""
    tokenizer, shortest = load_tokenizer(vocab), min(phase.examples.max_seq_length for phase in phases)
    require_rows(tokenizer, vocab, masked=True, max_seq_length=shortest)
    special, least = tokenizer.row_template.special(pair=False), min(phase.examples.least_drawn for phase in phases)
    require(
        least > special,
        f"--min-seq-length is {least}; expected over {special}, for this tokenizer puts {special} special tokens "
        "around a text",
    )
    if tokenizer.slow_because:
        print(f"{vocab}: encoded by the tokenizers package, 2 MB/s or so, as {tokenizer.slow_because}", file=sys.stderr)
    return tokenizer
