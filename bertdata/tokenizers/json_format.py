"""The parts of a `tokenizer.json`: special tokens with their roles, the row template, and what its tokens stand for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bertdata.errors import InputError, shortened
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.ids import MOST_TYPES, is_id, read_added, read_id, read_ids, vocabulary_size
from bertdata.tokenizers.pairs import RowTemplate

METASPACE = "\u2581"
"""SentencePiece's mark of a space, before the first piece of a word."""
_USUAL = {
    "pad": ("[PAD]", "<pad>"),
    "unk": ("[UNK]", "<unk>"),
    "cls": ("[CLS]", "<cls>", "<s>"),
    "sep": ("[SEP]", "<sep>", "</s>"),
    "mask": ("[MASK]", "<mask>"),
}
"""The names that special tokens usually have, for files that do not say which token has which role."""
_PIPELINE = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "post_processor": "processors"}
"""The parts of a file that may be a `Sequence`, with the key of its parts."""
_RESERVED = re.compile(r"\[unused\d+\]|<unused\d+>|<no token \d+>")


def parts_of(part: Any, key: str) -> list[dict[str, Any]]:
    """Return the parts of a normalizer or pre-tokenizer, which may be a `Sequence` of them in `key`, or None.

    >>> parts_of({"type": "Sequence", "normalizers": [{"type": "NFC"}]}, "normalizers")
    [{'type': 'NFC'}]
    """
    if part is None:
        return []
    return [one for inner in part[key] for one in parts_of(inner, key)] if part.get("type") == "Sequence" else [part]


def check_parts(data: Mapping[str, Any]) -> None:
    """Raise InputError, or TypeError for what is not an object, where a part of the pipeline has no type.

    `tokenizers` takes some of these for the one part that has the same settings, old files being without types.
    """
    for name, key in _PIPELINE.items():
        for part in parts_of(data.get(name), key):
            if not isinstance(part.get("type"), str):
                raise InputError(f"a part of its {name} has the type {shortened(part.get('type'))}; expected a name")


def tokens_by_id(vocabulary: Mapping[str, int]) -> list[str]:
    """Return the tokens in the order of their ids; ids without a token get one that is reserved.

    Raises InputError where two tokens have one id, and where `vocabulary_size` does.

    >>> tokens_by_id({"a": 0, "b": 2}), tokens_by_id({})
    (['a', '<no token 1>', 'b'], [])
    """
    tokens: list[str | None] = [None] * vocabulary_size(vocabulary.values())
    for token, token_id in vocabulary.items():
        if tokens[token_id] is not None:
            raise InputError(f"the tokens {tokens[token_id]!r} and {token!r} both have the id {token_id}; renumber one")
        tokens[token_id] = token
    named = [f"<no token {token_id}>" if token is None else token for token_id, token in enumerate(tokens)]
    if len({*named}) < len(named):
        twice = next(
            token for token, before in zip(named, tokens, strict=True) if before is None and token in vocabulary
        )
        raise InputError(f"the token {twice!r} has the name of an id that has no token; rename it")
    return named


