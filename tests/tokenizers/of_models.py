"""Small tokenizers with the row templates of several models, made by `tokenizers`, and rows as it would put them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.small_build import texts

MODELS = ("RoBERTa", "ModernBERT", "XLM-R", "XLNet")
BPE = ("RoBERTa", "ModernBERT")
"""Those of byte-level BPE; ModernBERT's has no token for unknown text. The others are Unigram."""
LARGE = "XLM-R of 70,000 pieces"
"""As XLM-R's, with ids that do not fit into 16 bits."""


@cache
def tokenizer_of(model: str) -> JsonTokenizer:
    """Return a tokenizer like that of one of `MODELS`, or `LARGE`."""
    return JsonTokenizer(json.loads(_reference(model).to_str()), {})


def _reference(model: str) -> Tokenizer:
    special = ["<pad>", "<s>", "</s>", "<mask>"]
    special = {"ModernBERT": ["[PAD]", "[CLS]", "[SEP]", "[MASK]"], "XLNet": ["<pad>", "<cls>", "<sep>", "<mask>"]}.get(
        model, special
    )
    settings: dict[str, Any] = {"vocab_size": 400, "show_progress": False}
    if model in BPE:
        special += ["<unk>"] if model == "RoBERTa" else []
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer: Any = trainers.BpeTrainer(initial_alphabet=alphabet, special_tokens=special, **settings)
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(unk_token="<unk>", special_tokens=[*special, "<unk>"], **settings)
    tokenizer.train_from_iterator(texts(60), trainer)
    if model == LARGE:
        data = json.loads(tokenizer.to_str())
        data["model"]["vocab"] += [[f"\u2581unused{number}", -99.0] for number in range(70_000)]
        tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.post_processor = _post_processor(model.removesuffix(" of 70,000 pieces"), tokenizer)
    return tokenizer


def _post_processor(model: str, tokenizer: Tokenizer) -> Any:
    if model == "RoBERTa":
        sep, cls = ((name, int(tokenizer.token_to_id(name) or 0)) for name in ("</s>", "<s>"))
        return processors.RobertaProcessing(sep, cls)
    single, pair = {
        "ModernBERT": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:0 [SEP]"),
        "XLM-R": ("<s> $A </s>", "<s> $A </s> </s> $B:0 </s>"),
        "XLNet": ("$A <sep> <cls>:2", "$A <sep> $B:1 <sep>:1 <cls>:2"),
    }[model]
    names = {part.partition(":")[0] for part in pair.split()} - {"$A", "$B"}
    ids = [(name, tokenizer.token_to_id(name)) for name in sorted(names)]
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)


class PostProcessor:
    """The post-processor of a tokenizer on texts that are given as ids."""

    def __init__(self, tokenizer: JsonTokenizer) -> None:
        self._reference = Tokenizer(models.WordLevel({str(number): number for number in range(tokenizer.vocab_size)}))
        self._reference.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        self._reference.post_processor = tokenizer.reference.post_processor

    def row(self, first: Sequence[int], second: Sequence[int] | None = None) -> tuple[list[int], list[int]]:
        """Return the ids and the token types of a row of one text or two."""
        encoded = self._reference.encode(
            " ".join(map(str, first)), None if second is None else " ".join(map(str, second))
        )
        return encoded.ids, encoded.type_ids
