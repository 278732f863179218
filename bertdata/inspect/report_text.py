"""What `bertdata report` shows of the texts of a build: shares of the sources, documents, dropped pages, vocabulary."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from bertdata.documents import DROPPED_TEXTS
from bertdata.inspect.page import facts, grid, histogram, stacked
from bertdata.inspect.text_figures import Sample, TextFigures, doubling_bins
from bertdata.inspect.word_figures import WordFigures
from bertdata.io.console import Row, counted
from bertdata.io.markup import element
from bertdata.tokenizers.base import Tokenizer

RARE = 10
"""A token that is in train less often is rare."""
_SHOWN = 40


def source_shares(manifest: Mapping[str, Any]) -> list[Element]:
    """Return bars of the documents, the text and the tokens of each source; nothing where there is only one."""
    sources = manifest["sources"]
    if len(sources) < 2:
        return []
    documents = {name: source["counts"].get("documents", 0) for name, source in sources.items()}
    text = {name: source["counts"].get("text_bytes", 0) for name, source in sources.items()}
    tokens = {name: figures["tokens"] for name, figures in manifest.get("mix", {}).items()}
    named = {"documents": documents, "bytes of text": text, "tokens in train, one epoch": tokens}
    return [stacked(title, numbers) for title, numbers in named.items() if sum(numbers.values())]


def documents_part(text: TextFigures | None, sources: Mapping[str, Any]) -> list[Element]:
    """Return a histogram of the lengths of documents, and those that may not be prose; why not, without documents.

    sources: as the manifest has them; a folder of documents without records has none.
    """
    if text is None:
        return [element("p", "The stages of this build were deleted, and with them its documents.", class_="quiet")]
    remaining = sum(source["counts"].get("documents", 0) for source in sources.values()) or text.documents
    there, later = max(remaining, text.documents), max(0, text.documents - remaining)
    read = "all" if text.documents == there else f"{text.documents:,} of"
    mean = text.characters / max(1, text.documents)
    title = f"Characters of {read} {counted(there, 'document')}, {mean:,.0f} on average"
    title += f" (with {later:,} that later stages dropped)" if later else ""
    return [
        histogram(title, "characters", text.lengths, "documents"),
        _samples("The shortest", text.shortest, sources),
        _samples("The longest", text.longest, sources),
        _samples("Fewest letters: tables, lists and code that were left in show up here", text.oddest, sources),
    ]


def _samples(title: str, samples: Sequence[Sample], sources: Mapping[str, Any]) -> Element:
    cards = [_card(sample.name, _about(sample, sources), sample.start) for sample in samples]
    return element("div", element("h3", title), cards, class_="samples")


def _about(sample: Sample, sources: Mapping[str, Any]) -> str:
    """Return what is said of a document; its source where that is one of the build's and not the kind of several."""
    source = f"{sample.source}, " if not sources or sample.source in sources else ""
    return f"{source}{counted(sample.characters, 'character')}, {sample.letters:.0%} letters"


def _card(name: str, about: str, text: str) -> Element:
    head = element("h4", name, " ", element("span", about, class_="quiet"))
    return element("div", head, element("p", text), class_="sample")


def dropped_part(sources: Mapping[str, Any]) -> list[Element]:
    """Return samples of the documents that rules dropped, by reason: the beginning of each, or what stays of it."""
    by_reason: dict[str, list[Element]] = {}
    for name, source in sources.items():
        for reason, samples in source.get(DROPPED_TEXTS, {}).items():
            for _, document, title, text, *measured in samples:
                about = ", ".join([name, *([document] if title else []), *measured])
                line = " ".join(text.split()) or "(nothing stays of its text)"
                by_reason.setdefault(reason, []).append(_card(title or document, about, line))
    return [element("div", element("h3", reason), cards, class_="samples") for reason, cards in by_reason.items()]


def rejected_part(pages: Sequence[tuple[str, str]]) -> list[Element]:
    """Return a table of dropped pages with their reasons."""
    return [grid(("reason", "page"), pages)] if pages else []


def vocabulary_part(
    tokenizer: Tokenizer, words: WordFigures | None, counts: NDArray[np.int64] | None, where: str = "train"
) -> list[Element]:
    """Return how a vocabulary fits words, and its tokens that are rare; counts: how often each id is in `where`."""
    rows: list[Row] = [("tokens", f"{tokenizer.vocab_size:,}")]
    if words and words.words:
        rows += [
            ("tokens per word", f"{words.tokens / words.words:.3f}"),
            ("words of one token", f"{words.single_token_words / words.words:.2%}"),
            ("[UNK]", f"{words.unknown_tokens / max(1, words.tokens):.4%} of the tokens"),
            ("measured on", f"{counted(words.words, 'word')} {words.of}"),
        ]
    parts: list[Element] = []
    if counts is not None:
        more, parts = _rare(tokenizer, counts, where)
        rows += more
    if words and words.unknown_characters:
        named = [
            (f"{char} {unicodedata.name(char, f'U+{ord(char):04X}').lower()}", n)
            for char, n in words.unknown_characters
        ]
        parts.append(chips("Characters that become [UNK]", named))
    return [facts(rows), *parts]


def _rare(tokenizer: Tokenizer, counts: NDArray[np.int64], where: str) -> tuple[list[Row], list[Element]]:
    """Return rows on tokens that are rare, a histogram of how often tokens are there, and the rarest."""
    ordinary = np.ones(len(counts), np.bool_)
    ordinary[tokenizer.special_ids] = False
    never, rare = int((ordinary & (counts == 0)).sum()), int((ordinary & (counts > 0) & (counts < RARE)).sum())
    total = max(1, int(ordinary.sum()))
    rows = [
        (f"never in {where}", f"{counted(never, 'token')} ({never / total:.1%})"),
        (f"fewer than {RARE} times in {where}", f"{counted(rare, 'token')} ({rare / total:.1%})"),
    ]
    seen = np.flatnonzero(ordinary & (counts > 0))
    if not len(seen):
        return rows, []
    bins = [(0, 0, never), *doubling_bins(counts[seen])]
    drawn = histogram(f"How often the tokens of the vocabulary are in {where}", f"times in {where}", bins, "tokens")
    rarest = seen[np.argsort(counts[seen], kind="stable")][: max(_SHOWN, rare)]
    chosen = sorted({len(rarest) * place // _SHOWN for place in range(_SHOWN)})
    title = f"{len(chosen)} of the {counted(len(rarest), 'rarest token')} in {where}, and how often they are there"
    names = tokenizer.tokens if tokenizer.NOTATION else tokenizer.token_texts
    return rows, [drawn, chips(title, [(names[i], int(counts[i])) for i in rarest[chosen].tolist()])]


def chips(title: str, numbers: Sequence[tuple[str, int]]) -> Element:
    """Return names with their numbers side by side below a title."""
    chips = [
        element("li", element("code", name), " ", element("span", f"{number:,}", class_="quiet"))
        for name, number in numbers
    ]
    return element("div", element("h3", title), element("ul", chips, class_="chips"), class_="samples")
