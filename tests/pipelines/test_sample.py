"""A sample of the documents, chosen by their ids, of all sources or of one, also by phases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.corpus.selection import in_sample
from bertdata.documents import slot
from bertdata.errors import ConfigError
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.settings import SelectionConfig
from bertdata.verify.build import verify
from tests.pipelines.builds import SETTINGS, build, digests

IDS = [f"enwiki:{number}" for number in range(20_000)]


def counts_of(manifest: dict[str, Any], name: str) -> int:
    return sum(split["counts"].get(name, 0) for split in manifest["splits"].values())


def phase(*sample: str, name: str = "") -> PhaseConfig:
    return PhaseConfig(ExamplesConfig(max_seq_length=64), selection=SelectionConfig(sample=sample), name=name)


def test_a_sample_is_a_share_and_is_in_every_larger_one() -> None:
    tenth, half = in_sample(IDS, 0.1), in_sample(IDS, 0.5)
    assert abs(tenth.mean() - 0.1) < 0.01
    assert not (tenth & ~half).any()
    assert in_sample(IDS, 1.0).all()
    assert np.array_equal(in_sample(IDS[::-1], 0.1)[::-1], tenth)


def test_a_sample_is_independent_of_the_shard_and_the_split() -> None:
    chosen = in_sample(IDS, 0.3)
    low = np.array([slot(token_id) < 6554 for token_id in IDS])
    assert abs(chosen[low].mean() - chosen[~low].mean()) < 0.04


@pytest.mark.costly
def test_a_sample_leaves_out_the_others_and_counts_them(tmp_path: Path) -> None:
    whole = build(tmp_path / "whole", replace(SETTINGS, phases=(phase(),)))
    half = build(tmp_path / "half", replace(SETTINGS, phases=(phase("0.5"),)))
    verify(tmp_path / "half")
    for name in ("documents", "sentences", "tokens"):
        assert counts_of(half, name) + counts_of(half, f"{name}_left_out") == counts_of(whole, name)
    assert 0.2 < counts_of(half, "documents") / counts_of(whole, "documents") < 0.8


@pytest.mark.costly
def test_a_sample_of_one_source_leaves_the_others_whole(tmp_path: Path) -> None:
    whole = build(tmp_path / "whole", replace(SETTINGS, phases=(phase(),)))
    half = build(tmp_path / "half", replace(SETTINGS, phases=(phase("wikipedia=0.5"),)))
    assert counts_of(half, "tokens_of_books") == counts_of(whole, "tokens_of_books") > 0
    assert 0 < counts_of(half, "tokens_of_wikipedia") < counts_of(whole, "tokens_of_wikipedia")


@pytest.mark.costly
def test_phases_have_samples_of_their_own_from_one_token_store(tmp_path: Path) -> None:
    manifest = build(tmp_path / "two", replace(SETTINGS, phases=(phase(name="all"), phase("0.5", name="half"))))
    build(tmp_path / "half", replace(SETTINGS, phases=(phase("0.5"),)))
    everything, half = manifest["phases"].values()
    assert counts_of(half, "documents") < counts_of(everything, "documents")
    assert digests(tmp_path / "two" / "half") == digests(tmp_path / "half")


@pytest.mark.parametrize("given", ["0", "1.5", "half", "=0.5", "a b=0.5", "news=", "nan"])
def test_what_is_no_share_is_refused(given: str) -> None:
    with pytest.raises(ConfigError, match=r"is not a share above 0 and up to 1, nor one of a source"):
        SelectionConfig(sample=(given,))


def test_a_source_twice_and_one_that_is_not_there_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"`sample` names the source news twice"):
        SelectionConfig(sample=("news=0.1", "news=0.2"))
    with pytest.raises(ConfigError, match=r"`sample` names boks, but the sources of this build are: wikipedia, books"):
        phase("boks=0.1").check_sources(["wikipedia", "books"])


def test_a_sample_without_a_document_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no document of train is left by `sample` 1e-09"):
        build(tmp_path, replace(SETTINGS, phases=(phase("1e-09"),)))
