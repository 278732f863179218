"""Entries of registries that read a text beside cleaners, filters and formats, as functions of one text by name."""

from __future__ import annotations

import ast
import importlib
import importlib.util
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
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.training import VOCABULARY_MODELS
from tests.tokenizers.encode.pipelines import COMPOSED
from tests.tokenizers.encode.test_composed import composed

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
    """Return what takes a text in memory: tokenizers of all stages, languages of sentences, counts, scores.

    The pattern `a+?b` is left out: whatever looks for it reads on from each letter for its end.
    """
    stages = [kind for kind in COMPOSED if kind != "lazy"]
    runs: dict[str, Run] = {f"tokenizer of stages, {kind}": partial(_encoded, kind) for kind in stages}
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
