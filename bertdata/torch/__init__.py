"""The loader for PyTorch and the companion encoder, trained from the shards alone; needs the extra `torch`.

    data/       ShardDataset, ResumableBatchSampler, PretrainingCollator: shards to batches of tensors; ResumableLoader,
                a DataLoader of the three that knows where the trainer is; DeviceCollator, which masks on the device;
                PermutationLMCollator, for XLNet
    models/     BERT, ALBERT, ELECTRA and ModernBERT, named and saved as in transformers, and heads for tasks;
                `families` has them all, `objectives` what they learn besides masked tokens
    distillation/   a student learns from a teacher as well
    training/   pretraining and fine-tuning

Importing it raises MissingExtraError where torch is not installed. It never imports Beam.
"""

from __future__ import annotations

from bertdata.errors import MissingExtraError

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise MissingExtraError("torch", "torch") from error

from bertdata.torch.data.dataset import DeviceCollator, PermutationLMCollator, PretrainingCollator, ShardDataset
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
    "ModernBertConfig",
    "ModernBertForMaskedLM",
    "PermutationLMCollator",
    "PretrainingCollator",
    "ResumableBatchSampler",
    "ResumableLoader",
    "SentenceEncoder",
    "ShardDataset",
]
