"""Checkpoints by words seen, as the BabyLM challenge asks for them: `chck_1M` and so on, beside the model.

Rows do not say how many words they have. The account of a build (`--account`) says how many words its documents have,
what white space separates, so those of all rows are known, and those of a part of an epoch are taken in proportion to
its rows, which are in a random order: exact at the end of each epoch, between them by the spread of rows. What was seen
is a function of the step alone, so a resumed run has the same checkpoints.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.shards import Shards
from bertdata.shards.accounts import read_accounts, totals
from bertdata.torch.training.phases import Phase
from bertdata.torch.training.settings import PretrainSettings

PREFIX = "chck_"
"""What the names of the folders begin with."""
_NUMBER = re.compile(r"([0-9]+)([KMB]?)")
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9}


def words_number(text: str) -> int:
    """Return a number of words, as 500K, 1M or 1B; raises ConfigError for another text.

    >>> words_number("10M"), words_number("1500")
    (10000000, 1500)
    """
    match = _NUMBER.fullmatch(text)
    if match is None or not int(match[1]):
        raise ConfigError(f"--checkpoint-words has {text!r}; expected numbers of words, as 500K, 1M or 10M")
    return int(match[1]) * _UNITS[match[2]]


def words_of_rows(shards: Shards) -> int:
    """Return how many words all rows of shards have, copies too; raises ConfigError where the build has no account.

    The words of a source are those of its documents by the account, as many times as its tokens are in the rows, less
    the share of tokens that no row has.
    """
    account: dict[str, Any] = read_accounts(shards.build, shards.manifest)
    columns = [*account.get("columns", {}).values(), *account.get("scores", {}).values()]
    if not columns:
        raise ConfigError(
            "--checkpoint-words needs the number of words in the corpus, which only an account has; build again with "
            "--account of any column: the documents are tokenized again, and the rows stay the same",
            path=shards.build,
        )
    counts: dict[str, int] = shards.manifest["splits"][shards.split]["counts"]
    words = 0.0
    for source, by_place in columns[0].items():
        if (entry := by_place.get(shards.split)) is not None:
            _, of_source, tokens = totals(entry)
            words += of_source * counts.get(f"tokens_in_copies_of_{source}", 0) / max(1, tokens)
    return int(words * counts["tokens_in_examples"] / max(1, counts["tokens_in_copies"]) + 0.5)


@dataclass(frozen=True)
class WordCheckpoints:
    """The numbers of words at which a model is saved, with the names of their folders, in ascending order.

    before: the words that phases before each one have, by the phase's first step; rows: the words of all its rows.
    """

    names: Sequence[tuple[int, str]] = ()
    before: Sequence[float] = ()
    rows: Sequence[int] = ()

    @classmethod
    def of(cls, phases: Sequence[Phase], settings: PretrainSettings) -> WordCheckpoints:
        """Return those of a run; raises ConfigError where words are not known."""
        if not settings.checkpoint_words:
            return cls()
        rows = [words_of_rows(phase.dataset.shards) for phase in phases]
        seen = [phase.epochs(settings) * words for phase, words in zip(phases, rows, strict=True)]
        before = [sum(seen[:number]) for number in range(len(phases))]
        names = sorted((words_number(text), f"{PREFIX}{text}") for text in settings.checkpoint_words)
        if names[-1][0] > sum(seen):
            raise ConfigError(
                f"--checkpoint-words has {names[-1][1].removeprefix(PREFIX)}, and the run sees {round(sum(seen)):,} "
                f"words, {sum(rows):,} in an epoch; take more --epochs or --max-steps, or leave it out"
            )
        return cls(names, before, rows)

    def seen(self, phase: int, position: int, examples: int) -> float:
        """Return the words seen after so many rows of a phase, which has `examples` rows, in the order of a run."""
        return self.before[phase] + position / examples * self.rows[phase] if self.names else 0.0

    def due(self, before: float, after: float) -> list[str]:
        """Return the names of the folders to be written after a step, by the words seen before and after it.

        >>> WordCheckpoints([(10, "chck_10"), (20, "chck_20")]).due(9, 20)
        ['chck_10', 'chck_20']
        >>> WordCheckpoints([(10, "chck_10")]).due(10, 30)
        []
        """
        return [name for number, name in self.names if before < number <= after]


def remove_word_checkpoints(output: str, names: Sequence[str]) -> None:
    """Remove the folders of some names from the output of a run that starts again."""
    for name in names:
        files.remove(files.join(output, name))
