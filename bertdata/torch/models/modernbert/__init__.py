"""ModernBERT: the config, the encoder, the masked language model."""

from bertdata.torch.models.family import EncoderFamily
from bertdata.torch.models.modernbert.config import ModernBertConfig
from bertdata.torch.models.modernbert.model import ModernBertForMaskedLM, ModernBertModel, head, initialize, model_for

FAMILY = EncoderFamily(
    config=ModernBertConfig,
    presets={
        "modernbert-tiny": ModernBertConfig.tiny,
        "modernbert-mini": ModernBertConfig.mini,
        "modernbert-small": ModernBertConfig.small,
        "modernbert-base": ModernBertConfig.base,
        "modernbert-large": ModernBertConfig.large,
    },
    encoder=ModernBertModel,
    pretraining=model_for,
    head=head,
    initialize=initialize,
    old_names={},
    tied=ModernBertForMaskedLM.tied,
    masked=ModernBertForMaskedLM,
)

__all__ = ["FAMILY", "ModernBertConfig", "ModernBertForMaskedLM", "ModernBertModel"]
