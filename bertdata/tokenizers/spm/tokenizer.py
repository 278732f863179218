"""`SentencePieceTokenizer`: a SentencePiece `.model` file, as the `tokenizer.json` that it stands for."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.call_inputs import UNLIMITED
from bertdata.tokenizers.files_beside import ADDED, CONFIG, SPECIAL, read_added, read_settings
from bertdata.tokenizers.json_parts import longest_row
from bertdata.tokenizers.json_tokenizer import TOKENIZER, JsonTokenizer
from bertdata.tokenizers.loading import find_saved
from bertdata.tokenizers.spm.proto import read_model
from bertdata.tokenizers.spm.settings_beside import check_beside, not_backend, rows_unknown
from bertdata.tokenizers.spm.to_json import NUMBERINGS, convert, renumbered
from bertdata.tokenizers.text_rows import asking_tokenizers
from bertdata.tokenizers.wordpiece.formats import VOCAB

MODEL = "spiece.model"
_RENUMBERED = "sentencepiece.bpe.model"
"""The model of XLM-R, CamemBERT and others of fairseq, whose ids are not those of its pieces."""
_ENDING = re.compile(r"\.model(\.v\d\w*)?$")
_NAMES = (MODEL, "spm.model", "tokenizer.model", "sentencepiece.model", _RENUMBERED)


class SentencePieceTokenizer(JsonTokenizer):
    """A tokenizer of a SentencePiece model: ids of the `tokenizer.json` that `transformers` makes of it.

    It is saved as that file, with the model beside it. It equals the `JsonTokenizer` of what it saves.
    """

    FILES = _NAMES  # type: ignore[assignment]
    EXTRA_FILES = (TOKENIZER, CONFIG, SPECIAL, ADDED)
    SAVED = (TOKENIZER, CONFIG, MODEL)

    def __init__(
        self,
        model: bytes,
        special: SpecialTokens | None = None,
        config: Mapping[str, Any] | None = None,
        added: Mapping[str, int] | None = None,
        at_white_space: bool = False,
    ) -> None:
        """Take a model's bytes, its special tokens if they have no usual names, and settings of the file beside it.

        added: the tokens of `added_tokens.json`; those that the model has already are as they are there.
        at_white_space: whether a model without rules of normalisation was trained from words between white space.
        """
        self._arguments = model, special, config, added, at_white_space
        with asking_tokenizers("cannot make a tokenizer of this model"):
            data, made = convert(read_model(model), special, at_white_space=at_white_space, named=config)
        if not_backend(config or {}):
            del made["model_input_names"]  # those of the class
        id_of = {entry["content"]: entry["id"] for entry in data["added_tokens"]}
        more = {token: token_id for token, token_id in (added or {}).items() if id_of.get(token) != token_id}
        super().__init__(data, made | dict(config or {}), added=more)
        self._no_rows = self._no_rows or rows_unknown(config or {})

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """Tell whether a path is a `.model` file, or a directory with one and without a tokenizer of another family."""
        if _is_model(path):
            return files.exists(path)
        if files.exists(files.join(path, TOKENIZER)) or not any(files.exists(files.join(path, n)) for n in _NAMES):
            return False
        return not files.exists(files.join(path, VOCAB)) or read_settings(path).get("tokenizer_class") is None

    @classmethod
    def from_pretrained(cls, path: str | os.PathLike[str]) -> SentencePieceTokenizer:
        """Load a `.model` file, or a directory with one; raises InputError where it is missing or damaged.

        A `tokenizer_config.json` beside it says which token has which role, where their names do not, and that or the
        `config.json` which family numbers its pieces anew.
        """
        place = find_saved(path, [cls])[1]
        folder, name = place.rpartition("/")[0], place
        if not _is_model(place):
            folder = place
            name = next(path for each in _NAMES if files.exists(path := files.join(place, each)))
            if files.exists(files.join(place, VOCAB)):
                raise InputError(
                    f"has {files.name(name)} and {VOCAB}, which are two tokenizers, and no settings beside them say "
                    f"which one is meant; give the path of that file, or name its class as tokenizer_class in {CONFIG}",
                    path=place,
                )
        config, added = read_settings(folder), read_added(folder)
        with files.open_raw(name) as file:
            data = file.read()
        try:
            check_beside(config)
            return cls(
                _renumbered(data, folder, config) if files.name(name) == _RENUMBERED else data,
                None,
                config | {"model_max_length": longest_row(config, UNLIMITED)},
                added,
            )
        except InputError as error:
            raise InputError(str(error), path=name) from error

    def save_pretrained(self, directory: str | os.PathLike[str]) -> None:
        """Write `tokenizer.json` and `tokenizer_config.json`, as `JsonTokenizer`, and the model as `spiece.model`."""
        super().save_pretrained(directory)
        files.write_bytes(files.join(files.path_text(directory), MODEL), self._arguments[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


def _is_model(path: str) -> bool:
    """Tell whether a path has the name of a model, as m.model, or as tokenizer.model.v3 of Mistral."""
    return _ENDING.search(path) is not None


def _renumbered(data: bytes, folder: str, config: Mapping[str, Any]) -> bytes:
    """Return a model with the ids of its family; raises InputError where the settings beside it name none known."""
    path = files.join(folder, "config.json") if folder else "config.json"
    model_type = files.read_json_object(path).get("model_type") if files.exists(path) else None
    class_name = config.get("tokenizer_class") or model_type
    plain = str(class_name).replace("-", "").casefold()
    family = next((numbering for numbering in NUMBERINGS if plain.startswith(numbering.replace("-", ""))), None)
    if family is None:
        raise InputError(
            f"XLM-R, CamemBERT and others number the pieces of {_RENUMBERED} anew, each in its own way, and the "
            f"settings beside it name {class_name!r}; expected a tokenizer_class in {CONFIG} or a model_type in "
            f"config.json of {' or '.join(NUMBERINGS)}, or take the tokenizer.json of the model"
        )
    anew: bytes = renumbered(read_model(data), family).SerializeToString(deterministic=True)
    return anew
