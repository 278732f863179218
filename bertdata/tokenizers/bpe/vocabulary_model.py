"""BPE as a model of vocabularies: what `train-vocab --model bpe` trains, and its `tokenizer.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.text_arrays import Texts
from bertdata.tokenizers import json_parts
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.bpe.counting import count_pre_tokens, pre_tokens
from bertdata.tokenizers.bpe.trainer import letters_of, train_bpe
from bertdata.tokenizers.training.models import VocabularyModel
from bertdata.tokenizers.training.reserved import special_tokens, unused_to
from bertdata.tokenizers.wordpiece.vocabulary import unused_tokens

if TYPE_CHECKING:
    from bertdata.tokenizers.json_tokenizer import JsonTokenizer
    from bertdata.tokenizers.settings import VocabularyConfig


class BytePairEncoding(VocabularyModel):
    """Byte-level BPE with the pre-tokens of GPT-2; nothing is unknown, and case and accents are kept.

    A word that is added has two tokens, with a space before it and without. A pre-token that is one of the tokens is
    that token then, whatever the merges (`ignore_merges`).
    """

    help = "byte-level BPE, as RoBERTa and ModernBERT"
    suffix = ".bpe"
    settings = frozenset({"min_frequency"})

    def check(self, config: VocabularyConfig) -> None:
        special_tokens(config, SpecialTokens())
        _added(config.add_tokens)

    def count(self, texts: Texts, config: VocabularyConfig) -> pa.Table:
        return count_pre_tokens(texts)

    def train(self, words: pa.Table, config: VocabularyConfig) -> tuple[bytes, int]:
        special = special_tokens(config, SpecialTokens())
        first = [*special.names, *unused_tokens(config.unused_tokens), *_added(config.add_tokens)]
        tokens, merges = train_bpe(words, config.vocab_size, min_frequency=config.min_frequency, first=first)
        tokens += unused_to(config.pad_to_multiple_of, len(tokens), config.unused_tokens)
        data = tokenizer_json(tokens, merges, special, whole_words=bool(config.add_tokens))
        return (json.dumps(data, ensure_ascii=False) + "\n").encode("utf-8"), len(tokens)

    def load(self, path: str, config: VocabularyConfig) -> JsonTokenizer:
        from bertdata.tokenizers.json_tokenizer import JsonTokenizer

        special = special_tokens(config, SpecialTokens())
        return JsonTokenizer(files.read_json(path), json_parts.config_of(special, types=False))


BPE = BytePairEncoding()


def tokenizer_json(
    tokens: Sequence[str], merges: Sequence[tuple[str, str]], special: SpecialTokens, *, whole_words: bool = False
) -> dict[str, Any]:
    """Return the contents of a `tokenizer.json` of byte-level BPE, which `tokenizers` and `transformers` read.

    whole_words: a pre-token that is a token is that token, also where merges do not lead to it.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    ids = {token: token_id for token_id, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(ids, list(merges), ignore_merges=whole_words))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    json_parts.add_special(tokenizer, special)
    json_parts.set_template(tokenizer, special, types=False)
    # as RoBERTa's: the space in front of a word is not in its offsets, by which others tell words apart
    trimmed = processors.ByteLevel(add_prefix_space=False, trim_offsets=True)
    template = tokenizer.post_processor
    tokenizer.post_processor = trimmed if template is None else processors.Sequence([trimmed, template])
    data: dict[str, Any] = json.loads(tokenizer.to_str())
    return data


def _added(words: Sequence[str]) -> list[str]:
    """Return the tokens of added words, each with a space before it and without; ConfigError where one is cut."""
    for word in words:
        parts = pre_tokens(f" {word}")
        if parts != [f" {word}"]:
            raise ConfigError(
                f"--add-tokens {word!r} is cut into {', '.join(map(repr, parts))} before BPE sees it; give words of "
                "letters, of digits or of marks alone"
            )
    return [letters_of(form) for word in words for form in (f" {word}", word)]
