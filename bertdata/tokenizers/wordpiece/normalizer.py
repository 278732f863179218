"""BERT's normaliser and pre-tokenizer: the settings, and the words that `tokenizers` makes of a text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bertdata.characters.newer import lowered
from bertdata.errors import ConfigError


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

    def words(self, text: str) -> list[str]:
        """Return the words that `tokenizers` makes of a text: runs of letters and digits, or single marks; in order."""
        normalizer, pre_tokenizer = self._slow
        text = lowered(text) if self.do_lower_case else text
        return [word for word, _ in pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(text))]
