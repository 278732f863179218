"""The vocabularies that come with bertdata, by name: folders in `vocab/`, which an installed wheel has as well.

How they were made is on their cards, `README.md` in each folder.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_PLACES = (_PACKAGE / "vocab", _PACKAGE.parent / "vocab")
"""In a wheel; beside the package in a checkout."""


def published_path(name: str) -> str | None:
    """Return the folder of a vocabulary that comes with bertdata, or None where there is none of that name.

    >>> published_path("bertdata-30k-uncased") is None, published_path("no-such-vocabulary") is None
    (False, True)
    """
    if name in published_names():
        return str(next(place / name for place in _PLACES if (place / name).is_dir()))
    return None


def published_names() -> list[str]:
    """Return the names of the vocabularies that come with bertdata.

    >>> published_names()
    ['bertdata-30k-cased', 'bertdata-30k-uncased']
    """
    found = {path.parent.name for place in _PLACES for path in place.glob("bertdata-*/vocab.txt")}
    return sorted(found)
