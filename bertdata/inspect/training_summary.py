"""`bertdata report --training-summary`: what a build knows for the summary of training content of the EU's AI Act.

The sections and questions are those of the Commission's template (C(2025) 8311, for Article 53(1)(d) of Regulation (EU)
2024/1689). What a build cannot know is a blank in square brackets, which names what is asked for. Nothing is guessed:
a box is only ticked where the manifest says so. This is no legal advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bertdata.engine.parts import add_counts
from bertdata.io.console import byte_size, counted
from bertdata.shards.accounts import LEFT_OUT, columns_of, taken
from bertdata.shards.card import markdown_table
from bertdata.shards.card_metadata import cell, languages_in
from bertdata.sources.names import units_of

DOMAINS = 1000
"""The domain names that a summary lists, those with the most tokens."""
SIZES = (
    ("Less than 1 billion tokens", 10**9),
    ("1 billion to 10 trillion tokens", 10**13),
    ("More than 10 trillion tokens", 0),
)
"""The ranges of the template for text, each with the number of tokens from which the next one holds."""
NOTICE = (
    "Drafted by bertdata from the manifest and the account of a build. It is not legal advice. What stands in square "
    "brackets the build cannot know: fill it in, and check the rest."
)
_BLANK = re.compile(r"\[[^\[\]]{2,}\]")
_KINDS = {"pages": "articles of MediaWiki dumps", "books": "books", "rows": "documents of tables and text files"}


def training_summary(manifest: Mapping[str, Any], account: Mapping[str, Any]) -> str:
    """Return the summary of a build as Markdown; `account` is what its documents were counted by, {} without."""
    return "\n".join(_lines(manifest, account)) + "\n"


def tokens_of(manifest: Mapping[str, Any]) -> int:
    """Return the tokens of the documents in the shards, each document once."""
    return sum(int(entry["counts"]["tokens"]) for entry in manifest["splits"].values())


def size_lines(tokens: int) -> list[str]:
    """Return the boxes for the size of text, one of them ticked.

    >>> size_lines(2_000_000_000)
    ['- [ ] Less than 1 billion tokens', '- [x] 1 billion to 10 trillion tokens', '- [ ] More than 10 trillion tokens']
    """
    place = next((number for number, (_, end) in enumerate(SIZES) if tokens < end), len(SIZES) - 1)
    return [f"- [{'x' if number == place else ' '}] {name}" for number, (name, _) in enumerate(SIZES)]


def blanks_in(text: str) -> int:
    """Return how many blanks are left in a summary.

    >>> blanks_in("Last update: [date]\\n- [x] Text\\n- [ ] Image")
    1
    """
    return len(_BLANK.findall(text))


def _blank(what: str) -> str:
    return f"[{what}]"


def _asked(question: str, blank: str) -> list[str]:
    return [f"**{question}**", "", _blank(blank), ""]


def _yes_no(question: str) -> list[str]:
    return _asked(question, "yes or no")


def _lines(manifest: Mapping[str, Any], account: Mapping[str, Any]) -> Iterator[str]:
    yield from ["# Public summary of training content", "", f"> {NOTICE}", ""]
    yield from [f"Version of the Summary: {_blank('version')}", "", f"Last update: {_blank('date')}", ""]
    yield from ["## 1. General information", "", "### 1.1. Provider identification", ""]
    yield from _asked("Provider name and contact details", "name, address, contact")
    yield from _asked("Authorised representative name and contact details", "name and contact, or not applicable")
    yield from ["### 1.2. Model identification", ""]
    yield from _asked("Versioned model name(s)", "names and versions")
    yield from _asked("Model dependencies", "the models that this one was made from, or none")
    yield from _asked("Date of placement of the model on the Union market", "date")
    yield from _size(manifest)
    yield from _dates(account)
    yield from _languages(manifest)
    yield from _other_characteristics(manifest, account)
    yield from ["## 2. List of data sources", "", "What the build was made of, each source once:", ""]
    yield from _sources(manifest)
    yield from ["### 2.1. Publicly available datasets", ""]
    yield from _yes_no("Have you used publicly available datasets to train the model?")
    yield from _asked(
        "List of large publicly available datasets", "those of the sources above, with links and versions"
    )
    yield from _asked("General description of other publicly available datasets not listed above", "description")
    yield from ["### 2.2. Private non-publicly available datasets obtained from third parties", ""]
    yield from ["#### 2.2.1. Datasets commercially licensed by rightsholders or their representatives", ""]
    yield from _yes_no(
        "Have you concluded transactional commercial licensing agreement(s) with rightsholder(s) or with their "
        "representatives?"
    )
    yield from ["#### 2.2.2. Private datasets obtained from other third parties", ""]
    yield from _yes_no(
        "Have you obtained private datasets from third parties that are not licensed as described in Section 2.2.1?"
    )
    yield from _asked("Description of private datasets obtained from third parties", "list, or general description")
    yield from ["### 2.3. Data crawled and scraped from online sources", ""]
    yield from _yes_no("Were crawlers used by the provider or on behalf of?")
    yield from _asked("Crawler name(s)/identifier(s)", "names")
    yield from _asked("Purposes of the crawler(s)", "purposes")
    yield from _asked("General description of crawler behaviour", "robots.txt, captchas, paywalls")
    yield from _asked("Period of data collection", "from month and year to month and year")
    yield from _asked("Comprehensive description of the type of content and online sources crawled", "description")
    yield from _domains(account)
    yield from ["### 2.4. User data", ""]
    yield from _yes_no("Was data from user interactions with the AI model used to train the model?")
    yield from _yes_no(
        "Was data collected from user interactions with the provider's other services or products used to train the "
        "model?"
    )
    yield from ["### 2.5. Synthetic data", ""]
    yield from _yes_no("Was synthetic AI-generated data created by the provider or on their behalf to train the model?")
    yield from _asked("AI models used to generate the synthetic data", "names, or not applicable")
    yield from ["### 2.6. Other sources of data", ""]
    yield from _yes_no("Have data sources other than those described in Sections 2.1 to 2.5 been used?")
    yield from ["## 3. Data processing aspects", ""]
    yield from [
        "### 3.1. Respect of reservation of rights from text and data mining exception or limitation",
        "",
    ]
    yield from _yes_no(
        "Are you a Signatory to the Code of Practice for general-purpose AI models that includes commitments to "
        "respect reservations of rights from the TDM exception or limitation?"
    )
    yield from _asked(
        "Measures implemented before model training to respect reservations of rights", "opt-out protocols honoured"
    )
    yield from ["### 3.2. Removal of illegal content", ""]
    yield from _asked("General description of measures taken", "description")
    yield from _processing(manifest)
    yield from ["### 3.3. Other information (optional)", ""]
    yield f"The rows were made by bertdata {manifest['bertdata']}, with {manifest['info']['vocab_size']:,} tokens."


def _size(manifest: Mapping[str, Any]) -> Iterator[str]:
    tokens, documents = tokens_of(manifest), sum(split["counts"]["documents"] for split in manifest["splits"].values())
    yield from ["### 1.3. Modalities, overall training data size and other characteristics", ""]
    yield from ["**Modality: Text**, training data size after pre-processing and before the training:", ""]
    yield from [
        *size_lines(tokens),
        "",
        f"{counted(documents, 'document')} of {counted(tokens, 'token')} in these shards.",
        "",
    ]
    yield from ["Image, audio, video, other: none in these shards.", ""]
    yield from _asked("Types of content", "general description, as fiction, news, scientific text, source code")


def _dates(account: Mapping[str, Any]) -> Iterator[str]:
    yield from _asked("Latest date of data acquisition/collection for model training", "month and year")
    for name, of_column in account.get("columns", {}).items():
        if name.startswith("year("):
            entry = taken(of_column)
            if years := sorted(entry["values"]):
                missing = f"; {counted(entry['none'][0], 'document')} without one" if entry["none"][0] else ""
                yield from [f"The documents are from {years[0]} to {years[-1]} by {name}{missing}.", ""]


def _languages(manifest: Mapping[str, Any]) -> Iterator[str]:
    languages = languages_in(manifest)
    yield from ["**Description of the linguistic characteristics of the overall training data**", ""]
    if not languages:
        yield from [_blank("languages; --language-model counts them in the next build"), ""]
        return
    total = sum(languages.values())
    rows: list[Sequence[str | int]] = [
        [cell(code), number, f"{number / total:.1%}"] for code, number in languages.items()
    ]
    yield from [*markdown_table(["language", "documents", "share"], rows), ""]


def _other_characteristics(manifest: Mapping[str, Any], account: Mapping[str, Any]) -> Iterator[str]:
    yield from _asked("Other relevant characteristics of the overall training data", "description")
    for name, of_column in columns_of({"columns": account.get("columns", {})}).items():
        if name.rpartition(".")[2] in ("license", "licence"):
            entry = taken(of_column)
            rows: list[Sequence[str | int]] = [[cell(value), *numbers] for value, numbers in entry["values"].items()]
            for what, title in (("other", "others"), ("none", "without a value")):
                rows += [[title, *entry[what]]] if any(entry[what]) else []
            yield from [*markdown_table([name, "documents", "words", "tokens"], rows), ""]


def _sources(manifest: Mapping[str, Any]) -> Iterator[str]:
    counts = add_counts(entry["counts"] for entry in manifest["splits"].values())
    rows: list[Sequence[str | int]] = []
    for name in manifest["info"]["sources"]:
        source = manifest["sources"].get(name)
        kinds = (
            ", ".join(_KINDS.get(unit, unit) for unit in units_of(source["counts"])) if source else "by --source-where"
        )
        size = byte_size(source["counts"].get("text_bytes", 0)) if source else ""
        rows.append([name, kinds, size, int(counts.get(f"tokens_of_{name}", 0))])
    yield from [*markdown_table(["source", "kind", "text", "tokens in the shards"], rows), ""]


def _domains(account: Mapping[str, Any]) -> Iterator[str]:
    yield from ["**Summary of the most relevant domain names crawled**", ""]
    any_domains = False
    for name, of_column in account.get("columns", {}).items():
        if name.startswith("domain("):
            any_domains = True
            values = taken(of_column)["values"]
            largest = sorted(values, key=lambda value: (-values[value][2], value))
            unnamed = bool(account.get("other_values", {}).get(name))
            number = f"{len(largest):,}{' and more' if unnamed else ''} registered domains by {name}"
            domain_rows: list[Sequence[str | int]] = [
                [cell(value), values[value][0], values[value][2]] for value in largest[:DOMAINS]
            ]
            most = f", of which these {DOMAINS:,} have the most tokens" if len(largest) > DOMAINS else ""
            yield from [f"{number}{most}:", ""]
            yield from [*markdown_table(["domain", "documents", "tokens"], domain_rows), ""]
    if not any_domains:
        yield from [_blank('domain names; --account "domain(url)" counts them in the next build'), ""]


def _processing(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the build left out, and why: it is no removal of illegal content by itself."""
    drops = add_counts([source["drops"] for source in manifest["sources"].values()])
    left_out = sum(entry["counts"].get(f"documents_{LEFT_OUT}", 0) for entry in manifest["splits"].values())
    rows: list[Sequence[str | int]] = [[cell(reason), number] for reason, number in drops.items()]
    rows += [["left out by a selection", left_out]] if left_out else []
    if rows:
        yield from ["What the build left out, by the rule, whether or not it was meant for that:", ""]
        yield from [*markdown_table(["rule", "documents"], rows), ""]
