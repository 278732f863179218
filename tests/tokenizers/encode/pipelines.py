"""Tokenizers that are put together of stages: of each kind of pre-tokenizer, normalizer and model, or at random."""

from __future__ import annotations

import json
import random
from typing import Any

from tokenizers import Tokenizer, models, trainers

from bertdata.tokenizers.json_format import METASPACE
from tests.oracles.byte_pairs import CL100K
from tests.tokenizers.small import (
    METASPACES,
    SPECIAL,
    byte_level,
    byte_pair_model,
    sequence,
    split_by,
    unigram_model,
)

O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""The pattern of o200k (OpenAI's tiktoken), which gpt-oss has."""
DEEPSEEK = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
)
"""The patterns of DeepSeek-V3, one after another."""
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
"""The pattern of CLIP, outside of whose matches everything is removed."""
Part = dict[str, Any]
DIGITS: Part = {"type": "Digits", "individual_digits": True}
PUNCTUATION: Part = {"type": "Punctuation", "behavior": "Isolated"}
BERT: Part = {
    "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
    "lowercase": True,
}  # fmt: skip
STRIP_RIGHT: Part = {"type": "Strip", "strip_left": False, "strip_right": True}
TO_MARKS: Part = {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}
ONE_SPACE: Part = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
RUNS_TO_MARK: Part = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": METASPACE}


def split(pattern: str, behavior: str, *, invert: bool = False, form: str = "Regex") -> Part:
    """Return a Split."""
    return {"type": "Split", "pattern": {form: pattern}, "behavior": behavior, "invert": invert}


def both(*parts: Part) -> Part:
    """Return a sequence of pre-tokenizers."""
    return {"type": "Sequence", "pretokenizers": list(parts)}


def numbered(names: list[str]) -> dict[str, int]:
    """Return a vocabulary."""
    return {name: token_id for token_id, name in enumerate([*SPECIAL, *names])}


LETTERS = [*"abcdeghlmnorstwTI\u00e9\u4e2d'1290.,", METASPACE]
PAIRS: Part = {
    "type": "BPE", "unk_token": "[UNK]", "vocab": numbered([*LETTERS, "lo", "low", "th", "the", METASPACE + "lo"]),
    "merges": ["l o", "lo w", "t h", "th e", METASPACE + " lo"],
}  # fmt: skip
OVER: Part = PAIRS | {
    "vocab": PAIRS["vocab"] | {name: len(PAIRS["vocab"]) + place for place, name in enumerate([">", ">" + METASPACE])},
    "merges": [*PAIRS["merges"], "> " + METASPACE],
}
"""A BPE with a token that reaches over a space, as one of Gemma 3's does."""
MARKED: Part = PAIRS | {
    "vocab": PAIRS["vocab"] | {name: len(PAIRS["vocab"]) + place for place, name in enumerate([".,", "e.", "'s"])},
    "merges": [". ,", "e .", "' s", *PAIRS["merges"]],
}
"""A BPE with tokens that reach over some marks of punctuation and not over others."""
LETTERS_OF_BYTES: Part = {
    "type": "BPE", "unk_token": "[UNK]", "byte_fallback": True, "merges": ["l o"],
    "vocab": numbered([*"abcdeghlmnorstwTI", "lo", *(f"<0x{byte:02X}>" for byte in range(256))]),
}  # fmt: skip
"""A BPE over letters of bytes, of which it has few, and with tokens for the bytes of the others."""
PIECES: Part = {
    "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 20,
    "vocab": numbered([*LETTERS, *("##" + letter for letter in LETTERS), "low", "##er", "the", "hello"]),
}  # fmt: skip
BYTES: Part = {
    "type": "Unigram", "unk_id": 1, "byte_fallback": True,
    "vocab": [*unigram_model()["vocab"], *([f"<0x{byte:02X}>", -12.0] for byte in range(256))],
}  # fmt: skip
"""A Unigram with pieces of bytes, which stand for characters that have none."""
WORDS: Part = {"type": "WordLevel", "unk_token": "[UNK]", "vocab": numbered(["low", "the", "a", "b", ".", "hello"])}

