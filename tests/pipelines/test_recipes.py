"""Recipes: those that ship are built and verified; flags win; mistakes are told with their line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bertdata import build
from bertdata.cli.main import main, run_verb
from bertdata.errors import ConfigError
from bertdata.options.recipe import ABOUT, read_recipe, recipe_names
from bertdata.verify.build import verify
from tests.shards.build import text_of

SMALL: dict[str, Any] = {"vocab_size": 400, "workers": 1, "validation_fraction": 0.2, "pad_to_multiple_of": 1}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return documents, two of them of over 8,192 tokens."""
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    longs = dict.fromkeys(range(0, 40, 2), 60)
    rows = [
        {"id": str(number), "text": " ".join(text_of(number + turn) for turn in range(longs.get(number, 1)))}
        for number in range(80)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.costly
@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_that_ships_is_built_as_it_says_and_verified(name: str, texts: str, tmp_path: Path) -> None:
    recipe = read_recipe(name)
    assert all(recipe.about[key] for key in ABOUT)
    given = {**SMALL, "filter": ["min-characters=1"]} if "filter" in recipe.settings else SMALL
    manifest = build(
        tmp_path / "out", documents=texts, recipe=name, **given
    )  # of made-up texts filters would leave none
    verify(tmp_path / "out")
    said = [{**recipe.settings, **phase} for phase in recipe.phases or [{}]]
    for built_manifest, expected in zip(manifest.get("phases", {"": manifest}).values(), said, strict=True):
        built = {
            **built_manifest["info"]["examples"],
            **built_manifest["info"]["masking"],
            **built_manifest["info"].get("selection", {}),
        }
        held = {key: value for key, value in expected.items() if key in built}
        assert {key: built[key] for key in held} == held
        assert {"objective", "max_seq_length"} <= {*held}
        assert built_manifest["splits"]["train"]["counts"]["examples"] > 0


def test_flags_win_over_a_recipe_and_a_phase_over_its_top(texts: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        'objective = "doc-chunks"\nmasked_lm_prob = 0.3\nvocab_size = 400\n'
        '[[phase]]\nname = "a"\nmax_seq_length = 32\n[[phase]]\nname = "b"\nmax_seq_length = 64\nmasked_lm_prob = 0.1\n'
    )
    settings: dict[str, Any] = {"documents": texts, "recipe": str(path), "workers": 1}
    phases = build(tmp_path / "out", **settings, seed=3)["phases"]
    assert [phase["info"]["masking"]["masked_lm_prob"] for phase in phases.values()] == [0.3, 0.1]
    assert [phase["info"]["examples"]["seed"] for phase in phases.values()] == [3, 3]
    phases = build(tmp_path / "out", **settings, masked_lm_prob=0.2)["phases"]
    assert [phase["info"]["masking"]["masked_lm_prob"] for phase in phases.values()] == [0.2, 0.2]


@pytest.mark.parametrize(("lengths", "phases"), [(["32"], 0), (["32", "64"], 2)])
def test_a_saved_recipe_has_phases_where_there_are_several(
    lengths: list[str], phases: int, texts: str, tmp_path: Path
) -> None:
    saved = tmp_path / "saved.toml"
    assert run_verb("build", ["--documents", texts, "--max-seq-length", *lengths, "--save-recipe", str(saved)]) == 0
    assert saved.read_text().count("[[phase]]") == phases


def test_a_saved_recipe_means_what_the_command_line_meant(texts: str, tmp_path: Path) -> None:
    saved = str(tmp_path / "saved.toml")
    flags = ["--documents", texts, "--max-seq-length", "32", "64", "--objective", "sop", "--vocab-size", "400"]
    flags += ["--mask-unit", "ngram", "--max-ngram", "2", "--where", "tokens > 10 and source == 'documents'"]
    assert run_verb("build", [*flags, "--save-recipe", saved]) == 0
    assert run_verb("build", [*flags, "--output", str(tmp_path / "a"), "--workers", "1"]) == 0
    rest = ["--documents", texts, "--workers", "1"]
    assert run_verb("build", [*rest, "--recipe", saved, "--output", str(tmp_path / "b")]) == 0
    for name in ("manifest.json", "32/manifest.json", "64/manifest.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nmax_seq_lenght = 3", "line 2: there is no setting 'max_seq_lenght', did you mean 'max_seq_length'?"),
        (
            "seed = 1\n[[phase]]\nname = 'a'\nobjectiv = 'sop'",
            "line 4: there is no setting 'objectiv' of a phase, did you",
        ),
        ("[[phase]]\nvocab_size = 9", "'vocab_size' of a phase; it is the same for all phases: write it above"),
        ("\nmax_seq_length = 7", "line 2: `max_seq_length` is 7; expected 8 to 65536"),
        ("seed = 'x'", "line 1: `seed` is of the type str; expected int"),
        (
            "seed = 1\n[[phase]]\nname = 'a'\nmasked_lm_prob = '0.3'",
            "line 4: `masked_lm_prob` is of the type str; expected float",
        ),
        (
            "[[phase]]\nname = 'a'\ndupe_factor = 0\n[[phase]]\nname = 'b'\ndupe_factor = 2",
            "own.toml: `dupe_factor` is 0; expected",
        ),
        ("max_ngram = 2", "the key max_ngram has no effect: it is for `mask_unit` ngram or token-ngram, not token"),
        ("[[phase]]\nname = 'train'", "the phase 'train' cannot have this name"),
        ("phase = 3", "`phase` is not a list of tables"),
        ("seed = ", "is not TOML"),
        ("title = 3", "`title` is 3; expected a line"),
    ],
)
def test_a_mistake_in_a_recipe_is_told_with_its_file_before_any_work(
    text: str, message: str, texts: str, tmp_path: Path
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        build(tmp_path / "out", documents=texts, recipe=str(path))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_recipes_are_listed_printed_and_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in recipe_names())
    assert main(["recipes", "show", "roberta"]) == 0
    assert capsys.readouterr().out == read_recipe("roberta").text
    assert main(["recipes", "show", "robrta"]) == 1
    assert "there is no recipe 'robrta'; did you mean 'roberta'?" in capsys.readouterr().err


