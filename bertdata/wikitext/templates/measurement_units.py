"""The units of measurement that `{{convert}}` meets in running text, with their names, symbols and default outputs.

`measurement_units.txt` has them: a line of a kind, then one unit a line, as codes | scale | symbol | singular | plural
(empty: singular + s) | default outputs.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Unit(NamedTuple):
    """`scale` is the unit in SI base units (kelvins for temperatures, which also have an `offset`).

    `sign` is written before the number: the dollar of dollars per acre.
    """

    kind: str
    scale: float
    symbol: str
    singular: str
    plural: str
    default: str
    offset: float = 0.0
    sign: str = ""


_RAISED = str.maketrans("23", "²³")


def _read_table(table: str) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    kind = ""
    for line in table.strip().splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 1:
            kind = fields[0]
            continue
        codes, scale, symbol, singular, plural, default = fields
        offset = {"C": 273.15, "F": 273.15 - 32 / 1.8}.get(codes.split()[0], 0.0)
        unit = Unit(kind, float(scale), symbol, singular, plural or singular + "s", default, offset)
        units.update((code.replace("_", " "), unit) for code in codes.split())
    for unit in list(units.values()):  # editors write the name, and the symbol as it is shown
        american = unit.singular.replace("metre", "meter").replace("litre", "liter")
        for code in (unit.singular, american, unit.symbol.translate(_RAISED)):
            if code and " " not in code:
                units.setdefault(code, unit)
    return units


UNITS = _read_table(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))
