"""What documents are counted by: the account beside the shards, by column, source and split, and what is shown of it.

The file `accounts/accounts.json` of a build, or of each of its phases, has under `columns` what `--account` names, and
under `scores` the columns of `--score`, whose values are the lower ends of twenty ranges:

    {"columns": {"license": {"web": {
        "train": {"values": {"mit": [12, 3400, 5100]}, "none": [3, 700, 1100], "other": [0, 0, 0]},
        "left_out": ...}}}, "other_values": {"license": {"web": 0}}, "made_from": {"domain(url)": "..."}}

The numbers are documents, words and tokens, each document once, without copies. `none` has the documents without a
value, `left_out` those that a selection left out. Of a column and a source the `MOST_VALUES` values with the most
documents are named; `other` has what the others have together, and `other_values` how many these are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.io import files
from bertdata.io.console import Row

FOLDER, FILE = "accounts", "accounts.json"
MOST_VALUES = 10_000
NUMBERS = ("documents", "words", "tokens")
LEFT_OUT = "left_out"
DOCUMENTS_IN, TOKENS_IN = "documents_in_language_", "tokens_in_language_"
"""What the names of counts of a language begin with in records of shards, before its code."""
RANGES = 20
"""How many ranges from 0 to 1 the scores of documents are counted in."""
Account = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Of one column: what its documents add up to, by source and by split or `LEFT_OUT`."""
_SHOWN = 5


def range_of(score: float) -> str:
    """Return the lower end of the range that a score is in, of 1 that of the last one.

    >>> range_of(0.0), range_of(0.149), range_of(0.15), range_of(1.0)
    ('0.00', '0.10', '0.15', '0.95')
    """
    return f"{min(RANGES - 1, int(score * RANGES + 1e-9)) / RANGES:.2f}"


def save_accounts(account: Mapping[str, Any] | None, build: str) -> None:
    """Write the account of a build; without one, delete that of an earlier build."""
    if account is None:
        files.remove(files.join(build, FOLDER))
    else:
        files.write_json(files.join(build, FOLDER, FILE), account, indent=None)


def read_accounts(build: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the account of a build, {} where it has none; raises InputError where its file is missing or damaged."""
    return files.read_json_object(files.join(build, FOLDER, FILE)) if manifest.get("accounts") else {}


def columns_of(account: Mapping[str, Any]) -> dict[str, Account]:
    """Return the accounts of all columns, those of scores too, by name."""
    return {**account.get("columns", {}), **account.get("scores", {})}


def totals(entry: Mapping[str, Any]) -> list[int]:
    """Return the documents, words and tokens of an entry: of all its values, of none and of others.

    >>> totals({"values": {"mit": [2, 30, 40]}, "none": [1, 5, 7], "other": [0, 0, 0]})
    [3, 35, 47]
    """
    return _sum([*entry["values"].values(), entry["none"], entry["other"]])


def taken(account: Account) -> dict[str, Any]:
    """Return the entry of one column over all sources and splits, without what was left out.

    >>> account = {"web": {"train": {"values": {"mit": [2, 30, 40]}, "none": [1, 5, 7], "other": [0, 0, 0]}}}
    >>> taken(account | {"books": account["web"]})
    {'values': {'mit': [4, 60, 80]}, 'none': [2, 10, 14], 'other': [0, 0, 0]}
    """
    entries = [entry for by_place in account.values() for place, entry in by_place.items() if place != LEFT_OUT]
    values: dict[str, list[int]] = {}
    for entry in entries:
        for value, numbers in entry["values"].items():
            values[value] = _sum([values.get(value, [0, 0, 0]), numbers])
    ordered = sorted(values, key=lambda value: (-values[value][0], value))
    return {"values": {value: values[value] for value in ordered}} | {
        name: _sum([entry[name] for entry in entries]) for name in ("none", "other")
    }


def _sum(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(row[place] for row in rows) for place in range(len(NUMBERS))]


def account_rows(account: Mapping[str, Any]) -> list[Row]:
    """Return the rows of a table on accounts: of each column the five values with the most documents.

    >>> entry = {"values": {"mit": [2, 30, 40]}, "none": [1, 5, 10], "other": [0, 0, 0]}
    >>> account = {"columns": {"license": {"web": {"train": entry}}}, "scores": {}}
    >>> for row in account_rows(account): print(*row, sep=": ")
    by license: 3 documents, 35 words, 50 tokens
      mit: 2 documents, 30 words, 40 tokens, 80.0%
      without a value: 1 document, 5 words, 10 tokens, 20.0%
    """
    rows: list[Row] = []
    for name, of_column in columns_of(account).items():
        entry = taken(of_column)
        whole, values = totals(entry), entry["values"]
        rows.append((f"by {name}", _text(whole)))
        if name in account["scores"]:
            values = {f"{value} to {float(value) + 1 / RANGES:.2f}": values[value] for value in sorted(values)}
            rows += [(f"  {value}", _share(numbers, whole)) for value, numbers in values.items()]
            continue
        by_title = {f"  {value}": values[value] for value in list(values)[:_SHOWN]}
        if len(values) > _SHOWN:
            rest = len(values) - _SHOWN
            by_title[f"  {rest:,} other{'s' if rest > 1 else ''}"] = _sum(
                [values[value] for value in list(values)[_SHOWN:]]
            )
        if any(entry["other"]):
            not_named = sum(account.get("other_values", {}).get(name, {}).values())
            by_title[f"  {not_named:,} that the account does not name"] = entry["other"]
        if any(entry["none"]):
            by_title["  without a value"] = entry["none"]
        rows += [(title, _share(numbers, whole)) for title, numbers in by_title.items()]
    return rows


def _share(numbers: Sequence[int], whole: Sequence[int]) -> str:
    return f"{_text(numbers)}, {numbers[2] / max(1, whole[2]):.1%}"


def _text(numbers: Sequence[int]) -> str:
    return ", ".join(
        f"{number:,} {what if number != 1 else what[:-1]}" for number, what in zip(numbers, NUMBERS, strict=True)
    )
