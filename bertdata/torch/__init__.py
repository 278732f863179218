"""The loader for PyTorch and the companion encoder, trained from the shards alone; needs the extra `torch`.

    data/       ShardDataset, ResumableBatchSampler, PretrainingCollator: shards to batches of tensors; ResumableLoader,
                a DataLoader of the three that knows where the trainer is; DeviceCollator, which masks on the device;
                PermutationLMCollator, for XLNet
    models/     BERT, ALBERT, ELECTRA and ModernBERT, named and saved as in transformers, and heads for tasks;
                `FAMILIES` has them all, `objectives` what they learn besides masked tokens
    distillation/   a student learns from a teacher as well
    scoring/    pseudo-log-likelihoods of sentences, and accuracy on minimal pairs; loaded when first used
    training/   pretrain and finetune with their settings, as the commands of these names do; loaded when first used

Importing it raises MissingExtraError where torch is not installed. It never imports Beam.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bertdata.errors import MissingExtraError

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise MissingExtraError("torch", "torch") from error

from bertdata.torch.data.dataset import PermutationLMCollator, PretrainingCollator, ShardDataset
from bertdata.torch.data.device_collator import DeviceCollator
from bertdata.torch.data.loader import ResumableBatchSampler, ResumableLoader
from bertdata.torch.models.albert import AlbertConfig, AlbertForPreTraining
from bertdata.torch.models.bert import BertConfig, BertForMaskedLM, BertForPreTraining
from bertdata.torch.models.electra import (
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForPreTraining,
    ElectraForReplacedTokenDetection,
)
from bertdata.torch.models.heads import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bertdata.torch.models.modernbert import ModernBertConfig, ModernBertForMaskedLM
from bertdata.torch.models.sentence_encoder import SentenceEncoder

if TYPE_CHECKING:
    from bertdata.torch.scoring.likelihood import PseudoLikelihood
    from bertdata.torch.scoring.settings import ScoreSettings
    from bertdata.torch.training.finetune import finetune
    from bertdata.torch.training.finetune_settings import FinetuneSettings
    from bertdata.torch.training.pretrain import pretrain
    from bertdata.torch.training.settings import PretrainSettings

_LATER = {
    "FinetuneSettings": "training.finetune_settings",
    "PretrainSettings": "training.settings",
    "PseudoLikelihood": "scoring.likelihood",
    "ScoreSettings": "scoring.settings",
    "finetune": "training.finetune",
    "pretrain": "training.pretrain",
}

__all__ = [
    "AlbertConfig",
    "AlbertForPreTraining",
    "BertConfig",
    "BertForMaskedLM",
    "BertForPreTraining",
    "BertForQuestionAnswering",
    "BertForSequenceClassification",
    "BertForTokenClassification",
    "DeviceCollator",
    "ElectraConfig",
    "ElectraForMaskedLM",
    "ElectraForPreTraining",
    "ElectraForReplacedTokenDetection",
    "FinetuneSettings",
    "ModernBertConfig",
    "ModernBertForMaskedLM",
    "PermutationLMCollator",
    "PretrainSettings",
    "PretrainingCollator",
    "PseudoLikelihood",
    "ResumableBatchSampler",
    "ResumableLoader",
    "ScoreSettings",
    "SentenceEncoder",
    "ShardDataset",
    "finetune",
    "pretrain",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'bertdata.torch' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"bertdata.torch.{_LATER[name]}"), name)
    globals()[name] = value
    return value
