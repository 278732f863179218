"""Added tokens are found wherever they begin in the bytes that are asked for, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.text_arrays import READ_AHEAD
from bertdata.tokenizers.encode.added_tokens import AddedTokens

PIECES = ["|||MAIL|||", "|||IP|||", "||", "|", "  ", "   ", "<a>", "<", "é|", " ", "x"]


def marked(tokens: list[str], text: bytes, begin: int, n: int) -> list[int]:
    """Return the bytes after `begin` that are marked."""
    bits = np.zeros(n // 64 + 2, np.uint64)
    data = np.frombuffer(text + bytes(READ_AHEAD), np.uint8)
    AddedTokens(dict.fromkeys(tokens, 7), None).mark(data, begin, n, bits)
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()


@pytest.mark.parametrize(
    "tokens", [["|||MAIL|||", "|||IP|||"], ["  ", "   "], ["|"], ["<a>", "é|"], ["||", "x"], []], ids=" ".join
)
@given(parts=st.lists(st.sampled_from(PIECES), max_size=60), begin=st.integers(0, 5), size=st.integers(0, 130))
def test_every_byte_where_a_token_begins_is_marked(tokens: list[str], parts: list[str], begin: int, size: int) -> None:
    text = "".join(parts).encode()
    begin = min(begin, len(text))
    n = min(size, len(text) - begin)
    heads = tuple(token.encode()[:8] for token in tokens)
    assert marked(tokens, text, begin, n) == [j for j in range(n) if heads and text.startswith(heads, begin + j)]
