"""The draft of a public summary of training content: what a build knows, and blanks for the rest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bertdata.cli.main import main
from bertdata.inspect.training_summary import blanks_in, size_lines, training_summary
from tests.small_build import write_build

SECTIONS = [
    "1. General information",
    "1.1. Provider identification",
    "1.2. Model identification",
    "1.3. Modalities, overall training data size and other characteristics",
    "2. List of data sources",
    "2.1. Publicly available datasets",
    "2.2. Private non-publicly available datasets obtained from third parties",
    "2.2.1. Datasets commercially licensed by rightsholders or their representatives",
    "2.2.2. Private datasets obtained from other third parties",
    "2.3. Data crawled and scraped from online sources",
    "2.4. User data",
    "2.5. Synthetic data",
    "2.6. Other sources of data",
    "3. Data processing aspects",
    "3.1. Respect of reservation of rights from text and data mining exception or limitation",
    "3.2. Removal of illegal content",
    "3.3. Other information (optional)",
]
"""Those of the template annexed to C(2025) 8311."""


def entry(**values: list[int]) -> dict[str, Any]:
    return {"values": values, "none": [0, 0, 0], "other": [0, 0, 0]}


MANIFEST: dict[str, Any] = {
    "bertdata": "1",
    "info": {"sources": ["wiki", "web"], "vocab_size": 30_000},
    "sources": {
        "wiki": {"counts": {"pages": 9, "documents": 5, "text_bytes": 900}, "drops": {"redirect": 4}, "inputs": []},
        "web": {"counts": {"rows": 7, "documents": 6, "text_bytes": 800}, "drops": {"filter x": 1}, "inputs": []},
    },
    "splits": {
        "train": {
            "counts": {
                "documents": 9,
                "documents_left_out": 2,
                "tokens": 1_200_000_000,
                "tokens_of_wiki": 700_000_000,
                "tokens_of_web": 500_000_000,
                "documents_in_language_de": 6,
                "documents_in_language_en": 3,
            },
            "shards": [],
        }
    },
}
ACCOUNT = {
    "columns": {
        "license": {"web": {"train": entry(mit=[4, 40, 50]), "left_out": entry(secret=[2, 20, 30])}},
        "year(date)": {
            "web": {"train": {"values": {"1999": [1, 1, 1], "2021": [3, 3, 3]}, "none": [2, 2, 2], "other": [0] * 3}}
        },
        "domain(url)": {
            "web": {"train": {"values": {"b.de": [1, 1, 9], "a.com": [3, 3, 4]}, "none": [0] * 3, "other": [0] * 3}}
        },
    },
    "scores": {},
}


def test_the_sections_are_those_of_the_template() -> None:
    text = training_summary(MANIFEST, ACCOUNT)
    assert re.findall(r"^#{2,} (.*)$", text, re.M) == SECTIONS
    assert "not legal advice" in text


def test_what_the_build_knows_is_filled_in_and_the_rest_is_blank() -> None:
    text = training_summary(MANIFEST, ACCOUNT)
    assert "- [x] 1 billion to 10 trillion tokens" in text
    assert "| wiki | articles of MediaWiki dumps | 900 B | 700,000,000 |" in text
    assert "| de | 6 | 66.7% |" in text
    assert "from 1999 to 2021 by year(date); 2 documents without one" in text
    assert text.index("| b.de | 1 | 9 |") < text.index("| a.com | 3 | 4 |")
    assert "| mit | 4 | 40 | 50 |" in text
    assert "secret" not in text
    assert "| left out by a selection | 2 |" in text
    without = training_summary(MANIFEST | {"splits": {"train": {"counts": {"documents": 1, "tokens": 9}}}}, {})
    assert "- [x] Less than 1 billion tokens" in without
    assert blanks_in(without) == blanks_in(text) + 2
    assert '[domain names; --account "domain(url)" counts them' in without


def test_sizes_are_the_ranges_of_the_template() -> None:
    ticked = [[line for line in size_lines(tokens) if "[x]" in line] for tokens in (0, 10**9, 10**13 - 1, 10**13)]
    assert [line[0][6:] for line in ticked] == [
        "Less than 1 billion tokens",
        "1 billion to 10 trillion tokens",
        "1 billion to 10 trillion tokens",
        "More than 10 trillion tokens",
    ]


def test_a_summary_that_may_be_filled_in_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_build(tmp_path / "corpus")
    arguments = ["report", str(tmp_path / "corpus"), "--training-summary", "--output", str(tmp_path / "summary.md")]
    assert main(arguments) == 0
    assert "blanks to fill in; not legal advice" in capsys.readouterr().out
    (tmp_path / "summary.md").write_text("Filled in.")
    assert main(arguments) == 1
    assert "is there already" in capsys.readouterr().err
    assert (tmp_path / "summary.md").read_text() == "Filled in."
