"""The advice of every warning would change something in the build that it is given to, and warnings agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from bertdata.cli.main import parser_of
from bertdata.corpus.advice import Choices, of_one_document, of_short_documents
from bertdata.corpus.settings import Settings, choices_of
from bertdata.corpus.warnings import of_not_served, of_unknown, warnings_of
from bertdata.curation.settings import DedupConfig
from bertdata.engine.parts import PartMetadata
from bertdata.objectives.settings import ExamplesConfig
from bertdata.sentences.languages import base_code, code_of
from bertdata.shards.settings import ShardsConfig
from bertdata.sources.settings import CleaningConfig
from bertdata.tokenizers.settings import VocabularyConfig

DEFAULTS = Settings(CleaningConfig(), VocabularyConfig(), ShardsConfig())
FLAG = re.compile(r"--[a-z][a-z-]*")
VALUE = re.compile(r"(--[a-z][a-z-]*)[ ]([a-z0-9]+(?:[-=:][a-z0-9]+)*)")
OTHER_VERB = re.compile(r"`bertdata ([a-z-]+)([^`]*)`")
BAD = {
    "documents": 40,
    "tokens": 400,
    "sentences": 2,
    "unknown_tokens": 40,
    "text_bytes": 2000,
}
COPIED = [[7, 9]] * 40


def record(english: int, sentences: int = 2) -> PartMetadata:
    signs = {"english_function_words": english, "sentences_without_end": 2, "bytes_looked_at": 2000}
    signs |= {"closing_tags": 100, "broken_characters": 100}
    details = {"signs": signs, "sample": COPIED, "longest_document": 300}
    return PartMetadata("tokens", "f", 1, "s", 0.0, BAD | {"sentences": sentences}, {}, details)


def source(languages: dict[str, int], unit: str) -> dict[str, Any]:
    counts = dict.fromkeys(unit.split(), 40) | {"documents": 40}
    return {"wiki": {"counts": counts, "drops": {}, "languages": languages}}


STATES = [
    Choices(objective, dedup=dedup, language_model=model, split_chapters=chapters, whole_files=whole, reads=reads)
    for objective, dedup, model, chapters, whole, reads in product(
        ["nsp", "full-sentences", "joined-chunks"],
        DedupConfig.__dataclass_fields__["dedup"].metadata["choices"],
        ["", "py3langid"],
        [False, True],
        [False, True],
        [("wikipedia", "books"), ()],
    )
]
LANGUAGES = [
    (language, told, english, unit)
    for language, told, english, unit in product(
        ["en", "de", ""],
        [{}, {"en": 40}, {"it": 40}, {"de": 40}, {"en": 20, "it": 20}],
        [0, 100],
        ["pages", "rows books", "books"],
    )
]


def of(state: Choices, language: str, language_counts: dict[str, int], english: int, unit: str) -> list[dict[str, Any]]:
    vocabularies = [{"pieces": 900}, *([{"pieces": 900, "asked": 10_000}] if state.cleans else [])]
    return [
        warning
        for vocabulary in vocabularies
        for sentences in (2, 200)
        for warning in warnings_of(
            source(language_counts, unit),
            vocabulary,
            [record(english, sentences)],
            sentences={"language": language},
            choices=replace(state, plain_text="rows" in unit),
        )
    ]


def values_of(state: Choices, language: str) -> dict[str, set[str]]:
    """Return what a build has of the flags that warnings name."""
    return {
        "--objective": {state.objective},
        "--dedup": {state.dedup},
        "--language-model": {state.language_model},
    }


def changes(
    remedy: str, state: Choices, language: str, language_counts: dict[str, int], unit: str
) -> Iterator[tuple[str, bool]]:
    """Yield each flag that advice names, and whether it would change something."""
    has = values_of(state, language)
    for flag, value in VALUE.findall(remedy):
        if flag == "--sentences" and code_of(value):
            yield f"{flag} {value}", code_of(value) != language
        elif flag == "--language":
            can = "wikipedia" in state.reads or f"`bertdata clean-wikipedia --language {value}`" in remedy
            yield f"{flag} {value}", can and {base_code(code) for code in language_counts} != {value}
        elif flag in has:
            yield f"{flag} {value}", value not in has[flag] or f"of {flag} {value} are full" in remedy
    reads = (("--split-chapters", "books", state.split_chapters), ("--whole-files", "rows", state.whole_files))
    for flag, kind, given in reads:
        if flag in remedy:
            yield flag, kind in unit.split() and not given and (kind == "rows" or kind in state.reads)


@pytest.mark.costly
@pytest.mark.parametrize(("language", "language_counts", "english", "unit"), LANGUAGES)
def test_all_advice_changes_something(language: str, language_counts: dict[str, int], english: int, unit: str) -> None:
    seen = set()
    for state in STATES:
        for warning in of(state, language, language_counts, english, unit):
            assert warning["remedy"]
            for flag, differs in changes(warning["remedy"], state, language, language_counts, unit):
                assert differs, (flag, state, warning)
                seen.add(flag.partition(" ")[0])
    assert {"--dedup", "--objective"} <= seen
    assert ("--split-chapters" in seen) == ("books" in unit)
    assert ("--whole-files" in seen) == ("rows" in unit)


@pytest.mark.parametrize(("language", "language_counts", "english", "unit"), LANGUAGES)
def test_at_most_one_warning_is_about_the_language_and_one_language_is_advised(
    language: str, language_counts: dict[str, int], english: int, unit: str
) -> None:
    for vocabulary in ({"pieces": 900}, {"pieces": 900, "asked": 10_000}):
        warnings = warnings_of(
            source(language_counts, unit), vocabulary, [record(english, 2)], sentences={"language": language}
        )
        assert sum(warning["about"] in ("language", "language of documents") for warning in warnings) <= 1
        advised = {
            value for warning in warnings for flag, value in VALUE.findall(warning["remedy"]) if flag == "--sentences"
        }
        assert len(advised - {"auto"}) <= 1


@pytest.mark.costly
@pytest.mark.parametrize("verb", ["build", "build-shards"])
def test_every_flag_that_is_advised_is_one_of_the_command(verb: str) -> None:
    known = set(parser_of(verb)._option_string_actions)
    cleans = verb == "build"
    remedies = {
        warning["remedy"]
        for language, language_counts, english, unit in LANGUAGES
        for state in STATES[::17]
        for warning in of(
            replace(state, cleans=cleans, whole_files=not cleans), language, language_counts, english, unit
        )
    }
    remedies |= {entry["remedy"] for entry in of_not_served({"unknown": 9}, 10, Choices(cleans=cleans))}
    assert len(remedies) > 12
    assert {flag for remedy in remedies for flag in FLAG.findall(OTHER_VERB.sub("", remedy))} <= known
    others = {
        (other, flag) for text in remedies for other, rest in OTHER_VERB.findall(text) for flag in FLAG.findall(rest)
    }
    assert {flag for other, flag in others if flag not in parser_of(other)._option_string_actions} == set()
    assert ("clean-wikipedia", "--language") in others


@pytest.mark.parametrize(
    ("language", "language_counts", "english", "about", "remedy"),
    [
        ("en", {"it": 40}, 0, "language of documents", "give --sentences italian"),
        ("it", {"it": 40}, 0, "", ""),
        (
            "en",
            {"en": 40},
            0,
            "language",
            "the header of the dump says that it is English: say its language with --language CODE, and give "
            "--sentences of it: dutch, french, german, italian, polish, russian, spanish, nltk:LANGUAGE, or a folder "
            "from train-sentences",
        ),
        (
            "de",
            {"en": 40},
            0,
            "language of documents",
            "the text is not English: the header of the dump is wrong; say its language, as --language de",
        ),
        (
            "en",
            {"it": 40},
            100,
            "language of documents",
            "the text is English: the header of the dump is wrong; say its language, as --language en",
        ),
        ("de", {"en": 40}, 100, "language of documents", "give --sentences english"),
        ("en", {"en": 20, "it": 20}, 100, "language of documents", "give --sentences-of it=italian"),
        (
            "en",
            {},
            0,
            "language",
            "give --sentences of the language: dutch, french, german, italian, polish, russian, spanish, "
            "nltk:LANGUAGE, or a folder from train-sentences; for several, --sentences auto and --language-model "
            "py3langid cut each document by its language",
        ),
    ],
)
def test_what_the_sources_say_and_what_the_text_is_decide_together(
    language: str, language_counts: dict[str, int], english: int, about: str, remedy: str
) -> None:
    warnings = warnings_of(source(language_counts, "pages"), {}, [record(english)], sentences={"language": language})
    chosen = [(warning["about"], warning["remedy"]) for warning in warnings if warning["about"].startswith("language")]
    assert chosen == ([(about, remedy)] if about else [])


@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        ("source", "nothing says their language: give --language-model py3langid, or a column `language`"),
        ("py3langid", "the model does not know their language: give a column `language`, or --language-model lingua"),
        ("lingua", "the model does not know their language: give a column `language`, or --language-model py3langid"),
    ],
)
def test_of_documents_in_no_known_language_another_model_is_advised(model: str, remedy: str) -> None:
    [warning] = of_not_served({"unknown": 9}, 10, Choices(by_language=True, language_model=model))
    assert warning["remedy"] == remedy


def test_of_full_rows_the_objective_is_not_advised_again() -> None:
    state = Choices(objective=ExamplesConfig(objective="full-sentences").objective)
    remedies = {warning["about"]: warning["remedy"] for warning in of(state, "en", {}, 100, "rows")}
    assert "choose --objective" not in str(remedies["length of documents"])
    others = {
        warning["about"]: warning["remedy"] for warning in of(replace(state, objective="nsp"), "en", {}, 100, "rows")
    }
    assert "choose --objective full-sentences" in str(others["length of documents"])


def test_a_vocabulary_that_is_given_is_not_to_have_a_larger_alphabet() -> None:
    [given] = of_unknown(0.5, Choices())
    [trained] = of_unknown(0.5, Choices(trained=True))
    assert "--limit-alphabet" not in str(given["remedy"])
    assert "--vocab out" not in str(trained["remedy"])


@pytest.mark.parametrize("advice", [of_short_documents, of_one_document])
def test_blank_lines_of_plain_text_are_advised_where_there_is_plain_text_alone(advice: Any) -> None:
    assert ".txt" in advice(Choices(objective="nsp", plain_text=True))
    assert ".txt" not in advice(Choices(objective="nsp"))
    assert ".txt" not in advice(Choices(objective="nsp", plain_text=True, whole_files=True))


@pytest.mark.parametrize(("name", "is_plain"), [("a.txt.gz", True), ("a.jsonl", False), ("a.csv", False)])
def test_plain_text_is_known_by_the_files_of_a_build(name: str, is_plain: bool) -> None:
    assert choices_of(DEFAULTS, {"documents": [name]}).plain_text is is_plain


@pytest.mark.parametrize("about", ["length of sentences", "line breaks"])
def test_what_a_line_of_txt_is_is_said_to_builds_of_txt_alone(about: str) -> None:
    remedies = {
        unit: next(
            str(warning["remedy"]) for warning in of(Choices("nsp"), "en", {}, 100, unit) if warning["about"] == about
        )
        for unit in ("rows", "pages")
    }
    assert (".txt" in remedies["rows"], ".txt" in remedies["pages"]) == (True, False)
