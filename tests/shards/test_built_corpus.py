"""A finished build in Python: its splits, its phases and its manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.built_corpus import BuiltCorpus
from tests.shards.build import write_build


def test_a_corpus_opens_its_splits_and_has_the_keys_of_its_manifest(tmp_path: Path) -> None:
    build = write_build(tmp_path / "corpus")
    corpus = BuiltCorpus(str(build), files.read_json(f"{build}/manifest.json"))
    assert corpus.train.table.equals(open_shards(build).table)
    assert corpus.validation is not None
    assert corpus.validation.split == "validation"
    assert corpus["info"] == corpus.manifest["info"]
    assert {*corpus} == {*corpus.manifest}
    assert len(corpus) == len(corpus.manifest)
    assert corpus.phases == {}
    shown = f"{len(corpus.train):,} examples in train, {len(corpus.validation):,} examples in validation"
    assert repr(corpus) == f"BuiltCorpus({str(build)!r}): {shown}"


def test_a_split_that_is_not_there_is_none_or_refused(tmp_path: Path) -> None:
    build = write_build(tmp_path / "corpus", validation_fraction=0)
    manifest = files.read_json(f"{build}/manifest.json")
    assert BuiltCorpus(str(build), manifest).validation is None
    with pytest.raises(ConfigError, match="has no split 'train'; it has test"):
        _ = BuiltCorpus(str(build), {"splits": {"test": {}}}).train


def test_several_phases_are_corpora_of_their_own(tmp_path: Path) -> None:
    manifests = {}
    for length in (32, 64):
        build = write_build(tmp_path / str(length), ExamplesConfig(max_seq_length=length))
        manifests[str(length)] = files.read_json(f"{build}/manifest.json")
    corpus = BuiltCorpus(str(tmp_path), {"phases": manifests})
    assert list(corpus.phases) == ["32", "64"]
    assert corpus.phases["64"].train.info.max_seq_length == 64
    assert repr(corpus) == f"BuiltCorpus({str(tmp_path)!r}): phases 32, 64"
    with pytest.raises(ConfigError, match=r"take one, as corpus.phases\['32'\].train"):
        _ = corpus.train
