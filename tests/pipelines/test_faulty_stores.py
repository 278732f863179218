"""Builds in S3 and in Google Cloud Storage, where one request in twenty fails, have the bytes of a local build."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import fsspec
import pytest

from bertdata.beam.runner import Runner
from bertdata.corpus.build import build_corpus
from bertdata.engine.remote_lock import LOCK
from bertdata.io import files
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from tests.pipelines.builds import SETTINGS, digests
from tests.pipelines.stores import STORES

WITH_BEAM = True

pytestmark = [
    # the servers and clients of others warn of what they themselves use
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SHARE = 0.05


def shards(url: str) -> dict[str, str]:
    """Return the SHA-256 of every shard by its path below a URL."""
    fs, place = fsspec.core.url_to_fs(url)
    files_of = {split: fs.glob(f"{place}/{split}/data-*.arrow") for split in ("train", "validation")}
    return {
        f"{split}/{files.name(path)}": hashlib.sha256(fs.cat_file(path)).hexdigest()
        for split, paths in files_of.items()
        for path in paths
    }


@pytest.mark.parametrize("name", STORES)
def test_a_build_where_one_request_in_twenty_fails_has_the_bytes_of_a_local_one(name: str, sample_build: Path) -> None:
    with STORES[name](SHARE) as store:
        dump = f"{store.bucket}/dumps/{files.name(SAMPLE_DUMP)}"
        files.write_bytes(dump, Path(SAMPLE_DUMP).read_bytes())
        settings = replace(SETTINGS, cleaning=CleaningConfig())
        build_corpus(Sources((dump,), (SAMPLE_BOOKS,)), f"{store.bucket}/out", settings, Runner(1, quiet=True))
        faults = store.proxy.faults
        assert set(faults) == {"503", "cut before", "cut after"}
        assert faults.total() > SHARE / 2 * store.proxy.requests.total()
        store.proxy.share = 0.0
        assert shards(f"{store.bucket}/out") == digests(sample_build)
        assert not files.exists(f"{store.bucket}/out/{LOCK}")
