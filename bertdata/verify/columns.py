"""Whether what documents were counted by adds up to what the manifest says of the same documents.

of each column: documents, tokens of a split        = those of all its values, by source those of the source
                documents, tokens left out          = those that selections left out of all splits
                documents, words, tokens in all     = those of every other column
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertdata.corpus.selection import LEFT_OUT as COUNT_LEFT_OUT
from bertdata.errors import VerificationError
from bertdata.shards.accounts import FILE, FOLDER, LEFT_OUT, MOST_VALUES, NUMBERS, columns_of, read_accounts, totals
from bertdata.shards.contents import reading_values
from bertdata.verify.claims import Claims, SplitEntry

_WHERE = f"{FOLDER}/{FILE}"


def check_accounts(build: Claims, sources: list[str]) -> None:
    """Check the account beside the shards, if the manifest says that there is one; `sources` are those of the build.

    Notes what does not add up. Raises VerificationError where the account is not whole.
    """
    named = build.manifest.get("accounts", [])
    if not named:
        return
    with build.noting(_WHERE), reading_values(build.path, VerificationError):
        account = read_accounts(build.path, build.manifest)
        columns = columns_of(account)
        if sorted(columns) != sorted(named):
            build.note(_WHERE, f"has accounts of {', '.join(columns)}; the manifest names {', '.join(named)}")
        words = {}
        for name, by_source in columns.items():
            sums = {source: {place: _totals(entry) for place, entry in of.items()} for source, of in by_source.items()}
            words[name] = sum(row[1] for of in sums.values() for row in of.values())
            _check_column(build, name, sums, sources)
            for source, of in by_source.items():
                _check_named(build, name, source, of)
        for name, number in words.items():
            first = next(iter(words.values()))
            if number != first:
                build.note(
                    _WHERE, f"the documents have {number:,} words by {name}, and {first:,} by {next(iter(words))}"
                )


def _totals(entry: Mapping[str, Any]) -> list[int]:
    rows = [*entry["values"].values(), entry["none"], entry["other"]]
    if not all(len(row) == len(NUMBERS) and all(type(number) is int and number >= 0 for number in row) for row in rows):
        raise ValueError("numbers of accounts that are not three whole numbers from 0")
    return totals(entry)


def _check_named(build: Claims, name: str, source: str, of: Mapping[str, Mapping[str, Any]]) -> None:
    number = len({value for entry in of.values() for value in entry["values"]})
    if number > MOST_VALUES:
        build.note(
            _WHERE, f"names {number:,} values of {name} of the source {source}; expected {MOST_VALUES:,} at most"
        )


def _check_column(build: Claims, name: str, sums: dict[str, dict[str, list[int]]], sources: list[str]) -> None:
    for source in sums:
        if source not in sources:
            build.note(_WHERE, f"{name} has the source {source!r}; the build has {', '.join(sources)}")
    for split, entry in build.splits.items():
        _expect(build, f"by {name}, documents of split {split}", _sum(sums, split, 0), entry.counts["documents"])
        for source in sources:
            counted = sums.get(source, {}).get(split, [0, 0, 0])[2]
            _expect(build, f"by {name}, tokens of {source} in split {split}", counted, _tokens(entry, source))
    for place, what in ((0, "documents"), (2, "tokens")):
        left_out = sum(entry.counts.get(what + COUNT_LEFT_OUT, 0) for entry in build.splits.values())
        _expect(build, f"by {name}, {what} left out", _sum(sums, LEFT_OUT, place), left_out)


def _sum(sums: dict[str, dict[str, list[int]]], place: str, number: int) -> int:
    return sum(of[place][number] for of in sums.values() if place in of)


def _tokens(entry: SplitEntry, source: str) -> int:
    return entry.counts.get(f"tokens_of_{source}", 0)


def _expect(build: Claims, what: str, counted: int, claimed: int) -> None:
    build.expect(_WHERE, what, counted, claimed)
