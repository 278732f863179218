"""RetroMAE: the loss of a loop over positions, its batches, exact resume, and what transformers opens of it."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.masking.decoder_masks import SETS
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import DeviceCollator, ElectraConfig, ModernBertConfig, PretrainingCollator, ShardDataset
from bertdata.torch.models.objectives.retromae import RetroMaeModel, visible
from bertdata.torch.models.weights import APART
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import write_build
from tests.torch.training.small_runs import SETTINGS, SMALL, log, losses, stop_at

RUN = replace(SETTINGS, max_steps=4, save_steps=2, training_objective="retromae")
WORDS = MaskingConfig(mask_unit="word", masked_lm_prob=0.3)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of single texts whose words are masked."""
    place = tmp_path_factory.mktemp("words")
    return write_build(place, ExamplesConfig(objective="full-sentences", max_seq_length=48), masking=WORDS)


@pytest.fixture(scope="module")
def batch(build: Path) -> dict[str, Tensor]:
    """A padded batch with second masks, of rows of several lengths."""
    dataset = ShardDataset(build)
    examples = [dataset[(1, number)] for number in range(len(dataset)) if number % 7 == 0]
    made = PretrainingCollator(dataset, decoder_masks=0.5)(examples)
    assert len(set(made["attention_mask"].sum(1).tolist())) > 1
    return made


def normed(state: Tensor, norm: Any) -> Tensor:
    """Return a state after a LayerNorm, written out."""
    centred: Tensor = (state - state.mean()) / (state.var(unbiased=False) + norm.eps).sqrt()
    result: Tensor = centred * norm.weight + norm.bias
    return result


def loss_by_loop(model: RetroMaeModel, hidden: Tensor, batch: dict[str, Tensor]) -> float:
    """Return the mean cross-entropy of the decoder, position by position (section 3.3 of the paper)."""
    bert: Any = model.masked_lm.bert
    layer: Any = model.decoder
    attention, total, number = layer.attention["self"], 0.0, 0
    ids = batch["decoder_input_ids"]
    for row, length in enumerate(batch["attention_mask"].sum(1).tolist()):
        sentence, table = hidden[row, 0], bert.embeddings
        positions = table.position_embeddings.weight
        words = [
            normed(table.word_embeddings.weight[token] + positions[place] + table.token_type_embeddings.weight[0],
                   table.LayerNorm)
            for place, token in enumerate(ids[row, :length].tolist())
        ]  # fmt: skip
        for place in [place for place in range(length) if ids[row, place] not in (2, 3)]:
            hides = batch["decoder_masks"][row, batch["decoder_sets"][row, place]]
            others = [other for other in range(1, length) if other != place and not hides[other]]
            states = torch.stack([sentence, *(words[other] for other in others)])
            query = sentence + positions[place]
            mixed = []
            for head in torch.arange(32).chunk(2):
                queries = attention.query(query)[head]
                scores = attention.key(states)[:, head] @ queries / math.sqrt(len(head))
                mixed.append(scores.softmax(0) @ attention.value(states)[:, head])
            output = layer.attention["output"]
            attended = normed(output.dense(torch.cat(mixed)) + query, output.LayerNorm)
            wide = layer.intermediate.dense(attended)
            wide = wide * 0.5 * (1 + torch.erf(wide / math.sqrt(2)))
            state = normed(layer.output.dense(wide) + attended, layer.output.LayerNorm)
            logits = model.masked_lm.predict(state)
            total += float(torch.logsumexp(logits, 0) - logits[ids[row, place]])
            number += 1
    assert number == int((batch["decoder_labels"] != -100).sum()) == int(batch["maskable"].sum())
    return total / number


def test_the_loss_is_that_of_a_loop_over_positions(batch: dict[str, Tensor]) -> None:
    torch.manual_seed(0)
    model = RetroMaeModel(replace(SMALL, initializer_range=0.3)).eval()
    with torch.no_grad():
        output = model(**batch)
        expected = loss_by_loop(model, output.masked_lm.hidden_states, batch)
        apart = model.masked_lm(**{name: batch[name] for name in ("input_ids", "labels", "attention_mask")})
    assert output.decoder.loss.item() == pytest.approx(expected, rel=1e-5)
    assert output.masked_lm.loss.item() == pytest.approx(apart.loss.item(), rel=1e-6)
    assert output.loss.item() == pytest.approx(apart.loss.item() + expected, rel=1e-6)
    assert output.terms[-1].name == "decoder"


def test_what_a_position_hides_does_not_change_its_prediction_and_the_first_token_is_the_sentence(
    batch: dict[str, Tensor],
) -> None:
    """Of one row: another token where a position does not look leaves its logits; where it looks, it changes them."""
    torch.manual_seed(0)
    model = RetroMaeModel(replace(SMALL, initializer_range=0.3)).eval()
    first_row = {name: value[:1] for name, value in batch.items()}
    seen = visible(first_row["decoder_masks"], first_row["decoder_sets"], first_row["attention_mask"])[0, 0]
    length = int(first_row["attention_mask"].sum())
    assert not seen[:, length:].any()
    assert not seen.diagonal()[1:].any()
    assert seen[:, 0].all()
    before, labelled = model(**first_row).decoder.prediction_logits, first_row["decoder_labels"][0] != -100
    for token in (3, 9):
        other = first_row["decoder_input_ids"].clone()
        other[0, token] = 77
        changed = ~torch.isclose(
            model(**first_row | {"decoder_input_ids": other}).decoder.prediction_logits, before
        ).all(1)
        assert changed.tolist() == seen[labelled, token].tolist()


