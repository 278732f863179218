"""The tokens of a vocabulary that are not trained: special, unused, and those added on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from bertdata.errors import ConfigError
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.wordpiece.vocabulary import check_special, unused_tokens

if TYPE_CHECKING:
    from bertdata.tokenizers.settings import VocabularyConfig

ROLES = tuple(role.name for role in fields(SpecialTokens) if role.name != "additional")


def special_tokens(config: VocabularyConfig, default: SpecialTokens) -> SpecialTokens:
    """Return the special tokens that --special-tokens names: ROLE=TOKEN, ROLE= for none, or a token without a role.

    Raises ConfigError where a role or a token is given twice, or a token is not one that a line of text can hold.

    >>> from bertdata.tokenizers.settings import VocabularyConfig
    >>> config = VocabularyConfig(model="bpe", special_tokens=("cls=<s>", "unk=", "[ENT]"))
    >>> special_tokens(config, SpecialTokens()).names
    ('[PAD]', '<s>', '[SEP]', '[MASK]', '[ENT]')
    """
    named: dict[str, str | None] = {}
    additional: list[str] = []
    for text in config.special_tokens:
        role, equals, token = text.partition("=")
        if not equals or role not in ROLES:
            additional.append(text)
        elif role in named:
            raise ConfigError(f"--special-tokens names the {role} token twice; name it once")
        else:
            named[role] = token or None
    special = replace(default, **named, additional=tuple(additional))
    check_special(special.names)
    roles = replace(special, additional=()).names
    for token in additional:
        if additional.count(token) > 1 or token in roles:
            raise ConfigError(f"--special-tokens names {token!r} twice; name it once")
    return special


def unused_to(multiple: int, size: int, taken: int) -> Sequence[str]:
    """Return the unused tokens that fill a vocabulary of `size` tokens to a multiple; the first `taken` are in it.

    >>> unused_to(4, 10, 1)
    ('[unused1]', '[unused2]')
    """
    return unused_tokens(taken + -size % multiple)[taken:]
