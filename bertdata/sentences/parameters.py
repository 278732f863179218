"""Punkt parameters: what they are, and their files, which are readable tables and a small card.

The files are those of NLTK's `punkt_tab` (`abbrev_types.txt`, `collocations.tab`, `ortho_context.tab`,
`sent_starters.txt`), so each side reads what the other wrote. `card.json`, which NLTK does not have, says where the
parameters come from.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

from bertdata.errors import ConfigError, InputError, did_you_mean
from bertdata.io import files, listing, remote
from bertdata.io.contents import once_for_contents

FILES = ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt")
CARD = "card.json"
NLTK_PREFIX = "nltk:"
_ZIP = ".zip"
SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parameters")

BEGIN_UPPER, MIDDLE_UPPER, UNKNOWN_UPPER, BEGIN_LOWER, MIDDLE_LOWER, UNKNOWN_LOWER = (1 << n for n in range(1, 7))
UPPER = BEGIN_UPPER | MIDDLE_UPPER | UNKNOWN_UPPER
LOWER = BEGIN_LOWER | MIDDLE_LOWER | UNKNOWN_LOWER


@dataclasses.dataclass(frozen=True)
class PunktParameters:
    """The parameters of Punkt (Kiss and Strunk 2006), under NLTK's names.

    `abbrev_types` are lower-cased and lack their final period; `collocations` are pairs of types around a period that
    ends no sentence; `sent_starters` often begin a sentence; `ortho_context` has the sum of the flags BEGIN_UPPER to
    UNKNOWN_LOWER for the places and cases in which a type was seen. `card` is provenance and changes no decision.
    """

    abbrev_types: frozenset[str] = frozenset()
    collocations: frozenset[tuple[str, str]] = frozenset()
    sent_starters: frozenset[str] = frozenset()
    ortho_context: Mapping[str, int] = dataclasses.field(default_factory=dict, hash=False)
    card: Mapping[str, Any] = dataclasses.field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("abbrev_types", "collocations", "sent_starters"):
            object.__setattr__(self, name, frozenset(getattr(self, name)))

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256, 64 hexadecimal digits, of all that decides; equal parameters have equal fingerprints."""
        digest = hashlib.sha256()
        for name, text in sorted(_tables(self).items()):
            data = _encode(text)
            digest.update(f"{name} {len(data)}\n".encode())
            digest.update(data)
        return digest.hexdigest()


def shipped_names() -> list[str]:
    """Return the names of the parameters that come with bertdata.

    >>> shipped_names()
    ['dutch', 'english', 'french', 'german', 'italian', 'polish', 'russian', 'spanish']
    """
    return [name for name in listing.names(SHIPPED) if _is_directory_of_parameters(os.path.join(SHIPPED, name))]


def nltk_names() -> list[str]:
    """Return the languages that NLTK's data folders on this machine have parameters of, in folders or zip files."""
    return sorted({language for place in _nltk_places() for language in _languages_at(place)})


def load_parameters(name: str) -> PunktParameters:
    """Return the parameters of a shipped name, of a directory, or of `nltk:LANGUAGE`; downloads nothing.

    A directory, local or a URL, is one that `save_parameters` or NLTK wrote. `nltk:german` is looked for in NLTK's
    data folders. Raises ConfigError, with the known names, for an unknown one, and InputError where a file is missing
    or damaged.

    >>> "etc" in load_parameters("english").abbrev_types
    True
    """
    parameters = _read(os.path.join(SHIPPED, name) if name in shipped_names() else _find(name))
    if name.startswith(NLTK_PREFIX):
        card = {**parameters.card, "language": name.removeprefix(NLTK_PREFIX)}
        return dataclasses.replace(parameters, card=card)
    return parameters


def save_parameters(parameters: PunktParameters, directory: str) -> None:
    """Write parameters as four sorted tables and `card.json`: the same bytes for the same parameters."""
    tables = _tables(parameters).items()
    remote.at_once(lambda item: files.write_bytes(files.join(directory, item[0]), _encode(item[1])), tables)
    files.write_json(files.join(directory, CARD), dict(parameters.card))


def _find(name: str) -> str:
    if name.startswith(NLTK_PREFIX):
        language = name.removeprefix(NLTK_PREFIX)
        for place in _nltk_places():
            if language and os.path.basename(language) == language and language in _languages_at(place):
                return os.path.join(place, language)
    elif _is_directory_of_parameters(name):
        return name
    names = [*shipped_names(), *(NLTK_PREFIX + language for language in nltk_names())]
    raise ConfigError(
        f"there are no sentence parameters {name!r}{did_you_mean(name, names)}; there are: {', '.join(names)}. Name "
        f"one of these, or a directory with {', '.join(FILES)}, or train your own with bertdata.sentences.train_punkt"
    )


