"""The ledger of a build: at each step what came in, what was dropped and why, what went on; and whether it adds up.

It reads the manifest alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bertdata.objectives.blocks import BORROWED, DROPPED
from bertdata.sources.names import input_count, units_of


@dataclass(frozen=True)
class Step:
    """One step: `came` things of a `unit` came in, `dropped` says how many went for which reason, `left` went on.

    `added` are things used more than once. `left` is counted apart from the rest, so `balanced` can fail.
    """

    title: str
    unit: str
    came: int
    dropped: tuple[tuple[str, int], ...]
    added: int
    left: int

    @property
    def balanced(self) -> bool:
        """Whether what came in is what was dropped and what went on.

        >>> Step("books", "books", 5, (("too short", 2),), 0, 3).balanced
        True
        """
        return self.came + self.added == self.left + sum(number for _, number in self.dropped)


def ledger(manifest: Mapping[str, Any]) -> list[Step]:
    """Return the steps of a build: each source to documents, documents to tokens, tokens to each split's examples."""
    steps = []
    for name, source in manifest["sources"].items():
        counts = source["counts"]
        units = [*units_of(counts), *(["chapters"] if counts.get("chapters") else [])]
        came = input_count(counts)
        drops = tuple(source["drops"].items())
        title = f"{name} to documents"
        steps.append(Step(title, " and ".join(units) or "pieces", came, drops, 0, counts.get("documents", 0)))
    documents = sum(source["counts"].get("documents", 0) for source in manifest["sources"].values())
    tokens = manifest["tokens"]
    drops = tuple(tokens["drops"].items())
    steps.append(Step("documents with tokens", "documents", documents, drops, 0, tokens["counts"].get("documents", 0)))
    copies = manifest["info"]["examples"]["dupe_factor"]
    for split, entry in manifest["splits"].items():
        counts = entry["counts"]
        dropped = tuple(
            (name.removeprefix(DROPPED).replace("_", " "), number)
            for name, number in counts.items()
            if name.startswith(DROPPED) and number
        )
        mixed = split == "train" and manifest["info"].get("epochs")
        times = ", mixed by weight" if mixed else f", {copies} copies" if copies > 1 else ""
        title = f"tokens to {split} examples{times}"
        came = counts["tokens_in_copies"] if mixed else counts["tokens"] * copies
        left = counts["tokens_in_examples"]
        steps.append(Step(title, "tokens", came, dropped, counts.get(BORROWED, 0), left))
    return steps
