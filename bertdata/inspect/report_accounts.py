"""The part of a page of `bertdata report` on what documents were counted by and scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element

from bertdata.inspect.page import facts, histogram, stacked
from bertdata.io.console import counted
from bertdata.shards.accounts import RANGES, Account, account_rows, taken, totals


def accounts_part(account: Mapping[str, Any]) -> list[Element]:
    """Return bars of the tokens by each column, histograms of scores, and the table; nothing without an account."""
    if not account:
        return []
    bars = [stacked(f"tokens by {name}", _tokens(of_column)) for name, of_column in account["columns"].items()]
    scores = [_scores(name, of_score) for name, of_score in account["scores"].items()]
    counted = account_rows({**account, "scores": {}})
    return [*bars, *scores, *([facts(counted)] if counted else [])]


def _tokens(of_column: Account) -> dict[str, int]:
    entry = taken(of_column)
    values = {value: numbers[2] for value, numbers in entry["values"].items()}
    rest = {"without a value": entry["none"][2], "values that are not named": entry["other"][2]}
    return values | {name: number for name, number in rest.items() if number}


def _scores(name: str, of_score: Account) -> Element:
    """Return a histogram of the documents by a score, those that were left out too, for a threshold is chosen by it."""
    numbers = dict.fromkeys((f"{place / RANGES:.2f}" for place in range(RANGES)), 0)
    left_out = 0
    for by_place in of_score.values():
        for place, entry in by_place.items():
            for value, (documents, *_) in entry["values"].items():
                numbers[value] += documents
            left_out += totals(entry)[0] if place == "left_out" else 0
    bins = [(float(value), float(value) + 1 / RANGES, number) for value, number in numbers.items()]
    rounded = [(first, round(last, 2), number) for first, last, number in bins]
    text = f"{name}: {counted(sum(numbers.values()), 'document')}, with {left_out:,} that the selection left out"
    return histogram(text, f"score {name}", rounded, "documents")
