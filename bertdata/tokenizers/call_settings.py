"""What calls of a tokenizer give, by its files: the parts of rows, on which side they are padded, and token types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.errors import InputError
from bertdata.tokenizers.call_rows import FIRST, SECOND, CallRows, Piece, UnclearPairs
from bertdata.tokenizers.class_defaults import BY_FLAGS, TEXT, class_of, expected_pair
from bertdata.tokenizers.ids import MOST_TYPES, read_id
from bertdata.tokenizers.json_format import parts_of

WITH_TYPES = frozenset(
    {
        "BertTokenizer", "CanineTokenizer", "ConvBertTokenizer", "DPRContextEncoderTokenizer",
        "DPRQuestionEncoderTokenizer", "DebertaTokenizer", "DebertaV2Tokenizer", "ElectraTokenizer", "FNetTokenizer",
        "LayoutLMTokenizer", "LayoutLMv2Tokenizer", "LxmertTokenizer", "MarkupLMTokenizer", "MobileBertTokenizer",
        "SqueezeBertTokenizer", "TapasTokenizer",
    }
)  # fmt: skip
"""Classes of transformers 5, and names it takes for one of them, whose `model_input_names` have `token_type_ids`.

A test holds this against its modules."""
PADS_LEFT = frozenset(
    {
        "CodeLlamaTokenizer", "CohereTokenizer", "GemmaTokenizer", "LlamaTokenizer", "Siglip2Tokenizer",
        "XLNetTokenizer",
    }
)  # fmt: skip
"""Those that pad on the left."""


def rows_of_file(data: Mapping[str, Any]) -> CallRows:
    """Return the parts of the rows of a `post_processor`; the texts alone where it has none that adds tokens."""
    for part in parts_of(data.get("post_processor"), "processors"):
        if part["type"] in ("RobertaProcessing", "BertProcessing"):
            cls, sep = (read_id(part[name][1], f"the id of {part[name][0]!r}") for name in ("cls", "sep"))
            single = (Piece(cls, 0), Piece(FIRST, 0), Piece(sep, 0))
            if part["type"] == "BertProcessing":
                return CallRows(single, (*single, Piece(SECOND, 1), Piece(sep, 1)))
            return CallRows(single, (*single, Piece(sep, 0), Piece(SECOND, 0), Piece(sep, 0)), types_of_cut_off=True)
        if part["type"] == "TemplateProcessing":
            ids = {name: entry["ids"] for name, entry in part["special_tokens"].items()}
            return CallRows(_pieces(part["single"], ids), _pieces(part["pair"], ids))
    return CallRows()


def pairs_unclear(rows: CallRows, config: Mapping[str, Any], ids: Mapping[str, int]) -> UnclearPairs | None:
    """Return how the class of settings puts other tokens around two texts than a file does; None where it does not."""
    expected = expected_pair(config)
    if expected is None:
        return None
    of_class = [(name if name in (None, TEXT) else ids.get(str(name)), type_id) for name, type_id in expected]
    of_file = [(TEXT if isinstance(content, str) else content, type_id) for content, type_id in rows.pair]
    same_ids = len(of_class) == len(of_file) and all(
        content in (None, other) for (content, _), (other, _) in zip(of_class, of_file, strict=True)
    )
    if same_ids and [type_id for _, type_id in of_class] == [type_id for _, type_id in of_file]:
        return None
    form = " ".join(f"{name}:{type_id}" for name, type_id in expected)
    version, other = (4, 5) if class_of(config) in BY_FLAGS else (5, 4)
    reason = (
        f"{class_of(config)}, which the settings beside it name, has the rows {form} of two texts (with token types) "
        f"in transformers {version}, and its post_processor, which transformers {other} takes, has others; "
        f"{'leave out return_token_type_ids, or ' if same_ids else ''}open the folder with the version whose rows you "
        "want, save it, and name PreTrainedTokenizerFast as tokenizer_class in what it saved"
    )
    return UnclearPairs(reason, same_ids)


def _pieces(template: Sequence[Any], ids: Mapping[str, Sequence[int]]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for piece in template:
        [(kind, value)] = piece.items()
        type_id = read_id(value["type_id"], f"the type_id of {value['id']!r} in the post_processor", MOST_TYPES)
        if kind == "Sequence":
            if value["id"] not in (FIRST, SECOND):
                raise InputError(f"its post_processor has the text {value['id']!r}; expected A or B")
            pieces.append(Piece(value["id"], type_id))
        else:
            pieces += [Piece(read_id(token_id, f"an id of {value['id']!r}"), type_id) for token_id in ids[value["id"]]]
    return tuple(pieces)


def parts_keep_a_space(data: Mapping[str, Any]) -> bool:
    """Tell whether the characters of a part that is cut from a text begin with the space before it."""
    parts = parts_of(data.get("post_processor"), "processors")
    trims = [part for part in parts if part["type"] in ("ByteLevel", "RobertaProcessing")]
    return any(part.get("trim_offsets", True) and part.get("add_prefix_space", True) for part in trims)


def pad_type_of(config: Mapping[str, Any]) -> int | None:
    """Return the token type of padding: 0; None for the class that has 3 in transformers 4, and 0 in transformers 5."""
    return None if class_of(config) == "XLNetTokenizer" else 0


def cleans_up(config: Mapping[str, Any], model: str) -> bool:
    """Tell whether spaces before punctuation go in decoded texts: as settings say, but of BPE not, as transformers 5.

    >>> [cleans_up({"clean_up_tokenization_spaces": True}, model) for model in ("BPE", "Unigram")]
    [False, True]
    """
    even_of_bpe = config.get("clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output")
    return bool(config.get("clean_up_tokenization_spaces")) and (model != "BPE" or bool(even_of_bpe))


def sides_of_file(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sides on which a `tokenizer.json` pads and cuts, as settings name them: transformers takes them over.

    >>> sides_of_file({"padding": {"direction": "Left"}, "truncation": None})
    {'padding_side': 'left'}
    """
    parts = {"padding_side": data.get("padding"), "truncation_side": data.get("truncation")}
    directions = {side: part.get("direction") for side, part in parts.items() if isinstance(part, Mapping)}
    return {side: str(direction).lower() for side, direction in directions.items() if direction in ("Left", "Right")}


