"""The span boundary objective: a loop over the spans gives the same loss, padded or packed, and training resumes."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from bertdata.errors import ConfigError
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import AlbertConfig, ElectraConfig, ModernBertConfig, PretrainingCollator, ShardDataset
from bertdata.torch.models.albert import AlbertForPreTraining
from bertdata.torch.models.bert import BertForMaskedLM
from bertdata.torch.models.from_transformers import TransformersModel
from bertdata.torch.models.modernbert import ModernBertForMaskedLM
from bertdata.torch.models.objectives.span_boundary import SpanBoundaryModel, find_spans, sequence_numbers
from bertdata.torch.models.weights import APART
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import write_build
from tests.torch.models.test_from_transformers import config_of
from tests.torch.training.small_runs import SETTINGS, SMALL, log, losses, stop_at

SPANS = MaskingConfig(mask_unit="span", replace_unit="unit", masked_lm_prob=0.3)
RUN = replace(SETTINGS, max_steps=4, save_steps=2, training_objective="span-boundary")


class OfBert(SpanBoundaryModel):
    inner = BertForMaskedLM


class OfTransformers(SpanBoundaryModel):
    inner = TransformersModel


class OfAlbert(SpanBoundaryModel):
    inner = AlbertForPreTraining


class OfModernBert(SpanBoundaryModel):
    inner = ModernBertForMaskedLM


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build whose masks are spans."""
    place = tmp_path_factory.mktemp("spans")
    return write_build(place, ExamplesConfig(objective="full-sentences", max_seq_length=48), masking=SPANS)


def spans_by_loop(labels: list[int], most: int) -> list[tuple[int, int, int]]:
    """Return the place, the first and the last token of its span, for each predicted token of one row."""
    spans, start = [], 0
    while start < len(labels):
        end = start
        while end < len(labels) and labels[end] != -100:
            end += 1
        if end > start > 0 and end < len(labels):
            spans += [(place, start, end - 1) for place in range(start, min(end, start + most))]
        start = max(end, start + 1)
    return spans


def loss_by_loop(model: SpanBoundaryModel, hidden: Tensor, labels: Tensor, lengths: list[int]) -> tuple[float, int]:
    """Return the sum of the cross-entropies of rows (N, L), token by token, and their number (section 3.2)."""
    total, number = 0.0, 0
    head: Any = model.head
    layers: Any = head.transform
    embeddings = model.masked_lm.get_submodule("bert.embeddings.word_embeddings").get_parameter("weight")
    for row, length in enumerate(lengths):
        for place, start, end in spans_by_loop(labels[row, :length].tolist(), 20):
            offset = head.position_embeddings.weight[place - start]
            state = torch.cat([hidden[row, start - 1], hidden[row, end + 1], offset])
            for dense, norm in ((layers.dense1, layers.LayerNorm1), (layers.dense2, layers.LayerNorm2)):
                state = dense.weight @ state + dense.bias
                state = state * 0.5 * (1 + torch.erf(state / math.sqrt(2)))
                spread = (state.var(unbiased=False) + 1e-12).sqrt()
                state = (state - state.mean()) / spread * norm.weight + norm.bias
            logits = embeddings @ state + head.bias
            total += float(torch.logsumexp(logits, 0) - logits[labels[row, place]])
            number += 1
    return total, number


def test_the_loss_is_that_of_a_loop_over_the_spans_padded_and_packed(build: Path) -> None:
    dataset = ShardDataset(build)
    examples = [dataset[(0, number)] for number in range(6)]
    padded, packed = (PretrainingCollator(dataset, packing=packing)(examples) for packing in (False, True))
    for labels in (padded["labels"], packed["labels"]):  # a span of 24 tokens, and one at the edge of a row
        labels[0, 0], labels[0, 2:26] = 9, torch.arange(30, 54)
        labels[0, 1] = labels[0, 26] = -100
    torch.manual_seed(0)
    model = OfBert(replace(SMALL, initializer_range=0.2)).eval()
    with torch.no_grad():
        for parameter in model.head.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
        one, other = model(**padded), model(**packed)
        lengths = padded["attention_mask"].sum(1).tolist()
        assert len(set(lengths)) > 1
        total, number = loss_by_loop(model, one.masked_lm.hidden_states, padded["labels"], lengths)
    labelled = int((padded["labels"] != -100).sum())
    assert number == labelled - 5 > 40
    assert one.sbo_loss.item() == pytest.approx(total / labelled, rel=1e-5)
    assert other.sbo_loss.item() == pytest.approx(total / labelled, rel=1e-5)
    assert one.loss.item() == pytest.approx(one.masked_lm.mlm_loss.item() + total / labelled, rel=1e-5)
    figures = one.terms[-1].figures
    assert [float(part) for part in figures["sbo_share"][0]] == [number, labelled]


