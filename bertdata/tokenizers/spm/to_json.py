"""What a SentencePiece model is as a `tokenizer.json`: pieces and scores, normalisation, and rows of its family.

A `.model` file lacks some settings of a tokenizer. ALBERT's, XLNet's and DeBERTa-v3's models are recognized by their
special pieces and get the settings that `transformers` gives them; any other is taken as SentencePiece runs it. One
thing may differ there: of two ways to cut a word with one score, as 0|00 and 00|0, `tokenizers` may take the other.
A vocabulary without rules of normalisation that was trained from words between white space is cut there too. A BPE
model has no list of merges: any two neighbours that make a piece are merged, those of the best piece first.
"""

from __future__ import annotations

import json
import re
import struct
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bertdata.errors import InputError
from bertdata.tokenizers import json_format, json_parts
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.class_defaults import CASE_AND_ACCENTS, class_of
from bertdata.tokenizers.spm.charsmap import Charsmap, steps
from bertdata.tokenizers.spm.defined_symbols import around, check_spaces, kept_symbols
from bertdata.tokenizers.spm.proto import BPE_MODEL, UNIGRAM_MODEL, PieceType

_XLNET = frozenset({"<cls>", "<sep>", "<eod>"})
_ALBERT = frozenset({"<pad>", "[CLS]", "[SEP]", "[MASK]"})
_DEBERTA = frozenset({"[PAD]", "[CLS]", "[SEP]", "[UNK]"})
_MASK = "[MASK]"
_NUMBER_COMMA = re.compile(r".*\d,", re.DOTALL)
_NOT_TEXT = (PieceType.UNKNOWN, PieceType.CONTROL, PieceType.UNUSED)
_BY_TRANSFORMERS = (
    "take the tokenizer.json that the model is published with, or open its folder with AutoTokenizer of transformers, "
    "in an environment without apache-beam, whose protobuf is too old for sentencepiece, save it, and use that folder"
)
FAR = 20.0
"""How many times the lowest score of a piece that of a token has which no text is to be cut into."""
_PENALTY = 100.0
"""What the score of a piece such as "2,000," is lowered by, so that ALBERT and XLNet cut off the comma."""


NUMBERINGS = {
    "xlm-roberta": (("<s>", "<pad>", "</s>", "<unk>"), 3),
    "camembert": (("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"), 1),
}
"""By `model_type`, the tokens that families of fairseq have in place of the first pieces, and how many these are."""


