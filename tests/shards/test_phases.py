"""Builds of several row lengths: where they lie, and what readers say of their folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.corpus.token_plan import TokenPlan
from bertdata.errors import InputError, VerificationError
from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from bertdata.sentences.segmenter import SentenceSegmenter
from bertdata.shards import open_shards
from bertdata.shards.phases import PhaseConfig, delete_other_layout, phase_names, plan_phases, write_index
from bertdata.shards.settings import ShardsConfig
from bertdata.verify.build import verify
from tests.shards.build import write_build
from tests.small_build import tokenizer

BOTH = [PhaseConfig(ExamplesConfig(max_seq_length=length)) for length in (32, 64)]


@pytest.fixture(scope="module")
def phases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("phases")
    for phase in plan_phases(str(output), BOTH):
        write_build(Path(phase.output), phase.config.examples)
    write_index(str(output), plan_phases(str(output), BOTH))
    return output


def test_no_phase_says_that_it_is_finished_once_what_it_is_made_of_is_written_anew(tmp_path: Path) -> None:
    english = SentenceSegmenter.from_pretrained("english")
    for length in (32, 64):
        files.write_json(f"{tmp_path}/{length}/manifest.json", {})
    TokenPlan(str(tmp_path), [], [], tokenizer(), english, BOTH, ShardsConfig(), [None, None]).prepare()
    assert not list(tmp_path.glob("*/manifest.json"))
    assert all((tmp_path / str(length) / "tokenizer").is_dir() for length in (32, 64))


def test_each_phase_opens_as_a_build_of_its_own(phases: Path) -> None:
    for length in (32, 64):
        shards = open_shards(phases / str(length))
        assert shards.info.max_seq_length == length
        assert len(shards) > 20


def test_the_folder_of_all_phases_names_them(phases: Path) -> None:
    with pytest.raises(InputError, match=f"several phases: 32, 64; open one of them, as {phases}/32"):
        open_shards(phases)


def test_all_phases_are_verified(phases: Path) -> None:
    rows = verify(phases)
    assert [name for name, _ in rows if "phase" in name] == ["phase 32", "phase 64"]
    assert rows[1:] == [*verify(phases / "32"), ("phase 64", ""), *verify(phases / "64")]


def test_a_disagreement_in_any_phase_is_told(phases: Path, tmp_path: Path) -> None:
    for length in (32, 64):
        write_build(tmp_path / str(length), ExamplesConfig(max_seq_length=length))
        [path, *_] = sorted((tmp_path / str(length) / "train").glob("*.arrow"))
        path.write_bytes(path.read_bytes()[:-1])
    files.write_json(f"{tmp_path}/manifest.json", {"phases": ["32", "64"]})
    with pytest.raises(VerificationError) as caught:
        verify(tmp_path)
    assert all(f"{tmp_path}/{length}" in str(caught.value) for length in (32, 64))


def test_a_missing_phase_is_told(tmp_path: Path) -> None:
    write_build(tmp_path / "32", BOTH[0].examples)
    files.write_json(f"{tmp_path}/manifest.json", {"phases": ["32", "64"]})
    with pytest.raises(VerificationError, match="64"):
        verify(tmp_path)


def test_one_length_lies_in_the_output_itself_and_has_no_index(tmp_path: Path) -> None:
    [phase] = plan_phases(str(tmp_path), BOTH[:1])
    assert (phase.output, phase.config) == (str(tmp_path), BOTH[0])
    write_index(str(tmp_path), [phase])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("manifest", [{}, {"splits": {}}, [], None, {"phases": None}, {"phases": "128"}])
def test_other_manifests_name_no_phases(manifest: object) -> None:
    assert phase_names(manifest) == []


def test_the_layout_of_another_number_of_lengths_goes_and_nothing_else(tmp_path: Path) -> None:
    def names() -> set[str]:
        return {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}

    kept = {"stages/tokens/tokens-00000.arrow", "notes.txt", "2024-notes/a"}
    alone = {"train/data-00000-of-00001.arrow", "README.md", "dataset_dict.json", "tokenizer/vocab.txt"}
    alone |= {"stages/shards/train/data-00000-of-00001.json"}
    several = {f"{length}/{name}" for length in (32, 64, 128) for name in ("manifest.json", "train/x", "tokenizer/x")}
    several |= {f"stages/shards/{length}/train/x.json" for length in (32, 64, 128)}
    for name in kept | alone | several:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(name))
    delete_other_layout(str(tmp_path), plan_phases(str(tmp_path), BOTH))
    assert names() == kept | {name for name in several if "128" not in name}
    delete_other_layout(str(tmp_path), plan_phases(str(tmp_path), BOTH[:1]))
    assert names() == kept