def test_spans_are_what_is_labelled_side_by_side_within_a_sequence() -> None:
    """Of padded rows: at the edges, two of them side by side in the flat batch, a long one; by the loop."""
    rows = ["-ab-c--", "ab--cd-", "--aaaaa", "aaaaa--", "-abcde-", "-abcde-"]
    labels = torch.tensor([[-100 if letter == "-" else ord(letter) for letter in row] for row in rows])
    mask = torch.ones_like(labels)
    mask[5, 6] = 0  # a span in front of padding has no border there
    for most in (20, 3):
        numbers = sequence_numbers((6, 7), {"attention_mask": mask}, labels.device)
        spans = find_spans((labels != -100).flatten(), numbers, most)
        expected = []
        for row, length in enumerate(mask.sum(1).tolist()):
            for place, start, end in spans_by_loop(labels[row, :length].tolist(), most):
                expected.append((row * 7 + start - 1, row * 7 + end + 1, place - start))
        assert list(zip(spans.left.tolist(), spans.right.tolist(), spans.offset.tolist(), strict=True)) == expected
        assert int(spans.predicted.sum()) == len(expected)
    two = [(0, 3, 0), (0, 3, 1), (3, 5, 0), (10, 13, 0), (10, 13, 1)]
    assert expected == [*two, (28, 34, 0), (28, 34, 1), (28, 34, 2)]
    none = find_spans(torch.zeros(4, dtype=torch.bool), torch.zeros(4, dtype=torch.int64))
    assert [len(part) for part in none] == [0, 0, 0, 0]


def test_borders_of_drawn_masks_are_never_masked_and_every_label_has_them(build: Path) -> None:
    """Whatever stands in for a span, [MASK], random tokens or its own, and with two spans side by side."""
    dataset = ShardDataset(build)
    kept, merged = 0, 0
    for epoch in range(4):
        batch = PretrainingCollator(dataset)([dataset[(epoch, number)] for number in range(len(dataset))])
        labels, ids = batch["labels"].flatten(), batch["input_ids"].flatten()
        spans = find_spans(labels != -100, sequence_numbers(tuple(batch["labels"].shape), batch, ids.device))
        assert spans.predicted.all()
        assert (labels[spans.left] == -100).all()
        assert (labels[spans.right] == -100).all()
        inner = labels != -100
        kept += int((ids[inner] == labels[inner]).sum())
        masked = ids[inner] == 4
        merged += int((masked[1:] != masked[:-1])[spans.offset[1:] > 0].sum())
    assert kept > 0
    assert merged > 0


def test_dropping_the_objective_leaves_the_same_masked_language_model(build: Path) -> None:
    dataset = ShardDataset(build)
    batch = PretrainingCollator(dataset)([dataset[(0, number)] for number in range(4)])
    model = OfBert(SMALL).eval()
    assert model(**batch).masked_lm.mlm_loss.item() == model.masked_lm(**batch).loss.item()
    gradient = torch.autograd.grad(model(**batch).sbo_loss, model.masked_lm.word_embeddings.weight)[0]
    assert gradient.abs().sum() > 0


@pytest.mark.parametrize(
    ("kind", "shape", "width"),
    [
        (OfAlbert, AlbertConfig.tiny(vocab_size=100, max_position_embeddings=64), 32),
        (OfModernBert, ModernBertConfig.tiny(vocab_size=100, pad_token_id=0, cls_token_id=2, sep_token_id=3), 128),
    ],
)
def test_the_head_is_as_wide_as_the_word_embeddings_and_is_loaded_with_its_model(
    kind: type[SpanBoundaryModel], shape: Any, width: int, build: Path, tmp_path: Path
) -> None:
    dataset = ShardDataset(build)
    batch = PretrainingCollator(dataset)([dataset[(0, number)] for number in range(4)])
    model = kind(shape).eval()
    assert model.masked_lm.word_embeddings.weight.shape == (100, width)
    model(**batch).loss.backward()
    assert all(parameter.grad is not None for parameter in model.head.parameters())
    model.save_pretrained(tmp_path)
    assert kind.from_pretrained(tmp_path).eval()(**batch).loss.item() == model(**batch).loss.item()
    (tmp_path / APART).unlink()
    assert kind.from_pretrained(tmp_path).eval()(**batch).loss.item() != model(**batch).loss.item()


def test_a_bert_is_trained_resumed_exactly_and_opened_by_transformers(build: Path, tmp_path: Path) -> None:
    pretrain(build, SMALL, tmp_path / "whole", RUN)
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, SMALL, tmp_path / "cut", RUN, report=stop_at(4))
    pretrain(build, SMALL, tmp_path / "cut", RUN)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    assert (tmp_path / "cut" / APART).read_bytes() == (tmp_path / "whole" / APART).read_bytes()
    last = log(tmp_path / "whole")[-1]
    assert last["loss"] == pytest.approx(last["mlm_loss"] + last["sbo_loss"])
    assert {"sbo_accuracy", "sbo_share"} <= {*last}
    opened, notes = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "cut", output_loading_info=True)
    assert type(opened).__name__ == "BertForMaskedLM"
    assert not notes["missing_keys"]
    assert not notes["unexpected_keys"]
    again = OfBert.from_pretrained(tmp_path / "cut").eval()
    ids = torch.arange(10, 26)[None]
    assert torch.allclose(opened.eval()(ids).logits, again.masked_lm(ids).prediction_logits, atol=1e-5)
    pretrain(build, str(tmp_path / "cut"), tmp_path / "more", replace(RUN, max_steps=1))
    pretrain(build, str(tmp_path / "cut"), tmp_path / "less", replace(RUN, max_steps=1, training_objective=""))
    assert "sbo_loss" not in log(tmp_path / "less")[-1]


