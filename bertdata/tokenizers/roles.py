"""What a tokenizer must have so that rows can be made with it, checked before any work is done."""

from __future__ import annotations

from bertdata.errors import ConfigError
from bertdata.tokenizers.base import Tokenizer, missing_roles
from bertdata.tokenizers.pairs import SingleTemplate


def require_rows(
    tokenizer: Tokenizer, path: str | None = None, *, masked: bool, max_seq_length: int | None = None
) -> None:
    """Raise ConfigError, which names `path` and the remedy, where rows cannot be made with a tokenizer.

    Rows need a token for padding, and something around texts: the `post_processor` of a tokenizer.json, or tokens for
    cls and sep. Where tokens are `masked`, rows need a mask token and a separator of two texts, and all tokens around
    texts must be those for cls and sep, which are never masked. Rows of `max_seq_length` need room for two texts.
    """
    roles = ["pad", *([] if _has_template(tokenizer) else ["cls", "sep"]), *(["mask"] if masked else [])]
    if missing := [role for role in roles if tokenizer.id_of_role(role) < 0]:
        raise missing_roles(missing, path)
    template = tokenizer.row_template
    special = template.special(pair=not isinstance(template, SingleTemplate))
    if max_seq_length is not None and max_seq_length < special + 2:
        raise ConfigError(
            f"--max-seq-length is {max_seq_length}; expected at least {special + 2}, for this tokenizer puts {special} "
            "special tokens around two texts",
            path=path,
        )
    if not masked:
        return
    of_roles = {tokenizer.id_of_role("cls"), tokenizer.id_of_role("sep")}
    if others := sorted({*template.prefix, *template.between, *template.suffix} - of_roles):
        names = ", ".join(tokenizer.tokens[token_id] for token_id in others)
        raise ConfigError(
            f"this tokenizer puts {names} around texts, which is neither its cls nor its sep token; name it as "
            "cls_token or sep_token in tokenizer_config.json, so that it is never masked",
            path=path,
        )
    if not template.between:
        raise ConfigError(
            "this tokenizer puts nothing between two texts of a row; give its tokenizer.json a post_processor whose "
            "`pair` has a separator between A and B",
            path=path,
        )


def _has_template(tokenizer: Tokenizer) -> bool:
    """Tell whether it is known what stands around texts."""
    try:
        return bool(tokenizer.row_template)
    except ConfigError:
        return False
