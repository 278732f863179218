"""A finished build in Python: its splits, its phases and its manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.corpus.built_corpus import BuiltCorpus
from bertdata.corpus.summary import build_rows
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.io.notebook import escaped
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
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
    with pytest.raises(ConfigError, match="has no split 'train'"):
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


def test_in_a_notebook_it_shows_the_summary_and_the_warnings() -> None:
    counts = {"documents": 3, "examples": 7, "tokens_in_examples": 70, "predictions": 9}
    manifest = {
        "info": {
            "examples": {"objective": "single-segment", "masking": "dynamic"},
            "masking": {"max_predictions_per_seq": 0},
        },
        "sources": {"a<b>": {"counts": {"rows": 3, "documents": 3, "text_bytes": 2000}, "drops": {}, "broken": []}},
        "tokens": {"counts": {"documents": 3, "sentences": 9, "tokens": 90}, "drops": {}},
        "vocabulary": {"pieces": 100},
        "splits": {"train": {"counts": counts, "shards": [{"bytes": 5}]}},
        "warnings": [{"about": "[UNK]", "found": "9% of the tokens are [UNK]", "remedy": "train a <vocabulary>"}],
    }
    page = BuiltCorpus("corpus", manifest)._repr_html_()
    assert page.startswith("<div>BuiltCorpus(&#x27;corpus&#x27;): 7 examples in train</div><div><table>")
    for row in build_rows(manifest):
        assert all(escaped(text) in page for text in row)
    assert "<b>[UNK]</b>: 9% of the tokens are [UNK]; train a &lt;vocabulary&gt;" in page
    assert "a&lt;b&gt;: rows in" in page