def test_parts_of_a_batch_and_packing_change_only_the_rounding(build: Path, tmp_path: Path) -> None:
    runs: dict[str, Any] = {"one": {}, "parts": {"gradient_accumulation_steps": 4}, "packed": {"packing": True}}
    for name, changes in runs.items():
        pretrain(build, SMALL, tmp_path / name, replace(RUN, **changes))
    for name in ("parts", "packed"):
        assert losses(tmp_path / name) == pytest.approx(losses(tmp_path / "one"), rel=1e-5)
        shares = [[record["sbo_loss"] for record in log(tmp_path / run_name)] for run_name in (name, "one")]
        assert shares[0] == pytest.approx(shares[1], rel=1e-4)


@pytest.mark.parametrize("kind", ["deberta-v2", "modernbert"])
def test_an_encoder_of_transformers_has_the_head_on_its_last_hidden_states(
    kind: str, build: Path, tmp_path: Path
) -> None:
    config = str(config_of(tmp_path / "config", kind))
    pretrain(build, config, tmp_path / "whole", RUN, library="transformers")
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, config, tmp_path / "cut", RUN, library="transformers", report=stop_at(4))
    pretrain(build, config, tmp_path / "cut", RUN, library="transformers")
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "cut")
    model = OfTransformers.from_pretrained(tmp_path / "cut").eval()
    ids = torch.arange(10, 26)[None]
    labels = torch.full_like(ids, -100)
    labels[0, 3:6] = 7
    hidden = transformers.AutoModel.from_pretrained(tmp_path / "cut").eval()(ids).last_hidden_state
    states = model(ids, labels).masked_lm.hidden_states
    torch.testing.assert_close(states, hidden, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("library", ["bertdata", "transformers"])
def test_pairs_are_learnt_beside_it(library: str, tmp_path: Path) -> None:
    pairs = write_build(tmp_path / "pairs", ExamplesConfig(objective="nsp", max_seq_length=48), masking=SPANS)
    config: Any = SMALL if library == "bertdata" else str(config_of(tmp_path / "config", "bert"))
    pretrain(pairs, config, tmp_path / "out", replace(RUN, max_steps=1), library=library)
    last = log(tmp_path / "out")[-1]
    assert last["loss"] == pytest.approx(last["mlm_loss"] + last["pair_loss"] + last["sbo_loss"])
    assert type(transformers.AutoModelForPreTraining.from_pretrained(tmp_path / "out")).__name__ == "BertForPreTraining"


def test_masks_of_one_word_at_a_time_get_a_warning(
    build: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pretrain(build, SMALL, tmp_path / "spans", replace(RUN, max_steps=1))
    assert not caplog.messages
    examples = ExamplesConfig(objective="full-sentences", max_seq_length=48)
    words = write_build(tmp_path / "words", examples, masking=MaskingConfig(mask_unit="word"))
    pretrain(words, SMALL, tmp_path / "out", replace(RUN, max_steps=1))
    assert "these shards mask one word at a time (--mask-unit word)" in caplog.text


@pytest.mark.slow
def test_training_lowers_the_loss(build: Path, tmp_path: Path) -> None:
    settings = replace(RUN, max_steps=60, batch_size=16, learning_rate=5e-3, logging_steps=10)
    pretrain(build, replace(SMALL, hidden_dropout_prob=0.0), tmp_path, settings)
    records = log(tmp_path)
    assert records[-1]["sbo_loss"] < records[0]["sbo_loss"] - 0.5


def test_what_is_not_for_the_objective_is_refused_before_a_step(build: Path, tmp_path: Path) -> None:
    tokens = write_build(tmp_path / "tokens", ExamplesConfig(objective="full-sentences", max_seq_length=48))
    with pytest.raises(ConfigError, match=r"these shards mask single tokens \(`mask_unit` token\); build with `mask_"):
        pretrain(tokens, SMALL, tmp_path / "a", RUN)
    with pytest.raises(ConfigError, match="ElectraForReplacedTokenDetection is none; take a BERT config"):
        pretrain(build, ElectraConfig.tiny(vocab_size=100), tmp_path / "b", RUN)
    xlnet = str(config_of(tmp_path / "config", "xlnet"))
    with pytest.raises(ConfigError, match="TransformersForPermutationLM is none"):
        pretrain(build, xlnet, tmp_path / "c", RUN, library="transformers")
    with pytest.raises(ConfigError, match="`embedding_sharing` is for a generator and a discriminator, and `train"):
        replace(RUN, embedding_sharing="gdes")
    with pytest.raises(ConfigError, match="`training_objective` is 'sbo'"):
        replace(RUN, training_objective="sbo")
