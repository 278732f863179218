"""A build of MacBERT's masks: from a table of similar words to shards that are verified."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bertdata.corpus.settings import Settings
from bertdata.errors import InputError
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.phases import PhaseConfig
from bertdata.verify.build import verify
from tests.pipelines.builds import SETTINGS, build, digests, with_phase


def phases(masking: MaskingConfig, kind: str) -> Settings:
    """Return the test settings with phases of two lengths and these masks."""
    lengths = [ExamplesConfig(masking=kind, max_seq_length=length) for length in (32, 64)]
    return replace(SETTINGS, phases=tuple(PhaseConfig(examples, masking) for examples in lengths))


@pytest.mark.costly
def test_a_build_has_the_table_beside_each_phase_and_is_made_again_where_it_changed(tmp_path: Path) -> None:
    table, output = tmp_path / "similar.tsv", tmp_path / "corpus"
    table.write_text("was\twere\tis\nthe\tthis\tthat\n")
    masking = MaskingConfig(mask_unit="ngram", ngram_weights=("40", "30", "20", "10"), similar_words=str(table))
    settings = phases(masking, "static")
    manifest = build(output, settings)
    assert manifest["phases"]["32"]["similar_words"]["counts"] == {"similar_words": 4, "words": 2}
    assert "similar_words/table.arrow" in manifest["phases"]["64"]["files"]
    verify(output)
    first = digests(output / "32")
    moved = tmp_path / "moved.tsv"
    table.rename(moved)
    again = phases(replace(masking, similar_words=str(moved)), "static")
    finished = (output / ".bertdata-finished.json").stat().st_mtime_ns
    build(output, again)
    assert (output / ".bertdata-finished.json").stat().st_mtime_ns == finished
    moved.write_text("was\twere\nthe\tthis\tthat\n")
    build(output, again)
    assert digests(output / "32") != first
    verify(output)
    build(output, phases(MaskingConfig(), "dynamic"))
    assert not (output / "32" / "similar_words").exists()
    assert open_shards(output / "32").expect_pretraining().masking == MaskingConfig()


def test_a_missing_table_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    masking = MaskingConfig(mask_unit="word", similar_words=str(tmp_path / "none.tsv"))
    with pytest.raises(InputError, match=r"none\.tsv"):
        build(tmp_path / "corpus", with_phase(masking=masking))
    assert not (tmp_path / "corpus").exists()
