"""The files a WordPiece tokenizer lives in: `vocab.txt`, `tokenizer.json`, `tokenizer_config.json`.

Reads what `transformers` and `tokenizers` write, as long as it is BERT's pipeline; writes what `AutoTokenizer` opens.
What a `tokenizer.json` says of truncation, padding and the decoder is not read: those are BERT's here, and given with
each call.
"""

from __future__ import annotations

import os
import string
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bertdata.errors import InputError
from bertdata.io import compression, files
from bertdata.io.contents import once_for_contents, parse_once
from bertdata.tokenizers.call_inputs import UNLIMITED
from bertdata.tokenizers.call_rows import rows_of_template
from bertdata.tokenizers.call_settings import input_names_of, pairs_unclear, rows_of_file
from bertdata.tokenizers.class_checks import OF_BERT, warn_of_defaults
from bertdata.tokenizers.class_defaults import class_of, expected_around
from bertdata.tokenizers.file_keys import REMEDY, check_bare
from bertdata.tokenizers.files_beside import read_added as beside_added
from bertdata.tokenizers.files_beside import read_settings, rows_unclear, with_added
from bertdata.tokenizers.ids import read_added, reading_json
from bertdata.tokenizers.json_format import content_of, named_special
from bertdata.tokenizers.json_parts import longest_row
from bertdata.tokenizers.model_types import MODEL
from bertdata.tokenizers.pairs import bert_template
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from bertdata.tokenizers.wordpiece.tokenizer_json import Parts, add_special, in_order, merge_special, parse
from bertdata.tokenizers.wordpiece.vocabulary import CLS, SEP, SPECIAL_TOKENS, UNK, read_vocabulary

VOCAB, TOKENIZER, CONFIG = "vocab.txt", "tokenizer.json", "tokenizer_config.json"
SPECIAL, ADDED = "special_tokens_map.json", "added_tokens.json"

BERT_CLASSES = frozenset(
    {
        "BertTokenizer", "ConvBertTokenizer", "DPRContextEncoderTokenizer", "DPRQuestionEncoderTokenizer",
        "DPRReaderTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "LayoutLMTokenizer", "LayoutLMv2Tokenizer",
        "LxmertTokenizer", "MobileBertTokenizer", "None", "PreTrainedTokenizer", "RealmTokenizer", "RetriBertTokenizer",
        "SqueezeBertTokenizer", "TokenizersBackend",
    }
)  # fmt: skip
"""Classes that the BertConverter of transformers makes a tokenizer.json for, without Fast; None where none is named."""
_CALL = ("clean_up_tokenization_spaces", "model_input_names", "padding_side", "truncation_side")
_NAMES = ("input_ids", "token_type_ids", "attention_mask")
"""What a call of BERT's tokenizer gives."""
_LOOKED_AT = 1 << 20
"""Bytes of a file of any name in which [UNK] is looked for."""
PUNCTUATION = frozenset(string.punctuation)
_SETTINGS = ("do_lower_case", "strip_accents", "tokenize_chinese_chars")
_EXTRA = ("additional_special_tokens", "extra_special_tokens")
"""What transformers 4 and 5 call further special tokens."""


