"""Hostile input: the cases of checkpoints, tokenizers and SentencePiece models that lie."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hostile_cases import PROSE, Case, case, put

from bertdata.tokenizers.spm import proto

LETTERS = [*"abcdefghijklmnopqrstuvwxyz.", " "]
Change = Callable[[dict[str, Any]], object]


def tokenizer_json(model: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """Return the contents of a tokenizer.json with [PAD], [UNK], [CLS], [SEP] and [MASK] as its first tokens."""
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    added = [{"id": place, "content": name, "special": True} for place, name in enumerate(names)]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"version": "1.0", "model": model, "added_tokens": [token_entry | flags for token_entry in added]} | parts


def byte_pairs(change: Change = lambda data: None, **parts: Any) -> dict[str, Any]:
    """Return the file of a BPE of letters after a change to it."""
    vocab = {name: place for place, name in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, "th"])}
    model = {"type": "BPE", "vocab": vocab, "merges": [["t", "h"]], "unk_token": "[UNK]"}
    data = tokenizer_json(model, **{"pre_tokenizer": {"type": "Whitespace"}} | parts)
    change(data)
    return data


def tokenized(folder: Path, data: dict[str, Any], *, right: bool = False) -> Case:
    """Return a case that tokenizes prose with a tokenizer.json; right: it has to go well, else to end in a message."""
    path = put(folder, "tokenizer.json", json.dumps(data).encode())
    command = ["tokenize", "--vocab", str(path), str(put(folder, "a.txt", PROSE.encode()))]
    return Case(command, (lambda out: True) if right else None, message=not right)


@case
def a_tokenizer_with_an_id_of_400_million(folder: Path) -> Case:
    return tokenized(folder, byte_pairs(lambda data: data["model"]["vocab"].update(zzz=400_000_000)))


@case
def a_tokenizer_with_an_id_of_a_half(folder: Path) -> Case:
    return tokenized(folder, byte_pairs(lambda data: data["model"]["vocab"].update(zzz=1.5)))


@case
def a_tokenizer_with_a_negative_id(folder: Path) -> Case:
    return tokenized(folder, byte_pairs(lambda data: data["model"]["vocab"].update(zzz=-1)))


@case
def a_tokenizer_whose_ids_are_truth_values(folder: Path) -> Case:
    return tokenized(folder, byte_pairs(lambda data: data["added_tokens"][1].update(id=True)))


@case
def a_tokenizer_with_two_tokens_of_one_id(folder: Path) -> Case:
    return tokenized(folder, byte_pairs(lambda data: data["model"]["vocab"].update(zzz=7)))


@case
def a_tokenizer_without_its_unknown_token(folder: Path) -> Case:
    return tokenized(folder, byte_pairs(lambda data: data["model"].update(unk_token="nowhere")))


@case
def a_tokenizer_whose_template_names_an_id_that_is_not_there(folder: Path) -> Case:
    processor = {"type": "BertProcessing", "sep": ["[SEP]", 999_999], "cls": ["[CLS]", 2]}
    return tokenized(folder, byte_pairs(post_processor=processor))


@case
def a_tokenizer_whose_template_has_no_ids(folder: Path) -> Case:
    return tokenized(folder, byte_pairs(post_processor={"type": "BertProcessing", "sep": [], "cls": []}))


@case
def a_tokenizer_whose_template_nests(folder: Path) -> Case:
    part: dict[str, Any] = {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    for _ in range(300):
        part = {"type": "Sequence", "processors": [part]}
    return tokenized(folder, byte_pairs(post_processor=part))


@case
def a_tokenizer_whose_normalizer_nests(folder: Path) -> Case:
    part: dict[str, Any] = {"type": "NFC"}
    for _ in range(300):
        part = {"type": "Sequence", "normalizers": [part]}
    return tokenized(folder, byte_pairs(normalizer=part))


@case
def a_tokenizer_whose_parts_have_lists_for_types(folder: Path) -> Case:
    return tokenized(folder, byte_pairs(normalizer={"type": ["NFC", "NFD"]}))


@case
def a_tokenizer_whose_decoder_is_unknown(folder: Path) -> Case:
    return tokenized(folder, byte_pairs(decoder={"type": "Newer"}))


@case
def a_tokenizer_whose_pattern_is_broken(folder: Path) -> Case:
    split = {"type": "Split", "pattern": {"Regex": "(((("}, "behavior": "Isolated", "invert": False}
    return tokenized(folder, byte_pairs(pre_tokenizer=split))


def split_by(folder: Path, pattern: str, text: str) -> Case:
    """Return a case that tokenizes a text by a tokenizer.json that splits it at a pattern: tokens or a message."""
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    made = tokenized(folder, byte_pairs(pre_tokenizer=split))
    put(folder, "a.txt", text.encode())
    return Case(made.command, lambda out: True)


@case
def a_tokenizer_whose_pattern_tries_every_division(folder: Path) -> Case:
    return split_by(folder, "(a+)+b", "a" * 300)


@case
def a_tokenizer_whose_pattern_tries_every_alternative(folder: Path) -> Case:
    return split_by(folder, "(?:a|a|a)*b", "a" * 300)


@case
def a_tokenizer_whose_pattern_calls_itself(folder: Path) -> Case:
    return split_by(folder, r"(?<p>a\g<p>?b?)", "a" * 100_000)


@case
def a_tokenizer_whose_pattern_matches_nothing(folder: Path) -> Case:
    return split_by(folder, "(?=a)|", "a cat sat." * 100)


@case
def a_tokenizer_whose_pattern_looks_behind_without_a_bound(folder: Path) -> Case:
    return split_by(folder, "(?<=a+)b", "aab" * 100)


@case
def a_tokenizer_whose_pattern_repeats_a_thousand_million_times(folder: Path) -> Case:
    return split_by(folder, "(?:a{1000}){1000}{1000}", "a" * 2_000)


@case
def a_tokenizer_with_a_million_added_tokens(folder: Path) -> Case:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)

    def change(data: dict[str, Any]) -> None:
        first = len(data["model"]["vocab"])
        data["added_tokens"] += [
            {"id": first + number, "content": f"w{number}q"} | flags for number in range(1_000_000)
        ]

    return tokenized(folder, byte_pairs(change), right=True)


@case
def a_tokenizer_of_20000_alternatives(folder: Path) -> Case:
    pattern = "|".join(f"w{number}" for number in range(20_000))
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return tokenized(folder, byte_pairs(pre_tokenizer=split), right=True)


@case
def a_tokenizer_with_a_piece_twice(folder: Path) -> Case:
    pieces = [[name, -1.0] for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, "a")]
    model = {"type": "Unigram", "unk_id": 1, "vocab": pieces}
    return tokenized(folder, tokenizer_json(model))


@case
def a_tokenizer_whose_scores_are_not_numbers(folder: Path) -> Case:
    pieces = [[name, float("nan")] for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS)]
    return tokenized(folder, tokenizer_json({"type": "Unigram", "unk_id": 1, "vocab": pieces}))


@case
def a_vocabulary_of_five_million_lines(folder: Path) -> Case:
    path = put(folder, "vocab.txt", b"".join(b"w%d\n" % number for number in range(5_000_000)))
    return Case(["tokenize", "--vocab", str(path), str(put(folder, "a.txt", PROSE.encode()))])


def sentencepiece(folder: Path, change: Callable[[Any], object], *, cut: int | None = None) -> Case:
    """Return a case that tokenizes prose with a SentencePiece model after a change to it."""
    model = proto._message()()
    model.trainer.model_type = proto.UNIGRAM_MODEL
    kinds = {"<unk>": proto.PieceType.UNKNOWN, "<s>": proto.PieceType.CONTROL, "</s>": proto.PieceType.CONTROL}
    for piece in (*kinds, *"abcdefghijklmnopqrstuvwxyz", "\u2581", "\u2581the"):
        model.pieces.add(piece=piece, score=0.0 if piece in kinds else -2.0, type=kinds.get(piece, 1))
    change(model)
    path = put(folder, "spiece.model", model.SerializeToString()[:cut])
    return Case(["tokenize", "--vocab", str(path), str(put(folder, "a.txt", PROSE.encode()))])


@case
def a_sentencepiece_model_with_a_piece_twice(folder: Path) -> Case:
    return sentencepiece(folder, lambda model: model.pieces.add(piece="a", score=-3.0, type=1))


@case
def a_sentencepiece_model_with_an_empty_piece(folder: Path) -> Case:
    return sentencepiece(folder, lambda model: model.pieces.add(piece="", score=-3.0, type=1))


@case
def a_sentencepiece_model_whose_scores_are_not_numbers(folder: Path) -> Case:
    return sentencepiece(folder, lambda model: model.pieces.add(piece="zz", score=float("nan"), type=1))


@case
def a_sentencepiece_model_with_an_unknown_kind_of_piece(folder: Path) -> Case:
    return sentencepiece(folder, lambda model: model.pieces.add(piece="zz", score=-3.0, type=77))


@case
def a_sentencepiece_model_that_was_cut_off(folder: Path) -> Case:
    return sentencepiece(folder, lambda model: None, cut=-5)


@case
def a_sentencepiece_model_with_a_broken_table_of_characters(folder: Path) -> Case:
    return sentencepiece(folder, lambda model: setattr(model.normalizer, "precompiled_charsmap", b"\xff" * 50))


@case
def a_byte_pair_model_of_sentencepiece_with_a_piece_of_a_million_letters(folder: Path) -> Case:
    def change(model: Any) -> None:
        model.trainer.model_type = proto.BPE_MODEL
        model.pieces.add(piece="x" * 1_000_000, score=-3.0, type=1)

    made = sentencepiece(folder, change)
    return Case(made.command, lambda out: True)


def checkpoint(folder: Path, change: Callable[[Path], object], *flags: str) -> Case:
    """Return a case that goes on with the pretraining of a model after a change to its folder."""
    from bertdata import load_tokenizer
    from bertdata.torch import BertConfig, BertForPreTraining

    tokenizer = load_tokenizer("bertdata-30k-uncased")
    place = folder / "in" / "model"
    BertForPreTraining(BertConfig.tiny(vocab_size=tokenizer.vocab_size)).save_pretrained(place)
    change(place)
    command = ["pretrain", os.environ["BERTDATA_HOSTILE_BUILD"], "--config", str(place), "--max-steps", "1"]
    return Case([*command, "--batch-size", "2", "--output", str(folder / "out"), *flags])


def header(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Return a change of the header of a checkpoint's weights."""

    def apply(place: Path) -> None:
        path = place / "model.safetensors"
        data = path.read_bytes()
        (size,) = struct.unpack("<Q", data[:8])
        values = json.loads(data[8 : 8 + size])
        change(values)
        text = json.dumps(values).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])

    return apply


