"""Phases that take other sources, documents and masks from one token store."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bertdata.beam.runner import Runner
from bertdata.corpus.build import build_corpus
from bertdata.corpus.dry_run import Planned, dry_run
from bertdata.corpus.ledger import ledger
from bertdata.corpus.settings import Settings
from bertdata.corpus.summary import build_rows
from bertdata.curation.settings import AccountsConfig
from bertdata.engine.fingerprints import sealed
from bertdata.errors import BertDataError, ConfigError, VerificationError
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig, MixingConfig
from bertdata.shards import open_shards
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.settings import SelectionConfig
from bertdata.sources.inputs import Sources
from bertdata.verify.build import verify
from tests.pipelines.builds import SAMPLE, SETTINGS, build, digests, with_examples, with_phase
from tests.shards.build import text_of

ALL = PhaseConfig(ExamplesConfig(max_seq_length=64), MaskingConfig(masked_lm_prob=0.3), name="all")
LONG = PhaseConfig(
    ExamplesConfig("doc-sentences", max_seq_length=128),
    MaskingConfig(masked_lm_prob=0.05, mask_unit="word"),
    MixingConfig(("wikipedia=1",)),
    SelectionConfig(("wikipedia",), "tokens >= 300"),
    "long",
)


def counts_of(manifest: dict[str, Any], name: str) -> int:
    return sum(split["counts"].get(name, 0) for split in manifest["splits"].values())


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    output = tmp_path_factory.mktemp("selection") / "corpus"
    return output, build(output, replace(SETTINGS, phases=(ALL, LONG)))


@pytest.mark.costly
def test_phases_of_other_settings_are_built_in_their_order_and_verified(two: tuple[Path, dict[str, Any]]) -> None:
    output, manifest = two
    assert list(manifest["phases"]) == ["all", "long"] == json.loads((output / "manifest.json").read_text())["phases"]
    verify(output)
    names = [name for name, _ in build_rows(manifest)]
    assert {"phase all", "phase long"} <= {*names}
    shares = [
        counts_of(phase, "predictions") / counts_of(phase, "tokens_in_examples")
        for phase in manifest["phases"].values()
    ]
    assert shares == pytest.approx([0.3, 0.05], abs=0.01)
    assert open_shards(output / "long").expect_pretraining().masking.mask_unit == "word"


def test_a_selection_takes_long_documents_of_a_source_and_counts_the_others(two: tuple[Path, dict[str, Any]]) -> None:
    whole, chosen = two[1]["phases"].values()
    assert 0 < counts_of(chosen, "documents") < counts_of(whole, "documents")
    for name in ("documents", "sentences", "tokens", "unknown_tokens"):
        assert counts_of(chosen, name) + counts_of(chosen, f"{name}_left_out") == counts_of(whole, name)
    assert counts_of(chosen, "tokens") >= 300 * counts_of(chosen, "documents")
    assert counts_of(chosen, "tokens_of_books") == counts_of(chosen, "examples_of_books") == 0


def test_a_phase_with_the_settings_of_a_build_has_its_bytes(two: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    build(tmp_path, replace(with_examples(max_seq_length=64), phases=(replace(ALL, name=""),)))
    assert digests(two[0] / "all") == digests(tmp_path)


@pytest.mark.costly
def test_other_phases_leave_nothing_of_the_old_ones_and_keep_the_token_store(tmp_path: Path) -> None:
    def names() -> set[str]:
        return {path.name for path in tmp_path.iterdir() if not path.name.startswith(".bertdata")}

    build(tmp_path, replace(SETTINGS, phases=(ALL, LONG)))
    store = {path: path.stat().st_mtime_ns for path in (tmp_path / "stages" / "tokens").iterdir()}
    build(tmp_path, replace(SETTINGS, phases=(ALL, replace(LONG, name="last"))))
    assert names() == {"all", "last", "README.md", "manifest.json", "sentences", "stages"}
    assert store == {path: path.stat().st_mtime_ns for path in (tmp_path / "stages" / "tokens").iterdir()}
    verify(tmp_path)


@pytest.fixture
def rated(tmp_path: Path) -> Sources:
    """Return documents with scores, some of which have none."""
    path = tmp_path / "rated.jsonl"
    rows = [
        {"id": f"r{number}", "text": text_of(number), "score": number % 5, "metadata": {"language": "en"}}
        for number in range(60)
    ]
    for row in rows[::7]:
        del row["score"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Sources(documents=(str(path),))


def test_documents_are_selected_by_a_column_of_a_table(rated: Sources, tmp_path: Path) -> None:
    wanted = sum(number % 5 >= 3 and number % 7 > 0 for number in range(60))
    where = SelectionConfig(where="score >= 3 and metadata.language == 'en' and characters > 0")
    manifest = build(tmp_path / "out", with_phase(selection=where), rated)
    assert counts_of(manifest, "documents") == wanted
    assert counts_of(manifest, "documents_left_out") == 60 - wanted
    verify(tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "stages" / "tokens").iterdir()}
    other = SelectionConfig(where="score >= 4 and metadata.language == 'en' and characters > 0")
    assert counts_of(build(tmp_path / "out", with_phase(selection=other), rated), "documents") < wanted
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "stages" / "tokens").iterdir()}


def test_documents_are_selected_by_what_is_in_a_list_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "tagged.jsonl"
    rows = [{"text": text_of(number), "tags": [["news", "sea"], ["sea"], []][number % 3]} for number in range(60)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    where = with_phase(selection=SelectionConfig(where="'news' in tags"))
    assert counts_of(build(tmp_path / "out", where, Sources(documents=(str(path),))), "documents") == 20
    verify(tmp_path / "out")


@pytest.mark.parametrize(
    ("selection", "account", "message"),
    [
        (SelectionConfig(where="score == 'high'"), (), "compares numbers with strings"),
        (SelectionConfig(where="tags == 'news'"), (), "compares lists with strings; .* as in 'news' in tags"),
        (SelectionConfig(where="'en' in metadata.language"), (), "holds strings; write metadata.language == 'en'"),
        (SelectionConfig(where="metadata == 'x'"), (), "'metadata' holds an object"),
        (SelectionConfig(source_where=("good=tokens > 9 and tags > 3",)), (), "compares lists with numbers"),
        (SelectionConfig(keep=("tags=int",)), (), "the column tags of .* holds other values"),
        (SelectionConfig(), ("tags",), "counts documents by a column that holds lists"),
    ],
)
def test_a_condition_that_does_not_suit_the_values_of_a_column_is_refused_before_any_work(
    selection: SelectionConfig, account: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "rated.jsonl"
    row = {"text": text_of(1), "score": 3, "tags": ["news"], "metadata": {"language": "en"}}
    path.write_text(json.dumps(row) + "\n")
    settings = replace(with_phase(selection=selection), accounts=AccountsConfig(account))
    for run in (build, planned):
        with pytest.raises(BertDataError, match=message):
            run(tmp_path / "out", settings, Sources(documents=(str(path),)))
    assert not (tmp_path / "out" / "stages").exists()


@pytest.mark.parametrize(("place", "is_noted"), [("metadata.language", False), ("metadata.lang", True)])
def test_a_place_without_a_value_in_the_first_rows_is_noted(
    place: str, is_noted: bool, rated: Sources, tmp_path: Path
) -> None:
    shown = planned(tmp_path / "out", with_phase(selection=SelectionConfig(where=f"{place} == 'en'")), rated).text()
    assert (f"no value of {place} is in the first 100 rows of any source" in shown) == is_noted


def planned(output: Path, settings: Settings, sources: Sources) -> Planned:
    return dry_run(sources, str(output), settings, Runner())


def test_a_source_whose_files_lack_a_column_is_told_before_the_work_and_warned_of(
    rated: Sources, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / "plain.jsonl"
    plain.write_text("".join(json.dumps({"text": text_of(number)}) + "\n" for number in range(100, 120)))
    sources = Sources(documents=(f"rated={rated.documents[0]}", f"plain={plain}"))
    settings = with_phase(examples=ExamplesConfig("doc-sentences"), selection=SelectionConfig(where="score != 1"))
    manifest = build_corpus(sources, str(tmp_path / "out"), settings, Runner(1))[0]
    messages = capsys.readouterr().err
    assert "'score != 1' takes no document of the source plain: its files have no column 'score'" in messages
    assert manifest["left_out"]["where"] == {
        "plain": {"documents": 20, "of": 20, "without": {"score": 20}},
        "rated": {"documents": 19, "of": 60, "without": {"score": 9}},
    }
    [warning] = [warning for warning in manifest["warnings"] if warning["about"] == "selection"]
    assert "left out 20 documents of the source plain, all that it has" in warning["found"]
    counts = manifest["splits"]["train"]["counts"]
    plain_left_out, rated_left_out = (counts[f"documents_left_out_by_where_of_{name}"] for name in ("plain", "rated"))
    shown = f"{plain_left_out + rated_left_out} documents: {plain_left_out} of plain, {rated_left_out} of rated"
    assert ("  left out by --where", shown) in build_rows(manifest)
    step = next(step for step in ledger(manifest) if step.title == "documents selected")
    assert (step.came, step.left, step.difference) == (80, 41, 0)
    assert ("left out of plain by --where", 20) in step.dropped
    verify(tmp_path / "out")
    other = json.loads((tmp_path / "out" / "manifest.json").read_text())
    other["left_out"]["where"]["plain"]["documents"] = 1
    del other["checksum"]
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(sealed(other)))
    with pytest.raises(VerificationError, match="left_out: the documents by source are not those"):
        verify(tmp_path / "out")


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (
            SelectionConfig(where="scor > 3"),
            r"names the column 'scor', which these documents do not have, did you mean 's",
        ),
        (SelectionConfig(("news",)), "`sources` names news, but the sources of this build are: documents"),
    ],
)
def test_a_column_or_a_source_that_is_not_there_is_refused_before_any_work(
    rated: Sources, tmp_path: Path, selection: SelectionConfig, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        build(tmp_path / "out", with_phase(selection=selection), rated)
    assert not (tmp_path / "out" / "stages").exists()


def test_a_column_without_tables_and_a_selection_that_leaves_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="names the column 'score', and only `documents` have such"):
        build(tmp_path / "a", with_phase(selection=SelectionConfig(where="score > 3")), SAMPLE)
    with pytest.raises(ConfigError, match="no document of train is left by `where` 'tokens > 99999999'"):
        build(tmp_path / "b", with_phase(selection=SelectionConfig(where="tokens > 99999999")), SAMPLE)


@pytest.mark.costly
def test_a_temperature_and_a_budget_are_of_the_tokens_that_a_phase_selects(tmp_path: Path) -> None:
    some = PhaseConfig(
        mixing=MixingConfig(mix_temperature=0.5, max_epochs=1.5),
        selection=SelectionConfig(where="tokens >= 200"),
        name="some",
    )
    few = PhaseConfig(mixing=MixingConfig(train_tokens=30_000), name="few")
    often = PhaseConfig(mixing=MixingConfig(train_epochs=2), name="often")
    manifest = build(tmp_path, replace(SETTINGS, phases=(some, few, often)))
    verify(tmp_path)
    tokens = {name: phase["splits"]["train"]["counts"]["tokens"] for name, phase in manifest["phases"].items()}
    counts = manifest["phases"]["few"]["splits"]["train"]["counts"]
    assert counts["tokens_in_copies"] == pytest.approx(30_000, rel=0.25)
    planned = [share["planned"] for share in manifest["phases"]["few"]["mix"].values()]
    assert planned == pytest.approx([30_000 / tokens["few"]] * 2)
    counts = manifest["phases"]["often"]["splits"]["train"]["counts"]
    assert counts["tokens_in_copies"] == 2 * tokens["often"]
    mix = manifest["phases"]["some"]["mix"]
    sizes = {name: manifest["phases"]["some"]["splits"]["train"]["counts"][f"tokens_of_{name}"] for name in mix}
    weights = {name: (size / sum(sizes.values())) ** 0.5 for name, size in sizes.items()}
    wanted = {name: weights[name] / sum(weights.values()) * sum(sizes.values()) / sizes[name] for name in sizes}
    for name, source in mix.items():
        assert source.get("wanted", wanted[name]) == pytest.approx(wanted[name], abs=1e-4)
        assert source["planned"] == (1.5 if "wanted" in source else pytest.approx(wanted[name] + 0.11, abs=0.02))
    assert sum("wanted" in source for source in mix.values()) == 1
    assert sum(mix[name]["planned"] * sizes[name] for name in mix) == pytest.approx(sum(sizes.values()))


@pytest.mark.costly
def test_long_documents_are_a_source_of_their_own_with_a_weight_of_their_own(tmp_path: Path) -> None:
    rows = [
        {"text": " ".join(text_of(number + turn) for turn in range(9 if number % 4 else 1))} for number in range(80)
    ]
    (tmp_path / "web.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sources = Sources(documents=(f"web={tmp_path / 'web.jsonl'}",))
    short = SelectionConfig(source_where=("short=tokens < 200 and source == 'web'",))
    mixed = PhaseConfig(mixing=MixingConfig(mix=("web=1", "short=3")), selection=short, name="mixed")
    chosen = PhaseConfig(selection=replace(short, sources=("short",)), name="chosen")
    phases = (mixed, chosen, PhaseConfig(name="plain"))
    manifest = build(tmp_path / "out", replace(SETTINGS, phases=phases), sources)["phases"]
    verify(tmp_path / "out")
    taken = {name: share["tokens"] for name, share in manifest["mixed"]["mix"].items()}
    assert taken["short"] / taken["web"] == pytest.approx(3, rel=0.2)
    assert manifest["mixed"]["mix"]["short"]["epochs"] > 4
    assert manifest["mixed"]["mix"]["web"]["epochs"] < 1
    assert manifest["chosen"]["splits"]["train"]["counts"]["documents"] < 25
    assert [tuple(manifest[name]["info"]["sources"]) for name in ("mixed", "plain")] == [("web", "short"), ("web",)]


def test_a_weight_of_a_source_that_a_phase_takes_nothing_of_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "web.jsonl").write_text("".join(json.dumps({"text": text_of(number)}) + "\n" for number in range(40)))
    few = SelectionConfig(source_where=("few=tokens < 3",))
    phase = PhaseConfig(mixing=MixingConfig(mix=("web=1", "few=4")), selection=few, name="mixed")
    settings = replace(SETTINGS, phases=(phase, PhaseConfig(name="plain")))
    sources = Sources(documents=(f"web={tmp_path / 'web.jsonl'}",))
    manifest, _ = build_corpus(sources, str(tmp_path / "out"), settings, Runner(1))
    assert manifest["phases"]["mixed"]["mix"]["few"]["tokens"] == 0
    said = capsys.readouterr().err
    assert said.count("--mix gives") == 1
    assert "phase mixed: --mix gives few the weight 4, and the selection takes no document of it" in said


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *(
            ((text,), f"`source_where` '{text}' is not the name of a source and a condition; expected as long='tokens")
            for text in ("long", "long=", "a b=tokens > 3", "tokens > 3", "tokens >= 3", "tokens == 3", "tokens==3")
        ),
        (("a=tokens > 3", "a=tokens > 9"), "`source_where` names the source a twice"),
        (("a=tokens = 3",), "`source_where` a= 'tokens = 3' cannot be parsed"),
    ],
)
def test_what_is_not_a_source_and_its_condition_is_refused(given: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SelectionConfig(source_where=given)


def test_a_column_of_several_types_is_refused_with_its_name(tmp_path: Path) -> None:
    rows = [{"text": text_of(number), "score": number if number % 2 else str(number)} for number in range(20)]
    (tmp_path / "rated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sources = Sources(documents=(str(tmp_path / "rated.jsonl"),))
    with pytest.raises(BertDataError, match="the column 'score', which `where` reads, has values of several types"):
        build(tmp_path / "out", with_phase(selection=SelectionConfig(where="score > 3")), sources)


def test_two_phases_of_one_name_and_a_name_of_another_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two phases have the name '128'; give each a `name` of its own"):
        build(tmp_path, replace(SETTINGS, phases=(PhaseConfig(), PhaseConfig())))
    with pytest.raises(ConfigError, match="the phase 'train' cannot have this name"):
        PhaseConfig(name="train")
