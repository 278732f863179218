"""Files of weights that others changed: read as transformers reads them, or refused by the name of a weight."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import save_model
from torch import Tensor

from bertdata.errors import BertDataError, ConfigError, InputError
from bertdata.torch.models.heads import BertForSequenceClassification, BertForTokenClassification
from bertdata.torch.models.weight_files import (
    INDEX,
    PICKLED,
    PICKLED_INDEX,
    WEIGHTS,
    read_tensors,
    read_weights,
    save_tensors,
)
from bertdata.torch.models.weights import PreTrainedModel
from tests.torch.models.test_interop import (
    CONFIGS,
    LABELS,
    PRETRAINING,
    agree,
    close,
    inputs,
    inputs_of,
    logits,
    made,
    strong,
    their_config,
)

Weights = dict[str, Tensor]
TIED = [(family, head) for family, head in PRETRAINING if head.tied and "of" not in family]
ALL: list[tuple[str, Any]] = [
    *PRETRAINING,
    ("bert", BertForSequenceClassification),
    ("modernbert", BertForTokenClassification),
]


def saved(folder: Path, family: str, head: Any) -> PreTrainedModel:
    """Have transformers save a model of a family, and return ours of the same class."""
    ours, config = made(family, head), their_config(CONFIGS[family])
    config.id2label = dict(enumerate(LABELS)) if getattr(ours, "labels", []) else config.id2label
    theirs = getattr(transformers, ours.architecture)(config)
    strong(theirs, seed=4)
    theirs.save_pretrained(folder)
    return ours


def opened(ours: PreTrainedModel, folder: Path) -> PreTrainedModel:
    return type(ours).from_pretrained(folder)


def theirs_of(ours: PreTrainedModel, folder: Path) -> Any:
    return getattr(transformers, ours.architecture).from_pretrained(folder, dtype=torch.float32)


def same(ours: PreTrainedModel, folder: Path) -> bool:
    """Tell whether both give the same logits for the weights of a folder."""
    return agree(opened(ours, folder), theirs_of(ours, folder))


def split(weights: Weights, folder: Path, ending: str, write: Callable[[Weights, Path], None]) -> None:
    """Write weights as two files with an index, as transformers does above a size."""
    names, index = sorted(weights), INDEX if ending == "safetensors" else PICKLED_INDEX
    stem, places = index.split(".")[0], dict[str, str]()
    for number, part in enumerate((names[::2], names[1::2]), 1):
        file = f"{stem}-0000{number}-of-00002.{ending}"
        write({name: weights[name] for name in part}, folder / file)
        places |= dict.fromkeys(part, file)
    values = {"metadata": {"total_size": 1}, "weight_map": places}
    (folder / index).write_text(json.dumps(values))


def _safetensors(weights: Weights, path: Path) -> None:
    save_tensors(str(path), {name: value.clone() for name, value in weights.items()})


def _pickle(weights: Weights, path: Path) -> None:
    torch.save(weights, path)


LAYOUTS: dict[str, Callable[[Weights, Path], None]] = {
    "one file": lambda weights, folder: _safetensors(weights, folder / WEIGHTS),
    "several files": lambda weights, folder: split(weights, folder, "safetensors", _safetensors),
    "a pickle": lambda weights, folder: _pickle(weights, folder / PICKLED),
    "several pickles": lambda weights, folder: split(weights, folder, "bin", _pickle),
}


def rewrite(folder: Path, weights: Weights, layout: str = "one file") -> None:
    for old in (*folder.glob("*.safetensors*"), *folder.glob("*.bin*")):
        old.unlink()
    LAYOUTS[layout](weights, folder)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("family", "head"), [("bert", PRETRAINING[0][1]), TIED[-1]])
def test_weights_are_read_from_every_layout_that_transformers_reads(
    tmp_path: Path, layout: str, family: str, head: Any
) -> None:
    ours = saved(tmp_path, family, head)
    rewrite(tmp_path, read_tensors(str(tmp_path / WEIGHTS)), layout)
    assert same(ours, tmp_path)


@pytest.mark.costly
@pytest.mark.parametrize(("family", "head"), TIED)
def test_either_name_of_a_tied_pair_is_enough(tmp_path: Path, family: str, head: Any) -> None:
    ours = saved(tmp_path, family, head)
    weights = read_tensors(str(tmp_path / WEIGHTS))
    for alias, name in head.tied.items():
        rewrite(tmp_path, {alias if name_there == name else name_there: value for name_there, value in weights.items()})
        assert same(ours, tmp_path)
        rewrite(tmp_path, weights | {alias: weights[name]})
        assert same(ours, tmp_path)


@pytest.mark.parametrize(("family", "head"), TIED)
def test_what_save_model_of_safetensors_leaves_out_is_found(tmp_path: Path, family: str, head: Any) -> None:
    ours = saved(tmp_path, family, head)
    save_model(theirs_of(ours, tmp_path), str(tmp_path / WEIGHTS), metadata={"format": "pt"})
    assert same(ours, tmp_path)


@pytest.mark.parametrize(("family", "head"), TIED)
def test_tied_copies_that_differ_are_refused_by_both_names(tmp_path: Path, family: str, head: Any) -> None:
    ours = saved(tmp_path, family, head)
    weights = read_tensors(str(tmp_path / WEIGHTS))
    for alias, name in head.tied.items():
        other = weights[name].clone()
        other.view(-1)[-1] += 1e-6 + other.view(-1)[-1].abs() * 1e-6
        rewrite(tmp_path, weights | {alias: other})
        with pytest.raises(InputError, match=f"{name}' and '{alias}' differ|{alias}' and '{name}' differ"):
            opened(ours, tmp_path)


def test_a_task_takes_the_encoder_of_a_file_whose_head_is_not_tied(tmp_path: Path) -> None:
    """The head is not a part of its model, so what differs there makes no difference; alone it stands for both."""
    for family, head in TIED:
        folder = tmp_path / head.__name__
        start = saved(folder, family, head)
        weights, task = read_tensors(str(folder / WEIGHTS)), BertForTokenClassification
        expected = task.from_pretrained(folder, LABELS).state_dict()
        alias, name = next(iter(head.tied.items()))
        rewrite(folder, weights | {alias: weights[name] + 1})
        _require_same_encoder(task.from_pretrained(folder, LABELS).state_dict(), expected, start)
        rewrite(folder, {alias if name_there == name else name_there: value for name_there, value in weights.items()})
        _require_same_encoder(task.from_pretrained(folder, LABELS).state_dict(), expected, start)


def _require_same_encoder(weights: Weights, expected: Weights, start: PreTrainedModel) -> None:
    prefix = start.config.base_model_prefix
    assert all(torch.equal(weights[name], expected[name]) for name in expected if name.startswith(f"{prefix}."))


def _any(weights: Weights, drawn: random.Random) -> str:
    return drawn.choice(sorted(weights))


def _missing(weights: Weights, drawn: random.Random, ours: PreTrainedModel) -> None:
    del weights[_any(weights, drawn)]


def _doubled(weights: Weights, drawn: random.Random, ours: PreTrainedModel) -> None:
    alias, name = drawn.choice(sorted(ours.tied.items()) or [("no alias", "no name")])
    if name in weights:
        weights[alias] = weights[name] + drawn.choice([0.0, 0.0, 1e-3])


def _aliased(weights: Weights, drawn: random.Random, ours: PreTrainedModel) -> None:
    alias, name = drawn.choice(sorted(ours.tied.items()) or [("no alias", "no name")])
    if name in weights:
        weights[alias] = weights.pop(name)


def _differing(weights: Weights, drawn: random.Random, ours: PreTrainedModel) -> None:
    name = _any(weights, drawn)
    weights[name] = weights[name] * drawn.choice([0.5, -1.0, torch.nan])


def _of_another_type(weights: Weights, drawn: random.Random, ours: PreTrainedModel) -> None:
    name = _any(weights, drawn)
    weights[name] = weights[name].to(drawn.choice([torch.float64, torch.float16, torch.bfloat16, torch.int32]))


def _transposed(weights: Weights, drawn: random.Random, ours: PreTrainedModel) -> None:
    name = _any(weights, drawn)
    weights[name] = weights[name].T.contiguous() if weights[name].ndim == 2 else weights[name].flip(0)


def _cut(weights: Weights, drawn: random.Random, ours: PreTrainedModel) -> None:
    name = _any(weights, drawn)
    weights[name] = weights[name][1:].clone()


def _old_name(weights: Weights, drawn: random.Random, ours: PreTrainedModel) -> None:
    for name in [name for name in weights if "LayerNorm.weight" in name]:
        weights[name.replace("LayerNorm.weight", "LayerNorm.gamma")] = weights[name]
        if drawn.random() < 0.5:
            del weights[name]


def _unknown(weights: Weights, drawn: random.Random, ours: PreTrainedModel) -> None:
    weights["of.another.task.weight"] = torch.ones(2, 2)


CHANGES: Sequence[Callable[[Weights, random.Random, PreTrainedModel], None]] = (
    _missing, _doubled, _aliased, _differing, _of_another_type, _transposed, _cut, _old_name, _unknown
)  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize(("family", "head"), ALL)
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 160), marks=pytest.mark.slow)], ids=["few", "many"])
def test_a_changed_file_is_read_as_transformers_reads_it_or_refused(
    tmp_path: Path, family: str, head: Any, seeds: range
) -> None:
    ours = saved(tmp_path, family, head)
    whole = read_tensors(str(tmp_path / WEIGHTS))
    outcomes = {"read": 0, "refused": 0}
    for seed in seeds:
        drawn, weights = random.Random(f"{family} {seed}"), dict(whole)
        for change in drawn.choices(CHANGES, k=drawn.choice([1, 1, 2])):
            change(weights, drawn, ours)
        rewrite(tmp_path, weights, drawn.choice(list(LAYOUTS)))
        try:
            read = opened(ours, tmp_path)
        except BertDataError:
            outcomes["refused"] += 1
        else:
            with torch.no_grad():
                output, expected = read.eval()(**inputs()), theirs_of(ours, tmp_path).eval()(**inputs_of(ours.config))
            assert all(map(close, logits(output), logits(expected))), seed
            outcomes["read"] += 1
    if len(seeds) > 9:
        assert min(outcomes.values()) > len(seeds) / 10


def test_a_weight_under_two_names_that_differ_is_refused(tmp_path: Path) -> None:
    ours = saved(tmp_path, "bert", PRETRAINING[0][1])
    weights = read_tensors(str(tmp_path / WEIGHTS))
    name = "bert.embeddings.LayerNorm.weight"
    old = name.replace("weight", "gamma")
    rewrite(tmp_path, weights | {old: weights[name]})
    assert same(ours, tmp_path)
    rewrite(tmp_path, weights | {old: weights[name] + 1})
    with pytest.raises(InputError, match=rf"{WEIGHTS}: the weights .*{old}.* differ, and are one weight of the model"):
        opened(ours, tmp_path)


def test_an_index_is_held_to_its_files(tmp_path: Path) -> None:
    ours = saved(tmp_path, "bert", PRETRAINING[0][1])
    weights = read_tensors(str(tmp_path / WEIGHTS))
    rewrite(tmp_path, weights, "several files")
    index = (tmp_path / INDEX).read_text()
    first, second = sorted(tmp_path.glob("model-*"))
    for place in ("../x.safetensors", "/etc/passwd", "s3://bucket/x"):
        (tmp_path / INDEX).write_text(index.replace(first.name, place))
        with pytest.raises(InputError, match="is not a path below its folder"):
            opened(ours, tmp_path)
    (tmp_path / INDEX).write_text(index.replace('"cls.', '"other.'))
    with pytest.raises(InputError, match=r"names the weight 'other\..*', which no file has"):
        opened(ours, tmp_path)
    (tmp_path / INDEX).write_text(index)
    name_there = next(iter(read_tensors(str(first))))
    save_tensors(str(second), read_tensors(str(second)) | {name_there: weights[name_there] + 1})
    with pytest.raises(InputError, match=f"'{name_there}' is in two files, .* with different values"):
        read_weights(tmp_path)
    second.unlink()
    with pytest.raises(InputError, match=f"{second.name}: there is no such file"):
        opened(ours, tmp_path)


@pytest.mark.parametrize("value", [[], {}, {"weight_map": {}}, {"weight_map": 7}])
def test_an_index_without_weights_is_refused(tmp_path: Path, value: Any) -> None:
    ours = saved(tmp_path, "bert", PRETRAINING[0][1])
    (tmp_path / WEIGHTS).unlink()
    (tmp_path / INDEX).write_text(json.dumps(value))
    with pytest.raises(InputError, match=INDEX):
        opened(ours, tmp_path)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ([torch.ones(2)], "holds a list; expected a state dict"),
        ({"a": 7}, "holds 'a', which is no dense tensor"),
        ({"a": torch.ones(2, device="meta")}, "holds 'a', which is no dense tensor"),
        ({"a": torch.ones(2, 2).to_sparse()}, "holds 'a', which is no dense tensor"),
        ({"a": Path("x")}, "is not a state dict of torch"),
    ],
)
def test_a_pickle_holds_tensors_alone(tmp_path: Path, state: Any, message: str) -> None:
    torch.save(state, tmp_path / PICKLED)
    with pytest.raises(InputError, match=rf"{PICKLED}: {message}"):
        read_weights(tmp_path)


def test_a_pickle_is_not_opened_by_a_torch_that_would_run_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save({"a": torch.ones(2)}, tmp_path / PICKLED)
    assert [*read_weights(tmp_path)] == ["a"]
    monkeypatch.setattr(torch, "__version__", "2.5.1+cpu")
    with pytest.raises(ConfigError, match=r"a pickle, which torch 2\.5\.1\+cpu cannot open .* install torch 2\.6"):
        read_weights(tmp_path)


def test_a_folder_without_weights_says_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "tf_model.h5").write_bytes(b"")
    with pytest.raises(InputError, match=rf"{WEIGHTS}: there is no such file, nor .*{PICKLED}.*save_pretrained"):
        read_weights(tmp_path)


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.parametrize("family", ["bert", "modernbert"])
def test_the_names_of_a_wrapped_model_are_those_of_the_model(tmp_path: Path, family: str) -> None:
    """As torch.compile and DistributedDataParallel, whose model is its `module`, name the weights they wrap."""
    head = dict(PRETRAINING)[family]
    ours = saved(tmp_path, family, head)
    given = read_weights(tmp_path)
    expected = type(ours).from_pretrained(tmp_path).state_dict()
    compiled: Any = torch.compile(ours)
    assert {*compiled.state_dict()} == {f"_orig_mod.{name}" for name in expected}
    for prefix in ("module.", "_orig_mod.", "module._orig_mod."):
        save_tensors(str(tmp_path / WEIGHTS), {prefix + name: value for name, value in given.items()})
        actual = type(ours).from_pretrained(tmp_path).state_dict()
        assert all(torch.equal(actual[name], expected[name]) for name in expected)
