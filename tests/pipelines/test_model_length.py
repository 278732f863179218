"""Rows that are longer than the model takes are refused before any work, unless the user says that it takes so many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

import bertdata
from bertdata.cli.main import dispatch, parser_of
from bertdata.corpus.requests import settings_of_request
from bertdata.errors import ConfigError
from bertdata.options.recipe import read_recipe, recipe_names
from bertdata.tokenizers.loading import load_tokenizer, model_max_length
from bertdata.verify.build import verify
from tests.small_build import texts, tokenizer

OVER = (
    r"`max_seq_length` 1024 is over the 512 tokens that the model takes \(model_max_length\), by {}; give 512 or less"
)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Return the folder of a tokenizer whose model takes 512 tokens."""
    folder = tmp_path / "vocab"
    tokenizer().save_pretrained(folder)
    return folder


def set_length(folder: Path, length: Any) -> None:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_max_length": length}))


def lengths(*flags: str) -> list[int]:
    """Return the lengths of the rows that a command line would build."""
    from bertdata.cli import command_line

    parsed = command_line.parse(parser_of("build"), ["--output", "out", *flags])
    return [phase.examples.max_seq_length for phase in settings_of_request(parsed)[1].phases]


def test_a_tokenizer_says_how_long_the_rows_of_its_model_are(published: Path) -> None:
    assert model_max_length(published) == model_max_length(published / "tokenizer.json") == 512
    for length, expected in (
        (8192, 8192),
        (1e30, None),
        (10**30, None),
        (None, None),
        ("512", None),
        (0, None),
        (True, None),
    ):
        set_length(published, length)
        assert model_max_length(published) == expected
    (published / "tokenizer_config.json").unlink()
    assert model_max_length(published) is None


def test_what_bertdata_writes_beside_its_own_tokenizers_is_no_models(published: Path) -> None:
    assert model_max_length("bertdata-32k-bpe") is None
    (published / ".bertdata.json").touch()
    assert model_max_length(published) is None
    set_length(published, 1024)
    assert model_max_length(published) == 1024


def test_rows_over_what_the_tokenizer_says_are_refused(published: Path) -> None:
    vocab = ["--vocab", str(published)]
    with pytest.raises(ConfigError, match=OVER.format(r"the tokenizer_config.json of .*vocab")):
        lengths(*vocab, "--max-seq-length", "128", "1024")
    assert lengths(*vocab, "--max-seq-length", "128", "512") == [128, 512]
    assert lengths(*vocab, "--max-seq-length", "1024", "--model-max-length", "1024") == [1024]
    assert lengths("--max-seq-length", "1024") == [1024]
    with pytest.raises(
        ConfigError, match=r"`max_seq_length` 2048 is over the 1,024 .*, by `model_max_length`; give 1024"
    ):
        lengths(*vocab, "--max-seq-length", "2048", "--model-max-length", "1024")


def test_a_recipe_wins_over_the_tokenizer_and_a_flag_over_the_recipe(published: Path) -> None:
    recipe, vocab = ["--recipe", "roberta"], ["--vocab", str(published)]
    assert lengths(*recipe) == [512]
    with pytest.raises(ConfigError, match=OVER.format("the recipe roberta")):
        lengths(*recipe, "--max-seq-length", "1024")
    assert lengths(*recipe, "--max-seq-length", "1024", "--model-max-length", "2048") == [1024]
    assert lengths("--recipe", "neobert", *vocab) == [1024, 4096]


def test_recipes_that_ship_name_lengths_that_their_models_take() -> None:
    known = {name: read_recipe(name) for name in recipe_names()}
    limits = {
        name: recipe.settings["model_max_length"]
        for name, recipe in known.items()
        if "model_max_length" in recipe.settings
    }
    assert {"bert-base", "roberta", "modernbert"} <= limits.keys()
    for name, limit in limits.items():
        said = [known[name].settings, *known[name].phases]
        assert max(settings.get("max_seq_length", 0) for settings in said) <= limit, name


def test_a_saved_recipe_keeps_the_length(tmp_path: Path) -> None:
    saved = tmp_path / "saved.toml"
    assert dispatch(["build", "--recipe", "roberta", "--save-recipe", str(saved)]) == 0
    assert "model_max_length = 512\n" in saved.read_text()


def test_python_and_build_shards_refuse_the_same(published: Path, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts(3)))
    with pytest.raises(ConfigError, match="is over the 512 tokens"):
        bertdata.build(tmp_path / "out", documents=tmp_path / "x.jsonl", vocab=published, max_seq_length=1024)
    for length in (-1, "many"):
        with pytest.raises(ConfigError, match=r"`model_max_length` is .*; expected 1 or more, or 0: unknown"):
            bertdata.build(tmp_path / "out", documents=tmp_path / "x.jsonl", model_max_length=length)
    flags = ["--vocab", str(published), "--max-seq-length", "1024", "--output", str(tmp_path / "out")]
    with pytest.raises(ConfigError, match="is over the 512 tokens"):
        dispatch(["build-shards", "--documents", str(tmp_path / "x.jsonl"), *flags])
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "vocab", [{"vocab": "bertdata-30k-uncased"}, {"vocab": "bertdata-32k-bpe"}, {"vocab_size": 300}]
)
def test_the_tokenizer_of_a_build_takes_its_longest_row_and_is_no_limit_for_others(
    vocab: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({"text": " ".join(texts(9))}) + "\n" for _ in range(9)))
    settings: dict[str, Any] = {"documents": tmp_path / "x.jsonl", "objective": "doc-chunks", "workers": 1, **vocab}
    short = bertdata.build(tmp_path / "short", max_seq_length=128, **settings)
    both = bertdata.build(tmp_path / "both", max_seq_length=[128, 1024], **settings)
    assert load_tokenizer(tmp_path / "short").model_max_length == 512
    for folder in (tmp_path / "both" / "128", tmp_path / "both" / "1024"):
        assert load_tokenizer(folder).model_max_length == 1024
        assert AutoTokenizer.from_pretrained(folder / "tokenizer").model_max_length == 1024
        assert lengths("--vocab", str(folder), "--max-seq-length", "2048") == [2048]
        saved = tmp_path / "saved"
        load_tokenizer(folder).save_pretrained(saved)
        assert load_tokenizer(saved).model_max_length == 1024
    verify(tmp_path / "both")
    assert short["info"]["tokenizer"] == both["phases"]["128"]["info"]["tokenizer"]
