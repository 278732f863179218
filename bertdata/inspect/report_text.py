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
    documents = {name: one["counts"].get("documents", 0) for name, one in sources.items()}
    text = {name: one["counts"].get("text_bytes", 0) for name, one in sources.items()}
    tokens = {name: one["tokens"] for name, one in manifest.get("mix", {}).items()}
    named = {"documents": documents, "bytes of text": text, "tokens in train, once": tokens}
    return [stacked(title, numbers) for title, numbers in named.items() if sum(numbers.values())]


def documents_part(text: TextFigures | None, manifest: Mapping[str, Any]) -> list[Element]:
    """Return a histogram of the lengths of documents, and those that may not be prose; why not, without the stages."""
    if text is None:
        return [element("p", "The stages of this build were deleted, and with them its documents.", class_="quiet")]
    there = sum(one["counts"].get("documents", 0) for one in manifest["sources"].values())
    read = "all" if text.documents == there else f"{text.documents:,} of"
    mean = text.characters / max(1, text.documents)
    title = f"Characters of {read} {counted(there, 'document')}, {mean:,.0f} on average"
    return [
        histogram(title, "characters", text.lengths, "documents"),
        _samples("The shortest", text.shortest),
        _samples("The fewest letters: tables, lists and code that were not taken out are here first", text.oddest),
    ]


def _samples(title: str, samples: Sequence[Sample]) -> Element:
    items = []
    for one in samples:
        about = f"{one.source}, {counted(one.characters, 'character')}, {one.letters:.0%} letters"
        head = element("h4", one.name, " ", element("span", about, class_="quiet"))
        items.append(element("div", head, element("p", one.start), class_="sample"))
    return element("div", element("h3", title), items, class_="samples")


def dropped_part(manifest: Mapping[str, Any]) -> list[Element]:
    """Return a table of samples of the documents that rules dropped, with their reasons; nothing without any."""
    rows = [
        (name, reason, f"{document} ({title})" if title else document, " ".join(text.split()))
        for name, source in manifest["sources"].items()
        for reason, samples in source.get(DROPPED_TEXTS, {}).items()
        for _, document, title, text in samples
    ]
    return [grid(("source", "reason", "document", "beginning of the text, or what stays for it"), rows)] if rows else []


def rejected_part(pages: Sequence[tuple[str, str]]) -> list[Element]:
    """Return a table of dropped pages with their reasons."""
    return [grid(("reason", "page"), pages)] if pages else []


def vocabulary_part(tokenizer: Tokenizer, text: TextFigures | None, counts: NDArray[np.int64]) -> list[Element]:
    """Return how the vocabulary fits the documents, and its tokens that are rare in train."""
    ordinary = np.ones(len(counts), np.bool_)
    ordinary[tokenizer.special_ids] = False
    never, rare = int((ordinary & (counts == 0)).sum()), int((ordinary & (counts > 0) & (counts < RARE)).sum())
    total = max(1, int(ordinary.sum()))
    rows: list[Row] = [("tokens", f"{tokenizer.vocab_size:,}")]
    if text and text.words.words:
        words = text.words
        rows += [
            ("tokens per word", f"{words.tokens / words.words:.3f}"),
            ("words of one token", f"{words.single_token_words / words.words:.2%}"),
            ("[UNK]", f"{words.unknown_tokens / max(1, words.tokens):.4%} of the tokens"),
            ("measured on", f"{words.words:,} words of {counted(words.documents, 'document')}"),
        ]
    rows.append(("never in train", f"{never:,} tokens ({never / total:.1%})"))
    rows.append((f"fewer than {RARE} times in train", f"{rare:,} tokens ({rare / total:.1%})"))
    parts = [facts(rows)]
    seen = np.flatnonzero(ordinary & (counts > 0))
    if len(seen):
        bins = [(0, 0, never), *doubling_bins(counts[seen])]
        parts.append(histogram("How often the tokens of the vocabulary are in train", "times in train", bins, "tokens"))
    rarest = seen[np.argsort(counts[seen], kind="stable")][: max(_SHOWN, rare)]
    chosen = sorted({len(rarest) * place // _SHOWN for place in range(_SHOWN)}) if len(rarest) else []
    if chosen:
        title = f"{len(chosen)} of the {len(rarest):,} rarest tokens in train, and how often they are there"
        names = tokenizer.tokens if tokenizer.NOTATION else tokenizer.token_texts
        parts.append(_chips(title, [(names[i], int(counts[i])) for i in rarest[chosen].tolist()]))
    if text and text.words.unknown_characters:
        named = [
            (f"{char} {unicodedata.name(char, f'U+{ord(char):04X}').lower()}", n)
            for char, n in text.words.unknown_characters
        ]
        parts.append(_chips("Characters that become [UNK]", named))
    return parts


def _chips(title: str, numbers: Sequence[tuple[str, int]]) -> Element:
    chips = [
        element("li", element("code", name), " ", element("span", f"{number:,}", class_="quiet"))
        for name, number in numbers
    ]
    return element("div", element("h3", title), element("ul", chips, class_="chips"), class_="samples")
