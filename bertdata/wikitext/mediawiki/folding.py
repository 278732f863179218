"""Names as tables spell them: ASCII letters small, spaces for underscores, other letters in each usual case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_FOLD_PREFIX: dict[int, int | str] = {**_ASCII_LOWER, ord("_"): " "}
_FOLD_NAME: dict[int, int | str] = {**_FOLD_PREFIX, ord("\t"): " ", ord("\n"): " "}


def fold_title(title: str) -> str:
    """Return the title of a section as the tables spell it: ASCII letters in lower case."""
    return title.translate(_ASCII_LOWER)


def fold_prefix(prefix: str) -> str:
    """Return the prefix of a link as the tables spell it: ASCII letters in lower case, spaces for underscores.

    >>> fold_prefix(" User_Talk")
    'user talk'
    """
    return prefix.translate(_FOLD_PREFIX).strip(" \t\n\x7f")


@lru_cache(maxsize=4096)
def fold_name(name: str) -> str:
    """Return the name of a template as the tables spell it: a folded prefix with single spaces.

    >>> fold_name("Birth__date and\\nage")
    'birth date and age'
    """
    return " ".join(filter(None, name.translate(_FOLD_NAME).split(" ")))


def fold_template(name: str) -> str:
    """Return the name of the page of a template: a folded name, whose first letter is a capital beyond ASCII.

    >>> fold_template("цвет"), fold_template("Ink")
    ('Цвет', 'ink')
    """
    folded = fold_name(name)
    return folded if folded[:1].isascii() else folded[0].title() + folded[1:]


def case_variants(names: Iterable[str]) -> Iterator[str]:
    """Yield lower-case names in each case that folding keeps: it changes the letters of ASCII alone.

    >>> sorted(case_variants(["datei", "файл"])), sorted(case_variants(["#если"]))
    (['datei', 'ФАЙЛ', 'Файл', 'файл'], ['#ЕСЛИ', '#Если', '#если'])
    """
    for name in names:
        if name.isascii():
            yield name
            continue
        begin = int(name.startswith("#"))
        title = name[: begin + 1].upper() + name[begin + 1 :]
        yield from {fold_title(cased) for cased in (name, name.upper(), title)}


def folded_prefixes(names: Iterable[str]) -> frozenset[str]:
    """Return the prefixes of links to a namespace of these names, in each case that folding keeps.

    >>> sorted(folded_prefixes(["Fichier", "Файл_А"]))
    ['fichier', 'ФАЙЛ А', 'Файл А', 'Файл а', 'файл а']
    """
    plain = {" ".join(name.replace("_", " ").split()) for name in names}
    prefixes = {fold_title(name) for name in plain} | {fold_title(name.lower()) for name in plain}
    return frozenset(case_variants(prefixes - {""}))