def convert(
    model: Any,
    special: SpecialTokens | None = None,
    *,
    at_white_space: bool = False,
    named: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the contents of `tokenizer.json` and `tokenizer_config.json` for a model that `read_model` gave.

    special: which special token has which role, where it is not by their usual names. at_white_space: whether a model
    without rules of normalisation cuts texts at all white space, not at spaces alone. named: settings beside the model,
    whose tokens with a role go before usual names where they are pieces. Raises InputError where the model is neither
    Unigram nor BPE, or is BPE with user-defined symbols and changes texts more than by marks.
    """
    kind = model.trainer.model_type
    if kind not in (UNIGRAM_MODEL, BPE_MODEL) or (kind == BPE_MODEL and _defined(model) and not _keeps_texts(model)):
        if kind == BPE_MODEL:
            raise InputError(
                "is a BPE model of SentencePiece with user-defined symbols, and changes texts before it looks for "
                f"them, which no tokenizer.json does; {_BY_TRANSFORMERS}, whose ids are others where a text begins "
                "with a space or such a symbol"
            )
        raise InputError(f"is a model of SentencePiece, but neither Unigram nor BPE; {_BY_TRANSFORMERS}")
    names = frozenset(piece.piece for piece in model.pieces if piece.type != PieceType.NORMAL)
    is_xlnet = kind == UNIGRAM_MODEL and names >= _XLNET
    as_bert = is_xlnet or (kind == UNIGRAM_MODEL and names >= _ALBERT)
    is_deberta = kind == UNIGRAM_MODEL and names >= _DEBERTA and _MASK not in names
    vocabulary = [(piece.piece, piece.score) for piece in model.pieces]
    if as_bert:
        vocabulary = [(piece, score - _PENALTY * bool(_NUMBER_COMMA.fullmatch(piece))) for piece, score in vocabulary]
    elif not is_deberta:
        far = FAR * min((piece.score for piece in model.pieces), default=0.0)
        vocabulary = [(piece.piece, far if piece.type in _NOT_TEXT else piece.score) for piece in model.pieces]
    if kind == BPE_MODEL:
        tokenizer = _byte_pair_tokenizer(model)
    else:
        spaces = as_bert or (at_white_space and not model.normalizer.precompiled_charsmap)
        tokenizer = _tokenizer(
            model, vocabulary, named or {}, as_bert=as_bert, is_deberta=is_deberta, at_white_space=spaces
        )
    special = special or _with_named(model, _special_of(model, [_MASK] if is_deberta else []), named or {})
    json_parts.add_special(tokenizer, special)
    json_parts.set_template(tokenizer, special, types=True)
    data, config = json.loads(tokenizer.to_str()), json_parts.config_of(special, types=True)
    if is_xlnet:
        data["post_processor"] = _xlnet_rows(tokenizer)
        config["padding_side"] = "left"
    return data, config


def renumbered(model: Any, family: str) -> Any:
    """Return a model with its pieces in the order of a family of NUMBERINGS: its first tokens, the pieces, <mask>.

    Raises InputError where the first pieces are not <unk>, <s> and </s>.
    """
    first = [piece.piece for piece in model.pieces[:3]]
    if first != ["<unk>", "<s>", "</s>"]:
        raise InputError(
            f"its first pieces are {', '.join(first)}; expected <unk>, <s>, </s>, as in the model of {family}"
        )
    names, replaced = NUMBERINGS[family]
    result = type(model)()
    result.CopyFrom(model)
    del result.pieces[:]
    for name in names:
        result.pieces.add(piece=name, score=0.0, type=PieceType.UNKNOWN if name == "<unk>" else PieceType.CONTROL)
    result.pieces.extend(model.pieces[replaced:])
    result.pieces.add(piece="<mask>", score=0.0, type=PieceType.CONTROL)
    return result


def _tokenizer(
    model: Any,
    vocabulary: Sequence[tuple[str, float]],
    named: Mapping[str, Any],
    *,
    as_bert: bool,
    is_deberta: bool,
    at_white_space: bool,
) -> Any:
    """Return a `tokenizers.Tokenizer` of the pieces.

    named: settings beside the model. as_bert: normalize as ALBERT and XLNet do. is_deberta: strip before the
    normalisation of the model, and take unknown characters for unknown, though there are pieces for bytes.
    at_white_space: cut at all white space, as BERT's tokenizer does.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    [unknown] = [place for place, piece in enumerate(model.pieces) if piece.type == PieceType.UNKNOWN]
    tokenizer = Tokenizer(
        models.Unigram(list(vocabulary), unknown, bool(model.trainer.byte_fallback) and not is_deberta)
    )
    if not (as_bert or is_deberta) and _is_one_word(model):
        return _as_one_word(tokenizer, model)
    scheme = "always" if model.normalizer.add_dummy_prefix else "never"
    charsmap = model.normalizer.precompiled_charsmap
    parts: list[Any] = [normalizers.Precompiled(charsmap)] if charsmap else []
    if as_bert:
        parts = [*_without_case_and_accents(model, named), *parts]
    elif is_deberta:
        parts = [normalizers.Strip(), *parts, normalizers.Replace(Regex(" {2,}"), " ")]
    else:
        parts = _rules(model)
        if model.normalizer.remove_extra_whitespaces:
            parts += _without_extra_spaces(marks=_keeps_marks(model) and not at_white_space)
        only_marks = _keeps_marks(model) and not at_white_space
        if scheme == "always" and (only_marks or not model.normalizer.remove_extra_whitespaces):
            parts += [normalizers.Prepend(json_format.METASPACE)]  # also where a text begins with a mark
            scheme = "never"
    tokenizer.normalizer = normalizers.Sequence(parts)
    spaces = [pre_tokenizers.WhitespaceSplit()] if at_white_space or (is_deberta and not charsmap) else []
    metaspace = pre_tokenizers.Metaspace(json_format.METASPACE, scheme)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*spaces, metaspace])
    tokenizer.decoder = decoders.Metaspace(json_format.METASPACE, scheme)
    return tokenizer


