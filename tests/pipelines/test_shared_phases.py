"""Phases with the same rows are on disk once, and each is a whole build for whoever reads, copies or verifies it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bertdata.beam.runner import Runner
from bertdata.cli import command_line
from bertdata.cli.main import dispatch, parser_of
from bertdata.corpus.dry_run import dry_run
from bertdata.corpus.requests import settings_of_request
from bertdata.corpus.shared_rows import same_rows, shared_notes
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.reader import open_shards
from bertdata.verify.build import verify
from tests.pipelines.builds import SAMPLE, SETTINGS, build, digests

RATE = MaskingConfig(masked_lm_prob=0.3)
PHASES = (
    PhaseConfig(name="first"),
    PhaseConfig(name="again"),
    PhaseConfig(name="rate", masking=RATE),
    PhaseConfig(name="other", examples=ExamplesConfig(max_seq_length=64)),
)
SEVERAL = replace(SETTINGS, vocab="bertdata-30k-uncased", phases=PHASES)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("phases") / "corpus"
    build(output, SEVERAL)
    return output


def shards(phase: Path) -> list[Path]:
    return sorted(phase.glob("*/data-*.arrow"))


def test_the_same_rows_are_one_file(built: Path) -> None:
    places = {name: [path.stat().st_ino for path in shards(built / name)] for name in ("first", "again", "rate")}
    assert places["first"] == places["again"] == places["rate"]
    assert not {*places["first"]} & {path.stat().st_ino for path in shards(built / "other")}


@pytest.mark.costly
def test_each_phase_is_what_it_is_alone_and_is_verified(built: Path, tmp_path: Path) -> None:
    build(tmp_path / "alone", replace(SEVERAL, phases=(PHASES[2],)))
    assert digests(tmp_path / "alone") == digests(built / "rate")
    alone, phase = (files.read_json(str(folder / "manifest.json")) for folder in (tmp_path / "alone", built / "rate"))
    assert (alone["splits"], alone["info"]) == (phase["splits"], phase["info"])
    assert open_shards(built / "rate").expect_pretraining().masking == RATE
    assert open_shards(built / "again").expect_pretraining().masking == MaskingConfig()
    assert ("phase rate", "") in verify(built)


def test_a_copy_of_one_phase_or_of_all_is_whole(built: Path, tmp_path: Path) -> None:
    shutil.copytree(built / "again", tmp_path / "again")
    assert open_shards(tmp_path / "again")[0]["input_ids"].size
    shutil.copytree(built, tmp_path / "all")
    assert verify(tmp_path / "all") == verify(built)


@pytest.mark.costly
def test_a_note_says_so_and_how_to_build_one(built: Path) -> None:
    [note] = shared_notes(PHASES)
    assert note == (
        "the phases again, rate have the rows of first, which are on disk once; --phase first builds that alone"
    )
    planned = dry_run(SAMPLE, str(built.parent / "new"), SEVERAL, Runner(1, quiet=True))
    alone = dry_run(SAMPLE, str(built.parent / "new"), replace(SEVERAL, phases=PHASES[:1]), Runner(1, quiet=True))
    assert planned.estimate is not None
    assert alone.estimate is not None
    shares = [
        next(work for work in estimate.stages if work.title == "write shards")
        for estimate in (planned.estimate, alone.estimate)
    ]
    assert planned.estimate.examples > 4 * alone.estimate.examples
    assert shares[0].stored < 2.5 * shares[1].stored


@pytest.mark.costly
def test_a_phase_with_rows_of_its_own_is_written_again_when_it_changes(built: Path, tmp_path: Path) -> None:
    output = tmp_path / "corpus"
    shutil.copytree(built, output)
    changed = replace(PHASES[1], examples=ExamplesConfig(seed=5))
    build(output, replace(SEVERAL, phases=(PHASES[0], changed, *PHASES[2:])))
    assert {*digests(output / "first").values()}.isdisjoint(digests(output / "again").values())
    assert digests(output / "first") == digests(built / "first") == digests(output / "rate")
    build(output, SEVERAL)
    assert [path.stat().st_ino for path in shards(output / "first")] == [
        path.stat().st_ino for path in shards(output / "again")
    ]
    verify(output)


def test_static_masks_are_rows_of_their_own() -> None:
    static = ExamplesConfig(masking="static")
    assert same_rows([PhaseConfig(static, name="a"), PhaseConfig(static, RATE, name="b")]) == {}
    assert same_rows([PhaseConfig(static, name="a"), PhaseConfig(static, name="b")]) == {1: 0}


def test_at_a_url_the_store_copies() -> None:
    files.write_bytes("memory://phases/a/x.arrow", b"rows")
    files.link("memory://phases/a/x.arrow", "memory://phases/b/x.arrow")
    assert files.read_bytes("memory://phases/b/x.arrow") == b"rows"


def test_where_a_disk_has_no_links_there_is_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError("no links")

    (tmp_path / "a").write_bytes(b"rows")
    (tmp_path / "b").write_bytes(b"others")
    monkeypatch.setattr("os.link", refused)
    files.link(str(tmp_path / "a"), str(tmp_path / "b"))
    assert (tmp_path / "b").read_bytes() == b"rows"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def chosen(*flags: str) -> list[str]:
    parsed = command_line.parse(parser_of("build"), ["--output", "no-such", "--vocab", "bertdata-30k-uncased", *flags])
    return [phase.folder for phase in settings_of_request(parsed)[1].phases]


def test_phases_are_chosen_by_name() -> None:
    lengths = ["--max-seq-length", "64", "128", "256"]
    assert chosen(*lengths) == ["64", "128", "256"]
    assert chosen(*lengths, "--phase", "128") == ["128"]
    assert chosen(*lengths, "--phase", "256", "64") == ["64", "256"]
    with pytest.raises(ConfigError, match="phase` is '512'; expected one of 64, 128, 256"):
        chosen(*lengths, "--phase", "512")


def test_show_shows_the_first_phase_and_names_the_others(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["show", str(built), "--count", "1"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"The phase first, the first. The others: {built}/again, {built}/rate, {built}/other\n")
    assert "example 0 of " in shown
