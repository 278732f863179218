"""The vocabularies that ship with bertdata, by name; `vocab/NAME/README.md` says how each was made."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[1] / "vocab"


def pretrained_path(name: str) -> str | None:
    """Return the folder of a vocabulary that comes with bertdata, or None where there is none of that name.

    >>> pretrained_path("bertdata-30k-uncased") is None, pretrained_path("no-such-vocabulary") is None
    (False, True)
    """
    if name in pretrained_names():
        return str(_FOLDER / name)
    return None


def pretrained_names() -> list[str]:
    """Return the names of the vocabularies that come with bertdata.

    >>> pretrained_names()
    ['bertdata-30k-cased', 'bertdata-30k-uncased']
    """
    return sorted(path.parent.name for path in _FOLDER.glob("bertdata-*/vocab.txt"))
