"""Causal rows in models: no output moves when later tokens change, and the loss is that of a plain loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from bertdata.errors import ConfigError
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import BertConfig, BertForMaskedLM, ModernBertConfig, PretrainingCollator, ShardDataset
from bertdata.torch.models.causal_probe import check_causal_mask
from bertdata.torch.models.from_transformers import TransformersModel
from bertdata.torch.models.modernbert import ModernBertForMaskedLM
from bertdata.torch.models.places import places_taken, with_places
from bertdata.torch.models.transformers_config import TransformersConfig
from tests.torch.build import WORDS, write_build

VOCABULARY = WORDS + 5
LENGTH = 176
"""Above it the local attention of packed rows, of 8 tokens on each side, would be in blocks."""
OWN: dict[str, Callable[[], Any]] = {
    "bert": lambda: BertForMaskedLM(BertConfig.tiny(vocab_size=VOCABULARY)),
    "modernbert": lambda: ModernBertForMaskedLM(ModernBertConfig.tiny(vocab_size=VOCABULARY, local_attention=16)),
}
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "pad_token_id": 0,
}


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = ExamplesConfig(objective="full-sentences", max_seq_length=LENGTH)
    return write_build(tmp_path_factory.mktemp("b"), config, masking=MaskingConfig(training="0.5"), documents=60)


def of_transformers(kind: str, **others: Any) -> TransformersModel:
    transformers: Any = pytest.importorskip("transformers")
    made: Any = TransformersConfig.of(transformers.AutoConfig.for_model(kind, **SIZES | others))
    torch.manual_seed(0)
    return TransformersModel(made)


def states(model: Any, batch: dict[str, Any], packing: bool) -> list[Tensor]:
    """Return the logits at each row, without its padding."""
    logits = model(**batch | {"labels": None}).prediction_logits
    if packing:
        ends = batch["cu_seqlens"].tolist()
        return [logits[0, begin:end] for begin, end in itertools.pairwise(ends)][: len(batch["causal_rows"])]
    return [row[: int(real.sum())] for row, real in zip(logits, batch["attention_mask"], strict=True)]


def check_nothing_later_is_seen(model: Any, build: Path, packing: bool) -> None:
    dataset = ShardDataset(build)
    rows = dataset.__getitems__([(0, number) for number in range(6)])
    batch = PretrainingCollator(dataset, packing=packing, causal_flags=True)(rows)
    flags: list[bool] = batch["causal_rows"][:6].tolist()
    lengths = [len(row["input_ids"]) for row in rows]
    assert 0 < sum(flags) < 6
    assert max(lengths) > 160
    before = states(model, batch, packing)
    for number in (flags.index(True), flags.index(False)):
        length = lengths[number]
        for place in (1, length // 3, length - 2):
            ids = batch["input_ids"].clone()
            at = (0, sum(lengths[:number]) + place) if packing else (number, place)
            ids[at] = 5 + (int(ids[at]) + 7) % WORDS
            after = states(model, batch | {"input_ids": ids}, packing)
            moved = [(one - other).abs().amax(-1) for one, other in zip(before, after, strict=True)]
            for row in {*range(6)} - {number}:
                assert moved[row].max() < 1e-5, (number, row)
            assert moved[number][place] > 1e-4
            assert (float(moved[number][:place].max()) < 1e-6) == flags[number], (number, place)


@pytest.mark.costly
@torch.no_grad()
@pytest.mark.parametrize("packing", [False, True])
@pytest.mark.parametrize("family", OWN)
def test_an_output_depends_on_no_later_token_and_on_no_other_row(build: Path, family: str, packing: bool) -> None:
    torch.manual_seed(0)
    check_nothing_later_is_seen(OWN[family]().eval(), build, packing)


@torch.no_grad()
def test_causal_rows_of_modernbert_are_the_decoder_of_transformers() -> None:
    """Its window counts the token itself, so it has one more than half of `local_attention`."""
    transformers: Any = pytest.importorskip("transformers", minversion="4.55")
    torch.manual_seed(0)
    own = OWN["modernbert"]().eval()
    config = transformers.ModernBertDecoderConfig(
        **{name: getattr(own.config, name) for name in SIZES}, local_attention=own.config.local_attention + 2
    )
    weights: dict[str, Tensor] = {}
    for name, weight in own.state_dict().items():
        if name.endswith("Wqkv.weight"):
            parts = zip("qkv", weight.chunk(3), strict=True)
            weights |= {name.replace("Wqkv", f"{part}_proj"): value for part, value in parts}
        else:
            weights[name.replace("head.", "lm_head.", 1)] = weight
    decoder = transformers.ModernBertDecoderForCausalLM(config).eval()
    decoder.load_state_dict(weights)
    ids = torch.randint(5, VOCABULARY, (2, LENGTH))
    ours = own(ids, causal_rows=torch.ones(2, dtype=torch.bool)).prediction_logits
    torch.testing.assert_close(ours, decoder(input_ids=ids).logits, rtol=0, atol=2e-5)


TAKES = ["bert", "roberta", "modernbert", "distilbert", "electra", "eurobert", "nomic_bert"]


@torch.no_grad()
@pytest.mark.parametrize(
    "kind",
    [family if family in ("bert", "modernbert") else pytest.param(family, marks=pytest.mark.slow) for family in TAKES],
)
def test_encoders_of_transformers_see_nothing_later_either(build: Path, kind: str) -> None:
    model = of_transformers(kind, **({"local_attention": 16} if kind == "modernbert" else {})).eval()
    check_causal_mask(model, ShardDataset(build).shards.expect_pretraining())
    check_nothing_later_is_seen(model, build, packing=False)


@torch.no_grad()
@pytest.mark.parametrize(("kind", "name"), [("fnet", "FNet"), ("convbert", "ConvBert"), ("deberta-v2", "DebertaV2")])
def test_encoders_that_heed_no_such_mask_are_refused_by_name(build: Path, kind: str, name: str) -> None:
    model = of_transformers(kind)
    with pytest.raises(
        ConfigError, match=f"{name}ForMaskedLM of transformers takes no attention_mask that makes rows causal"
    ):
        check_causal_mask(model, ShardDataset(build).shards.expect_pretraining())


@torch.no_grad()
@pytest.mark.parametrize("family", OWN)
def test_packed_rows_have_the_outputs_of_padded_ones(build: Path, family: str) -> None:
    torch.manual_seed(0)
    model, dataset = OWN[family]().eval(), ShardDataset(build)
    rows = dataset.__getitems__([(0, number) for number in range(6)])
    batches = [PretrainingCollator(dataset, packing=packing, causal_flags=True)(rows) for packing in (False, True)]
    padded, packed = (states(model, batch, packing) for batch, packing in zip(batches, (False, True), strict=True))
    for one, other in zip(padded, packed[:6], strict=True):
        assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.costly
@torch.no_grad()
@pytest.mark.parametrize("training", ["0.5", "causal"])
@pytest.mark.parametrize("packing", [False, True])
@pytest.mark.parametrize("most", [0, 3 * VOCABULARY])
def test_the_loss_is_the_mean_of_each_kind_of_row_by_its_share(
    build: Path, training: str, packing: bool, most: int
) -> None:
    torch.manual_seed(0)
    model, dataset = OWN["modernbert"]().eval(), ShardDataset(build)
    model.most_logits = most
    masking = replace(dataset.shards.expect_pretraining().masking, training=training)
    given = [(1, number) for number in range(9)]
    batch = PretrainingCollator(dataset, packing=packing, masking=masking, causal_flags=True)(
        dataset.__getitems__(given)
    )
    output = model(**with_places(batch, dataset.info.pad_token_id, places_taken(model)))
    losses: dict[bool, list[float]] = {True: [], False: []}
    alone = PretrainingCollator(dataset, masking=masking)
    for pair, causal in zip(given, batch["causal_rows"].tolist(), strict=False):
        row = alone(dataset.__getitems__([pair]))
        ids, labels = row["input_ids"], row["labels"][0]
        logits = model(ids, attention_mask=row["attention_mask"]).prediction_logits[0]
        loss_of_token = functional.cross_entropy(logits, labels, reduction="none")[labels >= 0]
        losses[causal] += loss_of_token.tolist()
    terms = {term.name: term for term in output.terms}
    means = {causal: sum(values) / max(len(values), 1) for causal, values in losses.items()}
    share = 1.0 if training == "causal" else 0.5
    assert terms["clm"].weight == share
    assert float(terms["clm"].value) == pytest.approx(means[True], rel=1e-4)
    assert ("mlm" in terms) == (training != "causal")
    if training != "causal":
        assert terms["mlm"].weight == 0.5
        assert float(terms["mlm"].value) == pytest.approx(means[False], rel=1e-4)
    assert float(output.loss) == pytest.approx(share * means[True] + (1 - share) * means[False], rel=1e-4)
