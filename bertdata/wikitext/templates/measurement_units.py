"""The units of measurement that `{{convert}}` meets in running text, with their names, symbols and default outputs.

`measurement_units.txt` has them: a line of a kind, then one unit a line, as codes | scale | symbol | singular | plural
(empty: singular + s) | default outputs.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Unit(NamedTuple):
    """`scale` is the unit in SI base units (kelvins for temperatures, which also have an `offset`).

    `sign` is written before the number: the dollar of dollars per acre. `power` is the power of ten, as "6", of a
    unit of millions.
    """

    kind: str
    scale: float
    symbol: str
    singular: str
    plural: str
    default: str
    offset: float = 0.0
    sign: str = ""
    power: str = ""


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
    for unit in list(units.values()):  # editors write the names, and the symbol as it is shown
        names = (unit.singular, unit.plural)
        american = (name.replace("metre", "meter").replace("litre", "liter") for name in names)
        for code in (*names, *american, unit.symbol.translate(_RAISED), unit.symbol):
            if len(code) > 1 and not code.startswith(("/", "per ")):
                units.setdefault(code, unit)
    return units


UNITS = _read_table(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))
