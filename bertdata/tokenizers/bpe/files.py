"""A folder with `vocab.json` and `merges.txt`, byte-level BPE of GPT-2's kind, read as its class reads it.

The two files have no special tokens, no template of rows, and do not say whether a space goes before a text; the class
does, which `tokenizer_config.json`, or else the `model_type` of `config.json`, names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.decoding import decode_utf8
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.class_defaults import class_of
from bertdata.tokenizers.file_keys import REMEDY
from bertdata.tokenizers.files_beside import ADDED, CONFIG, SPECIAL, read_added, read_settings
from bertdata.tokenizers.ids import read_ids, reading_json
from bertdata.tokenizers.json_format import content_of
from bertdata.tokenizers.json_tokenizer import TOKENIZER, JsonTokenizer
from bertdata.tokenizers.loading import find_saved
from bertdata.tokenizers.text_rows import asking_tokenizers

VOCAB, MERGES = "vocab.json", "merges.txt"
_ROBERTA = SpecialTokens("<pad>", "<unk>", "<s>", "</s>", "<mask>")
_KINDS: dict[str, tuple[str, SpecialTokens]] = {
    "RobertaTokenizer": ("roberta", _ROBERTA),
    "BartTokenizer": ("roberta", _ROBERTA),
    "LongformerTokenizer": ("roberta", _ROBERTA),
    "LEDTokenizer": ("roberta", _ROBERTA),
    "MvpTokenizer": ("roberta", _ROBERTA),
    "DebertaTokenizer": ("bert", SpecialTokens()),
    "GPT2Tokenizer": ("none", SpecialTokens(None, "<|endoftext|>", None, None, None)),
}
"""By class the rows and the special tokens that transformers gives it (in its `convert_slow_tokenizer`)."""


class VocabMergesTokenizer(JsonTokenizer):
    """The family of such folders, each of which becomes a `JsonTokenizer`."""

    FILES = (VOCAB,)
    EXTRA_FILES = (MERGES, CONFIG, SPECIAL, ADDED)

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """Tell whether a directory has the two files, and no `tokenizer.json`."""
        has = {name: files.exists(files.join(path, name)) for name in (VOCAB, MERGES, TOKENIZER)}
        return has[VOCAB] and has[MERGES] and not has[TOKENIZER]

    @classmethod
    def from_pretrained(cls, path: str | os.PathLike[str]) -> JsonTokenizer:
        """Load such a directory; raises InputError where a file is damaged, or the class is none that is known."""
        folder = find_saved(path, [cls])[1]
        config, place = read_settings(folder), files.join(folder, VOCAB)
        kind, special = _KINDS[_class_of(folder, config)]
        try:
            with reading_json("is not a vocabulary of byte-level BPE", place):
                data = _tokenizer_json(
                    read_ids(files.read_json_object(place)), _merges(files.join(folder, MERGES)), kind,
                    _roles(special, config), prefix_space=bool(config.get("add_prefix_space", False)),
                )  # fmt: skip
            roles = {f"{role}_token": token for role, token in vars(_roles(special, config)).items() if role in _ROLES}
            return JsonTokenizer(data, {**roles, **config}, added=read_added(folder))
        except InputError as error:
            raise InputError(str(error), path=place) from error


_ROLES = ("pad", "unk", "cls", "sep", "mask")


def _class_of(folder: str, config: Mapping[str, Any]) -> str:
    """Return the class of a folder; raises InputError, with what to do, where it is none of those known."""
    name = class_of(config)
    if name not in _KINDS:
        raise InputError(
            f"has {VOCAB} and {MERGES}, which do not say what stands around texts, and the settings beside them name "
            f"{name}; expected one of {', '.join(_KINDS)} as tokenizer_class in {CONFIG}, or " + REMEDY,
            path=folder,
        )
    return name


def _roles(special: SpecialTokens, config: Mapping[str, Any]) -> SpecialTokens:
    """Return the special tokens of a class, under the names that the settings give them."""
    named = [content_of(config.get(f"{role}_token")) or getattr(special, role) for role in _ROLES]
    pad, unk, cls, sep, mask = named
    return SpecialTokens(pad, unk, cls, sep, mask)


def _merges(path: str) -> list[tuple[str, str]]:
    """Return the merges of a file, two tokens a line, after a line with its version."""
    with files.open_raw(path) as file:
        text = decode_utf8(file.read(), path, hint="get the file again")
    pairs = []
    for number, line in enumerate(text.split("\n"), 1):
        parts = line.removesuffix("\r").split(" ")
        if not line.strip() or (number == 1 and line.startswith("#version")):
            continue
        if len(parts) != 2 or not all(parts):
            raise InputError(f"line {number} is {line!r}; expected two tokens with a space between them", path=path)
        pairs.append((parts[0], parts[1]))
    return pairs


def _tokenizer_json(
    vocabulary: Mapping[str, int],
    merges: list[tuple[str, str]],
    kind: str,
    special: SpecialTokens,
    *,
    prefix_space: bool,
) -> dict[str, Any]:
    """Return the contents of the `tokenizer.json` that transformers makes of a vocabulary and merges."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

    missing = [token for token in special.names if token not in vocabulary]
    if missing:
        raise InputError(
            f"has no {missing[0]}, a special token of its class; name another in {CONFIG}, or get the files again"
        )
    with asking_tokenizers("cannot make a tokenizer of these merges"):
        model = models.BPE(dict(vocabulary), merges, continuing_subword_prefix="", end_of_word_suffix="")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False, lstrip=token == special.mask) for token in special.names]
    )
    if kind == "none":
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    else:
        cls, sep = ((token, vocabulary[token]) for token in (str(special.cls), str(special.sep)))
        if kind == "roberta":
            tokenizer.post_processor = processors.RobertaProcessing(sep, cls, True, prefix_space)
        else:
            tokenizer.post_processor = processors.TemplateProcessing(
                single=f"{cls[0]}:0 $A:0 {sep[0]}:0",
                pair=f"{cls[0]}:0 $A:0 {sep[0]}:0 $B:1 {sep[0]}:1",
                special_tokens=[cls, sep],
            )
    data: dict[str, Any] = json.loads(tokenizer.to_str())
    return data