def read(path: str, do_lower_case: bool | None = None) -> Parts:
    """Read a directory, a `vocab.txt` or a `tokenizer.json`.

    A `tokenizer_config.json` beside it gives the settings it names; the rest come from `tokenizer.json`, or are BERT's
    defaults (lower-casing). `do_lower_case` overrides both. What a `vocab.txt` does not say of further special tokens
    comes from `tokenizer_config.json` and `added_tokens.json`. Raises InputError where a file is missing, is not
    WordPiece as BERT has it, or where two files contradict each other.
    """
    folder, name = _place(path)
    config = read_settings(folder)
    named = settings_of(config, files.join(folder, CONFIG))
    if not name.endswith(".json"):
        check_class(config, files.join(folder, name))
        tokens, special = _with_special(folder, name, config)
        parts = Parts(tokens, merge_special(special), Normalizer())
        settings = named
    else:
        where = files.join(folder, name)
        parts = _parse_file(where, *contents_with_beside(where))
        _check_agreement(parts, named, where, do_lower_case)
        if do_lower_case is None:
            warn_of_defaults({key: getattr(parts.normalizer, key) for key in OF_BERT}, config)
        settings = {}
        beside = files.join(folder, VOCAB)
        if name == TOKENIZER and files.exists(beside):
            vocabulary = read_vocabulary(beside)
            if vocabulary != parts.tokens[: len(vocabulary)]:
                raise InputError(f"its tokens differ from {TOKENIZER} beside it; delete the wrong one", path=beside)
    if do_lower_case is not None:
        settings = {**settings, "do_lower_case": do_lower_case}
    length = longest_row(config, UNLIMITED)
    call = {**parts.call, **{name: config[name] for name in _CALL if name in config}}
    if (names := input_names_of(config, types=True)) != _NAMES:  # of a class without token types, as DistilBERT's
        call["model_input_names"] = list(names)
    no_rows = parts.no_rows if expected_around(config) is None else None
    normalizer = replace(parts.normalizer, **settings)
    parts = replace(parts, normalizer=normalizer, model_max_length=length, call=call, no_rows=no_rows)
    ids = {token: place for place, token in enumerate(parts.tokens)}
    if parts.post_processor is None:
        usual = rows_of_template(bert_template(ids[CLS], ids[SEP]))
        return replace(parts, no_pairs=pairs_unclear(usual, config, ids))
    data = {"post_processor": parts.post_processor}
    no_rows, no_pairs = rows_unclear(data, config), pairs_unclear(rows_of_file(data), config, ids)
    return replace(parts, no_rows=no_rows, no_pairs=no_pairs)


def check_class(config: Mapping[str, Any], path: str) -> None:
    """Raise InputError where the settings beside a `vocab.txt` name a class that does not read it as BERT does."""
    name = class_of(config)
    if name not in BERT_CLASSES:
        raise InputError(
            f"the settings beside it name {name}, which does not cut a text as BERT does; if the vocabulary is "
            f"BERT's, delete tokenizer_class; else {REMEDY}",
            path=path,
        )
    if (key := other_role(config)) is not None:
        token = content_of(config[key])
        raise InputError(
            f"the settings beside it name {'nothing' if token is None else repr(token)} as {key}, and a vocabulary "
            f"alone has BERT's special tokens; {REMEDY}",
            path=path,
        )
    with reading_json("is not BERT's", path):
        check_bare(config, CONFIG)


def is_file(path: str) -> bool:
    """Tell whether a path is to be read as one file: a local file, or a .txt or .json that may be missing."""
    named = path.endswith((".txt", ".json"))
    return named if files.is_remote(path) else os.path.isfile(path) or (named and not os.path.isdir(path))


def is_vocabulary(path: str) -> bool:
    """Tell whether a file is to be read as a vocabulary: a .txt or .json, or one of another name with a line [UNK]."""
    if path.endswith((".txt", ".json")) or files.is_remote(path):
        return True
    with compression.open_decompressed(path) as file:
        return UNK.encode() in file.read(_LOOKED_AT).splitlines()


def _place(path: str) -> tuple[str, str]:
    if is_file(path):
        return folder_of(path), files.name(path)
    return path, TOKENIZER if files.exists(files.join(path, TOKENIZER)) else VOCAB


def with_files_beside(data: Any, folder: str) -> Any:
    """Return a `tokenizer.json` with the tokens that the files beside it add."""
    config, beside = read_settings(folder), beside_added(folder)
    with reading_json("the tokens it adds are damaged", files.join(folder, CONFIG)):
        known = {*SPECIAL_TOKENS, *(entry["content"] for entry in data.get("added_tokens") or ())}
        decoder = (config.get("added_tokens_decoder") or {}).values()
        added = {*(entry["content"] for entry in decoder), *named_special(config), *beside}
    return with_added(data, config, beside) if added - known else data


def reads_with(data: Any, folder: str) -> bool:
    """Tell whether a `tokenizer.json` is BERT's pipeline, whole, with what the files beside it say of its tokens."""
    try:
        _parse_with_beside(data, folder)
    except InputError:
        return False
    return other_role(read_settings(folder)) is None


def other_role(config: Mapping[str, Any]) -> str | None:
    """Return the key of a role that settings give to another token than BERT; None where there is none."""
    keys = {f"{token.strip('[]').lower()}_token": token for token in SPECIAL_TOKENS}
    return next((key for key, token in keys.items() if key in config and content_of(config[key]) != token), None)


