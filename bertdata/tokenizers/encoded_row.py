"""`EncodedRow`: one row of a call with the places of its tokens, and the ways between tokens, words and characters.

The names and answers are those of `tokenizers.Encoding`, which `BatchEncoding` of `transformers` passes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bertdata.tokenizers.call_rows import FIRST, Piece, TextTokens


@dataclass(frozen=True)
class EncodedRow:
    """The tokens of a row; special ones and padding have no word and no text.

    sequences: for each text of the row its number, 0 or 1, and the places (start, end) of its tokens.
    """

    ids: list[int]
    tokens: list[str]
    type_ids: list[int]
    attention_mask: list[int]
    special_tokens_mask: list[int]
    offsets: list[tuple[int, int]]
    word_ids: list[int | None]
    sequences: Mapping[int, tuple[int, int]]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_sequences(self) -> int:
        """How many texts the row has."""
        return len(self.sequences)

    @property
    def sequence_ids(self) -> list[int | None]:
        """For each token the number of its text, None for special tokens."""
        numbers: list[int | None] = [None] * len(self.ids)
        for number, (start, end) in self.sequences.items():
            numbers[start:end] = [number] * (end - start)
        return numbers

    def token_to_sequence(self, token: int) -> int | None:
        """Return the number of the text of a token, None for a special one."""
        texts = (number for number, (start, end) in self.sequences.items() if start <= token < end)
        return next(texts, None)

    def token_to_chars(self, token: int) -> tuple[int, int] | None:
        """Return the characters (start, end) of a token in its text, None for a special one."""
        return None if self.token_to_sequence(token) is None else self.offsets[token]

    def token_to_word(self, token: int) -> int | None:
        """Return the number of the word of a token, None for a special one."""
        return None if self.token_to_sequence(token) is None else self.word_ids[token]

    def word_to_tokens(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Return the tokens (start, end) of a word of a text, None where it has none."""
        start, end = self._tokens_of(sequence)
        places = [place for place in range(start, end) if self.word_ids[place] == word]
        return (places[0], places[-1] + 1) if places else None

    def word_to_chars(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Return the characters (start, end) of a word of a text, None where it has no token."""
        tokens = self.word_to_tokens(word, sequence)
        return None if tokens is None else (self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1])

    def char_to_token(self, character: int, sequence: int = 0) -> int | None:
        """Return the first token that holds a character of a text, None where none does."""
        start, end = self._tokens_of(sequence)
        holding = (i for i in range(start, end) if self.offsets[i][0] <= character < self.offsets[i][1])
        return next(holding, None)

    def char_to_word(self, character: int, sequence: int = 0) -> int | None:
        """Return the number of the word that holds a character of a text, None where none does."""
        token = self.char_to_token(character, sequence)
        return None if token is None else self.word_ids[token]

    def _tokens_of(self, sequence: int) -> tuple[int, int]:
        """Return the tokens (start, end) of a text; of a text that the row does not have, all, as `tokenizers` does."""
        return self.sequences.get(sequence, (0, len(self.ids)))


def encoded_row(
    pieces: Sequence[Piece],
    texts: Mapping[str, TextTokens],
    columns: Mapping[str, list[Any]],
    tokens: list[str],
    *,
    before: int,
) -> EncodedRow:
    """Return a row of its columns, which are padded.

    pieces, texts: what the row is made of. tokens: the tokens of its ids. before: how many padding ids it begins with.
    """
    return EncodedRow(
        columns["input_ids"],
        tokens,
        columns["token_type_ids"],
        columns["attention_mask"],
        columns["special_tokens_mask"],
        [tuple(offset) for offset in columns["offset_mapping"]],
        columns["word_ids"],
        dict(_sequences(pieces, texts, before)),
    )


def _sequences(
    pieces: Sequence[Piece], texts: Mapping[str, TextTokens], before: int
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the number of each text of a row and the places of its tokens."""
    place = before
    for content, _ in pieces:
        if isinstance(content, str):
            size = len(texts[content].ids)
            yield int(content != FIRST), (place, place + size)
            place += size
        else:
            place += 1