def vocabulary_of(data: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens of a `tokenizer.json`, added ones too, with their ids.

    Raises InputError where an id is none, and where an added token has another id than `tokenizers` gives it: that in
    the model, or else the next one after all so far.
    """
    vocab = data["model"]["vocab"]
    known = read_ids(vocab if isinstance(vocab, dict) else _numbered(vocab))
    size, highest = len(vocab), -1
    for entry in data.get("added_tokens") or ():
        content, said, _ = read_added(entry)
        token_id = known.setdefault(content, max(size, highest + 1))
        highest = max(highest, token_id)
        if token_id != said:
            raise InputError(
                f"the added token {content!r} has the id {said}, but after the {size} tokens of the "
                f"model and those added before it, tokenizers gives it {token_id}; renumber it, or the model's tokens"
            )
    return known


def _numbered(pieces: Sequence[Any]) -> dict[str, int]:
    """Return the pieces of a Unigram model, [piece, score] each, with their ids: their places."""
    for place, (piece, score) in enumerate(pieces):
        if not isinstance(piece, str) or type(score) not in (int, float) or not math.isfinite(score):
            raise InputError(
                f"piece {place} of the vocabulary is {shortened([piece, score])}; expected a string and a finite score"
            )
    known = {piece: place for place, (piece, _) in enumerate(pieces)}
    if len(known) < len(pieces):
        place, piece = next((place, piece) for place, (piece, _) in enumerate(pieces) if known[piece] != place)
        raise InputError(
            f"the piece {shortened(piece)} is there twice, as ids {place} and {known[piece]}; expected each once, as "
            "SentencePiece has them: rename one"
        )
    return known


def without_special(data: Mapping[str, Any], vocabulary: Mapping[str, int]) -> dict[str, Any]:
    """Return the file of a tokenizer with the same ids in which no text becomes a special token by spelling it.

    vocabulary: what `vocabulary_of` returns. `encode_special_tokens` of `tokenizers` alone does that for the tokens
    that are looked for before the model is met; Unigram, or a model that looks up whole words, would find them still.
    Where there are added tokens that are not special, all stay in the list, as the ids of some depend on those before
    them, and out of the model, which would find them where they are not looked for, inside of words.
    """
    model, added = data["model"], data.get("added_tokens") or ()
    special = {entry["content"] for entry in added if entry["special"]} - {model.get("unk_token")}
    renamed = {token: f"a{METASPACE}{vocabulary[token]}" for token in special}
    rest = [_renamed(entry, renamed) for entry in added] if any(not entry["special"] for entry in added) else []
    vocab: Any
    if isinstance(model["vocab"], dict):
        tokens = model["vocab"] if rest else vocabulary
        vocab = {renamed.get(token, token): token_id for token, token_id in tokens.items()}
    else:
        vocab = [[renamed.get(piece, piece), score] for piece, score in model["vocab"]]
        worst = min(score for _, score in vocab)
        for token, token_id in sorted(vocabulary.items(), key=lambda item: item[1]) if added and not rest else ():
            if token_id >= len(vocab):
                vocab.append([renamed.get(token, token), worst])
    return {**data, "model": {**model, "vocab": vocab}, "added_tokens": rest}


def _renamed(entry: Mapping[str, Any], renamed: Mapping[str, str]) -> Mapping[str, Any]:
    """Return an added token under its new name, which stands for nothing in a text; as it is, where it has none."""
    if entry["content"] not in renamed:
        return entry
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {**entry, "content": renamed[entry["content"]], **flags}


def is_reserved(token: str) -> bool:
    """Tell whether a token is kept free, as [unused0] of BERT and <unused0> of Gemma."""
    return _RESERVED.fullmatch(token) is not None


def special_tokens(data: Mapping[str, Any], config: Mapping[str, Any], vocabulary: Mapping[str, int]) -> SpecialTokens:
    """Return the special tokens with their roles: as the settings name them, else by their usual names.

    Those with usual names that the row template holds go first: XLNet has both <s> and <cls>. Raises InputError where
    the settings name a token that is not in the vocabulary.
    """
    around = [token for token in _template_tokens(data) if token in vocabulary]
    found: dict[str, str | None] = {}
    for role, names in _USUAL.items():
        named = config.get(f"{role}_token")
        token = named.get("content") if isinstance(named, dict) else named
        if token is not None and token not in vocabulary:
            raise InputError(
                f"the settings beside it name {token!r} as the {role} token, but it is not in the vocabulary"
            )
        usual = [*(name for name in names if name in around), *(name for name in names if name in vocabulary)]
        found[role] = token if token is not None else usual[0] if usual else None
    special = [entry["content"] for entry in data.get("added_tokens") or () if entry.get("special")]
    return SpecialTokens(**found, additional=tuple(token for token in special if token not in found.values()))


def row_template(data: Mapping[str, Any]) -> RowTemplate | None:
    """Return the row template of the `post_processor`; None where it has none, or one that puts nothing around texts.

    Raises InputError where it is not of the form prefix A suffix, prefix A between B suffix.
    """
    for part in parts_of(data.get("post_processor"), "processors"):
        if part["type"] in ("RobertaProcessing", "BertProcessing"):
            cls, sep = (
                read_id(token_id, f"the id of {token!r} in the post_processor")
                for token, token_id in (part["cls"], part["sep"])
            )
            if part["type"] == "BertProcessing":
                return RowTemplate((cls,), (sep,), (sep,))
            return RowTemplate((cls,), (sep, sep), (sep,), second_type=0)
        if part["type"] == "TemplateProcessing":
            ids = {
                name: [read_id(one, f"an id of {name!r} in the post_processor") for one in entry["ids"]]
                for name, entry in part["special_tokens"].items()
            }
            template = _template(part["pair"], part["single"], ids)
            return template if template.special(pair=True) else None
    return None


def check_template(template: RowTemplate | None, size: int) -> None:
    """Raise InputError where a row template has an id that a vocabulary of `size` tokens does not have."""
    ids = [*template.prefix, *template.between, *template.suffix] if template else []
    if outside := [token_id for token_id in ids if not is_id(token_id, size)]:
        raise InputError(
            f"its post_processor puts the id {outside[0]} around texts, and the vocabulary has the ids 0 to "
            f"{size - 1:,}; expected ids of special tokens: correct the post_processor, or take the whole vocabulary"
        )


def _template(pair: Sequence[Any], single: Sequence[Any], ids: Mapping[str, Sequence[int]]) -> RowTemplate:
    """Return the row template of two lists of `TemplateProcessing`."""
    parts: list[list[int]] = [[]]
    types: list[list[int]] = [[]]
    texts: list[tuple[str, int]] = []
    for piece in pair:
        [(kind, value)] = piece.items()
        read_id(value["type_id"], f"the type_id of {value['id']!r} in the post_processor", MOST_TYPES)
        if kind == "Sequence":
            texts.append((value["id"], value["type_id"]))
            parts.append([])
            types.append([])
        else:
            for token_id in ids[value["id"]]:
                parts[-1].append(token_id)
                types[-1].append(value["type_id"])
    if [name for name, _ in texts] != ["A", "B"]:
        raise InputError(
            "its template for pairs does not hold A and then B; expected one such as [CLS] A [SEP] B [SEP]"
        )
    (prefix, between, suffix), second = parts, texts[1][1]
    last = types[2][-1] if suffix and types[2][-1] != second else None
    template = RowTemplate(tuple(prefix), tuple(between), tuple(suffix), second, last)
    same = [token_id for piece in single for token_id in ids.get(piece.get("SpecialToken", {}).get("id"), ())]
    if (
        same != [*prefix, *suffix]
        or any(types[0] + types[1])
        or texts[0][1]
        or types[2] != template.suffix_types(pair=True)
    ):
        raise InputError(
            "its templates for one text and for two do not have the same prefix and suffix, or token types other than "
            "0 before the second text; expected a template such as [CLS] A [SEP] B [SEP]"
        )
    return template


def _template_tokens(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tokens that the `post_processor` puts around texts."""
    for part in parts_of(data.get("post_processor"), "processors"):
        if part["type"] in ("RobertaProcessing", "BertProcessing"):
            yield from (part["cls"][0], part["sep"][0])
        elif part["type"] == "TemplateProcessing":
            yield from (token for entry in part["special_tokens"].values() for token in entry["tokens"])


def byte_letters() -> dict[int, str]:
    """Return the letter that stands for each byte in byte-level BPE (GPT-2's released code).

    >>> byte_letters()[ord("a")], byte_letters()[ord(" ")]
    ('a', 'Ġ')
    """
    printed = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printed]
    return {byte: chr(byte) for byte in printed} | {byte: chr(256 + place) for place, byte in enumerate(others)}


def bytes_of_token(token: str) -> bytes | None:
    """Return the bytes that a token of byte-level BPE stands for; None for one of other characters.

    >>> bytes_of_token("Ġa"), bytes_of_token("[MASK] ")
    (b' a', None)
    """
    return bytes(map(_BYTES.__getitem__, token)) if _BYTES.keys() >= set(token) else None


def text_of_byte_level(token: str) -> str:
    r"""Return what a token of byte-level BPE stands for, without the space before it; bytes of no character as \xE2.

    >>> text_of_byte_level("Ġthe"), text_of_byte_level("âĢ"), text_of_byte_level("Ġ")
    ('the', '\\xe2\\x80', ' ')
    """
    data = bytes_of_token(token)
    text = token if data is None else data.decode("utf-8", "backslashreplace")
    return text[1:] if text[:1] == " " and len(text) > 1 else text


_BYTES = {letter: byte for byte, letter in byte_letters().items()}
