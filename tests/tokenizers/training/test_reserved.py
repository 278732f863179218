"""Special tokens by role, and unused tokens up to a multiple."""

from __future__ import annotations

import pytest

from bertdata.errors import ConfigError
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.training.reserved import special_tokens, unused_to


def named(*tokens: str) -> SpecialTokens:
    return special_tokens(VocabularyConfig(model="bpe", special_tokens=tokens), SpecialTokens())


def test_tokens_have_their_usual_names_unless_told_otherwise() -> None:
    assert named() == SpecialTokens()
    assert named("cls=<s>", "sep=</s>") == SpecialTokens(cls="<s>", sep="</s>")


def test_a_role_can_be_left_out() -> None:
    assert named("unk=").unk is None


def test_a_token_without_a_role_is_one_more() -> None:
    assert named("[ENT]", "mask=<mask>", "a=b") == SpecialTokens(mask="<mask>", additional=("[ENT]", "a=b"))


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("cls=<s>", "cls=<t>"), "names the cls token twice"),
        (("[ENT]", "[ENT]"), r"names '\[ENT\]' twice"),
        (("cls=[X]", "[X]"), r"names '\[X\]' twice"),
        (("[A]\n",), "is not a valid special token"),
    ],
)
def test_what_is_ambiguous_is_refused(tokens: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        named(*tokens)


@pytest.mark.parametrize(("multiple", "size", "more"), [(1, 7, 0), (8, 8, 0), (8, 9, 7), (64, 1, 63)])
def test_unused_tokens_fill_a_vocabulary_to_a_multiple(multiple: int, size: int, more: int) -> None:
    number = unused_to(multiple, size, 2)
    assert len(number) == more
    assert number[:1] == (("[unused2]",) if more else ())
