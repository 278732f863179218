"""Each term of the losses is what an independent formula, of torch or the outputs of transformers, gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor
from torch.nn import functional

from bertdata.shards import open_shards
from bertdata.torch import AlbertConfig, AlbertForPreTraining, BertForMaskedLM
from bertdata.torch.data.dataset import PretrainingCollator, ShardDataset
from bertdata.torch.distillation.distilled_model import DistilledModel
from bertdata.torch.distillation.reading import Rows, reader_of
from bertdata.torch.distillation.settings import DistillationSettings
from bertdata.torch.models.modernbert import ModernBertConfig, ModernBertForMaskedLM
from bertdata.torch.models.outputs import LossTerm
from bertdata.torch.models.weights import PreTrainedModel
from bertdata.torch.training.losses import count, loss_of
from tests.torch.training.small_runs import SMALL

MODERN = ModernBertConfig(
    vocab_size=100,
    pad_token_id=0,
    cls_token_id=2,
    sep_token_id=3,
    hidden_size=32,
    num_hidden_layers=4,
    num_attention_heads=2,
    intermediate_size=48,
    max_position_embeddings=64,
    local_attention=8,
    global_attn_every_n_layers=2,
)


def bert(layers: int, seed: int, **changes: Any) -> BertForMaskedLM:
    """Return a model with weights large enough that its outputs differ from those of others."""
    torch.manual_seed(seed)
    return BertForMaskedLM(replace(SMALL, num_hidden_layers=layers, initializer_range=0.3, **changes))


def batch_of(build: Path, packing: bool = False, rows: range = range(6)) -> dict[str, Tensor]:
    dataset = ShardDataset(open_shards(build))
    return PretrainingCollator(dataset, packing=packing, epoch=0)(dataset.__getitems__([*rows]))


def distilled(student: PreTrainedModel, teacher: PreTrainedModel, **settings: object) -> DistilledModel:
    return DistilledModel(student, teacher, DistillationSettings(**settings)).eval()  # type: ignore[arg-type]


def terms_of(model: DistilledModel, batch: dict[str, Tensor]) -> dict[str, LossTerm]:
    return {term.name: term for term in model(**batch).terms}


def peer(model: BertForMaskedLM, tmp_path: Path) -> transformers.BertForMaskedLM:
    """Return the same model as transformers opens it, with the scores of its attention to be had."""
    model.save_pretrained(tmp_path)
    return transformers.BertForMaskedLM.from_pretrained(tmp_path, attn_implementation="eager").eval()


@pytest.mark.parametrize("at", ["all", "labelled"])
def test_distilbert_is_the_sum_of_torchs_losses_of_what_transformers_outputs(
    build: Path, tmp_path: Path, at: str
) -> None:
    student, teacher, batch = bert(2, 0), bert(4, 1), batch_of(build)
    terms = terms_of(distilled(student, teacher, soft_targets_at=at, temperature=3.0), batch)
    real, labelled = batch["attention_mask"].bool(), batch["labels"] >= 0
    assert not real.all()
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    ours, theirs = (peer(role, tmp_path)(**inputs, output_hidden_states=True) for role in (student, teacher))
    chosen = real if at == "all" else labelled
    soft = functional.kl_div(
        (ours.logits[chosen] / 3).log_softmax(-1), (theirs.logits[chosen] / 3).softmax(-1), reduction="batchmean"
    )
    torch.testing.assert_close(terms["soft_targets"].value, soft * 9)
    torch.testing.assert_close(
        terms["mlm"].value, functional.cross_entropy(ours.logits[labelled], batch["labels"][labelled])
    )
    states = [output.hidden_states[-1][real] for output in (ours, theirs)]
    cosine = functional.cosine_embedding_loss(states[0], states[1], torch.ones(len(states[0])))
    torch.testing.assert_close(terms["cosine"].value, cosine)
    assert {name: (term.weight, term.per) for name, term in terms.items()} == {
        "mlm": (2.0, "labelled"),
        "soft_targets": (5.0, "tokens" if at == "all" else "labelled"),
        "cosine": (1.0, "tokens"),
    }


def test_tinybert_compares_embeddings_states_and_scores_of_the_last_layer_of_each_block(
    build: Path, tmp_path: Path
) -> None:
    student, teacher, batch = bert(2, 0, hidden_size=16), bert(4, 1), batch_of(build)
    model = distilled(student, teacher, distillation="tinybert")
    terms = terms_of(model, batch)
    real = batch["attention_mask"].bool()
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    ours, theirs = (peer(role, tmp_path)(**inputs, output_hidden_states=True) for role in (student, teacher))
    widened: Any = model.distillation.projections
    first = functional.mse_loss(widened["embeddings"](ours.hidden_states[0][real]), theirs.hidden_states[0][real])
    torch.testing.assert_close(terms["embeddings"].value, first)
    layers = [
        functional.mse_loss(widened["hidden_states"](ours.hidden_states[own][real]), theirs.hidden_states[other][real])
        for own, other in ((1, 2), (2, 4))
    ]
    torch.testing.assert_close(terms["hidden_states"].value, sum(layers, torch.zeros(())))
    assert {name: term.weight for name, term in terms.items()} == {
        "mlm": 0.0,
        "embeddings": 1.0,
        "hidden_states": 1.0,
        "attention": 1.0,
    }
    assert "decoder" not in {name for name, value in _gradients(model, batch).items() if value.any()}

    def scores(model: Any, layer: int, hidden: Tensor, row: int, length: int) -> Any:
        attention = model.bert.encoder.layer[layer].attention["self"]
        states = (
            role(hidden[row, :length]).unflatten(-1, (2, -1)).transpose(0, 1)
            for role in (attention.query, attention.key)
        )
        query, key = states
        return query @ key.transpose(1, 2) / query.shape[-1] ** 0.5

    errors = []
    for own, other in ((0, 1), (1, 3)):
        differences = [
            scores(student, own, ours.hidden_states[own], row, length)
            - scores(teacher, other, theirs.hidden_states[other], row, length)
            for row, length in enumerate(real.sum(1).tolist())
        ]
        errors.append(torch.cat([difference.square().flatten() for difference in differences]).mean())
    torch.testing.assert_close(terms["attention"].value, sum(errors, torch.zeros(())))
    assert terms["attention"].per == "squares"


def _gradients(model: DistilledModel, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    model(**batch).loss.backward()
    return {name: value.grad for name, value in model.named_parameters() if value.grad is not None}


def test_minilm_compares_the_relations_of_each_row_and_head(build: Path) -> None:
    student, teacher, batch = bert(3, 0, hidden_size=16), bert(4, 1), batch_of(build)
    model = distilled(student, teacher, distillation="minilm", relation_heads=4, teacher_layer=2)
    terms = terms_of(model, batch)
    rows = Rows.of(batch, 0)
    states = [reader.read(rows, rows.labelled).attention for reader in model.readers]
    for name in ("query", "key", "value"):
        losses = []
        for row, length in enumerate(batch["attention_mask"].sum(1).tolist()):
            both = []
            for attended in (states[0][2], states[1][1]):
                whole = getattr(attended, name)[row, :, :length].transpose(0, 1).flatten(1)
                heads = whole.unflatten(-1, (4, -1)).transpose(0, 1)
                both.append((heads @ heads.transpose(1, 2) / heads.shape[-1] ** 0.5).softmax(-1))
            ours, theirs = both
            losses.append((theirs * (theirs / ours).log()).sum(-1).flatten())
        torch.testing.assert_close(terms[f"{name}_relations"].value, torch.cat(losses).mean(), rtol=1e-4, atol=1e-6)
    assert {term.weight for name, term in terms.items() if name != "mlm"} == {1.0}


def _modern(layers: int, seed: int) -> ModernBertForMaskedLM:
    torch.manual_seed(seed)
    return ModernBertForMaskedLM(replace(MODERN, num_hidden_layers=layers, initializer_range=0.3))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"distillation": "tinybert"},
        {"distillation": "minilm", "relation_heads": 4},
    ],
    ids=lambda one: one.get("distillation", "distilbert"),
)
@pytest.mark.parametrize("family", ["bert", "modernbert"])
def test_packed_rows_and_parts_of_a_batch_have_the_loss_of_the_whole(
    build: Path, family: str, settings: dict[str, object]
) -> None:
    student, teacher = (bert(2, 0), bert(4, 1)) if family == "bert" else (_modern(2, 0), _modern(4, 1))
    if family == "modernbert" and settings.get("distillation") == "tinybert":
        settings = settings | {"distillation_weights": ("attention=0",)}
    model = distilled(student, teacher, **settings)
    padded, packed = batch_of(build), batch_of(build, packing=True)
    whole = terms_of(model, padded)
    for name, term in terms_of(model, packed).items():
        torch.testing.assert_close(term.value, whole[name].value, rtol=1e-4, atol=1e-5)
    parts = [batch_of(build, packing=packing, rows=rows) for packing, rows in ((False, range(2)), (True, range(2, 6)))]
    counts = count(padded, None, 0)
    total = sum(loss_of(model(**part).terms, count(part, None, 0), counts) for part in parts)
    torch.testing.assert_close(total, loss_of([*whole.values()], counts, counts), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(total, model(**padded).loss, rtol=1e-4, atol=1e-5)


def test_scores_of_local_layers_are_those_of_near_tokens(build: Path) -> None:
    """Three layers of the teacher for one of the student: global for global, local for local."""
    student, teacher = _modern(2, 0), _modern(6, 1)
    only = ("embeddings=0", "hidden_states=0")
    model = distilled(student, teacher, distillation="tinybert", distillation_weights=only)
    batch = batch_of(build)
    loss = terms_of(model, batch)["attention"].value
    rows = Rows.of(batch, 0)
    ours, theirs = (reader.read(rows, rows.labelled).attention for reader in model.readers)
    real = batch["attention_mask"].bool()
    place = torch.arange(real.shape[1])
    pairs = real[:, None, :, None] & real[:, None, None, :]
    expected = torch.zeros(())
    for own, other, window in ((0, 2, 1000), (1, 5, 4)):
        scores = [layer.query @ layer.key.transpose(2, 3) / 16**0.5 for layer in (ours[own], theirs[other])]
        seen = pairs & ((place[:, None] - place).abs() <= window)
        errors = (scores[0] - scores[1]).square().where(seen, 0.0)
        expected = expected + errors.sum() / (2 * pairs.sum())
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(terms_of(model, batch_of(build, packing=True))["attention"].value, loss)


@pytest.mark.parametrize("family", ["bert", "modernbert"])
def test_states_are_those_that_transformers_outputs(build: Path, tmp_path: Path, family: str) -> None:
    """In ModernBERT the last ones are after the final norm."""
    model: PreTrainedModel = bert(4, 0) if family == "bert" else _modern(4, 0)
    model.save_pretrained(tmp_path)
    batch = batch_of(build)
    rows, real = Rows.of(batch, 0), batch["attention_mask"].bool()
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
    expected = theirs(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], output_hidden_states=True)
    reader = reader_of(model.eval(), "teacher")
    reader.need_layers()
    states = reader.read(rows, rows.labelled)
    assert states.embeddings is not None
    for ours, other in zip([states.embeddings, *states.layers], expected.hidden_states, strict=True):
        torch.testing.assert_close(ours[real], other[real], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(states.logits, expected.logits[rows.labelled], rtol=1e-4, atol=1e-5)


def test_a_shared_layer_is_read_each_time_it_works() -> None:
    sizes: dict[str, Any] = {
        "hidden_size": 16,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 16,
    }
    model = AlbertForPreTraining(AlbertConfig(vocab_size=50, embedding_size=8, num_hidden_layers=3, **sizes)).eval()
    reader = reader_of(model, "teacher")
    reader.need_layers()
    reader.need_attention()
    ids = torch.arange(4, 14)[None]
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": torch.full_like(ids, -100)}
    for _ in range(2):
        states = reader.read(Rows.of(batch, 0), torch.zeros_like(ids, dtype=torch.bool))
        assert (len(states.layers), len(states.attention)) == (3, 3)
    assert states.embeddings is not None
    assert (reader.embedding_width, states.embeddings.shape[-1]) == (8, 8)
    torch.testing.assert_close(states.layers[-1], model.encoder.encode(ids))
    assert not torch.equal(states.layers[0], states.layers[1])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"distillation": "tinybert", "distillation_weights": ("hidden_states=0", "embeddings=0")}, 4 * 2 * 12),
        ({"distillation": "minilm", "relation_heads": 48}, 24 * 48),
    ],
    ids=["attention", "minilm"],
)
def test_scores_take_the_memory_that_the_docs_say(settings: dict[str, Any], expected: int) -> None:
    """For each pair of tokens in a row, for the backward pass: 4 bytes by layer and head; 24 by relation head."""
    length = 128
    config = replace(SMALL, max_position_embeddings=length, hidden_size=48, num_attention_heads=12)
    student, teacher = BertForMaskedLM(config), BertForMaskedLM(replace(config, num_hidden_layers=4))
    ids = torch.full((1, length), 7)
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": torch.full_like(ids, -100)}
    kept: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    model = distilled(student, teacher.requires_grad_(False), **settings)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model(**batch)
    scores = [one.untyped_storage().nbytes() for one in kept.values() if one.shape[-2:] == (length, length)]
    assert sum(scores) / length**2 == pytest.approx(expected, rel=0.05)


def test_the_operations_of_the_teacher_are_counted_too(build: Path) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    torch.manual_seed(0)
    batch = batch_of(build)
    counts = count(batch, None, 0)._replace(squares=batch["input_ids"].numel() * batch["input_ids"].shape[1])
    model = distilled(bert(2, 0), bert(4, 1)).requires_grad_(True)
    model.teacher.requires_grad_(False)
    counter = FlopCounterMode(display=False)
    with counter, torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        model(**batch).loss.backward()
    padded = counts._replace(tokens=batch["input_ids"].numel())
    assert model.training_flops(padded) == pytest.approx(counter.get_total_flops(), rel=0.05)
