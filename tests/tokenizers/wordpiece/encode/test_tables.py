from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.tokenizers.encode import tables
from bertdata.tokenizers.encode.kernels import double_array as trie_kernel
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.tokenizers.wordpiece.encode.tables import build_trie
from tests.oracles.wordpiece_encoding import encode_slowly
from tests.tokenizers.wordpiece.reference import SPECIAL

LETTERS = st.text("abé中😀", min_size=1, max_size=6)


@settings(deadline=None, max_examples=25)
@given(st.sets(LETTERS, max_size=40), st.sets(LETTERS, max_size=40), st.lists(LETTERS, min_size=1, max_size=20))
def test_the_longest_match_is_that_of_the_slow_twin_for_any_vocabulary(
    words: set[str], rests: set[str], texts: list[str]
) -> None:
    tokens = [*SPECIAL, *sorted(words), *(f"##{rest}" for rest in sorted(rests)), "##"]
    tokenizer = WordPieceTokenizer.from_tokens(tokens, do_lower_case=False, tokenize_chinese_chars=False)
    longer = ["".join(texts), *texts]
    assert tokenizer.encode_batch(longer).to_pylist() == [encode_slowly(tokenizer._parts, text) for text in longer]


def test_no_two_nodes_have_one_base_and_every_piece_is_found_once() -> None:
    words = ["".join(letters) for n in (1, 2, 3) for letters in product("abcdefghij", repeat=n)]
    tokens = [*SPECIAL, *words, *(f"##{word}" for word in words)]
    pieces = build_trie(tuple(tokens))
    taken = pieces.cells[1:][pieces.cells[1:] != 0]
    bases = taken >> np.uint64(9) & np.uint64(trie_kernel.MAX_CELLS - 1)
    inside = bases[bases != 0]
    assert len(inside) == len(np.unique(inside))
    ids = taken >> np.uint64(36)
    assert sorted(ids[ids != 0].tolist()) == list(range(1, len(tokens) + 1))


def test_cells_that_do_not_suffice_are_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = [*SPECIAL, *(chr(first) + chr(second) for first in range(97, 123) for second in range(0x4E00, 0x4E20))]
    sizes: list[int] = []
    build = trie_kernel.build

    def counted(*arguments: object) -> bool:
        sizes.append(len(arguments[3]))  # type: ignore[arg-type]
        return build(*arguments)  # type: ignore[no-any-return]

    monkeypatch.setattr(tables, "SPARE_BLOCKS", -31)
    monkeypatch.setattr(trie_kernel, "build", counted)
    tokenizer = WordPieceTokenizer.from_tokens(tokens, tokenize_chinese_chars=False)
    assert tokenizer.encode_batch(tokens[5:]).flatten().to_pylist() == list(range(5, len(tokens)))
    assert len(sizes) > 1
    assert all(later == 2 * size for size, later in pairwise(sizes))


def test_slots_grow_with_the_chunks_and_the_chunks_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "FIRST_SLOTS", 16)
    tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL, *"abc0123456789", *(f"##{c}" for c in "abc0123456789")])
    sizes = []
    for step in range(6):
        texts = [f"a{i} b{i}cccccccccccccccccccc" for i in range(4 * 4**step)]
        expected = [encode_slowly(tokenizer._parts, text) for text in texts[-40:]]
        for _ in range(2):
            assert tokenizer.encode_batch(texts).to_pylist()[-40:] == expected
        [cache] = tokenizer._encoder._idle
        sizes.append(len(cache.arrays.table.slots))
        assert 2 * int(cache.arrays.table.counters[0]) <= sizes[-1]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 16 * sizes[0]
