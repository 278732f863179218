"""Whether `AutoTokenizer` opens what was saved with the same ids: compared on a few texts, and said where it does not.

This is done in a process that has imported `transformers`, as the folder is for it then, and once for each tokenizer.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from bertdata.io import files

if TYPE_CHECKING:
    from bertdata.tokenizers.base import Tokenizer

_LOG = logging.getLogger("bertdata")
TEXTS = (
    "Salt water, isn't it? 2024 costs 1,000.50 (50%)",
    "  two  spaces\tand\n\nlines ",
    "“ﬁne” ½ … e\u0301 é\u00a0x \u200b",
    "中文 한국어 жар Straße ｽﾅｯﾌﾟ 😀",
    "",
)
_COMPARED: set[str] = set()


def differing_text(tokenizer: Tokenizer, directory: str) -> str | None:
    """Return the first of some texts that `AutoTokenizer` gives other ids for a folder; None where there is none.

    Raises ImportError where transformers is not installed, and what it raises where it cannot open the folder.
    """
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(directory)
    for text in TEXTS:
        if theirs(text, add_special_tokens=False)["input_ids"] != tokenizer.encode(text):
            return text
    return None


def warn_of_other_ids(tokenizer: Tokenizer, directory: str) -> None:
    """Log a warning where `AutoTokenizer` opens a folder with other ids than the tokenizer that was saved there."""
    if "transformers" not in sys.modules or files.is_remote(directory) or tokenizer.fingerprint in _COMPARED:
        return
    _COMPARED.add(tokenizer.fingerprint)
    try:
        text = differing_text(tokenizer, directory)
    except Exception as error:  # whatever another library raises about a folder
        _LOG.warning("%s: transformers does not open what was saved (%s)", directory, error)
        return
    if text is not None:
        _LOG.warning(
            "%s: AutoTokenizer of this version of transformers opens what was saved with other ids, as of %r; take "
            "PreTrainedTokenizerFast(tokenizer_file=...) there, or encode with bertdata",
            directory,
            text,
        )
