"""The registry of tokenizer families, and `load_tokenizer`, which finds the family of a directory by its files.

Vocabularies that ship with bertdata have names; `vocab/NAME/README.md` says how each was made.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TypeVar

from bertdata.errors import InputError
from bertdata.io import files, listing
from bertdata.io.contents import parsing_once
from bertdata.io.engine_outputs import MARKER
from bertdata.io.imports import collector_paused
from bertdata.io.package_data import shipped
from bertdata.tokenizers import TOKENIZERS
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.file_keys import REMEDY
from bertdata.tokenizers.json_parts import longest_row

Family = TypeVar("Family", bound=type[Tokenizer])

BUILD_FOLDER = "tokenizer"
"""The folder of a build that holds its tokenizer."""
_CONFIG = "tokenizer_config.json"
_OF_TRAINED = 512
"""The `model_max_length` that bertdata writes beside a tokenizer that it trained, which is no model's."""
_LONGEST = "longest_row"
"""The key beside `model_max_length` where this is the longest row of a build, and no model's either."""
_INPUT_NAMES, _TYPES = "model_input_names", "token_type_ids"
_MANY = 1 << 24
"""From here on a `model_max_length` stands for none: transformers writes 1e30."""
_READ_BY_TRANSFORMERS = ("added_tokens.json", "merges.txt", "special_tokens_map.json", "vocab.json")
"""Files that transformers writes with a tokenizer and reads again, whatever else is beside them."""
_VOCABULARIES = shipped("vocab")


def load_tokenizer(path: str | os.PathLike[str]) -> Tokenizer:
    """Load a tokenizer of any family: of a directory, a file, a finished build, or by name one that bertdata ships.

    The names are bertdata-30k-uncased, bertdata-30k-cased and bertdata-32k-bpe; an existing path of that name is taken
    first. The family is the one that recognizes the files. Raises InputError where there is none, and as its
    `from_pretrained` does.

    >>> load_tokenizer("bertdata-30k-uncased")
    WordPieceTokenizer(vocab_size=30000, do_lower_case=True)
    """
    with parsing_once(), collector_paused():
        family, place = find_saved(path, _Families())
        return family.from_pretrained(place)


def model_max_length(path: str | os.PathLike[str]) -> int | None:
    """Return the most tokens of a row that the model of a tokenizer takes, as its `tokenizer_config.json` says.

    None where it does not say, and of tokenizers that bertdata trained, which are no model's. Raises InputError where
    there is no tokenizer.

    >>> model_max_length("bertdata-30k-uncased") is None
    True
    """
    place = find_saved(path, _Families())[1]
    folder = place if files.exists(files.join(place, _CONFIG)) else os.path.dirname(place)
    where = files.join(folder, _CONFIG) if folder else _CONFIG
    values = files.read_json(where) if files.exists(where) else {}
    length = values.get("model_max_length") if isinstance(values, dict) else None
    if isinstance(length, bool) or not isinstance(length, int | float) or not 0 < length < _MANY:
        return None
    ours = folder.startswith(str(_VOCABULARIES)) or any(
        files.exists(files.join(place, MARKER))
        for place in (folder, os.path.dirname(folder), os.path.dirname(os.path.dirname(folder)))
        if place
    )
    return None if ours and length in (_OF_TRAINED, values.get(_LONGEST)) else int(length)


def has_tokenizer(directory: str | os.PathLike[str]) -> bool:
    """Tell whether a tokenizer of any family is saved in a directory."""
    place = files.path_text(directory)
    return any(family.recognizes(place) for family in _Families())


def tokenizer_files() -> list[str]:
    """Return the names of the files of all families, as for copying a tokenizer from where nothing can be listed."""
    return [name for family in _Families() for name in (*family.FILES, *family.EXTRA_FILES)]


def remove_former(directory: str, saved: Iterable[str]) -> None:
    """Remove the files of tokenizers from a directory but for those just saved; raises OutputError."""
    others = {*tokenizer_files(), *_READ_BY_TRANSFORMERS} - {*saved}
    files.remove_files(files.join(directory, name) for name in listing.names(directory) if name in others)


def replace_saved(
    tokenizer: Tokenizer,
    directory: str | os.PathLike[str],
    longest: int = 0,
    *,
    taken: int = 0,
    takes_types: bool | None = None,
) -> None:
    """Save a tokenizer in a directory, and remove what a former one left there; raises OutputError.

    longest: the tokens of the longest row that is made with it; a smaller `model_max_length` becomes as large. taken:
    the most tokens that the model beside it takes, which `model_max_length` then is; 0 for no model, or one without a
    limit. takes_types: whether that model takes token types, which `model_input_names` then has or has not; None for no
    model.
    """
    tokenizer.save_pretrained(directory)
    place = files.path_text(directory)
    remove_former(place, tokenizer.SAVED or (*tokenizer.FILES, *tokenizer.EXTRA_FILES))
    where = files.join(place, _CONFIG)
    if not files.exists(where):
        return
    config = files.read_json(where)
    changed = config if takes_types is None else config | _input_names(tokenizer, takes_types=takes_types)
    if taken:
        changed = {name: value for name, value in changed.items() if name != _LONGEST} | {"model_max_length": taken}
    elif longest_row(config) < longest:
        changed = changed | {"model_max_length": longest, _LONGEST: longest}
    if changed != config:
        files.write_json(where, changed)