def _is_one_word(model: Any) -> bool:
    """Tell whether a Unigram model has to see a text whole, as its words do not begin at spaces, or pieces cross them.

    So it is where no rules make spaces of white space and spaces are kept or not put before a text.
    """
    settings, mark = model.normalizer, json_format.METASPACE
    if model.trainer.treat_whitespace_as_suffix:
        return True
    if not settings.precompiled_charsmap and not (settings.add_dummy_prefix and settings.remove_extra_whitespaces):
        return True
    texts = (piece.piece for piece in model.pieces if piece.type in (PieceType.NORMAL, PieceType.USER_DEFINED))
    return any(mark in text[1:] for text in texts)


def _as_one_word(tokenizer: Any, model: Any) -> Any:
    """Give a `tokenizers.Tokenizer` the spaces of a model as SentencePiece has them: marks, and no words."""
    from tokenizers import Regex, decoders, normalizers

    suffix, mark = bool(model.trainer.treat_whitespace_as_suffix), json_format.METASPACE
    parts = _rules(model)
    if model.normalizer.remove_extra_whitespaces:
        parts += _without_extra_spaces(marks=_keeps_marks(model))
    if model.normalizer.add_dummy_prefix:
        parts += [normalizers.Replace(Regex(r"\z"), mark) if suffix else normalizers.Prepend(mark)]
    tokenizer.normalizer = normalizers.Sequence([*parts, normalizers.Replace(" ", mark)])
    strip = [decoders.Strip(" ", int(not suffix), int(suffix))] if model.normalizer.add_dummy_prefix else []
    spaces = decoders.Replace(mark, " ")
    tokenizer.decoder = decoders.Sequence([spaces, decoders.ByteFallback(), decoders.Fuse(), *strip])
    return tokenizer


def _keeps_marks(model: Any) -> bool:
    """Tell whether a mark of a space in a text stays one: rules of nmt_nfkc make a space of it, those of nfkc not."""
    charsmap = model.normalizer.precompiled_charsmap
    return not charsmap or Charsmap(charsmap).get(json_format.METASPACE) is None


def _without_extra_spaces(*, marks: bool) -> list[Any]:
    """Return the normalizers that leave single spaces between words.

    marks: whether marks of spaces at the end of a text go too, as SentencePiece takes them for spaces there.
    """
    from tokenizers import Regex, normalizers

    end = f"[ {json_format.METASPACE}]+" if marks else " +"
    return [normalizers.Replace(Regex(rf"\A +|{end}\z"), ""), normalizers.Replace(Regex(" {2,}"), " ")]


def _rules(model: Any) -> list[Any]:
    """Return the normalizers of a model's rules; those of families that transformers renumbers are as it has them."""
    from tokenizers import normalizers

    charsmap = model.normalizer.precompiled_charsmap
    first = tuple(piece.piece for piece in model.pieces[:4])
    if any(first == names[:4] for names, _ in NUMBERINGS.values()):
        return [normalizers.Precompiled(charsmap)] if charsmap else []
    try:
        if not charsmap:
            check_spaces(_defined(model))
            return []
        return around(steps(charsmap), kept_symbols(_defined(model), charsmap))
    except InputError as error:
        raise InputError(f"{error}, which no tokenizer.json does; {_BY_TRANSFORMERS}") from None
    except (ValueError, IndexError, struct.error) as error:
        raise InputError(f"the rules of its normalizer are damaged ({error}); get the file again") from error


