"""How often each token of a vocabulary is in the rows of a build."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.loader.examples import ShardExamples
from bertdata.shards.number_arrays import numbers_of
from bertdata.tokenizers.base import Tokenizer


def counted_tokens(build: str | os.PathLike[str], tokenizer: Tokenizer) -> NDArray[np.int64]:
    """Return how often each token is in the train rows of a build, special ones aside (0): int64 (vocab_size,).

    Raises ConfigError where the build has another tokenizer, and as `ShardExamples` does.
    """
    examples = ShardExamples(build, "train")
    if examples.info.tokenizer != tokenizer.fingerprint:
        raise ConfigError(
            f"the build has another tokenizer ({examples.info.vocab_size:,} tokens, fingerprint "
            f"{examples.info.tokenizer[:12]}) than the new vocabulary ({tokenizer.vocab_size:,}, "
            f"{tokenizer.fingerprint[:12]}); give a build that was made with it",
            path=files.path_text(build),
        )

    def counted(rows: pa.Array) -> NDArray[np.int64]:
        ids = numbers_of(rows.flatten())
        return np.bincount(ids, minlength=tokenizer.vocab_size)

    total = np.zeros(tokenizer.vocab_size, np.int64)
    for part in examples.rows.every("input_ids", counted):
        total += part
    total[tokenizer.special_ids] = 0
    return total