def settings_of(config: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the settings of the normaliser; raises InputError where one is neither true nor false."""
    settings = {name: config[name] for name in _SETTINGS if name in config}
    for name, value in settings.items():
        if not isinstance(value, bool) and (value is not None or name != "strip_accents"):
            raise InputError(f"{name} is {value!r}; expected true or false", path=path)
    return settings


def _with_special(folder: str, name: str, config: Mapping[str, Any]) -> tuple[tuple[str, ...], list[str]]:
    """Return the tokens of a `vocab.txt`, with those that the files beside it add, and which of them are special."""
    path, where = files.join(folder, name), files.join(folder, CONFIG)
    special = _named_special(config, where)
    added = added_tokens(folder, config)
    vocabulary = {token: token_id for token_id, token in enumerate(read_vocabulary(path))}
    special += add_special(vocabulary, added, path)
    if missing := [token for token in special if token not in vocabulary]:
        raise InputError(
            f"has no {missing[0]!r}, which the settings beside it name as special, and which transformers puts after "
            f"the others; {REMEDY}",
            path=path,
        )
    return in_order(vocabulary, path), special


def added_tokens(folder: str, config: Mapping[str, Any]) -> list[tuple[str, int, bool]]:
    """Return the tokens that `tokenizer_config.json` and `added_tokens.json` add: token, id, whether it is special.

    Raises InputError where one of the files is damaged.
    """
    where = files.join(folder, CONFIG)
    special = _named_special(config, where)
    with reading_json("the tokens it adds are damaged", where):
        added = [read_added(entry, key) for key, entry in (config.get("added_tokens_decoder") or {}).items()]
    special_tokens = {*SPECIAL_TOKENS, *special, *(token for token, _, is_special in added if is_special)}
    return added + [(token, token_id, token in special_tokens) for token, token_id in beside_added(folder).items()]


def _named_special(config: Mapping[str, Any], path: str) -> list[str]:
    """Return the further special tokens that a `tokenizer_config.json` names."""
    special = [token for key in ("bos_token", "eos_token") if (token := content_of(config.get(key))) is not None]
    for key in _EXTRA:
        named = config.get(key) or []
        for token in named.values() if isinstance(named, dict) else named if isinstance(named, list) else [named]:
            content = token.get("content") if isinstance(token, dict) else token
            if not isinstance(content, str):
                raise InputError(f"{key} holds {token!r}; expected tokens", path=path)
            special.append(content)
    return special


def _check_agreement(parts: Parts, config: Mapping[str, Any], path: str, do_lower_case: bool | None) -> None:
    default = parts.normalizer.do_lower_case if do_lower_case is None else do_lower_case
    for name, value in config.items():
        actual = getattr(parts.normalizer, name)
        if name == "strip_accents":
            same = (default if actual is None else actual) == (default if value is None else value)
        else:
            same = actual == value or (name == "do_lower_case" and do_lower_case is not None)
        if not same:
            raise InputError(
                f"says {name} = {actual}, but {CONFIG} beside it says {value}; correct one of them"
                + (", or choose with do_lower_case=True or False" if name == "do_lower_case" else ""),
                path=path,
            )


def contents_with_beside(path: str) -> list[bytes | None]:
    """Return the bytes of a `tokenizer.json`, and of each file that may be beside it; None for one that is missing."""
    folder = folder_of(path)
    beside = [files.join(folder, name) if folder else name for name in (CONFIG, SPECIAL, ADDED, MODEL)]
    return [files.read_bytes(path), *(files.read_bytes(name) if files.exists(name) else None for name in beside)]


def folder_of(path: str) -> str:
    """Return the folder of a file, empty for the current one."""
    folder, _, name = path.rpartition("/" if files.is_remote(path) else os.sep)
    return folder or (os.sep if path.startswith(os.sep) and name else "")


@once_for_contents
def _parse_file(path: str, *contents: bytes | None) -> Parts:
    data = parse_once(contents[0] or b"", path)
    return _parse_with_beside(data, folder_of(path), path)


def _parse_with_beside(data: Any, folder: str, path: str | None = None) -> Parts:
    """Read the contents of a `tokenizer.json`, and then with the tokens that the files beside it add, if they do."""
    parts = parse(data, path)
    whole = with_files_beside(data, folder)
    return parts if whole is data else parse(whole, path)
