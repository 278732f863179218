"""Folders of sentence-transformers: where their encoder lies, how long texts are, and whether they are lower-cased."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.torch import SentenceEncoder
from bertdata.torch.models.sentence_folder import SentenceSettings, saved_length, settings_of
from bertdata.torch.training.finetune import finetune
from tests.torch.build import tokenizer_of
from tests.torch.training.small_models import saved
from tests.torch.training.test_sentence_embedding import SETTINGS, encoded


def test_an_encoder_in_a_folder_of_its_own_is_refused_with_what_to_do_about_it(tmp_path: Path) -> None:
    """As versions before 1 of sentence-transformers saved it; after the remedy the same vectors come out."""
    SentenceEncoder.from_pretrained(saved(tmp_path, "bert"), max_seq_length=12).save_pretrained(tmp_path)
    path = str(tmp_path / "modules.json")
    modules = files.read_json(path)
    files.write_json(path, [modules[0] | {"path": "0_Transformer"}, modules[1]])
    with pytest.raises(ConfigError, match="has its encoder in the folder '0_Transformer', as old versions"):
        SentenceEncoder.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("encoder", "tokenizer", "expected"),
    [(1024, 20, 40), (30, 20, 30), (None, 20, 20), (None, 10**30, 40), (None, None, 40)],
)
def test_the_length_of_texts_is_the_encoders_own_up_to_its_positions(
    tmp_path: Path, encoder: int | None, tokenizer: int | None, expected: int
) -> None:
    """sentence-transformers reads as many as the encoder's settings say, whatever those of the tokenizer say."""
    files.write_json(str(tmp_path / "sentence_bert_config.json"), {"max_seq_length": encoder, "do_lower_case": False})
    files.write_json(str(tmp_path / "tokenizer_config.json"), {"model_max_length": tokenizer})
    assert saved_length(str(tmp_path), 40) == expected


@pytest.mark.parametrize("keeps_case", [True, False])
def test_a_model_that_lower_cases_texts_is_not_trained_on_texts_with_capitals(tmp_path: Path, keeps_case: bool) -> None:
    model = saved(tmp_path / "model", "bert")
    tokens = [*tokenizer_of().tokens[:-2], "a", "A"]
    WordPieceTokenizer.from_tokens(tokens, do_lower_case=not keeps_case).save_pretrained(model)
    SentenceEncoder.from_pretrained(model, max_seq_length=12).save_pretrained(model)
    shards = encoded(tmp_path, "sentence-pairs", model, (8, 4))
    (model / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 12, "do_lower_case": True}))
    if not keeps_case:
        finetune(shards, model, tmp_path / "out", SETTINGS)
        return
    with pytest.raises(ConfigError, match="has do_lower_case, so encode lower-cases every text"):
        finetune(shards, model, tmp_path / "out", SETTINGS)


def test_a_finished_run_is_run_again_where_the_folder_says_otherwise_how_vectors_are_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved(tmp_path / "model", "bert")
    shards = encoded(tmp_path, "sentence-pairs", model, (8, 4))
    encoder = SentenceEncoder.from_pretrained(model, max_seq_length=12)
    prompts = {"query": "find a"}
    several = [SentenceSettings(), SentenceSettings(prompts), SentenceSettings(prompts, include_prompt=False)]
    for settings in several:
        encoder.settings = settings
        encoder.save_pretrained(model)
        for again in ("step 2 of 2", "nothing to do"):
            finetune(shards, model, tmp_path / "out", SETTINGS)
            assert again in capsys.readouterr().err
            assert settings_of(str(tmp_path / "out")) == settings