def _is_directory_of_parameters(directory: str) -> bool:
    return bool(directory) and any(files.exists(files.join(directory, name)) for name in FILES)


def _nltk_places() -> list[str]:
    """Return the folders of NLTK's `punkt_tab` on this machine, and where it is not unpacked its zip files."""
    import nltk.data

    folders = [os.path.join(str(path), "tokenizers", "punkt_tab") for path in nltk.data.path]
    places = [place for folder in folders for place in (folder, f"{folder}{_ZIP}")]
    return [place for place in places if os.path.isdir(place) or (place.endswith(_ZIP) and zipfile.is_zipfile(place))]


def _languages_at(place: str) -> list[str]:
    """Return the languages for which a folder or zip file of `punkt_tab` has parameters."""
    if not place.endswith(_ZIP):
        return [name for name in listing.names(place) if name.isidentifier()]
    with zipfile.ZipFile(place) as archive:
        parts = [name.split("/") for name in archive.namelist()]
    return sorted({part[1] for part in parts if part[0] == "punkt_tab" and part[2:] == [FILES[0]]})


def _read(directory: str) -> PunktParameters:
    archive, _, language = directory.rpartition(os.sep)
    if archive.endswith(_ZIP) and os.path.isfile(archive):
        with zipfile.ZipFile(archive) as opened:
            try:
                packed = [opened.read(f"punkt_tab/{language}/{name}") for name in FILES]
            except KeyError as error:
                raise InputError(
                    f"has no parameters of {language} ({error}); expected punkt_tab.zip of NLTK's data", path=archive
                ) from error
            except zipfile.BadZipFile as error:
                remedy = "get it again" if "CRC" in str(error) else "expected punkt_tab.zip of NLTK's data, whole"
                raise InputError(f"cannot be read at {language} ({error}); {remedy}", path=archive) from error
        return _parse(directory, *packed, None)
    tables = [files.read_bytes(files.join(directory, name)) for name in FILES]
    return _parse(directory, *tables, files.read_if_there(files.join(directory, CARD)))


@once_for_contents
def _parse(directory: str, *contents: bytes | None) -> PunktParameters:
    *tables, card = contents
    lines = {name: _lines(files.join(directory, name), data or b"") for name, data in zip(FILES, tables, strict=True)}
    collocations: set[tuple[str, str]] = set()
    ortho_context: dict[str, int] = {}
    for number, line in enumerate(lines["collocations.tab"], 1):
        first, tab, second = line.partition("\t")
        if not tab:
            raise _bad_line(directory, "collocations.tab", number, line, "two types with a tab between them")
        collocations.add((first, second))
    for number, line in enumerate(lines["ortho_context.tab"], 1):
        type_, _, flags = line.rpartition("\t")
        if not (type_ and flags.isascii() and flags.isdigit()):
            raise _bad_line(directory, "ortho_context.tab", number, line, "a type, a tab and a number")
        ortho_context[type_] = int(flags)
    return PunktParameters(
        abbrev_types=frozenset(lines["abbrev_types.txt"]),
        collocations=frozenset(collocations),
        sent_starters=frozenset(lines["sent_starters.txt"]),
        ortho_context=ortho_context,
        card={} if card is None else files.parse_json(card, files.join(directory, CARD)),
    )


def _bad_line(directory: str, name: str, number: int, line: str, expected: str) -> InputError:
    return InputError(
        f"line {number} is {line!r}, expected {expected}; get the file again", path=files.join(directory, name)
    )


def _lines(path: str, data: bytes) -> list[str]:
    try:
        return [line for line in data.decode("utf-8", "surrogatepass").split("\n") if line]
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8; get the file again", path=path, offset=error.start) from error


def _tables(parameters: PunktParameters) -> dict[str, str]:
    return {
        "abbrev_types.txt": _table(parameters.abbrev_types),
        "collocations.tab": _table("\t".join(pair) for pair in parameters.collocations),
        "ortho_context.tab": _table(f"{type_}\t{flags}" for type_, flags in parameters.ortho_context.items()),
        "sent_starters.txt": _table(parameters.sent_starters),
    }


def _table(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in sorted(lines))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
