"""`train_unigram`: a Unigram model (Kudo 2018) trained by SentencePiece from word counts."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from bertdata.errors import ConfigError, MissingExtraError
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.json_format import METASPACE
from bertdata.tokenizers.spm.proto import PieceType, read_model
from bertdata.tokenizers.training.reserved import unused_to
from bertdata.tokenizers.wordpiece.vocabulary import unused_tokens


def train_unigram(
    words: pa.Table,
    vocab_size: int,
    *,
    special: SpecialTokens,
    unused: int = 0,
    added: Sequence[str] = (),
    normalization: str = "nmt_nfkc",
    pad_to_multiple_of: int = 1,
) -> bytes:
    """Return a SentencePiece model of at most `vocab_size` pieces, as its `.model` file has it.

    `words` is a table of word and count, as `count_between_spaces` gives. Ids are those of `special`, `unused` slots
    ([unused0] ...), and the pieces by their scores. The words `added` are pieces, in the place of those with the lowest
    scores, with the score of the best piece, so that one is never cut. `normalization` is a rule of SentencePiece, such
    as nmt_nfkc or nmt_nfkc_cf. Those characters are kept that make 99.95% of the text, and all of ASCII that occur,
    as digits in a small corpus. The same counts give the same bytes: one thread, in the order of the words.

    Raises MissingExtraError without `sentencepiece`, and ConfigError where there is no special token for unknown text,
    an added word is several words once it is normalised, or SentencePiece finds the vocabulary too small.
    """
    if special.unk is None:
        raise ConfigError("there is no special token for unknown text, which Unigram needs: --special-tokens unk=<unk>")
    reserved = [*special.names, *unused_tokens(unused)]
    trained = _trained(words, vocab_size - len(reserved) + 1, special.unk, normalization)
    model = read_model(trained)
    chosen = {piece.piece: piece.score for piece in model.pieces if piece.type == PieceType.NORMAL}
    forms = _pieces_of(trained, added)
    excess = len(reserved) + len(chosen.keys() | set(forms)) - vocab_size
    last = [piece for piece in reversed(chosen) if len(piece) > 1 and piece not in forms]
    for piece in last[: max(0, excess)]:
        del chosen[piece]
    chosen |= dict.fromkeys(forms, max(chosen.values()))
    more = unused_to(pad_to_multiple_of, len(reserved) + len(chosen), unused)
    pieces = [
        *((token, 0.0, PieceType.UNKNOWN if token == special.unk else PieceType.CONTROL) for token in special.names),
        *((token, 0.0, PieceType.UNUSED) for token in unused_tokens(unused)),
        *((piece, score, PieceType.NORMAL) for piece, score in chosen.items()),
        *((token, 0.0, PieceType.UNUSED) for token in more),
    ]
    del model.pieces[:]
    for piece, score, kind in pieces:
        model.pieces.add(piece=piece, score=score, type=kind)
    for role, named in (("unk", special.unk), ("bos", special.cls), ("eos", special.sep), ("pad", special.pad)):
        setattr(model.trainer, f"{role}_id", -1 if named is None else reserved.index(named))
        setattr(model.trainer, f"{role}_piece", named or "")
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def _trained(words: pa.Table, vocab_size: int, unknown: str, normalization: str) -> bytes:
    """Return the model that SentencePiece trains, whose first piece is for unknown text."""
    trainer = sentencepiece().SentencePieceTrainer
    model = io.BytesIO()
    rows = list(zip(words["word"].to_pylist(), words["count"].to_pylist(), strict=True))
    characters = set().union(*(word for word, _ in rows))
    alphabet = sorted(character for character in characters if character.isascii() and character.isprintable())
    if normalization.endswith("_cf"):
        alphabet = sorted({character.lower() for character in alphabet})
    try:
        trainer.train(
            sentence_iterator=(f"{word}\t{count}" for word, count in rows),
            input_format="tsv",
            model_writer=model,
            model_type="unigram",
            vocab_size=vocab_size,
            hard_vocab_limit=False,
            normalization_rule_name=normalization,
            required_chars="".join(alphabet),
            max_sentence_length=1 << 30,
            shuffle_input_sentence=False,
            num_threads=1,
            unk_id=0,
            unk_piece=unknown,
            bos_id=-1,
            eos_id=-1,
            pad_id=-1,
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        remedy = "raise --vocab-size" if "vocab_size" in str(error) else "look at the words: is this ordinary text?"
        raise ConfigError(
            f"SentencePiece cannot train a vocabulary of {vocab_size} pieces from {words.num_rows} distinct words "
            f"({error}); {remedy}"
        ) from error
    return model.getvalue()


def sentencepiece() -> Any:
    """Return the module `sentencepiece`; raises MissingExtraError where it is not installed."""
    try:
        import sentencepiece as module
    except ImportError as error:
        raise MissingExtraError("sentencepiece", "sentencepiece") from error
    return module


def _pieces_of(model: bytes, words: Sequence[str]) -> list[str]:
    """Return the piece of each word as a whole, normalised as the model does it; ConfigError where that is cut."""
    normalizer = sentencepiece().SentencePieceProcessor(model_proto=model)
    pieces = list(dict.fromkeys(str(normalizer.Normalize(word)) for word in words))
    for piece in pieces:
        if piece.count(METASPACE) != 1 or len(piece) == 1:
            raise ConfigError(f"--add-tokens has {piece.lstrip(METASPACE)!r}, which is not one word; give single words")
    return pieces
