"""What rules drop: samples in the records and the manifest, `show --dropped`, and warnings of what a filter does."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from bertdata.cli.main import dispatch
from bertdata.corpus.warnings import warnings_of
from bertdata.curation.filters import with_filters
from bertdata.documents import SAMPLES, dropped_texts
from bertdata.engine.parts import run_once
from bertdata.errors import ConfigError
from bertdata.inspect.dropped import dropped_lines
from bertdata.shards import open_shards
from bertdata.sources.formats import write_documents
from tests.sources.planned import plan_documents

WORDS = [
    "sea",
    "ship",
    "island",
    "harbour",
    "wind",
    "water",
    "salt",
    "north",
    "south",
    "storm",
    "sail",
    "crew",
    "captain",
    "rope",
    "mast",
    "deck",
    "coast",
    "bay",
    "light",
    "house",
    "village",
    "farm",
    "river",
    "bridge",
    "road",
    "stone",
    "field",
    "forest",
    "mountain",
    "snow",
    "rain",
    "summer",
    "winter",
    "morning",
    "evening",
    "king",
    "queen",
    "war",
    "peace",
    "trade",
    "market",
    "price",
    "gold",
    "iron",
    "copper",
    "letter",
    "book",
    "song",
    "story",
    "child",
    "mother",
    "father",
    "sister",
    "brother",
    "dog",
    "horse",
    "bird",
    "fish",
    "tree",
]


def prose(number: int) -> str:
    draw = random.Random(number)
    return " ".join(
        f"The {draw.choice(WORDS)} and that {draw.choice(WORDS)} have to be with {'a ' + draw.choice(WORDS)} of "
        f"{' '.join(draw.choice(WORDS) for _ in range(9))}."
        for _ in range(6)
    )


def write(path: Path) -> None:
    rows = [{"id": f"good{number}", "text": prose(number)} for number in range(30)]
    rows += [{"id": f"short{number}", "text": f"Too short, {number}."} for number in range(12)]
    rows += [{"id": f"latin{number}", "text": f"{prose(99 + number)}\n\nLorem ipsum is here."} for number in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.slow
def test_samples_are_the_same_for_ranges_of_any_size(tmp_path: Path) -> None:
    write(tmp_path / "x.jsonl")

    def samples(target: int) -> dict[str, Any]:
        tasks = plan_documents([str(tmp_path / "x.jsonl")], str(tmp_path / str(target)), target)
        return dropped_texts([run_once(task, write_documents) for task in with_filters(tasks, ["gopher-quality"])])

    drawn = [samples(target) for target in (1, 500, 1 << 20)]
    assert drawn[0] == drawn[1] == drawn[2]
    assert [len(drawn[0][reason]) for reason in drawn[0]] == [SAMPLES]
    number, name, title, text, measured = drawn[0]["gopher_too_few_words"][0]
    assert (name[:5], title, text[:10]) == ("short", "", "Too short,")
    assert isinstance(number, int)
    assert measured == "words 3, at least 50 expected (min_words)"


@pytest.mark.costly
def test_a_build_with_the_fineweb_recipe_shows_and_verifies_what_it_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "x.jsonl")
    build = str(tmp_path / "build")
    flags = ["--dedup", "none", "--vocab", "bertdata-30k-uncased", "--workers", "1"]
    arguments = ["--recipe", "fineweb", "--documents", str(tmp_path / "x.jsonl"), "--output", build, *flags]
    assert dispatch(["build", *arguments]) == 0
    assert dispatch(["verify", build]) == 0
    manifest = open_shards(build).manifest
    source = manifest["sources"]["documents"]
    assert source["drops"] == {"gopher_top_2_gram": 12, "c4_lorem_ipsum": 3}
    capsys.readouterr()
    reason = "gopher_top_2_gram"
    assert dispatch(["show", build, "--dropped", reason]) == 0
    shown = capsys.readouterr().out
    assert f"documents: 12 dropped as {reason}, 3 of them here (--count {SAMPLES} shows {SAMPLES})\n  short" in shown
    assert shown.count("    top 2 gram 0.") == shown.count(", at most 0.2 expected (max_top_2_gram)\n") == 3
    assert dispatch(["show", build, "--dropped", reason, "--count", "1"]) == 0
    assert capsys.readouterr().out.count("  short") == 1
    assert dispatch(["show", build, "--dropped", reason, "--count", "9"]) == 0
    assert f"{SAMPLES} of them here (a build keeps {SAMPLES} of each reason)" in capsys.readouterr().out
    assert dispatch(["show", build, "--dropped"]) == 0
    shown = capsys.readouterr().out
    assert shown.index("12 dropped as gopher_top_2_gram") < shown.index("3 dropped as c4_lorem_ipsum, 3 of them here")
    with pytest.raises(ConfigError, match=r"nothing was dropped as 'gopher_top_2_grams'; expected one of .*, did you"):
        dispatch(["show", build, "--dropped", "gopher_top_2_grams"])


def test_what_has_no_samples_is_told() -> None:
    wiki = {"drops": {"redirect": 3}, "counts": {"pages": 5}}
    assert dropped_lines({"sources": {"wikipedia": wiki}}) == [
        "wikipedia: 3 dropped as redirect; no samples (a build with --rejects FOLDER names these pages)"
    ]
    assert dropped_lines({"sources": {"rows": {"drops": {"empty": 2}, "counts": {"rows": 5}}}}) == [
        "rows: 2 dropped as empty; no samples of these are kept"
    ]
    assert dropped_lines({"sources": {}}) == ["nothing was dropped where documents were written"]


def warned(counts: dict[str, int], drops: dict[str, int]) -> list[tuple[str, str]]:
    sources = {"web": {"counts": counts, "drops": drops}}
    return [(warning["about"], warning["found"]) for warning in warnings_of(sources, {}, [])]


def test_a_filter_that_drops_most_or_nothing_is_a_warning() -> None:
    quality, mild = "gopher-quality", "min-characters=5"
    counts = {"rows": 20_000, "documents": 8000, f"judged by {quality}": 20_000, f"dropped by {quality}": 12_000}
    counts |= {f"judged by {mild}": 8000, f"dropped by {mild}": 0}
    drops = {"gopher_too_few_words": 9000, "gopher_too_many_hashes": 3000}
    [(about, warned_share)] = warned(counts, drops)
    assert about == "filtered documents"
    assert warned_share.startswith(
        "the filter gopher-quality dropped 60.0% of the documents of the source web that it saw, "
    )
    assert warned_share.endswith("as: gopher_too_few_words")
    few = counts | {f"dropped by {quality}": 9999, f"judged by {mild}": 10_001}
    assert warned(few, drops) == [
        (
            "idle filter",
            "the filter min-characters=5 dropped none of the 10,001 documents of the source web that it saw",
        )
    ]
    cleaned = {"documents": 10_000, "judged by c4-quality": 10_000, "dropped by c4-quality": 0}
    assert warned(cleaned | {"changed by c4-quality": 9}, {}) == []
    assert [about for about, _ in warned(cleaned, {})] == ["idle filter"]
