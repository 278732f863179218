"""Fine-tuning tasks that any text gives: which neighbouring words were swapped, which words have a capital letter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from bertdata.counter_rng import bits, key, text_bits

WordTags = tuple[list[str], list[str]]
"""The words of a sentence, and the tag of each."""
LENGTHS = range(5, 17)
"""How many words the sentences of a task have."""


def capitals(words: Sequence[str]) -> WordTags:
    """Return words, and which have a capital letter, as entities; not the first of a sentence, nor "I".

    >>> capitals("The town of New York and I .".split())[1]
    ['O', 'O', 'O', 'B-CAP', 'I-CAP', 'O', 'O', 'O']
    """
    tags: list[str] = []
    for number, word in enumerate(words):
        bare = word.strip("\"'()[].,;:!?")
        capital = number > 0 and bare[:1].isupper() and bare.split("'")[0] != "I"
        tags.append(("I-CAP" if tags[-1] != "O" else "B-CAP") if capital else "O")
    return list(words), tags


def order(words: Sequence[str]) -> WordTags:
    """Return words of which two neighbours changed places, drawn by the words, and those two as an entity.

    >>> order("the town is old".split())
    (['the', 'is', 'town', 'old'], ['O', 'B-CHANGED', 'I-CHANGED', 'O'])
    """
    place = int(bits(key(0, "encoder task change"), text_bits(" ".join(words)))) % (len(words) - 1)
    changed = [*words[:place], words[place + 1], words[place], *words[place + 2 :]]
    return changed, ["B-CHANGED" if n == place else "I-CHANGED" if n == place + 1 else "O" for n in range(len(words))]


TASKS = {"order": order, "capitals": capitals}


def write_examples(path: Path, examples: Iterable[WordTags]) -> str:
    """Write words and tags as JSON lines that `bertdata encode-task --task token-classification` reads.

    Returns the path.
    """
    path.write_text("".join(json.dumps({"tokens": words, "tags": tags}) + "\n" for words, tags in examples))
    return str(path)
