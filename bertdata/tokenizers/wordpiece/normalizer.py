"""BERT's normaliser and pre-tokenizer: the settings, and the words a chunk of text becomes.

`tokenizers` is the definition. Chunks of printable ASCII, most of English, take a short way that gives the same
words; everything else goes through `tokenizers` itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bertdata.errors import ConfigError

_ASCII_WORD = re.compile(r"[0-9A-Za-z]+|[!-/:-@\[-`{-~]")


@dataclass(frozen=True)
class Normalizer:
    """What happens to a text before WordPiece: clean, space out Chinese characters, strip accents, lower-case, split.

    `strip_accents` None means: as `do_lower_case`, as in the original BERT (Devlin et al. 2019, and its released
    code). The names are those of `transformers`. Immutable and picklable.

    >>> Normalizer().words("Don't"), Normalizer(do_lower_case=False).words("Café!")
    (['don', "'", 't'], ['Café', '!'])
    """

    do_lower_case: bool = True
    strip_accents: bool | None = None
    tokenize_chinese_chars: bool = True

    def __post_init__(self) -> None:
        for name in ("do_lower_case", "strip_accents", "tokenize_chinese_chars"):
            value = getattr(self, name)
            if not isinstance(value, bool) and (value is not None or name != "strip_accents"):
                raise ConfigError(f"{name} is {value!r}; expected True or False")

    @property
    def strips_accents(self) -> bool:
        """Whether accents are removed, with the default resolved."""
        return self.do_lower_case if self.strip_accents is None else self.strip_accents

    def reference(self) -> Any:
        """Return the `tokenizers.normalizers.BertNormalizer` of these settings."""
        from tokenizers.normalizers import BertNormalizer

        return BertNormalizer(
            clean_text=True,
            handle_chinese_chars=self.tokenize_chinese_chars,
            strip_accents=self.strip_accents,
            lowercase=self.do_lower_case,
        )

    @cached_property
    def _slow(self) -> tuple[Any, Any]:
        from tokenizers.pre_tokenizers import BertPreTokenizer

        return self.reference(), BertPreTokenizer()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_slow"}

    def plain_words(self, chunk: str) -> list[str] | None:
        """Return the words of a chunk of printable ASCII without spaces, None for any other chunk."""
        if not (chunk.isascii() and chunk.isprintable()):
            return None
        return _ASCII_WORD.findall(chunk.lower() if self.do_lower_case else chunk)

    def words(self, chunk: str) -> list[str]:
        """Return the words of a chunk: a run of letters and digits, or a punctuation mark; in order."""
        plain = self.plain_words(chunk)
        return self.words_by_reference(chunk) if plain is None else plain

    def words_by_reference(self, text: str) -> list[str]:
        """Return the words that `tokenizers` makes of any text."""
        normalizer, pre_tokenizer = self._slow
        return [word for word, _ in pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(text))]
