"""Write what tiktoken says of its files of ranks: the SHA-256 of each, the pattern of words, and the special tokens.

    pip install tiktoken==0.14.0
    python scripts/tiktoken_encodings.py > bertdata/tokenizers/bpe/tiktoken_encodings.json

An encoding is that of a file which has its name; p50k_edit and o200k_harmony are other special tokens over the file of
another.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import Any

import tiktoken_ext.openai_public as source  # type: ignore[import-not-found]


def main() -> None:
    read: dict[str, str] = {}

    def load(path: str, expected_hash: str) -> dict[bytes, int]:
        read[path] = expected_hash
        return {}

    source.load_tiktoken_bpe, source.data_gym_to_mergeable_bpe_ranks = load, lambda **_: {}
    encodings: dict[str, Any] = {}
    for name, encoding_of in source.ENCODING_CONSTRUCTORS.items():
        read.clear()
        encoding = encoding_of()
        for path, digest in read.items():
            if PurePosixPath(path).stem == name:
                special = encoding["special_tokens"]
                encodings[name] = {"sha256": digest, "pattern": encoding["pat_str"], "special_tokens": special}
    json.dump({"tiktoken": version("tiktoken"), "encodings": encodings}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
