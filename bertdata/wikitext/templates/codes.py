"""What templates print for the code of a language, a country, or a state of the USA: the tables of `codes.toml`."""

from __future__ import annotations

from bertdata.io.package_data import toml_beside

_TABLES: dict[str, str] = toml_beside(__file__)


def _names(table: str) -> dict[str, str]:
    pairs = (entry.split(" = ") for entry in _TABLES[table].replace("\n", " ").split("; "))
    return {code: name for codes, name in pairs for code in codes.split()}


LANGUAGE_NAMES, COUNTRIES, STATES = map(_names, ("languages", "countries", "states"))
