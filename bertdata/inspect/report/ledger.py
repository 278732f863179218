"""The ledger of a build, from its manifest: what came in at each step, what was dropped and why, and what went on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bertdata.objectives.blocks import BORROWED, DROPPED
from bertdata.sources.names import input_count, units_of


@dataclass(frozen=True)
class Step:
    """One step: of a `unit` that is counted, `came` came in, `dropped` by reason were dropped, `left` went on.

    `added` were used twice. `left` is counted independently of the others, so they need not add up.
    """

    title: str
    unit: str
    came: int
    dropped: tuple[tuple[str, int], ...]
    added: int
    left: int

    @property
    def difference(self) -> int:
        """How many more were dropped or went on than came in.

        >>> Step("books", "books", 5, (("too short", 2),), 0, 3).difference
        0
        """
        return self.left + sum(number for _, number in self.dropped) - self.came - self.added


def ledger(manifest: Mapping[str, Any]) -> list[Step]:
    """Return the steps of a build: each source to documents, documents to tokens, tokens to each split's examples."""
    steps = []
    for name, source in manifest["sources"].items():
        counts = source["counts"]
        units = [*units_of(counts), *(["chapters"] if counts.get("chapters") else [])]
        unit, came, drops = " and ".join(units) or "pieces", input_count(counts), tuple(source["drops"].items())
        steps.append(Step(f"{name} to documents", unit, came, drops, 0, counts.get("documents", 0)))
    documents, tokens = sum(step.left for step in steps), manifest["tokens"]
    drops, left = tuple(tokens["drops"].items()), tokens["counts"].get("documents", 0)
    steps.append(Step("documents with tokens", "documents", documents, drops, 0, left))
    copies = manifest["info"]["examples"]["dupe_factor"]
    for split, entry in manifest["splits"].items():
        counts = entry["counts"]
        drops = tuple(
            (name.removeprefix(DROPPED).replace("_", " "), number)
            for name, number in counts.items()
            if name.startswith(DROPPED) and number
        )
        mixed = split == "train" and manifest["info"].get("epochs")
        times = ", mixed by weight" if mixed else f", {copies} copies" if copies > 1 else ""
        came = counts["tokens_in_copies"] if mixed else counts["tokens"] * copies
        title, left = f"tokens to {split} examples{times}", counts["tokens_in_examples"]
        steps.append(Step(title, "tokens", came, drops, counts.get(BORROWED, 0), left))
    return steps
