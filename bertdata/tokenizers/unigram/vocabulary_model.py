"""Unigram as a model of vocabularies: what `train-vocab --model unigram` trains, kept as SentencePiece's `.model`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.text_arrays import Texts
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.spm.proto import read_model
from bertdata.tokenizers.training.models import VocabularyModel
from bertdata.tokenizers.training.reserved import special_tokens
from bertdata.tokenizers.unigram.counting import count_between_spaces
from bertdata.tokenizers.unigram.trainer import sentencepiece, train_unigram

if TYPE_CHECKING:
    from bertdata.tokenizers.settings import VocabularyConfig
    from bertdata.tokenizers.spm.tokenizer import SentencePieceTokenizer


class Unigram(VocabularyModel):
    """SentencePiece's Unigram model; text is normalised by its own rules, which the model holds."""

    help = "SentencePiece's, as ALBERT and XLNet; needs the package sentencepiece"
    suffix = ".model"
    settings = frozenset({"normalization"})

    def check(self, config: VocabularyConfig) -> None:
        special = special_tokens(config, SpecialTokens())
        if special.unk is None:
            raise ConfigError("--special-tokens unk= leaves out the token for unknown text, which Unigram needs")
        if config.normalization == "identity" and config.do_lower_case:
            raise ConfigError("--normalization identity keeps case; add --no-do-lower-case, or take nmt_nfkc")
        sentencepiece()

    def count(self, texts: Texts, config: VocabularyConfig) -> pa.Table:
        return count_between_spaces(texts)

    def train(self, words: pa.Table, config: VocabularyConfig) -> tuple[bytes, int]:
        model = train_unigram(
            words,
            config.vocab_size,
            special=special_tokens(config, SpecialTokens()),
            unused=config.unused_tokens,
            added=config.add_tokens,
            normalization=config.normalization + ("_cf" if config.do_lower_case else ""),
            pad_to_multiple_of=config.pad_to_multiple_of,
        )
        return model, len(read_model(model).pieces)

    def load(self, path: str, config: VocabularyConfig) -> SentencePieceTokenizer:
        from bertdata.tokenizers.spm.tokenizer import SentencePieceTokenizer

        with files.open_raw(path) as file:
            return SentencePieceTokenizer(file.read(), special_tokens(config, SpecialTokens()), at_white_space=True)


UNIGRAM = Unigram()
