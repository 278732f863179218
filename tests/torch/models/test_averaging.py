from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError
from bertdata.torch import BertForMaskedLM
from bertdata.torch.models.averaging import average
from bertdata.torch.models.weight_files import read_weights, save_tensors
from tests.torch.build import tokenizer_of
from tests.torch.models.test_transfer import saved


def two(folder: Path, kind: str = "bert") -> list[Path]:
    """Save two models of one config, the second with other weights."""
    saved(folder / "a", kind)
    saved(folder / "b", kind)
    weights = read_weights(folder / "b")
    save_tensors(str(folder / "b" / "model.safetensors"), {name: 3 * value for name, value in weights.items()})
    (folder / "b" / "optimizer.pt").write_bytes(b"of the run")
    return [folder / "a", folder / "b"]


def test_each_weight_is_the_mean_and_the_folder_opens(tmp_path: Path) -> None:
    first, second = two(tmp_path)
    assert dispatch(["average", str(first), str(second), "--output", str(tmp_path / "mean")]) == 0
    expected = read_weights(first)
    made = read_weights(tmp_path / "mean")
    assert made.keys() == expected.keys()
    assert all(torch.allclose(made[name], 2 * value) for name, value in expected.items())
    assert not (tmp_path / "mean" / "optimizer.pt").exists()
    assert BertForMaskedLM.from_pretrained(tmp_path / "mean").config.hidden_size == 32
    assert (tmp_path / "mean" / "vocab.txt").read_bytes() == (first / "vocab.txt").read_bytes()


def test_the_generator_is_averaged_too(tmp_path: Path) -> None:
    for name, factor in (("a", 1.0), ("b", 3.0)):
        for place in (tmp_path / name, tmp_path / name / "generator"):
            saved(place, "bert")
            save_tensors(str(place / "model.safetensors"), {"w": torch.full((2,), factor)})
    average([tmp_path / "a", tmp_path / "b"], tmp_path / "mean")
    for made in ("mean", "mean/generator"):
        assert read_weights(tmp_path / made)["w"].tolist() == [2.0, 2.0]


def test_models_that_have_no_mean_are_refused(tmp_path: Path) -> None:
    first, second = two(tmp_path)
    out = tmp_path / "mean"
    with pytest.raises(ConfigError, match="there is 1 model"):
        average([first], out)
    with pytest.raises(ConfigError, match="a model is named twice"):
        average([first, tmp_path / "b" / ".." / "a"], out)
    with pytest.raises(ConfigError, match="the output is one of the models"):
        average([first, second], second)
    (second / "vocab.txt").write_text("\n".join(tokenizer_of().tokens))
    with pytest.raises(ConfigError, match=r"has another vocab\.txt than"):
        average([first, second], out)
    (second / "vocab.txt").write_bytes((first / "vocab.txt").read_bytes())
    config = json.loads((second / "config.json").read_text())
    (second / "config.json").write_text(json.dumps(config | {"hidden_act": "relu"}))
    with pytest.raises(ConfigError, match="has another hidden_act than"):
        average([first, second], out)
    assert not (out / "config.json").exists()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"w": torch.ones(2), "ids": torch.tensor([1, 3])}, "the whole numbers of ids differ"),
        ({"w": torch.ones(3), "ids": torch.tensor([1, 2])}, r"the weight w has the shapes \(3,\) and \(2,\)"),
        ({"w": torch.tensor([1.0, float("nan")]), "ids": torch.tensor([1, 2])}, "not finite; leave this one out"),
        ({"w": torch.ones(2)}, "has other weights than .*, such as ids"),
    ],
)
def test_weights_that_have_no_mean_are_refused_by_name(
    tmp_path: Path, weights: dict[str, torch.Tensor], message: str
) -> None:
    first, second = two(tmp_path)
    save_tensors(str(first / "model.safetensors"), {"w": torch.ones(2), "ids": torch.tensor([1, 2])})
    save_tensors(str(second / "model.safetensors"), weights)
    with pytest.raises(ConfigError, match=message):
        average([first, second], tmp_path / "mean")