def with_pad_of_file(data: Mapping[str, Any], config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings with the token that a `tokenizer.json` pads with, where they name none, as transformers has it.

    >>> with_pad_of_file({"padding": {"pad_token": "<p>"}}, {})
    {'pad_token': '<p>'}
    """
    padding = data.get("padding")
    named = padding.get("pad_token") if isinstance(padding, Mapping) and "pad_token" not in config else None
    return {**config, "pad_token": named} if isinstance(named, str) else config


def side_of(config: Mapping[str, Any]) -> str:
    """Return on which side rows are padded: as settings say, else as the class that they name does."""
    side = config.get("padding_side")
    if side in ("left", "right"):
        return str(side)
    return "left" if class_of(config) in PADS_LEFT else "right"


def input_names_of(config: Mapping[str, Any], *, types: bool | None = None) -> tuple[str, ...]:
    """Return what a call gives: `model_input_names` of settings, else those of the class they name in transformers 5.

    types: whether there are token types where nothing is said; by default there are none then, as in transformers 5.
    """
    names = config.get("model_input_names")
    if isinstance(names, list) and all(isinstance(name, str) for name in names) and names:
        return tuple(names)
    class_name = class_of(config)
    has_types = class_name in WITH_TYPES or (types is True and class_name in ("None", "PreTrainedTokenizer"))
    mask = () if class_name == "FNetTokenizer" else ("attention_mask",)
    return ("input_ids", *(["token_type_ids"] if has_types else []), *mask)