def _byte_pair_tokenizer(model: Any) -> Any:
    """Return a `tokenizers.Tokenizer` of the pieces of a BPE model, which cuts a text as one word."""
    from tokenizers import AddedToken, Tokenizer, models

    ids = {piece.piece: place for place, piece in enumerate(model.pieces)}
    scores = {piece.piece: piece.score for piece in model.pieces if piece.type == PieceType.NORMAL}
    best_first = sorted(scores, key=lambda piece: (-scores[piece], ids[piece]))
    lengths = sorted({*map(len, scores)})
    merges = [
        (piece[:at], piece[at:])
        for piece in best_first
        for at in lengths
        if at < len(piece) and piece[:at] in scores and piece[at:] in scores
    ]
    [unknown] = [piece.piece for piece in model.pieces if piece.type == PieceType.UNKNOWN]
    fallback = bool(model.trainer.byte_fallback)
    tokenizer = _as_one_word(
        Tokenizer(models.BPE(ids, merges, unk_token=unknown, fuse_unk=True, byte_fallback=fallback)), model
    )
    tokenizer.add_tokens([AddedToken(piece, normalized=True, special=False) for piece in _defined(model)])
    return tokenizer


def _defined(model: Any) -> list[str]:
    """Return the user-defined symbols, which are found in a text before it is cut."""
    return [piece.piece for piece in model.pieces if piece.type == PieceType.USER_DEFINED]


def _keeps_texts(model: Any) -> bool:
    """Tell whether a model does nothing to a text but to put marks for spaces, as Gemma's."""
    settings = model.normalizer
    return not (settings.precompiled_charsmap or settings.add_dummy_prefix or settings.remove_extra_whitespaces)


def _without_case_and_accents(model: Any, named: Mapping[str, Any]) -> list[Any]:
    """Return the normalizers of ALBERT and XLNet, which drop case and accents as the class of settings says.

    Where they name no class, case and accents that no piece has are dropped.
    """
    from tokenizers import normalizers

    text = "".join(piece.piece for piece in model.pieces if piece.type == PieceType.NORMAL)
    lower, keep = text == text.lower(), any(map(unicodedata.combining, unicodedata.normalize("NFD", text)))
    if (name := class_of(named)) in CASE_AND_ACCENTS:
        usual = CASE_AND_ACCENTS[name]
        lower, keep = (bool(named.get(key, usual[key])) for key in ("do_lower_case", "keep_accents"))
    parts: list[Any] = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if not keep:
        parts += [normalizers.NFKD(), normalizers.StripAccents()]
    return parts + ([normalizers.Lowercase()] if lower else [])


def _special_of(model: Any, more: Sequence[str]) -> SpecialTokens:
    """Return the special tokens: the piece for unknown text, others by their usual names, and all control pieces."""
    [unknown] = [piece.piece for piece in model.pieces if piece.type == PieceType.UNKNOWN]
    control = [piece.piece for piece in model.pieces if piece.type == PieceType.CONTROL]
    special = json_format.special_tokens({}, {}, dict.fromkeys([*control, *more], 0))
    special = replace(special, unk=unknown)
    return replace(special, additional=tuple(piece for piece in control if piece not in special.names))


def _with_named(model: Any, special: SpecialTokens, named: Mapping[str, Any]) -> SpecialTokens:
    """Return special tokens with the roles that settings give to pieces."""
    pieces = {piece.piece for piece in model.pieces}
    tokens = {role: json_format.content_of(named.get(f"{role}_token")) for role in ("pad", "cls", "sep", "mask")}
    given = {role: token for role, token in tokens.items() if token in pieces}
    others = [token for token in special.names if token not in given.values()]
    result = replace(special, **given, additional=())
    return replace(result, additional=tuple(token for token in others if token not in result.names))


def _xlnet_rows(tokenizer: Any) -> dict[str, Any]:
    """Return the template A <sep> B <sep> <cls>, whose <cls> has a token type of its own."""
    from tokenizers.processors import TemplateProcessing

    tokenizer.post_processor = TemplateProcessing(
        single="$A <sep> <cls>:2",
        pair="$A <sep> $B:1 <sep>:1 <cls>:2",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("<sep>", "<cls>")],
    )
    template: dict[str, Any] = json.loads(tokenizer.to_str())["post_processor"]
    return template
