"""What there is of export formats, by name, for messages and help."""

from __future__ import annotations

from bertdata.formats import EXPORT_FORMATS


def dialects() -> dict[str, dict[str, str]]:
    """Return the help of the dialects that export formats have, by format and name."""
    of_formats = {name: EXPORT_FORMATS[name].dialects for name in EXPORT_FORMATS}
    return {name: {key: kind.help for key, kind in kinds.items()} for name, kinds in of_formats.items() if kinds}


def static_formats(static: bool = True) -> str:
    """Return the names of the export formats with static masks, or of those without, for a message."""
    return ", ".join(name for name in EXPORT_FORMATS if EXPORT_FORMATS[name].static == static)
