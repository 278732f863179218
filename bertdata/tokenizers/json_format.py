"""The parts of a `tokenizer.json`: special tokens with their roles, the row template, and what its tokens stand for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bertdata.errors import InputError, shortened
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.class_defaults import NAMED_ROLES
from bertdata.tokenizers.ids import MOST_TYPES, is_id, read_added, read_id, read_ids, vocabulary_size
from bertdata.tokenizers.literal_special import merges_with
from bertdata.tokenizers.pairs import RowTemplate, SingleTemplate
from bertdata.tokenizers.unigram_pieces import columns_of

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
    return (
        [single_part for inner in part[key] for single_part in parts_of(inner, key)]
        if part.get("type") == "Sequence"
        else [part]
    )


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
    size = vocabulary_size(vocabulary.values())
    token_of = dict(zip(vocabulary.values(), vocabulary, strict=True))
    if len(token_of) < len(vocabulary):
        first: dict[int, str] = {}
        token, token_id = next(item for item in vocabulary.items() if first.setdefault(item[1], item[0]) != item[0])
        raise InputError(f"the tokens {first[token_id]!r} and {token!r} both have the id {token_id}; renumber one")
    if len(token_of) == size:
        return [token_of[token_id] for token_id in range(size)]
    named = [token_of.get(token_id, f"<no token {token_id}>") for token_id in range(size)]
    if len({*named}) < size:
        twice = next(token for token_id, token in enumerate(named) if vocabulary.get(token, token_id) != token_id)
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
    columns = columns_of(pieces)
    if columns is None:
        for place, (piece, score) in enumerate(pieces):
            if not isinstance(piece, str) or type(score) not in (int, float) or not math.isfinite(score):
                raise InputError(
                    f"piece {place} of the vocabulary is {shortened([piece, score])}; expected a string and a finite "
                    "score"
                )
        columns = [piece for piece, _ in pieces], [score for _, score in pieces]
    place_of = dict(zip(columns[0], range(len(pieces)), strict=True))
    if len(place_of) < len(pieces):
        place, piece = next((place, piece) for place, (piece, _) in enumerate(pieces) if place_of[piece] != place)
        raise InputError(
            f"the piece {shortened(piece)} is there twice, as ids {place} and {place_of[piece]}; expected each once, "
            "as SentencePiece has them: rename one"
        )
    return place_of


def is_reserved(token: str) -> bool:
    """Tell whether a token is kept free, as [unused0] of BERT and <unused0> of Gemma."""
    return _RESERVED.fullmatch(token) is not None


def special_tokens(data: Mapping[str, Any], config: Mapping[str, Any], vocabulary: Mapping[str, int]) -> SpecialTokens:
    """Return the special tokens with their roles: as the settings name them, else by their usual names.

    Those with usual names that the row template holds go first: XLNet has both <s> and <cls>. A token that merges make
    and that the file does not add is text, whatever its name, as </s> of Qwen 3.
    """
    around = [token for token in _template_tokens(data) if token in vocabulary]
    added = {entry["content"]: bool(entry["special"]) for entry in data.get("added_tokens") or ()}
    unsaid = {name for names in _USUAL.values() for name in names if name in vocabulary} - added.keys() - {*around}
    text = unsaid & merges_with(data["model"], unsaid).keys() if unsaid and "model" in data else set()
    roles: dict[str, str | None] = {}
    for role, names in _USUAL.items():
        token = content_of(config.get(f"{role}_token"))
        usual = [*(name for name in names if name in around)]
        usual += [name for name in names if name in vocabulary and name not in text]
        said_none = config.get(key := f"{role}_token", key) is None
        roles[role] = token if token in vocabulary else usual[0] if usual and not said_none else None
    special = [token for token, is_special in added.items() if is_special]
    words = words_among_special(data, config)
    special += [token for token in named_special(config) if token in vocabulary and token not in words]
    others = dict.fromkeys(token for token in special if token not in roles.values())
    return SpecialTokens(**roles, additional=tuple(others))


def content_of(token: Any) -> str | None:
    """Return a token that settings name, as a string or as an object with its `content`; None for anything else.

    >>> content_of({"content": "<mask>", "lstrip": True}), content_of("[PAD]"), content_of(None)
    ('<mask>', '[PAD]', None)
    """
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else None


def named_special(config: Mapping[str, Any]) -> list[str]:
    """Return the tokens that settings name as special but for those with a role of an encoder.

    >>> named_special({"eos_token": "</s>", "extra_special_tokens": ["<ent>"]})
    ['</s>', '<ent>']
    """
    tokens = [config.get("bos_token"), config.get("eos_token")]
    for key in ("additional_special_tokens", "extra_special_tokens"):
        named = config.get(key) or []
        tokens += named.values() if isinstance(named, dict) else named if isinstance(named, list) else [named]
    return [content for token in tokens if (content := content_of(token)) is not None]


def words_among_special(data: Mapping[str, Any], config: Mapping[str, Any]) -> frozenset[str]:
    """Return the tokens that transformers 5 lists with special ones, and that the file adds as words: they are text.

    So it saves "(" of ALBERT's model.

    >>> file = {"added_tokens": [{"content": "(", "special": False}, {"content": "[Q]", "special": True}]}
    >>> words_among_special(file, {"extra_special_tokens": ["(", "[Q]"]})
    frozenset({'('})
    """
    listed = config.get("extra_special_tokens")
    others = named_special({key: value for key, value in config.items() if key != "extra_special_tokens"})
    added = {entry["content"] for entry in data.get("added_tokens") or () if not entry["special"]}
    names = [content_of(token) for token in listed] if isinstance(listed, list) else []
    return frozenset(token for token in names if token is not None and token in added and token not in others)


def all_named(config: Mapping[str, Any]) -> list[str]:
    """Return the tokens that settings name as special, in the order in which transformers adds them.

    >>> all_named({"mask_token": "<mask>", "eos_token": "</s>", "extra_special_tokens": ["<ent>"]})
    ['</s>', '<mask>', '<ent>']
    """
    tokens = [content_of(config.get(f"{role}_token")) for role in NAMED_ROLES]
    return [*dict.fromkeys([*(token for token in tokens if token is not None), *named_special(config)])]


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
                name: [read_id(token_id, f"an id of {name!r} in the post_processor") for token_id in entry["ids"]]
                for name, entry in part["special_tokens"].items()
            }
            template = _template(part["pair"], part["single"], ids)
            return template if template.special(pair=True) else None
    return None


def template_or_single(data: Mapping[str, Any]) -> tuple[RowTemplate | None, str | None]:
    """Return the row template of a file, and None; or why there is none of two texts, and that of one text if possible.

    Raises InputError where an id of the `post_processor` is none.
    """
    try:
        return row_template(data), None
    except UnusualTemplateError as error:
        reason = str(error)
    for part in parts_of(data.get("post_processor"), "processors"):
        if part["type"] == "TemplateProcessing":
            sides: list[list[int]] = [[]]
            for piece in part["single"]:
                [(kind, value)] = piece.items()
                if kind == "Sequence":
                    sides.append([])
                else:
                    sides[-1] += [read_id(token_id, "an id") for token_id in part["special_tokens"][value["id"]]["ids"]]
            types = {value["type_id"] for piece in part["single"] for value in piece.values()}
            if len(sides) == 2 and types == {0}:
                return SingleTemplate(tuple(sides[0]), (), tuple(sides[1]), second_type=0, no_pairs=reason), reason
    return None, reason


class UnusualTemplateError(InputError):
    """The row template of a file is of no form that rows of builds have."""


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
        raise UnusualTemplateError(
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
        raise UnusualTemplateError(
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
