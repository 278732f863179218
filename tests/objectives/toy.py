"""An objective from outside the package, and a build made with it: for the tests that it works from end to end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bertdata import registry
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


def environment(folder: Path, module: str = MODULE, name: str = "toy_plugin") -> dict[str, str]:
    """Write a module into a folder and return the environment in which processes load it as a plugin."""
    (folder / f"{name}.py").write_text(module)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return dict(os.environ) | {"PYTHONPATH": os.pathsep.join(paths), registry.PLUGINS: name}


def run(environment: dict[str, str], *command: str) -> str:
    """Run a command of Python to its end and return what it printed; what it prints to stderr is in the error."""
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build(folder: Path, environment: dict[str, str], flags: Sequence[str]) -> Path:
    """Build shards of 60 small documents of four sentences below a folder with two workers, and return where."""
    folder.mkdir(exist_ok=True)
    texts = []
    for number in range(60):
        words = [_WORDS[(number * 7 + place * 3 + place * place) % 10] for place in range(12)]
        texts.append(" ".join(f"The {a} holds the {b} and a {c}." for a, b, c in zip(*[iter(words)] * 3, strict=True)))
    (folder / "documents.txt").write_text("\n\n".join(texts))
    pieces = [*SPECIAL_TOKENS, *_WORDS, "the", "a", "and", "hold", "##s", "."]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    output = folder / "corpus"
    command = ["-m", "bertdata", "build", "--documents", str(folder / "documents.txt")]
    command += ["--vocab", str(folder / "vocab.txt"), "--output", str(output), "--max-seq-length", "32"]
    run(environment, *command, "--validation-fraction", "0", "--workers", "2", *flags)
    return output
