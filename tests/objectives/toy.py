"""An objective from outside the package, and a small build to try such a module with from end to end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS

CLASS = '''
import numpy as np

from bertdata.counter_rng import bits
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.blocks import Plan
from bertdata.objectives.objective import Objective


class Swapped(Objective):
    """The first two sentences of each document, in an order drawn by its key; the others are left out."""

    def plan(self, block, config, copy, template):
        starts = np.concatenate([[0], block.document_ends])[:-1]
        first = np.searchsorted(block.sentence_ends, starts, side="right")
        middle = block.sentence_ends[first]
        end = block.sentence_ends[np.minimum(first + 1, len(block.sentence_ends) - 1)]
        room = template.room(config.max_seq_length, pair=True)
        kept = (end <= block.document_ends) & (end > middle) & (end - starts <= room)
        a, b = np.stack([starts, middle], 1)[kept], np.stack([middle, end], 1)[kept]
        draws = bits(self.key(config, "order"), block.document_keys[kept], copy)
        swapped = draws % np.uint64(2) == 1
        spans = np.where(swapped[:, None, None], np.stack([b, a], 1), np.stack([a, b], 1)).reshape(-1, 2)
        used = int((spans[:, 1] - spans[:, 0]).sum())
        return Plan(
            spans,
            np.tile(np.array([0, 1], np.int8), len(a)),
            np.arange(0, len(spans) + 1, 2),
            swapped.astype(np.int8),
            (draws >> np.uint64(1)).astype(np.int64),
            {"tokens_dropped_later_sentences": len(block.tokens) - used},
        )

'''
"""A module with a class of objectives."""
SWAPPED = """Swapped(
    "{name}",
    "the first two sentences of a document",
    label="next_sentence_label",
    label_names=("as written", "swapped"),
    label_meanings=("B follows A", "A follows B"),
    segments=(2, 2),
    token_types=2,
    sentence_pairs=True,
)"""
"""An objective of that class."""
MODULE = f"{CLASS}\nOBJECTIVES.add('toy', {SWAPPED.format(name='toy')})\n"
"""A module that adds the objective `toy`."""

_WORDS = ["salt", "water", "stone", "river", "lamp", "keeper", "clock", "bread", "garden", "winter"]


def command(folder: Path, flags: Sequence[str]) -> list[str]:
    """Write 60 small documents of four sentences; returns the command that builds `corpus`."""
    texts = []
    for number in range(60):
        words = [_WORDS[(number * 7 + place * 3 + place * place) % 10] for place in range(12)]
        texts.append(" ".join(f"The {a} holds the {b} and a {c}." for a, b, c in zip(*[iter(words)] * 3, strict=True)))
    (folder / "documents.txt").write_text("\n\n".join(texts))
    pieces = [*SPECIAL_TOKENS, *_WORDS, "the", "a", "and", "hold", "##s", "."]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    build = ["build", "--documents", "documents.txt", "--vocab", "vocab.txt", "--output", "corpus"]
    return [*build, "--max-seq-length", "32", "--validation-fraction", "0", *flags]