def test_a_batch_has_the_columns_of_a_decoder_beside_those_of_the_first_mask(build: Path) -> None:
    dataset = ShardDataset(build)
    examples = dataset.__getitems__([(epoch, number) for epoch in (0, 5) for number in range(6)])
    collator = pickle.loads(pickle.dumps(PretrainingCollator(dataset, decoder_masks=0.5)))
    batch, plain = collator(examples), PretrainingCollator(dataset)(examples)
    added = {"decoder_input_ids", "decoder_labels", "decoder_masks", "decoder_sets", "maskable"}
    assert set(batch) - set(plain) == added
    assert all(torch.equal(batch[name], plain[name]) for name in plain)
    assert [row["input_ids"].tolist() for row in examples] == [
        row[:length].tolist()
        for row, length in zip(batch["decoder_input_ids"], batch["attention_mask"].sum(1), strict=True)
    ]
    assert batch["decoder_masks"].dtype == torch.bool
    assert batch["decoder_masks"].shape == (12, SETS, plain["input_ids"].shape[1])
    assert batch["decoder_sets"].shape == plain["input_ids"].shape
    hidden = batch["decoder_masks"].sum((1, 2)) / (SETS * batch["maskable"])
    assert hidden.tolist() == pytest.approx([0.5] * 12, abs=0.02)
    assert not torch.equal(batch["decoder_masks"][:6], batch["decoder_masks"][6:])
    alone = collator(examples[3:4])
    width = alone["input_ids"].shape[1]
    assert torch.equal(alone["decoder_masks"][0], batch["decoder_masks"][3, :, :width])
    assert torch.equal(alone["decoder_sets"][0], batch["decoder_sets"][3, :width])
    arrays = BatchCollator(ShardExamples(build), decoder_masks=0.5).arrays(examples)
    assert all((arrays[name] == batch[name].numpy()).all() for name in batch)


def test_rows_without_a_place_for_second_masks_are_refused(build: Path, tmp_path: Path) -> None:
    dataset = ShardDataset(build)
    for wrong, words in (
        ({"packing": True}, "in a packed row the sequences would see each other"),
        ({"causal": True}, "these are causal"),
        ({"shifted": True}, "predicted at the position before"),
        ({"masking": MaskingConfig(mask_rate_draw="0.2-0.4")}, "the rates of these rows are drawn"),
    ):
        with pytest.raises(ConfigError, match=words):
            PretrainingCollator(dataset, decoder_masks=0.5, **wrong)
    with pytest.raises(ConfigError, match="second masks are drawn on the CPU"):
        DeviceCollator(dataset, decoder_masks=0.5)
    for config in (ElectraConfig.tiny(vocab_size=100), ModernBertConfig.tiny(vocab_size=100)):
        with pytest.raises(ConfigError, match="takes the word and position embeddings of a BERT, and "):
            pretrain(build, config, tmp_path / "a", RUN)
    with pytest.raises(ConfigError, match=r"`decoder_masked_lm_prob` 0\.5 is for the decoder of"):
        replace(SETTINGS, decoder_masked_lm_prob=0.5)
    with pytest.raises(ConfigError, match="in a packed row"):
        pretrain(build, SMALL, tmp_path / "b", replace(RUN, packing=True))


def test_a_run_is_resumed_exactly_and_opened_by_transformers(build: Path, tmp_path: Path) -> None:
    pretrain(build, SMALL, tmp_path / "whole", RUN)
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, SMALL, tmp_path / "cut", RUN, report=stop_at(4))
    pretrain(build, SMALL, tmp_path / "cut", RUN)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    assert (tmp_path / "cut" / APART).read_bytes() == (tmp_path / "whole" / APART).read_bytes()
    last = log(tmp_path / "whole")[-1]
    assert last["loss"] == pytest.approx(last["mlm_loss"] + last["decoder_loss"])
    assert "decoder_accuracy" in last
    opened, notes = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "cut", output_loading_info=True)
    assert type(opened).__name__ == "BertForMaskedLM"
    assert not notes["missing_keys"]
    assert not notes["unexpected_keys"]
    pretrain(build, str(tmp_path / "cut"), tmp_path / "less", replace(RUN, max_steps=1, training_objective=""))
    assert "decoder_loss" not in log(tmp_path / "less")[-1]


def test_parts_of_a_batch_change_only_the_rounding_and_another_share_changes_the_loss(
    build: Path, tmp_path: Path
) -> None:
    changes: dict[str, Any] = {
        "one": {},
        "parts": {"gradient_accumulation_steps": 4},
        "more": {"decoder_masked_lm_prob": 0.9},
    }
    for name, more in changes.items():
        pretrain(build, SMALL, tmp_path / name, replace(RUN, **more))
    assert losses(tmp_path / "parts") == pytest.approx(losses(tmp_path / "one"), rel=1e-5)
    assert log(tmp_path / "more")[0]["mlm_loss"] == log(tmp_path / "one")[0]["mlm_loss"]
    assert log(tmp_path / "more")[0]["decoder_loss"] != log(tmp_path / "one")[0]["decoder_loss"]


@pytest.mark.slow
def test_training_lowers_both_losses(build: Path, tmp_path: Path) -> None:
    settings = replace(RUN, max_steps=60, batch_size=16, learning_rate=5e-3, logging_steps=10)
    pretrain(build, replace(SMALL, hidden_dropout_prob=0.0), tmp_path, settings)
    records = log(tmp_path)
    assert records[-1]["decoder_loss"] < records[0]["decoder_loss"] - 0.5
    assert records[-1]["mlm_loss"] < records[0]["mlm_loss"] - 0.2