def config(**values: Any) -> Callable[[Path], None]:
    """Return a change of a checkpoint's config.json."""

    def apply(place: Path) -> None:
        path = place / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    return apply


EMBEDDINGS = "bert.embeddings.word_embeddings.weight"


@case
def weights_that_lie_past_the_end(folder: Path) -> Case:
    return checkpoint(folder, header(lambda values: values[EMBEDDINGS].update(data_offsets=[0, 10**12])))


@case
def weights_that_overlap(folder: Path) -> Case:
    first = "bert.embeddings.LayerNorm.bias"
    return checkpoint(
        folder, header(lambda values: values[EMBEDDINGS].update(data_offsets=values[first]["data_offsets"]))
    )


@case
def weights_of_a_huge_shape(folder: Path) -> Case:
    return checkpoint(folder, header(lambda values: values[EMBEDDINGS].update(shape=[10**9, 10**9])))


@case
def weights_that_are_whole_numbers(folder: Path) -> Case:
    return checkpoint(folder, header(lambda values: values[EMBEDDINGS].update(dtype="I32")))


@case
def weights_whose_header_is_said_to_be_huge(folder: Path) -> Case:
    def change(place: Path) -> None:
        path = place / "model.safetensors"
        path.write_bytes(struct.pack("<Q", 1 << 62) + path.read_bytes()[8:])

    return checkpoint(folder, change)


@case
def weights_that_are_not_numbers(folder: Path) -> Case:
    def change(place: Path) -> None:
        path = place / "model.safetensors"
        data = path.read_bytes()
        path.write_bytes(data[:-400] + np.full(100, np.nan, np.float32).tobytes())

    return checkpoint(folder, change)


@case
def a_checkpoint_that_is_a_pickle(folder: Path) -> Case:
    def change(place: Path) -> None:
        (place / "model.safetensors").unlink()
        (place / "pytorch_model.bin").write_bytes(b"\x80\x04N.")

    return checkpoint(folder, change)


@case
def a_config_of_a_thousand_million_layers(folder: Path) -> Case:
    return checkpoint(folder, config(num_hidden_layers=10**9))


@case
def a_config_of_a_huge_width(folder: Path) -> Case:
    return checkpoint(folder, config(hidden_size=1 << 24, num_attention_heads=2, intermediate_size=1 << 24))


@case
def a_config_without_numbers(folder: Path) -> Case:
    return checkpoint(folder, config(initializer_range=float("nan"), hidden_size="wide"))


@case
def a_config_whose_type_is_a_list(folder: Path) -> Case:
    return checkpoint(folder, config(model_type=["bert"]))
