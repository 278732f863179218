"""A teacher or a student that does not fit is told before the first step, with what to do."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import transformers
from safetensors.torch import load_file, save_file
from torch import nn

from bertdata.errors import BertDataError, ConfigError, InputError
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import BertForMaskedLM, ElectraConfig
from bertdata.torch.distillation import DISTILLATIONS
from bertdata.torch.distillation.layers import spread_layers, uniform_map
from bertdata.torch.distillation.reading import reader_of
from bertdata.torch.distillation.settings import DistillationSettings
from bertdata.torch.models.from_transformers import TransformersForPermutationLM, TransformersModel
from bertdata.torch.models.transformers_config import TransformersConfig
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import tokenizer_of, write_build
from tests.torch.distillation.test_losses import MODERN
from tests.torch.models.test_from_transformers import SMALL as SMALL_OF_TRANSFORMERS
from tests.torch.training.small_runs import SETTINGS, SMALL

RUN = replace(SETTINGS, max_steps=1)


def refused(
    message: str, build: Path, config: Any, output: Path, error: type[BertDataError] = ConfigError, **keywords: Any
) -> None:
    with pytest.raises(error, match=message):
        pretrain(build, config, output, RUN, **keywords)
    assert not (output / "log.jsonl").exists()


@pytest.mark.parametrize(
    ("settings", "changes", "message"),
    [
        ({}, {"hidden_size": 16}, "student have 16 numbers, and those of the teacher 32, .* cosine=0"),
        (
            {"distillation": "tinybert"},
            {"num_hidden_layers": 3},
            "the teacher's 4 layers cannot be divided into blocks for the student's 3; expected a student whose",
        ),
        (
            {"distillation": "tinybert"},
            {"num_attention_heads": 4},
            "the student has 4 heads, and the teacher 2, .* take num_attention_heads 2, or `distillation_weights`",
        ),
        ({"distillation": "minilm"}, {}, "`relation_heads` 48 does not divide the student's hidden_size 32"),
        ({"distillation": "minilm", "teacher_layer": 5}, {}, "`teacher_layer` is 5, and the teacher has 4 layers"),
    ],
)
def test_sizes_that_cannot_be_compared_are_refused(
    build: Path, teacher: Path, tmp_path: Path, settings: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    distillation = DistillationSettings(**settings)
    refused(message, build, replace(SMALL, **changes), tmp_path, teacher=teacher, distillation=distillation)


class WithAnotherLoss(BertForMaskedLM):
    """A model whose loss has a term that a student would not learn."""

    def forward(self, *arguments: Any, **keywords: Any) -> Any:
        return super().forward(*arguments, **keywords)


def test_a_model_with_a_loss_of_its_own_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"the student is of the class WithAnotherLoss; .* and no further loss"):
        reader_of(WithAnotherLoss(SMALL), "student")
    xlnet = TransformersForPermutationLM.__new__(TransformersForPermutationLM)
    with pytest.raises(ConfigError, match="the teacher is of the class TransformersForPermutationLM"):
        reader_of(xlnet, "teacher")


def test_a_family_that_shows_neither_layers_nor_attention_is_named() -> None:
    model = BertForMaskedLM(SMALL)
    model.bert.encoder = nn.Identity()
    reader = reader_of(model, "student")
    with pytest.raises(ConfigError, match=r"the layers of the student, of the family bert, cannot be read: .* Blocks"):
        reader.need_layers()
    with pytest.raises(ConfigError, match=r"the attention of the student, .* AttentionFunction; take `distillation`"):
        reader.need_attention()


@pytest.mark.parametrize("kind", ["tinybert", "minilm"])
def test_compiled_layers_are_not_read(build: Path, teacher: Path, tmp_path: Path, kind: str) -> None:
    settings = DistillationSettings(distillation=kind, relation_heads=4)
    with pytest.raises(ConfigError, match=f"`distillation` {kind} reads what layers compute, .* leave `compile` out"):
        pretrain(build, SMALL, tmp_path, replace(RUN, compile=True), teacher=teacher, distillation=settings)


def test_local_attention_is_not_compared_with_global(build: Path, tmp_path: Path) -> None:
    pretrain(build, replace(MODERN, num_hidden_layers=4), tmp_path / "teacher", RUN)
    tiny = DistillationSettings(distillation="tinybert")
    message = "layer 0 of the student has full_attention, and layer 1 of the teacher, from which .* sliding_attention"
    student = replace(MODERN, num_hidden_layers=2)
    refused(message, build, student, tmp_path / "out", teacher=tmp_path / "teacher", distillation=tiny)


def test_a_teacher_that_is_no_masked_language_model_is_refused(build: Path, teacher: Path, tmp_path: Path) -> None:
    refused("`teacher` is a folder without config.json; expected", build, SMALL, tmp_path / "a", teacher="base")
    electra = ElectraConfig.tiny(vocab_size=100)
    refused(
        "the student is of the class ElectraForReplacedTokenDetection", build, electra, tmp_path / "b", teacher=teacher
    )
    pretrain(build, electra, tmp_path / "electra", RUN)
    message = "the teacher is of the class ElectraForReplacedTokenDetection; distillation is for masked language models"
    refused(message, build, SMALL, tmp_path / "c", teacher=tmp_path / "electra")
    shutil.copytree(teacher, tmp_path / "headless")
    state = load_file(teacher / "model.safetensors")
    save_file(
        {name: value for name, value in state.items() if "cls." not in name}, tmp_path / "headless/model.safetensors"
    )
    message = r"the teacher cannot teach on these shards: .*has no weight 'cls.predictions.* with all its heads"
    refused(message, build, SMALL, tmp_path / "d", InputError, teacher=tmp_path / "headless")


def test_a_teacher_of_transformers_without_a_head_is_refused(build: Path, tmp_path: Path) -> None:
    values = SMALL_OF_TRANSFORMERS | {"type_vocab_size": 1}
    config = transformers.AutoConfig.for_model("xlm-roberta", **values)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path / "headless")
    message = r"has no weight 'lm_head.*; expected a checkpoint of XLMRobertaForMaskedLM, with its head"
    refused(message, build, SMALL, tmp_path / "out", InputError, teacher=tmp_path / "headless")
    whole = TransformersModel(TransformersConfig.of(config))
    assert whole.missing == ()


def test_a_teacher_of_other_shards_is_refused(build: Path, teacher: Path, tmp_path: Path) -> None:
    long = write_build(tmp_path / "long", ExamplesConfig(objective="full-sentences", max_seq_length=80))
    config = replace(SMALL, max_position_embeddings=80)
    refused(
        "the rows have up to 80 tokens, .* and the model 64 positions", long, config, tmp_path / "a", teacher=teacher
    )

    pairs = write_build(tmp_path / "nsp", ExamplesConfig(objective="nsp", max_seq_length=32))
    message = r"has no weight .* expected a checkpoint of BertForPreTraining"
    refused(message, pairs, SMALL, tmp_path / "b", InputError, teacher=teacher)
    pretrain(pairs, SMALL, tmp_path / "pairs", RUN)
    order = write_build(tmp_path / "sop", ExamplesConfig(objective="sop", max_seq_length=32))
    message = "the pair head of this model has learned next_sentence_label, and these shards have sentence_order_label"
    refused(message, order, SMALL, tmp_path / "c", teacher=tmp_path / "pairs")

    other = shutil.copytree(teacher, tmp_path / "other", ignore=shutil.ignore_patterns("vocab*", "token*", "check*"))
    words = tokenizer_of().from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"v{i}" for i in range(95))])
    words.save_pretrained(other)
    refused(
        "the model's tokenizer is not the one the shards were made with", build, SMALL, tmp_path / "d", teacher=other
    )
    BertForMaskedLM(replace(SMALL, vocab_size=90)).save_pretrained(tmp_path / "fewer")
    refused(
        "the model is for 90 tokens with .PAD. at 0, the shards have 100",
        build,
        SMALL,
        tmp_path / "e",
        teacher=tmp_path / "fewer",
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "cosinus=1",
            "'cosinus=1' names no term of distilbert; expected TERM=WEIGHT, with one of soft_targets, mlm, cos",
        ),
        ("cosine", "'cosine' names no term of distilbert"),
        ("cosine=x", "'cosine=x' has no weight; expected 0 or more"),
        ("cosine=-1", "'cosine=-1' has no weight"),
        ("cosine=inf", "'cosine=inf' has no weight"),
    ],
)
def test_weights_of_no_term_are_refused(given: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        DistillationSettings(distillation_weights=(given,))
    with pytest.raises(ConfigError, match="are all 0"):
        DistillationSettings(distillation_weights=("soft_targets=0", "mlm=0", "cosine=0"))


def test_layers_are_those_of_the_papers() -> None:
    assert spread_layers(12, 6) == [0, 2, 4, 7, 9, 11]
    assert uniform_map(12, 4) == [2, 5, 8, 11]
    assert (spread_layers(12, 1), spread_layers(5, 5)) == ([0], [0, 1, 2, 3, 4])


def test_layers_of_a_modernbert_are_of_the_same_kind() -> None:
    teacher, student = replace(MODERN, num_hidden_layers=8), replace(MODERN, num_hidden_layers=4)
    chosen = spread_layers(8, 4, (teacher.layer_types, student.layer_types))
    assert [teacher.layer_types[number] for number in chosen] == student.layer_types
    assert chosen[0] == 0
    assert chosen == sorted(chosen)


@pytest.mark.parametrize("name", [*DISTILLATIONS])
def test_every_distillation_says_what_it_is_and_weighs_the_students_own_loss(name: str) -> None:
    kind = DISTILLATIONS[name]
    assert kind.help
    assert "mlm" in kind.weights
    assert DistillationSettings(distillation=name).weights == dict(kind.weights)
