"""WordPiece files as tokenizers of the package `tokenizers`, and as files again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bertdata.io import files, listing
from bertdata.tokenizers.call_inputs import UNLIMITED
from bertdata.tokenizers.text_rows import asking_tokenizers
from bertdata.tokenizers.wordpiece.formats import (
    ADDED,
    CONFIG,
    PUNCTUATION,
    SPECIAL,
    TOKENIZER,
    VOCAB,
)
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from bertdata.tokenizers.wordpiece.tokenizer_json import MAX_WORD_CHARACTERS, Parts
from bertdata.tokenizers.wordpiece.vocabulary import (
    CLS,
    CONTINUATION,
    MASK,
    PAD,
    SEP,
    SPECIAL_TOKENS,
    UNK,
    write_vocabulary,
)

_NO_LIMIT = int(1e30)
"""What transformers writes as `model_max_length` of a model without one."""


def build(parts: Parts) -> Any:
    """Return the `tokenizers.Tokenizer` of these parts, with the usual [CLS] A [SEP] B [SEP] around texts."""
    tokenizer = _build(parts.tokens, parts.normalizer)
    from tokenizers import AddedToken, decoders, processors

    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in parts.special_tokens])
    tokenizer.decoder = decoders.WordPiece(prefix=CONTINUATION, cleanup=True)
    if parts.post_processor is not None:
        data = json.loads(tokenizer.to_str()) | {"post_processor": parts.post_processor}
        with asking_tokenizers("cannot read its post_processor"):
            return type(tokenizer).from_str(json.dumps(data))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{CLS}:0 $A:0 {SEP}:0",
        pair=f"{CLS}:0 $A:0 {SEP}:0 $B:1 {SEP}:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (CLS, SEP)],
    )
    return tokenizer


def build_plain(parts: Parts) -> Any:
    """Return a `tokenizers.Tokenizer` that knows no special tokens, so that literal ones in a text are text."""
    return _build(text_tokens(parts), parts.normalizer)


def text_tokens(parts: Parts) -> tuple[str, ...]:
    """Return the tokens in the order of their ids, special ones that are words under names longer than any word.

    BERT cuts [SEP] at its brackets, so no text becomes it; of a special token such as `ent` that has to be seen to.

    >>> text_tokens(Parts(("[UNK]", "[SEP]", "a"), ("[UNK]", "[SEP]"), Normalizer()))
    ('[UNK]', '[SEP]', 'a')
    """
    words = {
        token
        for token in parts.special_tokens
        if token != UNK and (len(token) == 1 or token.startswith(CONTINUATION) or not PUNCTUATION & {*token})
    }
    if not words:
        return parts.tokens
    return tuple(
        f"a{token_id} ".ljust(MAX_WORD_CHARACTERS + 1, "a") if token in words else token
        for token_id, token in enumerate(parts.tokens)
    )


def _build(tokens: Sequence[str], normalizer: Normalizer) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {token: token_id for token_id, token in enumerate(tokens)}
    tokenizer = Tokenizer(
        models.WordPiece(
            vocabulary,
            unk_token=UNK,
            max_input_chars_per_word=MAX_WORD_CHARACTERS,
            continuing_subword_prefix=CONTINUATION,
        )
    )
    tokenizer.normalizer = normalizer.reference()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def write(directory: str, parts: Parts) -> None:
    """Write the three files, each atomically, into a directory that is made if need be.

    Raises ConfigError where a token holds a line break and OutputError where the directory cannot be written.
    """
    write_vocabulary(files.join(directory, VOCAB), parts.tokens)
    files.write_bytes(files.join(directory, TOKENIZER), f"{build(parts).to_str(pretty=True)}\n".encode())
    extra = [token for token in parts.special_tokens if token not in SPECIAL_TOKENS]
    config: dict[str, Any] = {
        "cls_token": CLS,
        "do_lower_case": parts.normalizer.do_lower_case,
        "mask_token": MASK,
        "model_max_length": parts.model_max_length if parts.model_max_length < UNLIMITED else _NO_LIMIT,
        "pad_token": PAD,
        "sep_token": SEP,
        "strip_accents": parts.normalizer.strip_accents,
        "tokenize_chinese_chars": parts.normalizer.tokenize_chinese_chars,
        "tokenizer_class": "BertTokenizer" if parts.post_processor is None else "PreTrainedTokenizerFast",
        "unk_token": UNK,
    } | dict(parts.call)
    if extra:
        config["additional_special_tokens"] = extra
    files.write_json(files.join(directory, CONFIG), config)
    read_with_it = {SPECIAL, ADDED}  # files of a former tokenizer; one listing is fewer requests than a look for each
    files.remove_files(files.join(directory, name) for name in listing.names(directory) if name in read_with_it)
