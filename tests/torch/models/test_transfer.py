"""Another vocabulary for a trained encoder: rows, folders that open, and a run that goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bertdata import load_tokenizer
from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, OutputError
from bertdata.tokenizers.matching import KINDS
from bertdata.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
from bertdata.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS
from bertdata.torch.models import FAMILIES
from bertdata.torch.models.transfer import transfer, vocabulary_axes
from bertdata.torch.models.weight_files import read_weights

OLD = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "q", "sea", "##side", "salt", "##y", "water", "a", "##e"])
NEW = WordPieceTokenizer.from_tokens(
    ["salt", *reversed(SPECIAL_TOKENS), "seaside", "##side", "water", "ö", "saltwater", "q"]
)
SIZES: dict[str, Any] = {
    "num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 13,
    "max_position_embeddings": 40,
}  # fmt: skip


def saved(folder: Path, kind: str, **more: Any) -> Any:
    """Save a model of transformers with the old vocabulary, its intermediate layers as wide as that, and return it."""
    transformers = pytest.importorskip("transformers")
    ids = {"vocab_size": 13, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2}
    config = transformers.AutoConfig.for_model(kind, **SIZES | ids | {"sep_token_id": 3} | more)
    torch.manual_seed(0)
    model = transformers.AutoModelForMaskedLM.from_config(config).eval()
    with torch.no_grad():  # biases of trained models are not 0
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape) * 0.02)
    model.save_pretrained(folder)
    OLD.save_pretrained(folder)
    return model


def test_rows_are_copied_by_role_and_surface_and_means_of_pieces(tmp_path: Path) -> None:
    saved(tmp_path / "old", "bert", tie_word_embeddings=False)
    NEW.save_pretrained(tmp_path / "vocab")
    made = transfer(tmp_path / "old", tmp_path / "vocab", tmp_path / "new")
    before, after = read_weights(tmp_path / "old"), read_weights(tmp_path / "new")
    pieces = {"seaside": ["sea", "##side"], "saltwater": ["salt", "water"]}
    drawn = {"ö", "saltwater"}  # the old vocabulary makes [UNK] of both, as "##water" is not in it
    axes = vocabulary_axes(before, {"vocab_size": 13})
    assert len(axes) == 4  # the embedding, the decoder, its bias under two names
    for name in axes:
        old, new = before[name].numpy(), after[name].numpy()
        assert new.shape == (len(NEW.tokens), *old.shape[1:])
        for place, token in enumerate(NEW.tokens):
            if token in drawn:
                assert not (old == new[place]).all(axis=tuple(range(1, old.ndim))).any() or old.ndim == 1
                continue
            ids = [OLD.tokens.index(piece) for piece in pieces.get(token, [token])]
            assert np.array_equal(new[place], old[ids].astype(np.float64).mean(axis=0).astype(np.float32)), token
    for name in set(before) - set(axes):
        assert torch.equal(before[name], after[name])
    assert [KINDS[kind] for kind in made.matches.kinds] == [
        "same", *["role"] * 5, "pieces", "same", "same", "none", "none", "same"
    ]  # fmt: skip
    config = json.loads((tmp_path / "new" / "config.json").read_text())
    assert (config["vocab_size"], config["pad_token_id"]) == (len(NEW.tokens), NEW.pad_token_id)
    again = transfer(tmp_path / "old", tmp_path / "vocab", tmp_path / "again")
    assert all(torch.equal(weight, after[name]) for name, weight in read_weights(again.output).items())


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("bert", {}),
        ("bert", {"tie_word_embeddings": False}),
        ("modernbert", {"vocab_size": 64}),
        ("roberta", {}),
        ("albert", {"embedding_size": 16}),
        ("electra", {"embedding_size": 16}),
        ("mobilebert", {"embedding_size": 16, "vocab_size": 17}),
        ("deberta-v2", {}),
    ],
)
def test_the_same_vocabulary_gives_the_same_logits_and_another_opens(
    kind: str, more: dict[str, Any], tmp_path: Path
) -> None:
    model = saved(tmp_path / "old", kind, **more)
    auto = pytest.importorskip("transformers").AutoModelForMaskedLM
    transfer(tmp_path / "old", tmp_path / "old", tmp_path / "same")
    ids = torch.tensor([[2, 6, 7, 8, 3]])
    assert torch.equal(auto.from_pretrained(tmp_path / "same").eval()(ids).logits, model(ids).logits)
    NEW.save_pretrained(tmp_path / "vocab")
    made = transfer(tmp_path / "old", tmp_path / "vocab", tmp_path / "new")
    other, about = auto.from_pretrained(tmp_path / "new", output_loading_info=True)
    assert not about["missing_keys"]
    assert not about["mismatched_keys"]
    rows = 64 if more.get("vocab_size", 13) > 13 else len(NEW.tokens)
    assert other.config.vocab_size == rows == len(NEW.tokens) + made.padding
    assert other.config.pad_token_id == NEW.pad_token_id
    copied = [OLD.tokens.index(token) for token in ("[CLS]", "salt", "water", "[SEP]")]
    now = [NEW.tokens.index(token) for token in ("[CLS]", "salt", "water", "[SEP]")]
    first = model.eval()(torch.tensor([copied])).logits[0][:, copied]
    second = other.eval()(torch.tensor([now])).logits[0][:, now]
    assert torch.allclose(first, second, atol=1e-6)  # of positions too, which begin after the padding token in RoBERTa


@pytest.mark.costly
def test_the_weights_of_the_vocabulary_are_those_whose_shape_its_size_decides() -> None:
    transformers = pytest.importorskip("transformers")
    for kind in ("bert", "big_bird", "convbert", "funnel", "gte", "mobilebert", "nomic_bert", "xlm", "xlm-roberta"):
        shapes = []
        for size in (30011, 30012):
            config = transformers.AutoConfig.for_model(kind, vocab_size=size)
            with torch.device("meta"):
                shapes.append(transformers.AutoModelForMaskedLM.from_config(config).state_dict())
        first, second = shapes
        differ = {name for name in first if first[name].shape != second[name].shape}
        axes = vocabulary_axes(first, {"vocab_size": 30011})
        assert set(axes) == differ, kind
        assert all(first[name].shape[axis] != second[name].shape[axis] for name, axis in axes.items())


@pytest.mark.parametrize("family", ["bert", "albert", "electra", "modernbert"])
def test_our_own_models_go_on_with_their_generators(family: str, tmp_path: Path) -> None:
    sizes = SIZES | ({"embedding_size": 16} if family in ("albert", "electra") else {})
    tiny = {"albert": "albert-tiny", "electra": "electra-tiny", "modernbert": "modernbert-tiny"}.get(family, "tiny")
    config = FAMILIES[family].presets[tiny](vocab_size=13, **sizes)

    class Info:
        label, token_types = "sentence_order_label" if family == "albert" else None, 1

    cls: Any = FAMILIES[family].pretraining(config, Info())
    torch.manual_seed(0)
    cls(config).save_pretrained(tmp_path / "old")
    OLD.save_pretrained(tmp_path / "old")
    NEW.save_pretrained(tmp_path / "vocab")
    transfer(tmp_path / "old", tmp_path / "vocab", tmp_path / "new")
    model = cls.from_pretrained(tmp_path / "new")
    assert model.config.vocab_size == len(NEW.tokens)
    assert load_tokenizer(tmp_path / "new").fingerprint == NEW.fingerprint


def test_what_cannot_be_told_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="vocab_size and hidden_size of the model are both 9"):
        vocabulary_axes({"embeddings.weight": torch.zeros(9, 9)}, {"vocab_size": 9, "hidden_size": 9})
    saved(tmp_path / "old", "bert")
    NEW.save_pretrained(tmp_path / "vocab")
    with pytest.raises(OutputError):
        transfer(tmp_path / "old", tmp_path / "vocab", tmp_path / "old")
    call = ["transfer", "--model", str(tmp_path / "old"), "--vocab", str(tmp_path / "vocab")]
    assert dispatch([*call, "--output", str(tmp_path / "new")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "the same token, copied 4 tokens special, by its role or name 5 tokens" in printed
    assert "pieces of its text 1 token, of 2.00 pieces on average" in printed
