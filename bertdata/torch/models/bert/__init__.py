"""BERT and RoBERTa: the config, the encoder, its heads for pretraining."""

from bertdata.torch.models.bert.config import BertConfig
from bertdata.torch.models.bert.model import BertModel
from bertdata.torch.models.bert.pretraining import BertForMaskedLM, BertForPreTraining, model_for
from bertdata.torch.models.family import EncoderFamily

FAMILY = EncoderFamily(
    config=BertConfig,
    presets={
        "tiny": BertConfig.tiny,
        "mini": BertConfig.mini,
        "base": BertConfig.base,
        "large": BertConfig.large,
        "roberta": BertConfig.roberta,
    },
    encoder=BertModel,
    pretraining=model_for,
    tied=BertForMaskedLM.tied,
    masked=BertForMaskedLM,
)

__all__ = ["FAMILY", "BertConfig", "BertForMaskedLM", "BertForPreTraining", "BertModel"]
