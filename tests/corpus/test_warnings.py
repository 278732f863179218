"""Each warning comes where its corpus is bad, and no warning where it is not."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bertdata.corpus import left_out
from bertdata.corpus import warnings as corpus_warnings
from bertdata.corpus.advice import Choices
from bertdata.corpus.token_store import write_tokens
from bertdata.corpus.warning_lines import warning_lines
from bertdata.corpus.warnings import warnings_of
from bertdata.engine.parts import PartMetadata
from bertdata.io.compression import open_decompressed
from bertdata.sentences import SentenceSegmenter
from bertdata.tokenizers import Tokenizer
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from tests.data import data_path

ROOT = Path(__file__).resolve().parents[2]
NOUNS = ["river", "house", "winter", "letter", "garden", "clock", "bridge", "story"]


def english(number: int) -> str:
    """Return an English text of five sentences, another one for each number."""
    nouns = [NOUNS[(number * 3 + place * (number + 1)) % 8] for place in range(6)]
    return (
        f"The {nouns[0]} of {number} was not far from the {nouns[1]}. It had been there for {number + 3} years. "
        f"They were on their way to a {nouns[2]} which no one had seen. All that she could say of it was in the "
        f"{nouns[3]}. He would have been with them, if the {nouns[4]} had not broken the {nouns[5]}."
    )


def recorded(texts: Sequence[str], tokenizer: Tokenizer | None = None) -> PartMetadata:
    """Return the record of the token store of texts, without the file."""
    tokenizer = tokenizer or WordPieceTokenizer.from_pretrained("bertdata-30k-uncased")
    table = pa.table({"id": [str(n) for n in range(len(texts))], "text": pa.array(texts, pa.string())})
    counters = write_tokens([table], tokenizer, SentenceSegmenter.from_pretrained(), [1 << 16], pa.BufferOutputStream())
    return PartMetadata("tokens", "f", 1, "s", 0.0, counters.counts, counters.drops, counters.details)


def about(texts: Sequence[str], **settings: Any) -> list[str]:
    return [
        warning["about"]
        for warning in warnings_of({}, {"pieces": 30_000}, [recorded(texts)], sentences={"language": "en"}, **settings)
    ]


GOOD = [english(number) for number in range(40)]
GERMAN = "Der Fluss fließt langsam durch das Tal. Die Kinder spielten gestern noch lange vor dem alten Haus dort."


@pytest.mark.parametrize(
    ("texts", "warned"),
    [
        (GOOD, []),
        (["河流很长。它流经许多城市。盐在那里开采，房子很旧，花园很大。" * 3] * 4, ["[UNK]", "language"]),
        ([f"{GERMAN} Nummer {n} blieb stehen, weil niemand kam." for n in range(30)], ["language"]),
        ([f"<div><p>{text}</p><span>Home</span><a>More</a></div>" for text in GOOD], ["markup"]),
        ([text.replace("a", "Ã¤") for text in GOOD], ["broken characters"]),
        ([text.replace("n", "\ufffd", 2) for text in GOOD], ["broken characters"]),
        ([re.sub(r"((?:\S+ ){6})", r"\1\n\n", text.replace(".", ",")) for text in GOOD], ["line breaks"]),
        (["\n\n".join(["It was."] * 12 + [f"He had {n}."]) for n in range(30)], ["length of sentences"]),
        ([text.replace(".", " and") + "." for text in [" ".join(GOOD[n : n + 4]) for n in range(30)]],
         ["length of sentences"]),
        ([f"The {NOUNS[n % 8]} of {n} was in the house." for n in range(40)], ["length of documents"]),
        ([" ".join(GOOD * 3), *GOOD], ["one document"]),
        (GOOD[:25] * 2, ["copies"]),
    ],
)  # fmt: skip
def test_a_bad_corpus_is_warned_of_and_a_good_one_is_not(texts: list[str], warned: list[str]) -> None:
    assert [title for title in about(texts) if title in warned or not warned] == warned


def test_a_tag_and_a_broken_character_among_thousands_of_tokens_are_no_matter() -> None:
    assert recorded(GOOD).counts["tokens"] > 2000
    assert about([GOOD[0] + " </p>", GOOD[1] + " \ufffd", *GOOD[2:]]) == []


def test_the_warnings_of_a_build_are_a_block_of_lines_those_of_later_phases_with_their_names() -> None:
    copies_warning = {"about": "copies", "found": "half are copies", "remedy": "use --dedup"}
    two = {"about": "[UNK]", "found": "9% are [UNK]", "remedy": "train a vocabulary"}
    title = "(thresholds: docs/warnings.md)"
    lines = ["  copies: half are copies", "    use --dedup"]
    assert warning_lines({"warnings": [copies_warning]}) == [f"1 warning {title}", *lines]
    assert warning_lines({"warnings": [copies_warning, two]}) == [
        f"2 warnings {title}",
        *lines,
        "  [UNK]: 9% are [UNK]",
        "    train a vocabulary",
    ]
    assert warning_lines(
        {"phases": {"128": {"warnings": [copies_warning]}, "512": {"warnings": [copies_warning, two]}}}
    ) == [
        f"2 warnings {title}",
        *lines,
        "  phase 512, [UNK]: 9% are [UNK]",
        "    train a vocabulary",
    ]
    assert warning_lines({"warnings": []}) == warning_lines({}) == []


def test_on_a_terminal_the_lines_of_a_warning_are_wrapped_at_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertdata.io.console.terminal_columns", lambda: 26)
    copies_warning = {
        "about": "copies",
        "found": "half of all are copies",
        "remedy": "leave them out with --dedup exact",
    }
    assert warning_lines({"warnings": [copies_warning]})[1:] == [
        "  copies: half of all are",
        "    copies",
        "    leave them out with",
        "    --dedup exact",
    ]


def test_copies_are_no_matter_once_duplicates_are_left_out() -> None:
    assert about(GOOD[:25] * 2, deduplicated=True) == []


def test_a_source_of_which_most_is_dropped_is_warned_of_by_the_reason() -> None:
    counts = {"rows": 100, "documents": 30}
    source: dict[str, Any] = {"counts": counts, "drops": {"no text": 65, "empty": 5}}
    [warned] = warnings_of({"news": source}, {}, [])
    assert warned["found"] == "70.0% of the source news was dropped, most of it as: no text"
    source["drops"] = {"redirect": 65, "exact duplicate": 5}
    assert warnings_of({"news": source}, {}, []) == []


def test_a_vocabulary_far_smaller_than_asked_for_is_warned_of() -> None:
    [warned] = warnings_of({}, {"pieces": 900, "asked": 10_000}, [])
    assert warned["found"] == "the vocabulary has 900 of the 10,000 tokens asked for"
    assert warnings_of({}, {"pieces": 1000, "asked": 10_000}, []) == []
    assert warnings_of({}, {"pieces": 900}, []) == []


def test_the_page_on_warnings_states_each_threshold() -> None:
    page = (ROOT / "docs" / "warnings.md").read_text()
    rows = re.findall(r"\| ([0-9.]+) \| .* \| `([A-Z_]+)` \|$", page, re.M)
    stated = {
        (name, threshold)
        for threshold, name in [*rows, *re.findall(r"from (\d+)\s(?:documents|bytes) on \(`([A-Z_]+)`\)", page)]
    }
    every = vars(corpus_warnings) | vars(left_out)
    names = {name for name in every if re.fullmatch("(MOST|LEAST|FEWEST)_[A-Z_]+", name)}
    assert stated == {(name, f"{every[name]:g}") for name in names}


@pytest.mark.parametrize("path", ["wikipedia-plain/good-2019.jsonl.zst", "wikipedia-plain/featured-2019.jsonl.zst"])
def test_real_english_text_gives_no_warning(path: str) -> None:
    with open_decompressed(str(data_path(*path.split("/")))) as file:
        rows = [json.loads(line) for line in islice(file, 60)]
    assert about([str(row["text"]) for row in rows]) == []


def test_articles_of_another_language_than_the_sentence_parameters_are_warned_of() -> None:
    sources = {
        "wikipedia": {"drops": {}, "counts": {"pages": 3, "documents": 3}, "languages": {"ja": 1, "de": 2}},
        "news": {"drops": {}, "counts": {"rows": 5, "documents": 5}},
    }
    [warning] = warnings_of(sources, {}, [], sentences={"language": "en"})
    assert warning == {
        "about": "language of documents",
        "figure": 1.0,
        "threshold": corpus_warnings.MOST_OF_OTHER_LANGUAGES,
        "found": "100.0% of the documents are of another language (de, ja) than the sentence parameters (en)",
        "remedy": "give --sentences auto, which cuts each document by its language",
    }
    assert warnings_of(sources, {}, [], sentences={"language": ""}) == []
    chunks = Choices(objective="doc-chunks")
    assert warnings_of(sources, {}, [], sentences={"language": "en"}, choices=chunks) == []


@pytest.mark.parametrize(
    ("articles", "language", "remedy"),
    [
        ({"en": 5}, "de", "give --sentences english"),
        ({"de": 5}, "en", "give --sentences german"),
        ({"sv": 5}, "en", "give --sentences nltk:swedish"),
        ({"mt": 5}, "en", "give --sentences a folder from train-sentences"),
        ({"sv": 5, "en": 1}, "en", "give --sentences-of sv=nltk:swedish"),
        ({"ja": 5}, "en", "give --sentences auto"),
        ({"en": 89, "ru": 11}, "en", "give --sentences-of ru=russian"),
        ({"en": 90, "ru": 10}, "en", None),
        ({"simple": 5}, "en", None),
        ({"nn": 5, "nb": 5}, "no", None),
        ({"de-at": 5}, "de", None),
        ({}, "en", None),
    ],
)
def test_the_share_of_other_languages_decides(articles: dict[str, int], language: str, remedy: str | None) -> None:
    remedies = [warning["remedy"] for warning in corpus_warnings.of_languages(articles, language)]
    assert remedies == ([remedy] if remedy else [])


@pytest.mark.parametrize(("lost", "warned"), [(4_000, []), (6_000, ["text without prose"])])
def test_a_source_of_books_whose_text_is_mostly_in_no_document_is_named_with_the_reasons(
    lost: int, warned: list[str]
) -> None:
    left_out = {"no prose": lost - 500, "broken: not text": 500, "header and licence": 90_000}
    counts = {"books": 4, "documents": 4, "book_bytes": 100_000}
    counts |= {f"bytes left out, {reason}": number for reason, number in left_out.items()}
    warnings = list(corpus_warnings.of_sources({"novels": {"counts": counts, "drops": {}}}))
    assert [warning["about"] for warning in warnings] == warned
    if warnings:
        assert "60%" in str(warnings[0]["found"])
        assert "novels is in no document: no prose 5.5 kB, broken: not text 500 B" in str(warnings[0]["found"])


@pytest.mark.parametrize(("broken", "warned"), [(90_000, []), (110_000, ["text without prose"])])
def test_rows_that_are_broken_count_by_their_bytes_however_few_they_are(broken: int, warned: list[str]) -> None:
    counts = {"rows": 4, "documents": 3, "text_bytes": 60_000, "bytes dropped, filter min-characters=9": 40_000}
    counts["bytes dropped, not a JSON object"] = broken
    warnings = list(corpus_warnings.of_sources({"web": {"counts": counts, "drops": {"not a JSON object": 1}}}))
    assert [warning["about"] for warning in warnings] == warned
    share = "52% of the text of the source web is in no document: not a JSON object 110.0 kB"
    assert all(share in str(warning["found"]) for warning in warnings)


def test_pages_that_are_no_articles_are_no_loss_and_articles_without_prose_are() -> None:
    counts = {"pages": 9, "documents": 1, "wikitext_bytes": 100_000, "text_bytes": 20_000}
    counts |= {
        "bytes dropped, redirect": 10_000,
        "bytes dropped, not an article": 30_000,
        "bytes dropped, stub": 29_000,
    }
    assert not list(corpus_warnings.of_sources({"wiki": {"counts": counts, "drops": {}}}))
    counts |= {"bytes dropped, no prose": 2_000}
    [warning] = corpus_warnings.of_sources({"wiki": {"counts": counts, "drops": {}}})
    assert "52% of the text of the source wiki is in no document: stub 29.0 kB, no prose 2.0 kB" in str(
        warning["found"]
    )


@pytest.mark.parametrize(
    ("rows", "of_rows", "warned"), [(9, 600_000, True), (30, 9_000, True), (9, 9_000, False), (30, 4_000, False)]
)
def test_text_that_stages_took_out_counts_by_its_bytes(rows: int, of_rows: int, warned: bool) -> None:
    counts = {"rows": rows, "documents": rows - 1, "text_bytes": 5_000}
    counts |= {"bytes removed, near duplicate": of_rows - 1_000, "bytes removed, test data of a.txt": 1_000}
    warnings = list(corpus_warnings.of_sources({"web": {"counts": counts, "drops": {"near duplicate": 1}}}))
    assert [warning["about"] for warning in warnings] == (["removed text"] if warned else [])
    named = f"was taken out of them: near duplicate {(of_rows - 1_000) / 1000:.1f} kB, test data of a.txt 1.0 kB"
    assert all(named in str(warning["found"]) for warning in warnings)


@pytest.mark.parametrize(
    ("documents", "size", "share"),
    [(30, 600_000, "66.7% of the bytes"), (30, 300_000, ""), (3, 600_000, "66.7% of the bytes"), (30, 0, "")],
)
def test_a_filter_is_judged_by_bytes_too(documents: int, size: int, share: str) -> None:
    counts = {"rows": documents, "documents": documents - 1, "judged by min-characters=9": documents}
    counts |= {"dropped by min-characters=9": 1, "bytes judged by min-characters=9": size}
    counts |= {"bytes dropped by min-characters=9": 2 * size // 3}
    warnings = list(corpus_warnings.of_sources({"web": {"counts": counts, "drops": {"filter min-characters=9": 1}}}))
    assert [warning["about"] for warning in warnings] == (["filtered documents"] if share else [])
    assert all(f"dropped {share} of the source web that it saw" in str(warning["found"]) for warning in warnings)


def test_a_filter_that_drops_most_documents_is_named_by_documents() -> None:
    counts = {"rows": 30, "documents": 10, "judged by c4-quality": 30, "dropped by c4-quality": 20}
    counts |= {"bytes judged by c4-quality": 9_000_000, "bytes dropped by c4-quality": 8_000_000}
    [warning] = corpus_warnings.of_sources({"web": {"counts": counts, "drops": {"c4_few_sentences": 20}}})
    assert "dropped 66.7% of the documents of the source web" in str(warning["found"])
