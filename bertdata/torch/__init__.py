"""The loader for PyTorch and the companion encoder, trained from the shards alone; needs the extra `torch`.

    dataset     ShardDataset: examples by number, from memory-mapped shards
    sampler     ResumableSampler: the order of a run, a position its only state
    collator    PretrainingCollator: padded or packed int64 batches, dynamic masks
    device      DeviceCollator: the same masks, drawn on the device
    loader      ResumableLoader: a DataLoader of the three that knows where the trainer is
    config, bert, weights     the encoder, named and saved as in transformers; packed rows in `attention`
    bert_pretraining          its heads for masks and pairs, and their loss
    albert, electra, heads    its kin on the same blocks, and heads for tasks
    pretrain, finetune        plain training loops

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

from bertdata.torch.data.collator import PretrainingCollator
from bertdata.torch.data.dataset import ShardDataset
from bertdata.torch.data.gpu_masking import DeviceCollator
from bertdata.torch.data.loader import ResumableLoader
from bertdata.torch.data.sampler import ResumableSampler
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
    "PretrainingCollator",
    "ResumableLoader",
    "ResumableSampler",
    "ShardDataset",
]
