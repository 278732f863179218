"""Which documents of a block a phase takes, those of some sources, for which a condition holds, and as which source."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.corpus.column_checks import carried_values
from bertdata.corpus.compared_values import count_compared
from bertdata.corpus.left_out import MOVED, count_left_out
from bertdata.counter_rng import bernoulli, text_bits
from bertdata.curation.accounts import WORDS, parse_account, words_in
from bertdata.curation.condition_values import column_of_values
from bertdata.curation.languages import LANGUAGE, UNKNOWN
from bertdata.curation.scores import Score
from bertdata.curation.where import parse_condition
from bertdata.engine.parts import Counts
from bertdata.errors import InputError
from bertdata.io.console import counted
from bertdata.objectives.blocks import TokenBlock, take_documents
from bertdata.shards.accounts import DOCUMENTS_IN, TOKENS_IN
from bertdata.shards.pretraining_info import PretrainingInfo

LEFT_OUT = "_left_out"
"""The end of the names of counts of what a selection leaves out."""
STORED = ("source", "sentences", "tokens")
"""The columns that are known of a block without those that the token store keeps."""


def select(block: TokenBlock, columns: Sequence[str], info: PretrainingInfo) -> tuple[TokenBlock, Counts]:
    """Return a block of the documents that a phase takes, and counts of the others; no counts without a selection.

    columns: those that the store keeps of each document, as JSON (see `stored_columns`).
    """
    selection, moved = info.selection, {}
    regrouped = _regrouped(block, columns, info)
    if regrouped is not block.document_sources:
        changed = regrouped[regrouped != block.document_sources]
        moved = {
            f"{MOVED}{info.sources[source]}": int(np.sum(changed == source)) for source in np.unique(changed).tolist()
        }
        block = replace(block, document_sources=regrouped)
    if not (selection.sources or selection.where or selection.sample):
        return _with_carried(block, columns, info), languages_of(block, columns) | moved
    flags, read, compared = _flags(block, columns, info)
    taken = _all_of(block, flags)
    by_source = count_left_out(flags, block.document_sources, info.sources, read) if info.sources else {}
    of_selected = [columns[row] for row in np.flatnonzero(taken).tolist()] if columns else []
    selected = _with_carried(take_documents(block, taken), of_selected, info)
    languages = languages_of(selected, of_selected)
    unknown = [int(np.count_nonzero(each.tokens == info.unk_token_id)) for each in (block, selected)]
    return selected, {
        f"documents{LEFT_OUT}": len(block.document_ends) - len(selected.document_ends),
        f"sentences{LEFT_OUT}": len(block.sentence_ends) - len(selected.sentence_ends),
        f"tokens{LEFT_OUT}": len(block.tokens) - len(selected.tokens),
        f"unknown_tokens{LEFT_OUT}": unknown[0] - unknown[1],
        **moved,
        **by_source,
        **compared,
    } | languages


def _with_carried(block: TokenBlock, columns: Sequence[str], info: PretrainingInfo) -> TokenBlock:
    """Return a block with the columns that rows carry; raises InputError for one that does not fit.

    columns: as of `select`.
    """
    column_types = info.selection.kept
    if not column_types:
        return block
    carried: dict[str, NDArray[Any]] = {}
    values = _columns(tuple(column_types), block, columns, info.sources)
    for name, kind in column_types.items():
        column = values[name]
        if column.null_count:
            raise InputError(
                f"{column.null_count:,} of {counted(len(column), 'document')} of a shard have no {name}, which --keep "
                "names; "
                f"leave them out by --where '{name} is not None', or give them one"
            )
        carried[name] = carried_values(name, kind, column)
    return replace(block, document_values=carried)


def choose(
    block: TokenBlock, columns: Sequence[str], info: PretrainingInfo
) -> tuple[NDArray[np.integer], NDArray[np.bool_]]:
    """Return the sources of the documents of a block as a phase has them (N,), and which of them it takes, bool (N,).

    columns: as of `select`, which takes the same.
    """
    block = replace(block, document_sources=_regrouped(block, columns, info))
    return block.document_sources, _all_of(block, _flags(block, columns, info)[0])


def _flags(
    block: TokenBlock, columns: Sequence[str], info: PretrainingInfo
) -> tuple[dict[str, NDArray[np.bool_]], Mapping[str, pa.Array], Counts]:
    """Return by setting which documents it takes, the columns that the condition reads and not all have, and counts.

    The counts are those of the texts that the condition compares with.
    """
    selection = info.selection
    flags: dict[str, NDArray[np.bool_]] = {}
    read: Mapping[str, pa.Array] = {}
    compared: Counts = {}
    if selection.sources:
        numbers = [info.sources.index(name) for name in selection.sources]
        flags["sources"] = np.isin(block.document_sources, numbers)
    if selection.where and len(block.document_ends):
        condition = parse_condition(selection.where)
        read = _columns(condition.names, block, columns, info.sources)
        flags["where"] = condition.holds(read)
        compared = count_compared(condition, read)
        read = {name: read[name] for name in condition.columns}
    if selection.sample and len(block.document_ends):
        flags["sample"] = _sampled(block, columns, info)
    return flags, read, compared


def _all_of(block: TokenBlock, flags: Mapping[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    taken: NDArray[np.bool_] = np.logical_and.reduce([np.ones(len(block.document_ends), np.bool_), *flags.values()])
    return taken


def totals_by(keys: Mapping[str, pa.Array], amounts: Mapping[str, NDArray[np.integer]]) -> pa.Table:
    """Return what documents add up to by their values: a row for each combination of `keys` that there is, sorted.

    keys: the values of documents by name, each (N,); amounts: int64 (N,). The columns are the keys, `documents`, which
    is their number, and the amounts, int64.

    >>> totals_by({"code": pa.array(["en", "de", "en"])}, {"tokens": np.array([5, 2, 3])}).to_pylist()
    [{'code': 'de', 'documents': 1, 'tokens': 2}, {'code': 'en', 'documents': 2, 'tokens': 8}]
    """
    number = len(next(iter(keys.values())))
    given = {"documents": np.ones(number, np.int64)} | dict(amounts)
    table = pa.table({**keys, **{name: pa.array(values, pa.int64()) for name, values in given.items()}})
    sums = table.group_by(list(keys)).aggregate([(name, "sum") for name in given])
    return sums.rename_columns([*keys, *given]).sort_by([(name, "ascending") for name in keys])


def languages_of(block: TokenBlock, columns: Sequence[str]) -> Counts:
    """Return the documents and tokens of a block by language, no counts where the store keeps none.

    columns: those that the store keeps of each document, as JSON.
    """
    codes = [json.loads(text).get(LANGUAGE) for text in columns]
    if not any(codes):
        return {}
    names = pa.array([str(code or UNKNOWN) for code in codes])
    counts: dict[str, int] = {}
    for row in totals_by({"language": names}, {"tokens": np.diff(block.document_ends, prepend=0)}).to_pylist():
        counts[DOCUMENTS_IN + row["language"]] = row["documents"]
        counts[TOKENS_IN + row["language"]] = row["tokens"]
    return dict(sorted(counts.items()))


def _regrouped(block: TokenBlock, columns: Sequence[str], info: PretrainingInfo) -> NDArray[np.int16]:
    """Return the sources of documents after `source_where`; its conditions see the sources before it."""
    if not info.selection.source_where or not len(block.document_ends):
        return block.document_sources
    sources = block.document_sources.copy()
    for name, condition in info.selection.regrouped.items():
        sources[condition.holds(_columns(condition.names, block, columns, info.sources))] = info.sources.index(name)
    return sources


def in_sample(document_ids: Sequence[str], share: float) -> NDArray[np.bool_]:
    """Return which documents are in a sample of a share of all: a function of the id alone, bool (N,).

    The hash is not that which decides the shard and the split, so that each of these is sampled alike.

    >>> in_sample(["enwiki:12", "enwiki:25", "enwiki:39", "enwiki:290"], 0.5).tolist()
    [False, True, False, True]
    """
    draws = np.array([text_bits(f"sample\x1f{document_id}") for document_id in document_ids], np.uint64)
    return bernoulli(draws, share)


def _sampled(block: TokenBlock, columns: Sequence[str], info: PretrainingInfo) -> NDArray[np.bool_]:
    """Return which documents are in the sample of their source."""
    shares = info.selection.shares
    ids = [json.loads(text)["id"] for text in columns]
    taken = np.ones(len(ids), np.bool_)
    for number, name in enumerate(info.sources):
        if (share := shares.get(name, shares.get("", 1.0))) < 1:
            here = np.flatnonzero(block.document_sources == number)
            taken[here] = in_sample([ids[row] for row in here.tolist()], share)
    return taken


def languages_in(documents: pa.Table) -> list[str | None]:
    """Return the language of each document of a table with their columns as JSON objects, None where it is unknown."""
    return [json.loads(text or "{}").get(LANGUAGE) or None for text in documents["columns"].to_pylist()]


def stored_columns(names: Sequence[str], documents: pa.Table, scores: Sequence[Score] = ()) -> list[str]:
    """Return the values of some columns of each document as JSON objects, without those that it does not have.

    A name may be that of an account, as `domain(url)`, or `WORDS`. scores: columns that are made of the texts.
    """
    rows: list[dict[str, Any]] = [json.loads(text or "{}") for text in documents["columns"].to_pylist()]
    made: dict[str, Any] = {score.name: score.of(documents["text"].combine_chunks()).to_pylist() for score in scores}
    for name in names:
        if name == "characters":
            made[name] = pc.utf8_length(documents["text"]).to_pylist()
        elif name == WORDS:
            made[name] = words_in(documents["text"]).to_pylist()
        elif name in documents.column_names and name != "columns" and name not in made:
            made[name] = documents[name].to_pylist()
    for account in (parse_account(name) for name in names if "(" in name and name != WORDS):
        of_all = account.column in documents.column_names and account.column != "columns"
        values = documents[account.column].to_pylist() if of_all else [row.get(account.column) for row in rows]
        made[account.name] = list(map(account.value, values))
    for name, values in made.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = value
    return [json.dumps({name: row[name] for name in names if row.get(name) is not None}) for row in rows]


def _columns(
    names: Sequence[str], block: TokenBlock, stored: Sequence[str], sources: Sequence[str]
) -> Mapping[str, pa.Array]:
    rows = [json.loads(text) for text in stored] if set(names) - set(STORED) else []
    of_all: dict[str, Any] = {
        "source": lambda: np.array(sources)[block.document_sources],
        "sentences": lambda: _counts(block.sentence_ends, block.document_ends),
        "tokens": lambda: np.diff(block.document_ends, prepend=0),
    }
    return {
        name: pa.array(of_all[name]()) if name in of_all else column_of_values(name, [row.get(name) for row in rows])
        for name in names
    }


def _counts(sentence_ends: NDArray[np.int64], document_ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of sentences of each document."""
    return np.diff(np.searchsorted(sentence_ends, document_ends, side="right"), prepend=0)