def test_a_recipe_file_that_is_not_there_is_told_with_the_nearest_beside(tmp_path: Path) -> None:
    (tmp_path / "web.toml").write_text("seed = 1")
    with pytest.raises(
        ConfigError, match=r"there is no recipe in '.*wbe\.toml': no such file, did you mean 'web\.toml'\?"
    ):
        read_recipe(str(tmp_path / "wbe.toml"))


def test_a_recipe_that_names_code_runs_it_only_with_consent(
    texts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cleaners_of_a_recipe.py").write_text("def upper(text):\n    return text.upper()\n")
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "own.toml"
    path.write_text('vocab = "bertdata-30k-uncased"\n\nclean = ["nfc", "cleaners_of_a_recipe:upper"]\n')
    command = [
        "build",
        "--recipe",
        str(path),
        "--documents",
        texts,
        "--workers",
        "1",
        "--output",
        str(tmp_path / "out"),
    ]
    for more in ([], ["--dry-run"], ["--save-recipe", str(tmp_path / "saved.toml")]):
        assert main([*command, *more]) == 1
        refused = capsys.readouterr().err
        assert f"{path}: names code that a build runs" in refused
        assert "clean = cleaners_of_a_recipe:upper (line 3)" in refused
        assert "add --plugin cleaners_of_a_recipe, or set BERTDATA_PLUGINS=cleaners_of_a_recipe" in refused
        assert "cleaners_of_a_recipe" not in sys.modules
        assert not (tmp_path / "out").exists()
    with pytest.raises(ConfigError, match=r"names code"):
        build(tmp_path / "out", documents=texts, recipe=str(path), workers=1)
    assert main([*command, "--plugin", "cleaners_of_a_recipe", "--max-seq-length", "64"]) == 0
    said = capsys.readouterr().err
    assert f"{path} runs code of your plugins: clean = cleaners_of_a_recipe:upper (line 3)" in said
    (part, *_) = sorted((tmp_path / "out" / "stages").rglob("*.parquet"))
    assert all(text == text.upper() for text in pq.read_table(part)["text"].to_pylist())
