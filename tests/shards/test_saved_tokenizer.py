"""The tokenizer beside shards, fetched from where nothing can be listed."""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from pathlib import Path

import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.io.files import read_if_there
from bertdata.shards import open_shards
from bertdata.shards.saved_tokenizer import open_saved_tokenizer
from bertdata.tokenizers.loading import tokenizer_files
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from tests.shards.build import TOKENIZER

STORE = "s3://bucket/corpus"


@pytest.fixture
def asked(own_build: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Answer for a store from a build on disk, once all names have been asked for; returns how often each was."""
    names: Counter[str] = Counter()
    everyone = threading.Barrier(len({*tokenizer_files()}), timeout=60)

    def read(url: str) -> bytes | None:
        names[url.rpartition("/")[2]] += 1
        everyone.wait()
        return read_if_there(str(own_build / url.removeprefix(f"{STORE}/")))

    monkeypatch.setattr("bertdata.shards.saved_tokenizer.read", read)
    return names


def test_all_files_are_asked_for_at_once_and_each_once(own_build: Path, asked: Counter[str]) -> None:
    info = open_shards(own_build).info
    assert open_saved_tokenizer(STORE, info, f"{STORE}/manifest.json") == TOKENIZER
    assert asked == Counter({*tokenizer_files()})


def test_a_store_without_one_has_none(own_build: Path, asked: Counter[str]) -> None:
    info = open_shards(own_build).info
    shutil.rmtree(own_build / "tokenizer")
    assert open_saved_tokenizer(STORE, info, f"{STORE}/manifest.json") is None
    assert set(asked.values()) == {1}


def test_another_one_in_a_store_is_refused(own_build: Path, asked: Counter[str]) -> None:
    info = open_shards(own_build).info
    WordPieceTokenizer.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"]).save_pretrained(
        own_build / "tokenizer"
    )
    with pytest.raises(ConfigError, match="is not the one the shards were made with"):
        open_saved_tokenizer(STORE, info, f"{STORE}/manifest.json")
    assert asked


def test_shards_without_a_tokenizer_say_so_where_it_is_wanted(own_build: Path) -> None:
    shutil.rmtree(own_build / "tokenizer")
    shards = open_shards(own_build)
    assert not shards.has_tokenizer()
    with pytest.raises(InputError, match="no tokenizer beside the shards"):
        shards.tokenizer()
