"""The tokenizer that is saved beside the shards of a build, on this machine or in a store."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.shards.cache import read
from bertdata.shards.schema import ShardInfo, vocabulary_fields
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer, tokenizer_files


def open_saved_tokenizer(build: str, info: ShardInfo, manifest: str) -> Tokenizer | None:
    """Return the tokenizer beside the shards of a build, None where there is none.

    info: how the shards were made; manifest: the path of what says so. Raises ConfigError where they were made with
    another tokenizer, InputError where their numbers of tokens are not its own.
    """
    path = files.join(build, "tokenizer")
    tokenizer = _fetched(path) if files.is_remote(path) else load_tokenizer(path) if files.exists(path) else None
    if tokenizer is None:
        return None
    if tokenizer.fingerprint != info.tokenizer:
        raise ConfigError(
            f"the tokenizer in {path} is not the one the shards were made with "
            f"({tokenizer.fingerprint[:12]} here, {info.tokenizer[:12]} in the shards); "
            "restore it, or build again"
        )
    for name, value in vocabulary_fields(tokenizer).items():
        if (stated := getattr(info, name)) != value:
            raise InputError(
                f"says that {name} is {stated}; with the tokenizer beside it, it is {value}; restore it, or "
                "build again",
                path=manifest,
            )
    return tokenizer


def _fetched(url: str) -> Tokenizer | None:
    """Return the tokenizer in a folder of a store, None where it has no file of one.

    All names that files of tokenizers have are asked for, as http cannot list a folder; at once, as each answer takes
    as long as the way to the store and back.
    """
    names = sorted({*tokenizer_files()})
    with ThreadPoolExecutor(len(names)) as pool:
        contents = dict(zip(names, pool.map(lambda name: read(files.join(url, name)), names), strict=True))
    if all(data is None for data in contents.values()):
        return None
    with tempfile.TemporaryDirectory(prefix="bertdata-tokenizer-") as folder:
        for name, data in contents.items():
            if data is not None:
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(data)
        return load_tokenizer(folder)
