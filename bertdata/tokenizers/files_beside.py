"""A `tokenizer.json` as the files beside it and `transformers` make it: old forms, added tokens, a space before a text.

`tokenizer_config.json`, `special_tokens_map.json` and `added_tokens.json` are read as transformers 4 and 5 read them.
What the two do differently is refused, where it decides ids, or said where rows are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bertdata.errors import InputError, shortened
from bertdata.io import files
from bertdata.tokenizers.class_checks import BACKEND, check_settings
from bertdata.tokenizers.class_defaults import (
    AROUND,
    PREFIX_SPACE,
    SPACE_BY_VERSION,
    check_class_adds_nothing,
    class_of,
    expected_around,
    flags_of,
    with_class_tokens,
)
from bertdata.tokenizers.file_keys import SPECIAL_KEYS, check_config, check_file
from bertdata.tokenizers.ids import read_id_key, read_ids, reading_json
from bertdata.tokenizers.json_format import (
    METASPACE,
    all_named,
    content_of,
    named_special,
    parts_of,
    words_among_special,
)
from bertdata.tokenizers.literal_special import kind_of
from bertdata.tokenizers.model_types import MODEL, class_of_model
from bertdata.tokenizers.unigram_pieces import names_of

CONFIG, SPECIAL, ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
_NOT_SAVED = frozenset(
    {
        "add_bos_token", "add_eos_token", "add_prefix_space", "added_tokens_decoder", "auto_map", "backend",
        "cache_dir", "config", "dropout", "files_loaded", "fix_mistral_regex", "from_slow", "full_tokenizer_file",
        "init_inputs", "is_local", "local_files_only", "merges_file", "name_or_path", "special_tokens_map_file",
        "src_lang", "tgt_lang", "token", "tokenizer_class", "tokenizer_file", "use_auth_token", "vocab_file",
    }
)  # fmt: skip
_OLD_MODEL: dict[str, dict[str, Any]] = {
    "Unigram": {"byte_fallback": False},
    "WordLevel": {},
    "WordPiece": {},
    "BPE": {"dropout": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False},
}
"""Settings that models of old files lack, with the values that `tokenizers` gives them."""


def read_settings(folder: str) -> dict[str, Any]:
    """Return the settings beside a tokenizer, the special tokens of `special_tokens_map.json` among them.

    That file goes first unless `tokenizer_config.json` has an `added_tokens_decoder`: newer versions of transformers
    write that, and do not read the map then. The class is that of `config.json` where no other is named; special tokens
    that no file names are those of the class. Raises InputError for a key that is not known.
    """
    config, special = _read(folder, CONFIG), _read(folder, SPECIAL)
    try:
        check_config(config, CONFIG)
        check_config(special, SPECIAL, SPECIAL_KEYS)
    except InputError as error:
        raise InputError(str(error), path=folder or None) from error
    if config.get("tokenizer_class") is None and (name := class_of_model(_read(folder, MODEL))) is not None:
        config = {**config, "tokenizer_class": name}
    if "added_tokens_decoder" in config:
        return with_class_tokens(config)
    _check_further(config, special, folder)
    return with_class_tokens(config | special)


def _check_further(config: Mapping[str, Any], special: Mapping[str, Any], folder: str) -> None:
    """Raise InputError where two files name other further special tokens: versions of transformers take other ones."""
    further = [
        {key: each[key] for key in ("additional_special_tokens", "extra_special_tokens") if key in each}
        for each in (config, special)
    ]
    names, others = map(named_special, further)
    if all(further) and {*names} != {*others}:
        raise InputError(
            f"{CONFIG} names {', '.join(names) or 'no'} further special tokens and {SPECIAL} "
            f"{', '.join(others) or 'none'}, of which transformers 4 takes all and 5 some; make the two say the same",
            path=folder or None,
        )


def read_added(folder: str) -> dict[str, int]:
    """Return the tokens of `added_tokens.json`, with their ids."""
    with reading_json("the tokens it adds are damaged", files.join(folder, ADDED) if folder else ADDED):
        return read_ids(_read(folder, ADDED))


def _read(folder: str, name: str) -> dict[str, Any]:
    path = files.join(folder, name) if folder else name
    return files.read_json_object(path) if files.exists(path) else {}


def whole_file(
    data: Mapping[str, Any], config: Mapping[str, Any], added: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """Return a `tokenizer.json` in today's form, with what the files beside it add and change.

    added: the tokens of `added_tokens.json`. Raises InputError where the files contradict each other.
    """
    check_file(data)
    with reading_json("is not a whole tokenizer.json"):
        result = new_form(data)
        result = _with_prefix_space(result, config)
        check_settings(result, config)
    if config.get("fix_mistral_regex"):
        raise InputError(
            f"{CONFIG} says fix_mistral_regex = true, which changes the pre-tokenizer when transformers opens it; save "
            "it with transformers, and delete the key"
        )
    return with_added(result, config, added or {})


def is_byte_level(data: Mapping[str, Any]) -> bool:
    """Tell whether text is turned into the letters of bytes before the model meets it."""
    return any(part.get("type") == "ByteLevel" for part in parts_of(data.get("pre_tokenizer"), "pretokenizers"))


def new_form(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file as the `tokenizers` of today would write it, for files of versions before 0.15.

    Those of byte-level BPE stay as they are: kernels read both forms, and shards have the fingerprints of either.
    """
    kind, model = kind_of(data["model"]), data["model"]
    if is_byte_level(data) or kind not in _OLD_MODEL:
        return dict(data)
    merges = (
        {"merges": [pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]]}
        if "merges" in model
        else {}
    )
    return {**data, **_parts_of_today(data), "model": {**_OLD_MODEL[kind], **model, "type": kind, **merges}}


