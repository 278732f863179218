"""Each model of vocabularies from the command's settings to a folder that transformers opens."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bertdata.errors import ConfigError
from bertdata.tokenizers import Tokenizer, load_tokenizer
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.training import VOCABULARY_MODELS
from bertdata.tokenizers.training.models import VocabularyModel

FABLE = (
    "The Fox saw a bunch of ripe grapes hanging from a vine, and jumped for the grapes again and again, but never "
    "reached them. Walking away it said: the grapes are sour, and nobody wants 30 or 45 sour grapes! [A naïve café.]"
)
TEXTS = [FABLE, "", " ", "two  spaces\n\nand lines", "[MASK] and <s> [unused0]", "don't 1,000 中文 naïve"]
MODELS = ["wordpiece", "bpe", "unigram"]


def trained(folder: Path, model: str, **settings: Any) -> Tokenizer:
    if model == "unigram":
        pytest.importorskip("sentencepiece")
    given: dict[str, Any] = {"model": model, "vocab_size": 400} | settings
    config = VocabularyConfig(**given)
    model_kind: VocabularyModel = VOCABULARY_MODELS[model]
    data, pieces = model_kind.train(model_kind.count([FABLE] * 3, config), config)
    (folder / f"vocab{model_kind.suffix}").write_bytes(data)
    tokenizer = model_kind.load(str(folder / f"vocab{model_kind.suffix}"), config)
    assert tokenizer.vocab_size == pieces
    return tokenizer


def ids_of(tokenizer: Tokenizer) -> list[list[int]]:
    ids: list[list[int]] = tokenizer.encode_batch(TEXTS).to_pylist()
    return ids


@pytest.mark.parametrize("model", MODELS)
def test_a_vocabulary_fits_its_size_and_is_filled_to_a_multiple(model: str, tmp_path: Path) -> None:
    size = 320 if model == "bpe" else 100
    assert trained(tmp_path, model, vocab_size=size).vocab_size <= size
    padded = trained(tmp_path, model, vocab_size=size + 3, pad_to_multiple_of=64, unused_tokens=2)
    assert padded.vocab_size % 64 == 0
    assert padded.tokens[5:7] == ("[unused0]", "[unused1]")
    assert padded.tokens[-1].startswith("[unused")
    assert padded.tokens[-1] not in padded.special_tokens
    assert len(padded.replacement_ids) + 5 == sum(not token.startswith("[unused") for token in padded.tokens)


@pytest.mark.parametrize("model", MODELS)
def test_added_words_are_one_token_each(model: str, tmp_path: Path) -> None:
    text = "and troponin levels; troponin"
    without = trained(tmp_path, model, vocab_size=330)
    tokenizer = trained(tmp_path, model, vocab_size=330, add_tokens=("troponin", "grapes"))
    shown = [tokenizer.token_texts[token_id] for token_id in tokenizer.encode(text)]
    assert shown.count("troponin") == 2
    assert "troponin" not in [without.token_texts[token_id] for token_id in without.encode(text)]
    assert tokenizer.vocab_size <= 330
    assert len(set(tokenizer.tokens)) == tokenizer.vocab_size


@pytest.mark.parametrize("model", MODELS)
def test_a_saved_vocabulary_is_loaded_as_the_same_tokenizer(model: str, tmp_path: Path) -> None:
    tokenizer = trained(tmp_path, model, special_tokens=("[ENT]",), pad_to_multiple_of=8)
    tokenizer.save_pretrained(tmp_path / "saved")
    loaded = load_tokenizer(tmp_path / "saved")
    assert loaded == tokenizer
    assert loaded.special_tokens == ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[ENT]")
    assert ids_of(loaded) == ids_of(tokenizer)


@pytest.mark.parametrize("model", MODELS)
def test_transformers_opens_a_saved_vocabulary(model: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = trained(tmp_path, model, pad_to_multiple_of=64)
    tokenizer.save_pretrained(tmp_path / "saved")
    opened = transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert type(opened).__name__.startswith("Bert") == (model == "wordpiece")
    assert len(opened) == tokenizer.vocab_size
    assert opened.model_max_length == 512
    assert (opened.pad_token_id, opened.mask_token_id) == (tokenizer.pad_token_id, tokenizer.mask_token_id)
    row, ours = opened("A fox", "some grapes"), tokenizer.encode_pair("A fox", "some grapes")
    assert row["input_ids"] == ours["input_ids"]
    zeros = [0] * len(ours["input_ids"])
    assert row.get("token_type_ids", zeros) == ours.get("token_type_ids", zeros)
    assert "token_type_ids" in row or model == "bpe"
    padded = opened(["a", "a fox saw"], padding=True)
    assert padded["input_ids"][0][-1] == tokenizer.pad_token_id
    plain = opened(FABLE, add_special_tokens=False)["input_ids"]
    assert plain == tokenizer.encode(FABLE)
    if model == "bpe":
        assert opened.decode(plain) == FABLE


def test_names_of_roberta_give_rows_of_roberta(tmp_path: Path) -> None:
    names = ("cls=<s>", "pad=<pad>", "sep=</s>", "unk=<unk>", "mask=<mask>")
    tokenizer = trained(tmp_path, "bpe", special_tokens=names)
    assert tokenizer.tokens[:5] == ("<pad>", "<unk>", "<s>", "</s>", "<mask>")
    row = tokenizer.encode_pair("a", "b")
    assert [tokenizer.tokens[token_id] for token_id in row["input_ids"]] == ["<s>", "a", "</s>", "</s>", "b", "</s>"]
    assert not tokenizer.row_template.has_types


def test_bpe_without_a_token_for_unknown_text_has_none(tmp_path: Path) -> None:
    tokenizer = trained(tmp_path, "bpe", special_tokens=("unk=",))
    assert tokenizer.unk_token_id == -1
    assert tokenizer.tokens[:4] == ("[PAD]", "[CLS]", "[SEP]", "[MASK]")


def test_bpe_keeps_every_character(tmp_path: Path) -> None:
    tokenizer = trained(tmp_path, "bpe")
    assert [tokenizer.decode(ids) for ids in ids_of(tokenizer)] == TEXTS


def test_wordpiece_is_lower_cased_as_told(tmp_path: Path) -> None:
    assert "fox" in trained(tmp_path, "wordpiece", special_tokens=("[ENT]",)).tokens
    cased = trained(tmp_path, "wordpiece", do_lower_case=False, add_tokens=("Vulpes",))
    assert cased.tokenize("Vulpes") == ["Vulpes"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "bpe", "criterion": "score"}, "`criterion` is 'score', which `model` bpe does not take"),
        ({"model": "bpe", "limit_alphabet": 9}, "`limit_alphabet` is 9"),
        ({"normalization": "nfkc"}, "`normalization` is 'nfkc', which `model` wordpiece does not take"),
        ({"model": "unigram", "min_frequency": 3}, "`min_frequency` is 3"),
        ({"model": "unigram", "normalization": "identity"}, "add `do_lower_case=False`"),
        ({"model": "unigram", "special_tokens": ("unk=",)}, "unk= leaves out the token for unknown text"),
        ({"special_tokens": ("cls=<s>",)}, "renames or leaves out a token of BERT's"),
        ({"special_tokens": ("mask=",)}, "renames or leaves out a token of BERT's"),
        ({"add_tokens": ("two words",)}, "is 2 words to BERT"),
        ({"add_tokens": ("",)}, "is 0 words to BERT"),
        ({"model": "bpe", "add_tokens": ("B12",)}, "is cut into ' B', '12' before BPE sees it"),
        ({"model": "bpe", "add_tokens": ("a", "b", "a")}, "has 'a' twice"),
        ({"model": "trie"}, "`model` is 'trie'; expected one of wordpiece, bpe, unigram"),
        ({"pad_to_multiple_of": 0}, "`pad_to_multiple_of` is 0"),
    ],
)
def test_settings_that_do_not_suit_the_model_are_refused(settings: dict[str, Any], message: str) -> None:
    if settings.get("model") == "unigram":
        pytest.importorskip("sentencepiece")
    with pytest.raises(ConfigError, match=message):
        VocabularyConfig(**settings)


def test_a_word_of_several_words_cannot_be_added_to_unigram(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="which is not one word"):
        trained(tmp_path, "unigram", add_tokens=("two words",))


def test_counts_are_shared_by_what_counts_alike() -> None:
    config = VocabularyConfig()
    wordpiece = VOCABULARY_MODELS["wordpiece"]
    assert (
        wordpiece.counted_by(config)
        == wordpiece.counted_by(replace(config, vocab_size=99, add_tokens=("fox",)))
        == [True]
    )
    assert VOCABULARY_MODELS["bpe"].counted_by(replace(config, model="bpe")) == ["bpe"]


def test_the_model_that_was_trained_is_saved_beside_the_tokenizer(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    tokenizer = trained(tmp_path, "unigram", unused_tokens=1, add_tokens=("troponin",), pad_to_multiple_of=16)
    tokenizer.save_pretrained(tmp_path / "saved")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "saved" / "spiece.model"))
    assert [processor.IdToPiece(number) for number in range(len(processor))] == list(tokenizer.tokens)
    assert [processor.EncodeAsIds(text) for text in TEXTS] == ids_of(tokenizer)
    assert processor.pad_id() == tokenizer.pad_token_id
    assert processor.bos_id() == tokenizer.cls_token_id
    config = json.loads((tmp_path / "saved" / "tokenizer_config.json").read_text())
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"
