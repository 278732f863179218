"""The contents of a `tokenizer.json` that is BERT's pipeline, and what makes a WordPiece tokenizer of any file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bertdata.errors import InputError
from bertdata.tokenizers.call_rows import UnclearPairs, rows_of_template
from bertdata.tokenizers.call_settings import rows_of_file, sides_of_file
from bertdata.tokenizers.ids import read_added, read_ids, reading_json
from bertdata.tokenizers.pairs import bert_template
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from bertdata.tokenizers.wordpiece.vocabulary import CLS, CONTINUATION, SEP, SPECIAL_TOKENS, UNK, check_vocabulary

MAX_WORD_CHARACTERS = 100
"""A word of more characters, after normalisation, is [UNK]: `max_input_chars_per_word` of BERT's released code."""


_NOTHING_AROUND = (
    "its tokenizer.json has no post_processor, so that calls in transformers put nothing around texts, and rows of "
    "builds have [CLS] and [SEP] there; call it with add_special_tokens=False for the former, or open what its "
    "save_pretrained writes, there and here, for the latter"
)
"""Of a file that is not of a class of BERT's, as one that was trained and saved by `tokenizers`."""


@dataclass(frozen=True)
class Parts:
    """What makes a tokenizer: the tokens in the order of their ids, the special ones, and the normaliser.

    model_max_length: the most tokens of a row, as `tokenizer_config.json` has it; where files do not say, there is no
    limit, as in transformers. post_processor: that of `tokenizer.json` where it is not BERT's [CLS] A [SEP] B [SEP].
    call: settings of calls beside the file, such as `padding_side` and `model_input_names`. no_rows, no_pairs: why it
    is not clear what calls put around a text, or two.
    """

    tokens: tuple[str, ...]
    special_tokens: tuple[str, ...]
    normalizer: Normalizer
    model_max_length: int = 512
    post_processor: Mapping[str, Any] | None = None
    call: Mapping[str, Any] = field(default_factory=dict)
    no_rows: str | None = None
    no_pairs: UnclearPairs | None = None


def parse(data: Any, path: str | None = None) -> Parts:
    """Read the contents of a `tokenizer.json`; raises InputError where it is not BERT's pipeline."""

    def expect(value: object, wanted: object, what: str) -> None:
        if value != wanted:
            raise InputError(f"{what} is {value!r}; expected {wanted!r}, as BERT's tokenizer has it", path=path)

    def part(name: str) -> Mapping[str, Any]:
        value = data.get(name) if isinstance(data, dict) else None
        return value if isinstance(value, dict) else {}

    if not isinstance(data, dict) or not isinstance(data.get("model"), dict):
        raise InputError(
            "has no model, so it is not of the package tokenizers (Keras writes files of that name, too); expected the "
            "tokenizer.json of an encoder, or one that bertdata train-vocab wrote",
            path=path,
        )
    model, normalizer = part("model"), part("normalizer")
    # Old files have no type; what tells a WordPiece model then is its limit on the length of a word.
    kind = model.get("type", "WordPiece" if "max_input_chars_per_word" in model else None)
    expect(kind, "WordPiece", "the model of this tokenizer.json")
    expect(model.get("unk_token"), UNK, "model.unk_token")
    expect(model.get("continuing_subword_prefix"), CONTINUATION, "model.continuing_subword_prefix")
    expect(model.get("max_input_chars_per_word"), MAX_WORD_CHARACTERS, "model.max_input_chars_per_word")
    expect(normalizer.get("type"), "BertNormalizer", "the normalizer")
    expect(normalizer.get("clean_text"), True, "normalizer.clean_text")
    expect(part("pre_tokenizer").get("type"), "BertPreTokenizer", "the pre_tokenizer")
    with reading_json("is not a whole tokenizer.json", path):
        settings = Normalizer(
            normalizer["lowercase"], normalizer.get("strip_accents"), normalizer["handle_chinese_chars"]
        )
        vocabulary = read_ids(model["vocab"])
        added = [read_added(entry) for entry in data["added_tokens"]]
        around = _around(data, vocabulary)
    special = add_special(vocabulary, added, path)
    no_rows = None if data.get("post_processor") else _NOTHING_AROUND
    sides, tokens = sides_of_file(data), in_order(vocabulary, path)
    return Parts(tokens, merge_special(special), settings, post_processor=around, call=sides, no_rows=no_rows)


def _around(data: Mapping[str, Any], vocabulary: Mapping[str, int]) -> Mapping[str, Any] | None:
    """Return the `post_processor` of a file; None where it is missing, or puts around texts what BERT does."""
    post_processor = data.get("post_processor")
    if not post_processor or CLS not in vocabulary or SEP not in vocabulary:
        return None
    rows = rows_of_file({"post_processor": post_processor})
    usual = rows_of_template(bert_template(vocabulary[CLS], vocabulary[SEP]))
    return None if rows == usual else post_processor


def add_special(vocabulary: dict[str, int], added: Iterable[tuple[str, int, bool]], path: str | None) -> list[str]:
    """Put the added tokens (token, id, whether it is special) into a vocabulary; returns the special ones."""
    special = []
    for token, token_id, is_special in added:
        if not is_special:
            raise InputError(
                f"the added token {token!r} is not special, so it would be cut out of the raw text before WordPiece; "
                "put it into the vocabulary, or mark it special",
                path=path,
            )
        if vocabulary.setdefault(token, token_id) != token_id:
            raise InputError(f"the token {token!r} has the ids {vocabulary[token]} and {token_id}", path=path)
        special.append(token)
    return special


def in_order(vocabulary: Mapping[str, int], path: str | None) -> tuple[str, ...]:
    """Return the tokens of a vocabulary by their ids; raises InputError where these are not 0 and so on."""
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[token] for token in tokens] != list(range(len(tokens))):
        raise InputError(f"the ids are not 0 to {len(tokens) - 1}, each once; renumber the vocabulary", path=path)
    return check_vocabulary(tokens, path)


def merge_special(special_tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the five special tokens and then the others, each once."""
    return tuple(dict.fromkeys([*SPECIAL_TOKENS, *special_tokens]))
