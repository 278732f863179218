"""Which rows of shards hold a text: its tokens are looked for, where static masks hide tokens among these."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.io.console import counted
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards import Shards
from bertdata.shards.phases import phase_names
from bertdata.shards.reader import open_splits
from bertdata.tokenizers.base import Tokenizer


def opened(path: str, split: str | None) -> list[Shards]:
    """Return the splits to search: one, or all of a build and of each of its phases."""
    manifest = files.read_json_if_there(files.join(path, "manifest.json"))
    folders = [files.join(path, name) for name in phase_names(manifest)] or [path]
    return [shards for folder in folders for shards in open_splits(folder, [split] if split else [])]


def forms_of(text: str, tokenizer: Tokenizer) -> list[list[int]]:
    """Return the ids that a text may have in a row: at the beginning of a line, and after a space.

    Raises ConfigError for a text without tokens, and for one of words that the vocabulary does not know.
    """
    forms = [tokenizer.encode(text), tokenizer.encode(f" {text}")]
    if not forms[0]:
        raise ConfigError(f"--grep {text!r} has no token; expected a word or several, as they are in the text")
    if any(tokenizer.unk_token_id in ids for ids in forms):
        raise ConfigError(
            f"--grep {text!r} has a word that this vocabulary writes as [UNK], like any other that it does not know; "
            "look for a part of it without that word"
        )
    return forms if forms[0] != forms[1] else forms[:1]


def rows_with(shards: Shards, text: str) -> NDArray[np.int64]:
    """Return the numbers of the rows of a split that hold a text, ascending. Raises ConfigError as `forms_of`."""
    static = not shards.expect_pretraining().draws_masks
    forms = forms_of(text, shards.tokenizer())
    rows, before = [np.zeros(0, np.int64)], 0
    for batch in shards.table.to_batches():
        offsets = batch["input_ids"].offsets.to_numpy().astype(np.int64)
        ids = batch["input_ids"].flatten().to_numpy().astype(np.int64)
        if static:
            labels = batch["labels"].flatten().to_numpy()
            ids = np.where(labels != IGNORE_INDEX, labels, ids)
        offsets -= offsets[0]
        for form in forms:
            starts = _places(ids, form)
            row = np.searchsorted(offsets, starts, side="right") - 1
            rows.append(before + row[starts + len(form) <= offsets[row + 1]])
        before += batch.num_rows
    return np.unique(np.concatenate(rows))


def _places(ids: NDArray[np.int64], form: Sequence[int]) -> NDArray[np.int64]:
    """Return where a run of ids begins, int64 (M,)."""
    places = np.flatnonzero(ids[: max(0, len(ids) - len(form) + 1)] == form[0])
    for number, token in enumerate(form[1:], 1):
        places = places[ids[places + number] == token]
    return places


def counted_rows(shards: Shards, text: str, number: int) -> str:
    """Return a line on how many rows of a split hold a text."""
    where = files.name(shards.build)
    return f"{where}, {shards.split}: {text!r} is in {number:,} of {counted(len(shards), 'row')}"