def _input_names(tokenizer: Tokenizer, *, takes_types: bool) -> dict[str, list[str]]:
    """Return `model_input_names` for a model, {} where the settings of its tokenizer already give what it takes.

    Without them a class of tokenizers, which may be another than the model's, decides in transformers: a model that has
    no token types then raises a TypeError, and one that has them takes all tokens to be of the first.
    """
    names = [*tokenizer.input_names]
    if not takes_types:
        return {_INPUT_NAMES: [name for name in names if name != _TYPES]}
    if _TYPES in names or not tokenizer.row_template.has_types:
        return {}
    return {_INPUT_NAMES: [names[0], _TYPES, *names[1:]]}


def find_saved(path: str | os.PathLike[str], families: Iterable[Family]) -> tuple[Family, str]:
    """Return the first of some families that recognizes a path, a finished build or a shipped name, and the place.

    Raises InputError where none does.
    """
    place = files.path_text(path)
    if not files.is_remote(place) and not os.path.exists(place):
        place = pretrained_path(place) or place
        above = os.path.dirname(place)
        if above and not os.path.exists(place) and any(_recognizers(above, families)):
            raise InputError(f"there is no such file; {above} holds a tokenizer: give that folder", path=place)
    for folder in (place, files.join(place, BUILD_FOLDER)):
        for family in families:
            if family.recognizes(folder):
                return family, folder
    wanted = " or ".join(dict.fromkeys(name for family in families for name in family.FILES))
    if not files.exists(place):
        raise InputError(
            f"there is no such tokenizer; expected a directory with {wanted}, the path of such a file, or "
            f"{' or '.join(pretrained_names())} (other names are not looked up on a hub)",
            path=place,
        )
    raise InputError(f"has no {wanted}, nor a folder {BUILD_FOLDER} with one; {_remedy(place)}", path=place)


def _recognizers(place: str, families: Iterable[Family]) -> Iterator[Family]:
    """Yield the families that recognize a folder, or the tokenizer of a build in it."""
    for folder in (place, files.join(place, BUILD_FOLDER)):
        yield from (family for family in families if family.recognizes(folder))


def _remedy(place: str) -> str:
    """Return what to do about a path that is no tokenizer that is read here, by the files that are there."""
    names = [files.name(place)] if not os.path.isdir(place) else listing.names(place)
    for ending, advice in _OTHER_FORMATS.items():
        if any(name.endswith(ending) for name in names):
            return advice
    return "expected a tokenizer or a finished build"


OTHER_TIKTOKEN = (
    "a .tiktoken file has ranks, but neither the pattern of words nor special tokens: with the package "
    "tiktoken, PreTrainedTokenizerFast(tokenizer_object=TikTokenConverter(file, pattern, extra_special_tokens="
    "[...]).converted()).save_pretrained(new), of transformers and its convert_slow_tokenizer, writes a "
    "tokenizer.json"
)
_OTHER_FORMATS = {
    ".tiktoken": OTHER_TIKTOKEN,
    "bpe.codes": REMEDY,
    "vocab.json": f"vocab.json alone has no merges: put merges.txt beside it, or {REMEDY}",
}


def pretrained_path(name: str) -> str | None:
    """Return the folder of a vocabulary that ships with bertdata, or None where none has that name.

    >>> pretrained_path("bertdata-30k-uncased") is None, pretrained_path("no-such-vocabulary") is None
    (False, True)
    """
    return str(_VOCABULARIES / name) if name in pretrained_names() else None


def pretrained_names() -> list[str]:
    """Return the names of the vocabularies that ship with bertdata.

    >>> pretrained_names()
    ['bertdata-30k-cased', 'bertdata-30k-uncased', 'bertdata-32k-bpe']
    """
    return sorted(path.parent.name for path in _VOCABULARIES.glob("bertdata-*/tokenizer.json"))


class _Families:
    """The families, those added last first: WordPiece takes every .txt, and .json, that is left.

    Each is imported when it is reached, as most files are of one of the first.
    """

    def __iter__(self) -> Iterator[type[Tokenizer]]:
        return (TOKENIZERS[name] for name in reversed(list(TOKENIZERS)))
