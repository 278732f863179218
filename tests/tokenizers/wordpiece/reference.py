"""What `tokenizers` itself gives, built here and not by the code under test; a small vocabulary and hostile texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ("the", "un", "##able", "##believ", "don", "cafe", "café", "##ﬁ", "stra", "##ße", "##ss", "mask", "sep", "unk")
OTHER = (
    "é",
    "##é",
    "É",
    "##É",
    "ß",
    "##ß",
    "σ",
    "##σ",
    "ς",
    "##ς",
    "中",
    "##中",
    "国",
    "한",
    "##한",
    "i̇",
    "##i̇",
    "1",
    "##1",
    "23",
)
SMALL = (
    *SPECIAL,
    "[unused0]",
    "[unused1]",
    *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
    *LETTERS.upper(),
    *(f"##{letter}" for letter in "ABC"),
    *WORDS,
    *OTHER,
)


def reference(
    tokens: Sequence[str],
    *,
    do_lower_case: bool = True,
    strip_accents: bool | None = None,
    tokenize_chinese_chars: bool = True,
) -> Any:
    """Return BERT's pipeline in `tokenizers`, with literal special tokens as text."""
    vocabulary = {token: token_id for token_id, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=tokenize_chinese_chars,
        strip_accents=strip_accents,
        lowercase=do_lower_case,
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.encode_special_tokens = True
    return tokenizer


def reference_ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Return the ids of each text, one at a time."""
    return [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]


HOSTILE = [
    *"abzABZ019 \t\n\r.,'-_[]#", "\x00", "\x0b", "\x0c", "\x1c", "\x1f", "\x7f", "\x85", "\xa0", "\xad", "\u200b",
    "\u200d", "\u2028", "\u2029", "\u3000", "\ufeff", "\ufffd", "\ue000", "\u0378", "\u0301", "\u0327", "\u0345",
    "\u05b0", "\u093f", "\u0e33", "\u1160", "\u20dd", "\U0001d165", "\u0344", "\u212b", "é", "É", "ü", "ß", "ẞ",
    "İ", "ı", "ﬁ", "Ǆ", "Σ", "σ", "ς", "中", "国", "\u3007", "\u2f800", "한", "\u1112", "が", "👩\u200d🚀", "–", "“",
    "\u037e",
    "[MASK]", "[SEP]", "[UNK]", "##a", "the", "unbelievable", "x" * 99, "e\u0301" * 50,
]  # fmt: skip


def hostile_text() -> st.SearchStrategy[str]:
    """Return a strategy of texts made to trip a tokenizer."""
    pieces = st.one_of(st.sampled_from(HOSTILE), st.characters(exclude_categories=["Cs"]))
    return st.lists(pieces, max_size=20).map("".join)