def _parts_of_today(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the normalizer, pre-tokenizer, post-processor and decoder as `tokenizers` writes them."""
    from tokenizers import Tokenizer

    names = [name for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder") if data.get(name)]
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    empty = {"version": "1.0", "added_tokens": [], **{name: data[name] for name in names}, "model": model}
    try:
        written = json.loads(Tokenizer.from_str(json.dumps(empty)).to_str())
    except Exception:  # the whole file is refused with a message where it is opened
        return {}
    return {name: written[name] for name in names}


def _is_byte_level_alone(data: Mapping[str, Any]) -> bool:
    return (data.get("pre_tokenizer") or {}).get("type") == "ByteLevel"


def _check_space_of_versions(data: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Raise InputError where only one version of transformers puts a space before texts, as settings do not say it."""
    name = class_of(config)
    if not _is_byte_level_alone(data) or name not in SPACE_BY_VERSION:
        return
    says = bool(data["pre_tokenizer"].get("add_prefix_space", True))
    old, new = (says if space is None else space for space in SPACE_BY_VERSION[name])
    if old != new:
        raise InputError(
            f"{CONFIG} beside it does not say whether a space is put before a text, where {name} of transformers 4 "
            "puts none and that of transformers 5 one; put the add_prefix_space that the model was trained with there"
        )


def _with_prefix_space(data: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file that puts a space before each text, or none, as `add_prefix_space` of the settings says."""
    wanted = config.get("add_prefix_space")
    if not isinstance(wanted, bool):
        _check_space_of_versions(data, config)
        wanted = PREFIX_SPACE.get(class_of(config)) if _is_byte_level_alone(data) else None
    if wanted is None:
        return data
    parts = parts_of(data.get("pre_tokenizer"), "pretokenizers")
    for part in parts:
        if part["type"] == "Metaspace" and part.get("replacement", METASPACE) == METASPACE:
            says = part.get("prepend_scheme", "always") != "never"
        elif part["type"] == "ByteLevel":
            says = bool(part.get("add_prefix_space", True))
        else:
            continue
        if says == wanted:
            continue
        alone = part is data["pre_tokenizer"] and part["type"] == "ByteLevel"
        if alone and class_of(config) not in BACKEND:
            around = data.get("post_processor") or {}
            if around.get("type") in ("ByteLevel", "RobertaProcessing"):  # which leaves that space out of offsets
                data = {**data, "post_processor": {**around, "add_prefix_space": wanted}}
            return {**data, "pre_tokenizer": {**part, "add_prefix_space": wanted}}
        raise InputError(
            f"its {part['type']} {'puts' if says else 'does not put'} a space before a text, but {CONFIG} beside it "
            f"says add_prefix_space = {json.dumps(wanted)}, which some versions of transformers follow and others do "
            "not; make the two say the same"
        )
    return data


def with_added(data: dict[str, Any], config: Mapping[str, Any], beside: Mapping[str, int]) -> dict[str, Any]:
    """Return a file with the added tokens of the settings, else of `added_tokens.json`, as transformers adds them."""
    in_file = {entry["content"]: entry for entry in data.get("added_tokens") or ()}
    more = [entry for entry in _entries(config, beside) if in_file.get(entry["content"]) != entry]
    with reading_json("is not a whole tokenizer.json"):
        vocab = data["model"]["vocab"]
        known = {*in_file, *(vocab if isinstance(vocab, dict) else names_of(vocab))}
    named = all_named(config)
    check_class_adds_nothing(config, {*known, *named, *(entry["content"] for entry in more)})
    if not more and known >= {*named}:
        return data
    from tokenizers import AddedToken, Tokenizer

    try:
        tokenizer = Tokenizer.from_str(json.dumps(data))
    except Exception:  # refused with a message where the file is opened
        return data
    for entry in more:
        flags = {name: entry[name] for name in (*_FLAGS, "special")}
        tokenizer.add_tokens([AddedToken(entry["content"], **flags)])
        if (token_id := tokenizer.token_to_id(entry["content"])) != entry["id"]:
            raise InputError(
                f"{CONFIG if 'added_tokens_decoder' in config else ADDED} beside it gives the added token "
                f"{entry['content']!r} the id {entry['id']}, but transformers gives it {token_id}, the id in the "
                "vocabulary or the next one; correct the id there, or save the tokenizer with transformers"
            )
    for token in named:  # transformers adds those that are missing after all others
        if tokenizer.token_to_id(token) is None:
            tokenizer.add_special_tokens([AddedToken(token, normalized=False)])
            more.append({"content": token})
    return data | {"added_tokens": json.loads(tokenizer.to_str())["added_tokens"]} if more else data


def _entries(config: Mapping[str, Any], beside: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield the added tokens of the settings by their ids, as `tokenizer.json` has them."""
    with reading_json(f"the added tokens of {CONFIG} are damaged"):
        decoder = config.get("added_tokens_decoder")
        if isinstance(decoder, Mapping):
            numbered = {read_id_key(key, "the id of an added token"): entry for key, entry in decoder.items()}
            for token_id, entry in sorted(numbered.items()):
                special = bool(entry.get("special", False))
                flags = {name: bool(entry.get(name, name == "normalized" and not special)) for name in _FLAGS}
                yield {"id": token_id, "content": entry["content"], **flags, "special": special}
            return
    special_tokens = {*all_named(config)}
    for token, token_id in sorted(beside.items(), key=lambda item: item[1]):
        flags = dict.fromkeys(_FLAGS, False) | {"normalized": token not in special_tokens}
        yield {"id": token_id, "content": token, **flags, "special": token in special_tokens}


def rows_unclear(data: Mapping[str, Any], config: Mapping[str, Any]) -> str | None:
    """Return why it is not clear what stands around texts: settings of transformers that its file contradicts, or None.

    Few classes follow `add_bos_token` and `add_eos_token` (`flags_of`), and not in both versions.
    """
    single: list[Any] = []
    for part in parts_of(data.get("post_processor"), "processors"):
        if part["type"] in ("BertProcessing", "RobertaProcessing"):
            single = [{"SpecialToken": {"id": part[role][0]}} for role in ("cls", "sep")]
        single = part.get("single") or single
    tokens = [piece.get("SpecialToken", {}).get("id") for piece in single]
    if (contradiction := _class_unlike(config, [token for token in tokens if token is not None])) is not None:
        return contradiction
    for (key, flag), at in zip(flags_of(config).items(), (0, -1), strict=True):
        token = content_of(config.get(key.removeprefix("add_")))
        if isinstance(flag, bool) and token is not None and flag != (tokens[at:][:1] == [token]):
            says = f"{CONFIG} says" if key in config else f"{class_of(config)} of transformers 4 has"
            return (
                f"{says} {key} = {json.dumps(flag)}, but the post_processor of tokenizer.json "
                f"{f'does not put {token} there' if flag else 'puts it there'}; make the two say the same in {CONFIG}"
            )
    language = config.get("src_lang")
    if isinstance(language, str) and language and language not in tokens and single:
        return (
            f"{CONFIG} says src_lang = {shortened(language)}, which its post_processor does not put around texts; save "
            "the tokenizer with transformers for that language"
        )
    return None


def _class_unlike(config: Mapping[str, Any], around: list[str]) -> str | None:
    """Return how the class of the settings puts other tokens around a text than a file does; None where it does not."""
    expected = expected_around(config)
    if expected is None:
        return None
    if len(around) == len(expected) and all(
        token in (None, said) for token, said in zip(expected, around, strict=True)
    ):
        return None
    name = class_of(config)
    tokens = [token or f"{role}_token" for token, role in zip(expected, AROUND[name], strict=True)]
    return (
        f"the settings beside it name {name}, which in transformers 5 puts {' and '.join(tokens) or 'nothing'} around "
        "a text, but the post_processor of tokenizer.json, which transformers 4 follows, puts "
        f"{' and '.join(around) or 'nothing'} there; save the folder with transformers 5 for the former, or name "
        f"PreTrainedTokenizerFast as tokenizer_class in {CONFIG} for the latter"
    )


def saved_settings(data: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings to save beside a `tokenizer.json`, with which transformers 4 and 5 take it as it is.

    A named class of transformers 5 builds a pipeline of its own from the vocabulary, so none is named; what the file
    has already, as added tokens, is left out, as are paths of other machines. Special tokens are named alone, as there
    is no way to write `lstrip` and so on that both versions read; the file has these. Those without a role are a list
    by the name of transformers 4, which does not open one by that of 5. transformers 4 takes the space before a text
    from the settings and none where they do not say it.
    """
    settings = {key: _names_alone(value) for key, value in config.items() if key not in _NOT_SAVED}
    if isinstance(further := settings.get("extra_special_tokens"), list):
        del settings["extra_special_tokens"]
        words = words_among_special(data, config)
        named = [*(settings.get("additional_special_tokens") or ()), *further]
        settings["additional_special_tokens"] = [token for token in dict.fromkeys(named) if token not in words]
    pre_tokenizer = data.get("pre_tokenizer") or {}
    if pre_tokenizer.get("type") == "ByteLevel":
        settings["add_prefix_space"] = bool(pre_tokenizer.get("add_prefix_space", True))
    return settings | {"tokenizer_class": "PreTrainedTokenizerFast"}


def _names_alone(value: Any) -> Any:
    """Return the setting of a key with each token that is an object as its `content`."""
    if isinstance(value, list):
        return [_names_alone(token) for token in value]
    if not isinstance(value, dict):
        return value
    content = value.get("content")
    return content if isinstance(content, str) else {key: _names_alone(token) for key, token in value.items()}
