"""BERT's released procedure from text to TFRecords (BERT, appendix A.2, and its code), step by step, in plain Python.

Written as a baseline of the benchmarks, and as slow as the original: a file of one sentence a line, a blank line
between documents; each line is split into words at white space and punctuation, and each word into its longest tokens,
as strings; instances of tokens, drawn by one sequential generator; tokens to ids; instances to `tf.train.Example`s. The
original leaves the bytes of a message and its checksum to compiled libraries. Here each number is looked up in a table
of its bytes, and checksums are those of `bertdata.formats.tfrecord`, so that no interpreter's time counts there.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bertdata.formats.tfrecord import frame

Pieces = list[str]
Document = list[Pieces]
UNKNOWN, CLS, SEP, MASK = "[UNK]", "[CLS]", "[SEP]", "[MASK]"
LONGEST_WORD = 200


@dataclass(frozen=True)
class Settings:
    """The flags of the original, with its defaults."""

    max_seq_length: int = 128
    max_predictions_per_seq: int = 20
    dupe_factor: int = 10
    short_seq_prob: float = 0.1
    masked_lm_prob: float = 0.15
    random_seed: int = 12345


@dataclass
class Instance:
    """One example: pieces with masks in place, token types, whether B is random, positions and pieces to predict."""

    tokens: Pieces
    segment_ids: list[int]
    is_random_next: bool
    positions: list[int]
    labels: Pieces


def create_pretraining_data(text: Path, vocabulary: Path, output: Path, settings: Settings) -> list[Instance]:
    """Write the TFRecords of a text file, and return their instances."""
    ids = read_vocabulary(vocabulary)
    instances = create_instances(read_documents(text, ids), list(ids), settings)
    write_instances(instances, ids, output, settings)
    return instances


@cache
def read_vocabulary(path: Path) -> dict[str, int]:
    """Return the id of each piece of a vocab.txt."""
    return {line.strip(): number for number, line in enumerate(path.read_text("utf-8").split("\n")) if line.strip()}


def read_documents(path: Path, ids: dict[str, int]) -> list[Document]:
    """Return the pieces of each line, by document."""
    documents: list[Document] = [[]]
    with path.open(encoding="utf-8") as lines:
        for line in map(str.strip, lines):
            if not line:
                documents.append([])
            elif pieces := tokenize(line, ids):
                documents[-1].append(pieces)
    return [document for document in documents if document]


def tokenize(text: str, ids: dict[str, int]) -> Pieces:
    """Return the pieces of a text: words lower-cased and without accents, each its longest pieces."""
    pieces: Pieces = []
    for word in basic_words(text):
        pieces.extend(longest_pieces(word, ids))
    return pieces


def basic_words(text: str) -> Pieces:
    """Return lower-cased words without accents, punctuation apart."""
    words: Pieces = []
    for token in "".join(_clean(text)).split():
        lowered = unicodedata.normalize("NFD", token.lower())
        words.extend(_split_punctuation("".join(char for char in lowered if unicodedata.category(char) != "Mn")))
    return " ".join(words).split()


def _clean(text: str) -> Iterator[str]:
    for character in text:
        code = ord(character)
        if code in (0, 0xFFFD) or _is_control(character):
            continue
        if _is_chinese(code):
            yield f" {character} "
        elif _is_space(character):
            yield " "
        else:
            yield character


def _split_punctuation(word: str) -> Pieces:
    parts: list[list[str]] = []
    begins = True
    for character in word:
        if _is_punctuation(character):
            parts.append([character])
            begins = True
        else:
            if begins:
                parts.append([])
            begins = False
            parts[-1].append(character)
    return ["".join(part) for part in parts]


def longest_pieces(word: str, ids: dict[str, int]) -> Pieces:
    """Return the pieces of a word, each the longest that is in the vocabulary; [UNK] where one is in none."""
    if len(word) > LONGEST_WORD:
        return [UNKNOWN]
    pieces: Pieces = []
    start = 0
    while start < len(word):
        end = len(word)
        while start < end:
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in ids:
                break
            end -= 1
        else:
            return [UNKNOWN]
        pieces.append(piece)
        start = end
    return pieces


def _is_space(character: str) -> bool:
    return character in " \t\n\r" or unicodedata.category(character) == "Zs"


def _is_control(character: str) -> bool:
    return character not in "\t\n\r" and unicodedata.category(character) in ("Cc", "Cf")


def _is_punctuation(character: str) -> bool:
    code = ord(character)
    ascii_mark = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return ascii_mark or unicodedata.category(character).startswith("P")


def _is_chinese(code: int) -> bool:
    blocks = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
              (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))  # fmt: skip
    return code >= 0x3400 and any(first <= code <= last for first, last in blocks)


def create_instances(documents: list[Document], vocabulary: Pieces, settings: Settings) -> list[Instance]:
    """Return the shuffled instances of all documents, `dupe_factor` times."""
    rng = random.Random(settings.random_seed)
    documents = [document for document in documents if document]
    rng.shuffle(documents)
    instances = []
    for _ in range(settings.dupe_factor):
        for number in range(len(documents)):
            instances += _instances_of(documents, number, vocabulary, settings, rng)
    rng.shuffle(instances)
    return instances


def _instances_of(
    documents: list[Document], number: int, vocabulary: Pieces, settings: Settings, rng: random.Random
) -> list[Instance]:
    document = documents[number]
    room = settings.max_seq_length - 3
    target = rng.randint(2, room) if rng.random() < settings.short_seq_prob else room
    instances = []
    chunk: list[Pieces] = []
    length = place = 0
    while place < len(document):
        chunk.append(document[place])
        length += len(document[place])
        if place == len(document) - 1 or length >= target:
            a_end = rng.randint(1, len(chunk) - 1) if len(chunk) >= 2 else 1
            a = [token for sentence in chunk[:a_end] for token in sentence]
            b: Pieces = []
            is_random = len(chunk) == 1 or rng.random() < 0.5
            if is_random:
                b = _random_b(documents, number, target - len(a), rng)
                place -= len(chunk) - a_end
            else:
                b = [token for sentence in chunk[a_end:] for token in sentence]
            _truncate(a, b, room, rng)
            tokens = [CLS, *a, SEP, *b, SEP]
            segment_ids = [0] * (len(a) + 2) + [1] * (len(b) + 1)
            masked, positions, labels = _mask(tokens, vocabulary, settings, rng)
            instances.append(Instance(masked, segment_ids, is_random, positions, labels))
            chunk, length = [], 0
        place += 1
    return instances


def _random_b(documents: list[Document], number: int, target: int, rng: random.Random) -> Pieces:
    other = number
    for _ in range(10):
        other = rng.randint(0, len(documents) - 1)
        if other != number:
            break
    document = documents[other]
    b: Pieces = []
    for sentence in document[rng.randint(0, len(document) - 1) :]:
        b.extend(sentence)
        if len(b) >= target:
            break
    return b


def _truncate(a: Pieces, b: Pieces, room: int, rng: random.Random) -> None:
    while len(a) + len(b) > room:
        longer = a if len(a) > len(b) else b
        if rng.random() < 0.5:
            del longer[0]
        else:
            longer.pop()


def _mask(
    tokens: Pieces, vocabulary: Pieces, settings: Settings, rng: random.Random
) -> tuple[Pieces, list[int], Pieces]:
    candidates = [place for place, token in enumerate(tokens) if token not in (CLS, SEP)]
    rng.shuffle(candidates)
    masked = list(tokens)
    wanted = min(settings.max_predictions_per_seq, max(1, round(len(tokens) * settings.masked_lm_prob)))
    chosen: list[int] = []
    for place in candidates:
        if len(chosen) >= wanted:
            break
        if rng.random() < 0.8:
            masked[place] = MASK
        elif rng.random() < 0.5:
            masked[place] = vocabulary[rng.randint(0, len(vocabulary) - 1)]
        chosen.append(place)
    positions = sorted(chosen)
    return masked, positions, [tokens[place] for place in positions]


def write_instances(instances: Sequence[Instance], ids: dict[str, int], path: Path, settings: Settings) -> None:
    """Write each instance as a `tf.train.Example` in a TFRecord file, padded."""
    width, most, varint = settings.max_seq_length, settings.max_predictions_per_seq, _table().__getitem__
    with path.open("wb") as file:
        for begin in range(0, len(instances), 1000):
            messages = []
            for instance in instances[begin : begin + 1000]:
                length, predicted = len(instance.tokens), len(instance.positions)
                padding, missing = [0] * (width - length), [0] * (most - predicted)
                fields = {
                    "input_ids": [ids[token] for token in instance.tokens] + padding,
                    "input_mask": [1] * length + padding,
                    "segment_ids": instance.segment_ids + padding,
                    "masked_lm_positions": instance.positions + missing,
                    "masked_lm_ids": [ids[token] for token in instance.labels] + missing,
                    "next_sentence_labels": [int(instance.is_random_next)],
                }
                lists = [(name, 3, b"".join(map(varint, values))) for name, values in fields.items()]
                weights = b"\x00\x00\x80\x3f" * predicted + bytes(4 * (most - predicted))
                messages.append(_example([*lists, ("masked_lm_weights", 2, weights)]))
            file.write(frame(messages))


def _example(features: list[tuple[str, int, bytes]]) -> bytes:
    entries = [_bytes(1, _bytes(1, name.encode()) + _bytes(2, _bytes(kind, _bytes(1, data))))
               for name, kind, data in features]  # fmt: skip
    return _bytes(1, b"".join(entries))


def _bytes(number: int, data: bytes) -> bytes:
    return bytes((number << 3 | 2,)) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


@cache
def _table() -> list[bytes]:
    return [_varint(number) for number in range(1 << 17)]
