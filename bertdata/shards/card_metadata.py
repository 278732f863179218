"""What the card of a build says for search: licence, languages, size; and the tables of what its documents are.

A licence is named only where it is known: by an account of a column `license`, or of dumps that Wikimedia named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files as resources
from typing import Any

from bertdata.curation.languages import UNKNOWN
from bertdata.engine.parts import add_counts
from bertdata.shards.accounts import DOCUMENTS_IN, NUMBERS, taken, totals
from bertdata.shards.card import markdown_table

MIXED = "several, by document"
SHOWN_VALUES = 10
LEAST_SHARE = 0.001
"""The share of the documents in a language from which the card names it."""
_WIKIMEDIA = re.compile(r"[a-z][a-z0-9_]*wiki-(\d{8}|latest)-pages-(articles|meta)[^/]*")
"""Files as Wikimedia names its dumps of Wikipedia."""
_LICENSE = re.compile(r"(.*\.)?licen[cs]e")
_CODE = re.compile(r"[a-z]{2,3}")


@cache
def hub_licenses() -> frozenset[str]:
    """Return the identifiers of licences that the cards of the Hugging Face Hub know."""
    lines = (resources("bertdata.shards") / "hub_licenses.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def license_id(value: str) -> str:
    """Return the identifier that a name of a licence is on the Hugging Face Hub, "" where it is none.

    >>> license_id("CC BY-SA 4.0"), license_id("MIT"), license_id("All rights reserved")
    ('cc-by-sa-4.0', 'mit', '')
    """
    name = re.sub(r"[\s_]+", "-", value.strip().lower())
    return name if name in hub_licenses() else ""


def size_category(rows: int) -> str:
    """Return the category of a number of rows.

    >>> [size_category(rows) for rows in (0, 999, 1000, 123456, 2_000_000_000_000)]
    ['n<1K', 'n<1K', '1K<n<10K', '100K<n<1M', 'n>1T']
    """
    names = ["1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T"]
    place = sum(rows >= 10 ** (3 + power) for power in range(len(names)))
    if place == 0:
        return "n<1K"
    return f"n>{names[-1]}" if place == len(names) else f"{names[place - 1]}<n<{names[place]}"


def rows_of(manifest: Mapping[str, Any]) -> int:
    """Return how many rows the shards have."""
    counts = [entry["counts"] for entry in manifest["splits"].values()]
    return sum(int(count.get("rows", count["examples"])) for count in counts)


def languages_in(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return the documents of each language, the most first; {} where a build does not know them.

    They are those of the shards where these count them, else those that the headers of dumps say.
    """
    counts = add_counts(entry["counts"] for entry in manifest["splits"].values())
    documents = {
        name.removeprefix(DOCUMENTS_IN): number for name, number in counts.items() if name.startswith(DOCUMENTS_IN)
    }
    documents = documents or add_counts(source.get("languages", {}) for source in manifest["sources"].values())
    return dict(sorted(documents.items(), key=lambda item: (-item[1], item[0])))


def language_codes(manifest: Mapping[str, Any]) -> list[str]:
    """Return the codes of the languages that a card names, without their scripts and regions, the most first."""
    languages = {code: number for code, number in languages_in(manifest).items() if code != UNKNOWN}
    total = sum(languages.values())
    codes = (re.split("[-_]", code.lower())[0] for code, number in languages.items() if number >= LEAST_SHARE * total)
    return list(dict.fromkeys(code for code in codes if _CODE.fullmatch(code)))


def licenses_in(manifest: Mapping[str, Any], account: Mapping[str, Any]) -> tuple[list[str], bool]:
    """Return the licences of the documents, as their sources name them, and whether these are those of all of them."""
    for name, of_column in account.get("columns", {}).items():
        if _LICENSE.fullmatch(name):
            entry = taken(of_column)
            return list(entry["values"]), not any(entry["none"]) and not any(entry["other"])
    names = [source_file["name"] for source in manifest["sources"].values() for source_file in source.get("inputs", [])]
    from_wikimedia = bool(names) and all(_WIKIMEDIA.fullmatch(name.rpartition("/")[2]) for name in names)
    return (["cc-by-sa-4.0"], True) if from_wikimedia else ([], False)


def metadata_lines(manifest: Mapping[str, Any], account: Mapping[str, Any]) -> list[str]:
    """Return the lines of a card's metadata on licence, languages and size, as YAML."""
    licenses, of_all = licenses_in(manifest, account)
    named = license_id(licenses[0]) if len(licenses) == 1 and of_all else ""
    lines = [f"license: {named or ('other' if licenses else 'unknown')}"]
    if licenses and not named:
        lines.append(f"license_name: {json.dumps(MIXED if len(licenses) > 1 or not of_all else licenses[0])}")
    if codes := language_codes(manifest):
        lines.append(f"language: [{', '.join(map(json.dumps, codes))}]")
    return [*lines, f'size_categories: ["{size_category(rows_of(manifest))}"]']


def account_lines(account: Mapping[str, Any]) -> list[str]:
    """Return the tables of a card on what its documents were counted by: of each column the largest values."""
    lines: list[str] = []
    for name, of_column in account.get("columns", {}).items():
        entry = taken(of_column)
        values = entry["values"]
        rows: list[list[str | int]] = [[cell(value), *values[value]] for value in list(values)[:SHOWN_VALUES]]
        others = {value: values[value] for value in list(values)[SHOWN_VALUES:]}
        summed = totals({"values": others, "none": [0, 0, 0], "other": entry["other"]})
        rows += [["others", *summed]] if any(summed) else []
        rows += [["without a value", *entry["none"]]] if any(entry["none"]) else []
        lines += ["", f"## Documents by {name}", "", *markdown_table([name, *NUMBERS], rows)]
    return lines


def cell(value: str) -> str:
    """Return a value as a cell of a table of Markdown."""
    return " ".join(value.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
