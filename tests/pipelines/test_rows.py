"""Builds in length bins, packed, and of weighted sources, through Beam: from the command line to verify."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.beam.runner import Runner
from bertdata.cli.main import run_verb
from bertdata.corpus.build import build_corpus
from bertdata.errors import ConfigError
from bertdata.objectives.settings import MixingConfig
from bertdata.shards import open_shards
from bertdata.sources.inputs import Sources
from bertdata.verify.build import verify
from tests.pipelines.builds import FLAGS, SAMPLE, build, digests, with_examples, with_phase

MIX = with_phase(mixing=MixingConfig(("wikipedia=1", "books=2")))


def test_a_mixture_in_bins_is_built_verified_and_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "corpus"
    flags = ["--output", str(output), *FLAGS, "--workers", "1", "--mix", "books=2", "wikipedia=1", "--bin-size", "32"]
    assert run_verb("build", flags) == 0
    printed = capsys.readouterr().out
    assert " epochs (weight 2)" in printed
    verify(output)
    manifest = json.loads((output / "manifest.json").read_text())
    mix = manifest["mix"]
    assert mix["books"]["epochs"] > 1 > mix["wikipedia"]["epochs"] > 0
    shards = open_shards(output)
    assert shards.info.sources == ("wikipedia", "books")
    assert [entry["longest"] for entry in manifest["splits"]["train"]["shards"][:4]] == [32, 64, 96, 128]
    assert run_verb("build", flags) == 0
    assert "nothing to do" in capsys.readouterr().out


@pytest.mark.costly
def test_a_changed_weight_tokenizes_nothing_again(tmp_path: Path) -> None:
    output = tmp_path / "corpus"
    build(output, MIX)
    tokens = {path: path.stat().st_mtime_ns for path in (output / "stages" / "tokens").iterdir()}
    before = digests(output)
    build(output, with_phase(mixing=MixingConfig(("wikipedia=2", "books=1"))))
    assert tokens == {path: path.stat().st_mtime_ns for path in (output / "stages" / "tokens").iterdir()}
    after = digests(output)
    assert {name for name in before if name.startswith("train") and before[name] != after[name]}


@pytest.mark.costly
def test_packing_and_bins_keep_the_token_store_and_replace_each_others_shards(tmp_path: Path) -> None:
    output = tmp_path / "corpus"
    build(output, with_examples(bin_size=64))
    assert len(list(output.glob("train/*.arrow"))) % 2 == 0
    examples = sum(open_shards(output, split).manifest["splits"][split]["counts"]["examples"] for split in ("train",))
    build(output, with_examples(pack=True))
    verify(output)
    counts = open_shards(output).manifest["splits"]["train"]["counts"]
    assert counts["examples"] == examples > counts["rows"]
    assert not {path.name for path in output.glob("train/*.arrow")} - {
        Path(shard["file"]).name for shard in open_shards(output).manifest["splits"]["train"]["shards"]
    }


def test_bins_of_documents_that_share_ids_are_verified(tmp_path: Path) -> None:
    rows = [{"id": str(n % 9), "text": "The lamp holds salt. " * (n % 7 + 1) + f"It rains {n}."} for n in range(90)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = with_examples(objective="doc-sentences", bin_size=16, max_seq_length=64)
    manifest = build(tmp_path / "corpus", settings, Sources(documents=(str(tmp_path / "rows.jsonl"),)))
    assert manifest["splits"]["train"]["counts"]["documents_sharing_id"] > 0
    verify(tmp_path / "corpus")


def test_documents_that_all_share_an_id_are_told_where_pairs_need_another(tmp_path: Path) -> None:
    rows = [{"id": "one", "text": f"The lamp holds {n}. It rains."} for n in range(40)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ConfigError, match="39 have the id of another, so give each an `id` of its own"):
        build(tmp_path / "corpus", sources=Sources(documents=(str(tmp_path / "rows.jsonl"),)))


def test_a_mix_of_unknown_sources_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="names news, but the sources of this build are: wikipedia, books"):
        build_corpus(
            SAMPLE, str(tmp_path / "corpus"), with_phase(mixing=MixingConfig(("news=1",))), Runner(1, quiet=True)
        )
    (tmp_path / "rows.jsonl").write_text('{"text": "Salt."}')
    flags = ["--documents", str(tmp_path), "--vocab", "bertdata-30k-uncased", "--output", str(tmp_path / "corpus")]
    with pytest.raises(ConfigError, match="names news, but the sources of this build are: wikipedia, books, documents"):
        run_verb("build-shards", [*flags, "--mix", "news=1"])
    assert not (tmp_path / "corpus").exists()


@pytest.mark.costly
def test_shards_built_of_cleaned_folders_know_their_sources(tmp_path: Path) -> None:
    build(tmp_path / "corpus")
    stages = tmp_path / "corpus" / "stages"
    folders = [str(stages / name) for name in ("books", "wikipedia")]
    output = tmp_path / "shards"
    flags = ["--documents", *folders, "--vocab", str(tmp_path / "corpus" / "tokenizer"), "--output", str(output)]
    flags += ["--shard-bytes", "80000", "--validation-fraction", "0.1", "--workers", "1"]
    assert run_verb("build-shards", flags) == 0
    verify(output)
    assert open_shards(output).info.sources == ("wikipedia", "books")
    assert digests(output) == digests(tmp_path / "corpus")
