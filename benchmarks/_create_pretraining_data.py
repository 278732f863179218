"""BERT's released way of making examples (BERT appendix A.2 and the code beside it), step for step, in plain Python.

Written for `benchmarks/examples.py` to measure against; slow as the original is, which also works on lists of tokens,
one draw of a sequential generator after another. It takes ids instead of pieces, and leaves out what only costs the
original time: tokenising, and writing TFRecords.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

Document = list[list[int]]


@dataclass
class Instance:
    """One example: ids with masks in place, token types, whether B is random, positions and ids to predict."""

    tokens: list[int]
    segment_ids: list[int]
    is_random_next: bool
    positions: list[int]
    labels: list[int]


@dataclass(frozen=True)
class Settings:
    """The flags of the original, and the ids that it finds by their pieces."""

    max_seq_length: int = 128
    dupe_factor: int = 1
    short_seq_prob: float = 0.1
    masked_lm_prob: float = 0.15
    max_predictions_per_seq: int = 20
    vocab_size: int = 30522
    cls: int = 101
    sep: int = 102
    mask: int = 103


def create_instances(documents: list[Document], settings: Settings, seed: int) -> list[Instance]:
    """Return the shuffled instances of all documents, `dupe_factor` times."""
    rng = random.Random(seed)
    documents = [document for document in documents if document]
    rng.shuffle(documents)
    instances = []
    for _ in range(settings.dupe_factor):
        for number in range(len(documents)):
            instances += _instances_of(documents, number, settings, rng)
    rng.shuffle(instances)
    return instances


def _instances_of(documents: list[Document], number: int, settings: Settings, rng: random.Random) -> list[Instance]:
    document = documents[number]
    room = settings.max_seq_length - 3
    target = rng.randint(2, room) if rng.random() < settings.short_seq_prob else room
    instances = []
    chunk: list[list[int]] = []
    length = place = 0
    while place < len(document):
        chunk.append(document[place])
        length += len(document[place])
        if place == len(document) - 1 or length >= target:
            a_end = rng.randint(1, len(chunk) - 1) if len(chunk) >= 2 else 1
            a = [token for sentence in chunk[:a_end] for token in sentence]
            b: list[int] = []
            is_random = len(chunk) == 1 or rng.random() < 0.5
            if is_random:
                b = _random_b(documents, number, target - len(a), rng)
                place -= len(chunk) - a_end
            else:
                b = [token for sentence in chunk[a_end:] for token in sentence]
            _truncate(a, b, room, rng)
            tokens = [settings.cls, *a, settings.sep, *b, settings.sep]
            segment_ids = [0] * (len(a) + 2) + [1] * (len(b) + 1)
            masked, positions, labels = _mask(tokens, settings, rng)
            instances.append(Instance(masked, segment_ids, is_random, positions, labels))
            chunk, length = [], 0
        place += 1
    return instances


def _random_b(documents: list[Document], number: int, target: int, rng: random.Random) -> list[int]:
    other = number
    for _ in range(10):
        other = rng.randint(0, len(documents) - 1)
        if other != number:
            break
    document = documents[other]
    b: list[int] = []
    for sentence in document[rng.randint(0, len(document) - 1) :]:
        b.extend(sentence)
        if len(b) >= target:
            break
    return b


def _truncate(a: list[int], b: list[int], room: int, rng: random.Random) -> None:
    while len(a) + len(b) > room:
        longer = a if len(a) > len(b) else b
        if rng.random() < 0.5:
            del longer[0]
        else:
            longer.pop()


def _mask(tokens: list[int], settings: Settings, rng: random.Random) -> tuple[list[int], list[int], list[int]]:
    candidates = [place for place, token in enumerate(tokens) if token not in (settings.cls, settings.sep)]
    rng.shuffle(candidates)
    masked = list(tokens)
    wanted = min(settings.max_predictions_per_seq, max(1, round(len(tokens) * settings.masked_lm_prob)))
    chosen: list[int] = []
    for place in candidates:
        if len(chosen) >= wanted:
            break
        if rng.random() < 0.8:
            masked[place] = settings.mask
        elif rng.random() < 0.5:
            masked[place] = rng.randint(0, settings.vocab_size - 1)
        chosen.append(place)
    positions = sorted(chosen)
    return masked, positions, [tokens[place] for place in positions]
