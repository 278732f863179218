"""Whether the installed `tokenizers` knows characters that are newer than Unicode 14 as `bertdata.characters` does.

Kernels and trainers go by the table. What `tokenizers` cuts itself is refused where it holds a newer character and its
tables are others.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from bertdata.characters.newer import UNICODE, alike_to_digits, holds_newer, lowered, table
from bertdata.errors import InputError

_LOOK = re.compile(r"\b(ByteLevel|Digits|Split|UnicodeScripts)\(")
"""Pre-tokenizers that look at what a character is, but for white space and punctuation."""


def known_to(reference: Any, texts: Sequence[Any]) -> Sequence[Any]:
    """Return texts with which a `tokenizers.Tokenizer` does what the table says: newer capitals are small if it folds.

    texts: strings, or lists of words. Raises InputError where it looks at what characters are, and one is newer than
    its tables.
    """
    strings = (string for text in texts for string in ([text] if isinstance(text, str) else text))
    newer = next(filter(holds_newer, strings), None)
    if newer is None or has_same_tables():  # in this order: comparing tables takes a tenth of a second
        return texts
    parts = f"{reference.normalizer!r} {reference.pre_tokenizer!r}"
    if _LOOK.search(parts):
        raise _unknown(newer)
    if "Lowercase" not in parts and "BertNormalizer" not in parts:
        return texts
    return [lowered(text) if isinstance(text, str) else [*map(lowered, text)] for text in texts]


def _unknown(text: str) -> InputError:
    newer = table().newer.search(text)
    return InputError(
        f"a text holds {f'U+{ord(newer[0]):04X}' if newer else 'a character'}, and of such characters the installed "
        f"tokenizers {metadata.version('tokenizers')} has other Unicode tables than {UNICODE}, by which ids are made; "
        "install tokenizers 0.23.3"
    )


@functools.cache
def has_same_tables() -> bool:
    """Tell whether the installed `tokenizers` knows the newer characters as the table does."""
    from tokenizers import Regex, normalizers, pre_tokenizers

    newer = table()
    text = "".join(map(chr, newer))
    alike_text = text.translate(newer)
    for pattern in (r"\p{L}", r"\p{N}", r"\p{M}", r"\p{Lu}", r"\p{Ll}", r"\p{P}", r"\p{S}", r"\p{Han}"):
        split = pre_tokenizers.Split(Regex(f"{pattern}+"), "isolated").pre_tokenize_str
        if [place for _, place in split(text)] != [place for _, place in split(alike_text)]:
            return False
    digits = pre_tokenizers.Digits().pre_tokenize_str
    text += "".join(map(chr, newer.numeric))
    if [place for _, place in digits(text)] != [place for _, place in digits(alike_to_digits(text))]:
        return False
    capitals = "".join(map(chr, newer.lower))
    return bool(normalizers.Lowercase().normalize_str(capitals) == lowered(capitals))
