"""The page of `bertdata report` on folders that hold no shards: documents, a vocabulary, and others with their figures.

What is said of documents comes from their records and a sample of them. A vocabulary of `bertdata train-vocab` is
measured on all words that it was trained on, which its stages keep.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element

from bertdata.corpus import ledger, summary
from bertdata.corpus.advice import Choices
from bertdata.corpus.manifest import source_entry
from bertdata.corpus.warnings import of_sources, of_unknown, of_vocabulary
from bertdata.engine.byte_ranges import Stream, read_stream
from bertdata.engine.origin import Origin, read_origin
from bertdata.engine.parts import PartMetadata, read_record
from bertdata.inspect.folders import DOCUMENTS, VOCABULARY, Folder
from bertdata.inspect.page import code_spans, facts, grid, histogram, page, stacked
from bertdata.inspect.report_ledger import ledger_part, warnings_part
from bertdata.inspect.report_text import (
    chips,
    documents_part,
    dropped_part,
    rejected_part,
    source_shares,
    vocabulary_part,
)
from bertdata.inspect.text_figures import measure_text, rejected_pages, spaced_parts
from bertdata.inspect.word_figures import CountedFigures, measure_counted
from bertdata.io import files, listing
from bertdata.io.console import byte_size, counted
from bertdata.io.markup import element
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer
from bertdata.tokenizers.training.stage import WordCount

_SHOWN = 40


def folder_report_html(path: str, folder: Folder, vocabulary: str = "") -> str:
    """Return the page of a folder that `folders.describe` knows; vocabulary: what documents are measured with."""
    if folder.kind == DOCUMENTS:
        return _documents(path, vocabulary)
    if folder.kind == VOCABULARY:
        return _vocabulary(path, folder)
    samples = [element("div", element("p", text), class_="sample") for text in folder.shown]
    sections = {"What it holds": [facts(folder.rows, folder.used_by)], "Some of it": samples}
    title = folder.kind[0].upper() + folder.kind[1:].replace("`", "")
    return page(title, _made(read_origin(path)[0]), {}, sections)


def _made(origin: Origin | None) -> str:
    return f"Made by `bertdata {origin.command}`." if origin else ""


def _settings(origin: Origin | None) -> list[Element]:
    """Return the settings that a folder was made with, folded."""
    if not origin:
        return []
    text = json.dumps(origin.settings, indent=1, sort_keys=True)
    return [element("details", element("summary", "settings"), element("pre", text))]


def _documents(path: str, vocabulary: str) -> str:
    sizes = {name: entry.size for name, entry in listing.entries(path).items() if name.endswith(".parquet")}
    records = [record for name in sizes if (record := read_record(_record_of(path, name)))]
    sources = _sources(records)
    origin = read_origin(path)[0]
    tokenizer = load_tokenizer(vocabulary) if vocabulary else None
    text = measure_text(spaced_parts(path), tokenizer)
    count = sum(source["counts"].get("documents", 0) for source in sources.values())
    dropped = sum(sum(source["drops"].values()) for source in sources.values())
    size = sum(source["counts"].get("text_bytes", 0) for source in sources.values())
    tiles = {"files": f"{len(sizes):,}"}
    if sources:
        tiles = {"documents": f"{count:,}", "text": byte_size(size), "dropped": f"{dropped:,}"} | tiles
    if text:
        tiles |= {"mean characters": f"{text.characters / text.documents:,.0f}"}
        tiles |= {} if sources else {"documents read": f"{text.documents:,}"}
    warnings = list(of_sources(sources))
    fit: list[Element] = []
    if tokenizer and text and text.words:
        warnings += of_unknown(text.words.unknown_tokens / max(1, text.words.tokens))
        fit = vocabulary_part(tokenizer, text.words, None)
    languages = {name: source["languages"] for name, source in sources.items() if "languages" in source}
    sections = {
        "Warnings": warnings_part(warnings),
        "From inputs to documents": ledger_part(ledger.source_steps(sources), sources),
        "Sources": source_shares({"sources": sources}),
        "Languages": [stacked(f"documents of {name}", numbers) for name, numbers in languages.items()],
        "Documents": documents_part(text, sources) if text else [element("p", "There are none.", class_="quiet")],
        "Dropped documents": dropped_part(sources),
        "Dropped pages": rejected_part(rejected_pages(path)),
        f"The vocabulary of {vocabulary}": fit,
        "The table": [facts(summary.source_rows(sources))] if sources else [],
        "Files and settings": [_files(path, sizes), *_settings(origin)],
    }
    title = f"{counted(count or (text.documents if text else 0), 'document')}"
    names = f" Sources: {', '.join(sources)}." if sources else " There are no records of how they were made."
    return page(title, f"{_made(origin)}{names}".strip(), tiles, sections)


def _record_of(path: str, name: str) -> str:
    return files.join(path, name.removesuffix(".parquet") + ".json")


def _sources(records: list[PartMetadata]) -> dict[str, Any]:
    """Return the entry of each kind of source, as a manifest has them, from the records of parts of documents."""
    by_kind: defaultdict[str, list[PartMetadata]] = defaultdict(list)
    for record in records:
        by_kind[str(record.details.get("kind", "documents"))].append(record)
    return {kind: source_entry([], of_kind) for kind, of_kind in by_kind.items()}


def _files(path: str, sizes: Mapping[str, int]) -> Element:
    rows = []
    for name, size in sizes.items():
        record = read_record(_record_of(path, name))
        number, digest = (f"{record.counts.get('documents', 0):,}", record.sha256[:16]) if record else ("", "")
        rows.append((name, number, f"{size:,}", digest))
    table = grid(("file", "documents", "bytes", "SHA-256, first 16 digits"), rows)
    return element("details", element("summary", counted(len(sizes), "file")), table)


def _vocabulary(path: str, folder: Folder) -> str:
    tokenizer, origin = load_tokenizer(path), read_origin(path)[0]
    fit = _fit(path, tokenizer)
    warnings = list(of_vocabulary(_account(path, origin)))
    tiles = {"tokens": f"{tokenizer.vocab_size:,}"}
    if fit:
        words = fit.words
        unknown = words.unknown_tokens / max(1, words.tokens)
        warnings += of_unknown(unknown, Choices(trained=True))
        tiles |= {
            "words": f"{words.words:,}",
            "tokens per word": f"{words.tokens / max(1, words.words):.3f}",
            "words of one token": f"{words.single_token_words / max(1, words.words):.1%}",
            "[UNK]": f"{unknown:.3%}",
        }
    sections = {
        "Warnings": warnings_part(warnings),
        "Tokens": _tokens(tokenizer),
        "The words that it was trained on": _words(tokenizer, fit),
        "The table": [facts(folder.rows, folder.used_by)],
        "Settings": _settings(origin),
    }
    return page(f"A vocabulary of {tokenizer.vocab_size:,} tokens", _made(origin), tiles, sections)


def _fit(path: str, tokenizer: Tokenizer) -> CountedFigures | None:
    """Return how a vocabulary fits the words it was trained on: of its own stages, or of those of its build."""
    for root in (path, files.join(path, "..")):
        place = files.join(root, "stages", "merged-words")
        sizes = {name: entry.size for name, entry in listing.entries(place).items() if name.endswith(".arrow")}
        if sizes:
            tables = (read_stream(Stream(files.join(place, name), "", 0, size)) for name, size in sizes.items())
            return measure_counted(tokenizer, tables)
        if files.is_remote(path):
            break
    return None


def _account(path: str, origin: Origin | None) -> dict[str, int]:
    """Return how many tokens a vocabulary has and how many were asked for, where its stages say it."""
    record = read_record(files.join(path, "stages", "vocabulary", "vocab.json"))
    asked = origin.settings.get("VocabularyConfig", {}).get("vocab_size") if origin else None
    return {"pieces": record.counts[WordCount.PIECES], "asked": asked} if record and asked else {}


def _tokens(tokenizer: Tokenizer) -> list[Element]:
    """Return what kinds of tokens there are: special ones, those that begin words, their scripts, their lengths."""
    special = set(tokenizer.special_ids)
    ordinary = [place for place in range(tokenizer.vocab_size) if place not in special]
    texts = [tokenizer.token_texts[place] for place in ordinary]
    reserved = sum(tokenizer.is_reserved(tokenizer.tokens[place]) for place in ordinary)
    kinds = {"special": len(special), "reserved": reserved}
    if tokenizer.continuation is None:
        kinds["of text"] = len(ordinary) - reserved
    else:
        continuing = int(tokenizer.continuation[ordinary].sum())
        kinds |= {"begin a word": len(ordinary) - reserved - continuing, "continue a word": continuing}
    scripts = Counter(_script(text) for text in texts)
    longest = sorted(set(texts), key=lambda text: (-len(text), text))[:_SHOWN]
    lengths = [(n, n, number) for n, number in sorted(Counter(map(len, texts)).items())]
    return [
        stacked("kinds", {name: number for name, number in kinds.items() if number}),
        stacked("scripts", dict(scripts)),
        histogram("Characters of a token", "characters", lengths, "tokens"),
        chips("The longest tokens, and how many characters they have", [(text, len(text)) for text in longest]),
    ]


def _script(text: str) -> str:
    """Return the script of the first letter of a token, or what else is in it.

    >>> [_script(text) for text in ("salt", "'s", "соль", "1990", "...", "塩")]
    ['latin', 'latin', 'cyrillic', 'digits', 'punctuation and symbols', 'cjk']
    """
    for char in text:
        if char.isalpha():
            return unicodedata.name(char, "other").partition(" ")[0].lower()
    return "digits" if any(char.isdigit() for char in text) else "punctuation and symbols"


def _words(tokenizer: Tokenizer, fit: CountedFigures | None) -> list[Element]:
    if fit is None:
        text = (
            "They are not there: the vocabulary is not from `bertdata train-vocab`, or its stages were deleted. "
            "`bertdata report DOCUMENTS --vocab PATH` measures it on a folder of documents."
        )
        return [element("p", code_spans(text), class_="quiet")]
    bins = [(n, n, number) for n, number in enumerate(fit.lengths) if n]
    rows = [(word, f"{times:,}", " ".join(tokens)) for word, times, tokens in fit.costliest]
    title = "The words that cost most: those whose tokens over one each, times how often they are there, are most"
    costly = element("div", element("h3", title), grid(("word", "times", "its tokens"), rows), class_="samples")
    fits = vocabulary_part(tokenizer, fit.words, fit.token_counts, "these words")
    return [*fits, histogram("Tokens of a word", "tokens", bins, "words"), *([costly] if rows else [])]
