"""A `vocab.txt` with added words beside it, which `add_tokens` of `transformers` made: read as a `tokenizer.json`.

Such words are cut out of a text before WordPiece sees it, so the kernels for WordPiece do not suit them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.tokenizers.files_beside import read_settings
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.tokenizers.loading import find_saved
from bertdata.tokenizers.wordpiece import formats, rebuilt
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from bertdata.tokenizers.wordpiece.tokenizer_json import Parts
from bertdata.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, read_vocabulary

_MATCHING = ("lstrip", "rstrip", "single_word", "normalized")


class ExtendedWordPiece(JsonTokenizer):
    """The family of such folders, each of which becomes a `JsonTokenizer`."""

    FILES = (formats.VOCAB,)
    EXTRA_FILES = (formats.CONFIG, formats.SPECIAL, formats.ADDED)

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """Tell whether a directory has a `vocab.txt`, words added to it, and no `tokenizer.json`."""
        has = {name: files.exists(files.join(path, name)) for name in (formats.VOCAB, formats.TOKENIZER)}
        if not has[formats.VOCAB] or has[formats.TOKENIZER]:
            return False
        return any(not special for *_, special in formats.added_tokens(path, read_settings(path)))

    @classmethod
    def from_pretrained(cls, path: str | os.PathLike[str]) -> JsonTokenizer:
        """Load such a directory; raises InputError where a file is damaged, or the ids are not those that follow."""
        folder = find_saved(path, [cls])[1]
        config, place = read_settings(folder), files.join(folder, formats.VOCAB)
        settings = formats.settings_of(config, files.join(folder, formats.CONFIG))
        formats.check_class(config, place)
        tokenizer = rebuilt.build(Parts(read_vocabulary(place), SPECIAL_TOKENS, Normalizer(**settings)))
        entries = config.get("added_tokens_decoder") or {}
        for token, token_id, special in sorted(formats.added_tokens(folder, config), key=lambda added: added[1]):
            _add(tokenizer, token, entries.get(str(token_id), {}), special=special)
            if tokenizer.token_to_id(token) != token_id:
                raise InputError(
                    f"the added token {token!r} has the id {token_id}, expected {tokenizer.token_to_id(token)}, the "
                    "next; renumber what is added",
                    path=place,
                )
        return JsonTokenizer(json.loads(tokenizer.to_str()), {"tokenizer_class": "BertTokenizer"} | config)


def _add(tokenizer: Any, token: str, entry: Mapping[str, Any], *, special: bool) -> None:
    from tokenizers import AddedToken

    matching = {name: bool(entry[name]) for name in _MATCHING if name in entry}
    added = AddedToken(token, special=special, **({"normalized": not special} | matching))
    if special:
        tokenizer.add_special_tokens([added])
    else:
        tokenizer.add_tokens([added])
