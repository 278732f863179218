"""Entries of registries that read a text beside cleaners, filters and formats, as functions of one text by name."""

from __future__ import annotations

import ast
import base64
import importlib
import importlib.util
import io
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

import bertdata
from bertdata.curation import ACCOUNT_FUNCTIONS, LANGUAGE_MODELS
from bertdata.curation.languages import LanguageModel
from bertdata.curation.scores.terms import density, tables_of
from bertdata.registry import Registry
from bertdata.sentences import SentenceSegmenter
from bertdata.sentences.parameters import shipped_names
from bertdata.tokenizers.file_keys import PART_KEYS
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.spm.proto import read_model
from bertdata.tokenizers.training import VOCABULARY_MODELS
from tests.tokenizers.encode.pipelines import COMPOSED, PAIRS, PIECES, WORDS
from tests.tokenizers.encode.test_composed import composed
from tests.tokenizers.small import SMALL, byte_pair_model, json_tokenizer, unigram_model
from tests.tokenizers.test_file_keys import MADE, file_with

Run = Callable[[str], object]
TERMS = ["heart attack rate", "a a a", "a a", "heart", "1 2", "漢"]

READ_TEXT = {
    "CLEANERS": "cleaner", "FILTERS": "filter", "SOURCE_FORMATS": "", "TOKENIZERS": "tokenizer", "SCORES": "score",
    "LANGUAGE_MODELS": "language", "ACCOUNT_FUNCTIONS": "account", "VOCABULARY_MODELS": "words of",
}  # fmt: skip
"""Registries whose entries read text, and what the names of their readers begin with."""
READ_ROWS = {
    "OBJECTIVES": "token ids in the order of their documents",
    "MASK_UNITS": "rows of token ids",
    "TASKS": "labelled rows: the values of their files are read by tests.readers.file_readers",
    "KINDS": "the metadata of shards",
    "IMPORT_FORMATS": "shards and files of others, batch by batch",
    "EXPORT_FORMATS": "shards",
    "TRAINING_OBJECTIVES": "batches of ids",
    "METRICS": "sentences of at most as many tokens as a model has places",
    **dict.fromkeys(
        ("DISTILLATIONS", "OPTIMIZERS", "SENTENCE_LOSSES", "SCHEDULES", "TRACKERS", "HEADS", "FAMILIES", "LIBRARIES"),
        "no data: training",
    ),
}
"""Registries whose entries read no text, and what they read."""


def entry_readers() -> dict[str, Run]:
    """Return what takes a text in memory: tokenizers of each stage and of many, languages of sentences, counts, scores.

    The pattern `a+?b` is left out: whatever looks for it reads on from each letter for its end.
    """
    stages = [kind for kind in COMPOSED if kind != "lazy"]
    runs: dict[str, Run] = {f"tokenizer of stages, {kind}": partial(_encoded, kind) for kind in stages}
    runs |= {f"tokenizer of one kind, {kind}": partial(_small, kind) for kind in SMALL}
    for name in ("normalizer", "pre_tokenizer", "model"):
        runs |= {f"{name} {kind}": partial(_staged, name, kind) for kind in PART_KEYS[name] if _is_there(kind)}
    for language in shipped_names():
        runs[f"sentences of {language}"] = partial(_cut, language)
    for name in VOCABULARY_MODELS:
        config = VocabularyConfig(model=name, vocab_size=1000)
        runs[f"words of {name}"] = partial(_counted, name, config)
    for name in ACCOUNT_FUNCTIONS:
        runs[f"account {name}"] = ACCOUNT_FUNCTIONS[name].of
    runs["score terms"] = _dense
    if importlib.util.find_spec("py3langid"):
        runs["language py3langid"] = partial(_language, "py3langid")
    return runs


def _small(kind: str, text: str) -> object:
    return SMALL[kind].encode_batch([text])


MODELS = {model["type"]: model for model in (PAIRS, PIECES, WORDS, unigram_model())}


def _is_there(kind: str) -> bool:
    """Return whether a stage can be made here: a table of characters is made by SentencePiece."""
    return kind != "Precompiled" or importlib.util.find_spec("sentencepiece") is not None


def _staged(name: str, kind: str, text: str) -> object:
    return _stage(name, kind).encode_batch([text])


@cache
def _stage(name: str, kind: str) -> JsonTokenizer:
    """Return a tokenizer that has one stage of a kind, and nothing else that changes or cuts texts, but for spaces."""
    if name == "model":
        return json_tokenizer(MODELS[kind], None)
    if kind == "Precompiled":
        part: Any = {"type": kind, "precompiled_charsmap": base64.b64encode(_characters()).decode()}
    else:
        made = next(part for part in MADE[name] if type(part).__name__ == kind)
        part = file_with(name, made)[name]
    if name == "normalizer":
        return json_tokenizer(PIECES, {"type": "WhitespaceSplit"}, part)
    return json_tokenizer(byte_pair_model() if kind == "ByteLevel" else PIECES, part)


def _characters() -> bytes:
    """Return the table of characters of NFKC that SentencePiece writes into its models."""
    import sentencepiece

    file = io.BytesIO()
    settings: dict[str, Any] = {"vocab_size": 30, "hard_vocab_limit": False, "minloglevel": 2}
    texts = iter(["It rained all day.", "Nobody went out."] * 9)
    sentencepiece.SentencePieceTrainer.Train(sentence_iterator=texts, model_writer=file, **settings)
    table: bytes = read_model(file.getvalue()).normalizer.precompiled_charsmap
    return table


def _encoded(kind: str, text: str) -> object:
    return _composed(kind).encode_batch([text])


@cache
def _composed(kind: str) -> JsonTokenizer:
    return composed(kind)


def _cut(language: str, text: str) -> object:
    return _segmenter(language).segment(text)


@cache
def _segmenter(language: str) -> SentenceSegmenter:
    return SentenceSegmenter.from_pretrained(language)


def _counted(name: str, config: VocabularyConfig, text: str) -> object:
    return VOCABULARY_MODELS[name].count([text], config)


def _dense(text: str) -> object:
    return density(pa.array([text]), _tables())


@cache
def _tables() -> Any:
    return tables_of(TERMS)


def _language(name: str, text: str) -> object:
    return _classifier(name)(text)


@cache
def _classifier(name: str) -> Callable[[str], str]:
    model: LanguageModel = LANGUAGE_MODELS[name]
    return model.load()


@cache
def registries() -> dict[str, str]:
    """Return the modules of all registries of the package by the registries' names, found in its source."""
    root = Path(bertdata.__file__).parent
    modules: dict[str, str] = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "= Registry(" not in text:
            continue
        module = ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(text).body:
            match node:
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(func=ast.Name(id="Registry"))):
                    modules[name] = module
    return modules


def registry(name: str) -> Registry[Any]:
    """Return a registry of the package by its name."""
    entries: Registry[Any] = getattr(importlib.import_module(registries()[name]), name)
    return entries
