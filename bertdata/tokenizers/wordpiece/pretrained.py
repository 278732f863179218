"""The vocabularies that come with bertdata, by name: folders in `vocab/`, which an installed wheel has as well.

How they were made is on their cards, `README.md` in each folder.
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "vocab"


def published_path(name: str) -> str | None:
    """Return the folder of a vocabulary that comes with bertdata, or None where there is none of that name.

    >>> published_path("bertdata-30k-uncased") is None, published_path("no-such-vocabulary") is None
    (False, True)
    """
    if name in published_names():
        return str(_FOLDER / name)
    return None


def published_names() -> list[str]:
    """Return the names of the vocabularies that come with bertdata.

    >>> published_names()
    ['bertdata-30k-cased', 'bertdata-30k-uncased']
    """
    return sorted(path.parent.name for path in _FOLDER.glob("bertdata-*/vocab.txt"))