COMPOSED: dict[str, tuple[Part, Part | None, Part | None, list[str]]] = {
    "o200k": (byte_pair_model(), split_by(O200K), None, []),
    "deepseek": (
        byte_pair_model(), both(*(split(rule, "Isolated") for rule in DEEPSEEK), byte_level(use_regex=False)), None, [],
    ),
    "starcoder": (byte_pair_model(), both(DIGITS, byte_level()), None, ["foo", "  "]),
    "runs of digits": (byte_pair_model(), both(DIGITS | {"individual_digits": False}, byte_level()), None, []),
    "clip": (
        byte_pair_model(), both(split(CLIP, "Removed", invert=True), byte_level()),
        sequence({"type": "NFC"}, ONE_SPACE, {"type": "Lowercase"}), [],
    ),
    "byte-level nfkc": (byte_pair_model(), byte_level(), {"type": "NFKC"}, ["Hello", "\ufb01x"]),
    "byte-level lower-cased": (byte_pair_model(), byte_level(add_prefix_space=True), {"type": "Lowercase"}, []),
    "byte-level nfc with a space": (byte_pair_model(), byte_level(add_prefix_space=True), {"type": "NFC"}, []),
    "cl100k nfkd": (byte_pair_model(), split_by(CL100K), sequence({"type": "NFKD"}, {"type": "StripAccents"}), ["he"]),
    "herbert": (PAIRS, {"type": "BertPreTokenizer"}, BERT, []),
    "dnabert": (PAIRS, {"type": "Whitespace"}, None, ["the"]),
    "mpnet": (PIECES, {"type": "BertPreTokenizer"}, BERT, ["low", "H\u00e9llo"]),
    "cased": (PIECES, {"type": "BertPreTokenizer"}, BERT | {"strip_accents": False, "lowercase": False}, []),
    "camembert 2": (
        PIECES, both({"type": "WhitespaceSplit"}, PUNCTUATION, DIGITS),
        sequence({"type": "Replace", "pattern": {"String": "\u2019"}, "content": "'"}, {"type": "NFKC"}), [],
    ),
    "punctuation together": (
        PIECES, both(PUNCTUATION | {"behavior": "Contiguous"}, {"type": "WhitespaceSplit"}),
        sequence({"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}), ["a b"],
    ),
    "words": (WORDS, {"type": "Whitespace"}, None, []),
    "smiles": (WORDS, split(r"low|the|[a-z]|\[[^\]]+]|.", "Isolated"), None, []),
    "llama": (PAIRS, None, sequence({"type": "Prepend", "prepend": METASPACE}, TO_MARKS), []),
    "gemma": (PAIRS, split(" ", "MergedWithPrevious", form="String"), TO_MARKS, ["\n\n"]),
    "gemma 3": (OVER, None, TO_MARKS, []),
    "gemma with tokens over marks": (MARKED, None, TO_MARKS, []),
    "gemma with unknown ones together": (MARKED | {"fuse_unk": True}, None, TO_MARKS, []),
    "metaspace bpe": (PAIRS, METASPACES, None, ["the"]),
    "metaspace bpe with unknown ones together": (PAIRS | {"fuse_unk": True}, METASPACES, None, []),
    "metaspace bpe without unknown ones": (PAIRS | {"unk_token": None}, METASPACES, None, []),
    "byte-level with byte fallback": (LETTERS_OF_BYTES, byte_level(), None, []),
    "metaspace without cuts": (PAIRS, METASPACES | {"split": False}, {"type": "NFKC"}, ["the"]),
    "bge-m3": (
        unigram_model(), METASPACES, sequence({"type": "Nmt"}, {"type": "NFKC"}, STRIP_RIGHT, RUNS_TO_MARK), ["salt"],
    ),
    "unigram with bytes": (BYTES, METASPACES | {"prepend_scheme": "never"}, {"type": "NFKC"}, []),
    "unigram of words": (unigram_model(), {"type": "Whitespace"}, {"type": "NFKD"}, []),
    "spaces removed": (PIECES, split(" ", "Removed", form="String"), None, []),
    "white space removed": (byte_pair_model(), both(split(r"\s+", "Removed"), byte_level(use_regex=False)), None, []),
    "a comma and what follows": (PIECES, split(",", "MergedWithNext", form="String"), None, []),
    "numbers together": (PIECES, split(r"\p{N}", "Contiguous"), None, []),
    "lazy": (PIECES, split(r"a+?b|\p{L}{2,3}?|(?:ab)*c", "Isolated"), None, []),
}  # fmt: skip
"""Tokenizers that no kernel of a single kind encodes: model, pre-tokenizer, normalizer and added words."""

NORMALIZERS: list[Part] = [
    *({"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")),
    BERT, BERT | {"lowercase": False, "strip_accents": False}, STRIP_RIGHT, {**STRIP_RIGHT, "strip_left": True},
    ONE_SPACE, {"type": "Replace", "pattern": {"String": "\u2019"}, "content": "'"},
    {"type": "Replace", "pattern": {"String": "``"}, "content": '"'},
]  # fmt: skip
SPLITTERS: list[Part] = [
    {"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"}, PUNCTUATION, DIGITS,
    DIGITS | {"individual_digits": False}, PUNCTUATION | {"behavior": "Contiguous"},
    {"type": "CharDelimiterSplit", "delimiter": "e"}, split(O200K, "Isolated"), split(CL100K, "Removed", invert=True),
    split(DEEPSEEK[2], "Isolated"), split(CLIP, "Removed", invert=True), split(r"\s+", "Removed"),
    split(r"\p{Lu}", "MergedWithNext"), split(r"\p{P}", "MergedWithPrevious"), split(r"\p{L}", "Contiguous"),
]  # fmt: skip
ADDED = [
    "the",
    "New York",
    "caf\u00e9",
    "Holmes",
    " a",
    "\u4e2d",
    "e\u0301",
    " ",
    "\n",
    "  ",
    "ASK",
    "K]",
    "[",
    "UNK] ",
]
"""Words that may be added, of which some are white space and some lie within special tokens or begin there."""
MODELS = ("BPE", "suffixes", "byte-level", "Unigram", "WordPiece", "WordLevel", "Metaspace")


def drawn(seed: int, corpus: list[str], *, vocab_size: int = 1200) -> dict[str, Any]:
    """Return a tokenizer of parts that are drawn by a seed, trained on texts."""
    draw = random.Random(seed)
    normalizers = draw.sample(NORMALIZERS, draw.randrange(4))
    kind = draw.choice(MODELS)
    splitters = draw.sample(SPLITTERS, draw.randrange(1, 4))
    if kind == "byte-level":
        splitters = [*splitters, byte_level(use_regex=draw.random() < 0.5)]
    if kind == "Metaspace":
        splitters = [METASPACES]
    data = json.loads(Tokenizer(models.BPE()).to_str())
    data |= {"normalizer": sequence(*normalizers), "pre_tokenizer": both(*splitters)}
    data["model"] = _model(kind, draw)
    tokenizer = Tokenizer.from_str(json.dumps(data))
    settings: dict[str, Any] = {"vocab_size": vocab_size, "special_tokens": list(SPECIAL), "show_progress": False}
    tokenizer.train_from_iterator(corpus, _trainer(kind, settings))
    data = json.loads(tokenizer.to_str())
    words = draw.sample(ADDED, draw.randrange(5))
    if words:
        for word in words:
            flags = {name: draw.random() < 0.3 for name in ("single_word", "lstrip", "rstrip")}
            normalized = draw.random() < 0.5 and not word.isspace()  # of these some normalizers leave nothing
            tokenizer.add_tokens([_added(word, normalized=normalized, **flags)])
        data = json.loads(tokenizer.to_str())
    return dict(data)


def _added(word: str, **flags: bool) -> Any:
    from tokenizers import AddedToken

    return AddedToken(word, **flags)


def _model(kind: str, draw: random.Random) -> Part:
    unknown = "[UNK]"
    if kind == "WordPiece":
        limit = draw.choice([20, 100, 200])
        return {"type": kind, "vocab": {unknown: 0}, "unk_token": unknown, "continuing_subword_prefix": "##",
                "max_input_chars_per_word": limit}  # fmt: skip
    if kind == "WordLevel":
        return {"type": kind, "vocab": {unknown: 0}, "unk_token": unknown}
    if kind in ("Unigram", "Metaspace"):
        return {"type": "Unigram", "vocab": [[unknown, 0.0]], "unk_id": 0, "byte_fallback": False}
    model: Part = {"type": "BPE", "vocab": {unknown: 0}, "merges": [], "unk_token": unknown}
    if kind == "suffixes":
        model |= {"end_of_word_suffix": "</w>", "fuse_unk": draw.random() < 0.5}
    return model | ({"unk_token": None, "vocab": {}} if kind == "byte-level" else {})


def _trainer(kind: str, settings: dict[str, Any]) -> Any:
    if kind in ("Unigram", "Metaspace"):
        return trainers.UnigramTrainer(unk_token="[UNK]", **settings)
    if kind == "WordPiece":
        return trainers.WordPieceTrainer(**settings)
    if kind == "WordLevel":
        return trainers.WordLevelTrainer(**settings)
    if kind == "suffixes":
        return trainers.BpeTrainer(end_of_word_suffix="</w>", **settings)
    if kind == "byte-level":
        from tokenizers.pre_tokenizers import ByteLevel

        return trainers.BpeTrainer(initial_alphabet=ByteLevel.alphabet(), **settings)
    return trainers.BpeTrainer(**settings)
