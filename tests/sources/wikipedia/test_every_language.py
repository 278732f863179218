"""Small pages in 65 languages become the prose that a real MediaWiki renders, compiled or not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from bertdata.wikitext.clean import clean_wikitext
from tests.wikitext.mediawiki.names import pages

LEAST = {
    **{"file": 0.98, "category": 0.98, "link": 0.98, "switch": 0.95, "number": 0.97, "function": 0.95},
    **{"redirect": 1.0, "mixed": 0.95, "variant": 0.85},
}


def prose(page: dict[str, Any], *, compiled: bool) -> list[str]:
    text = clean_wikitext(page["wikitext"], title=page["title"], language=page["language"], compiled=compiled)
    return (text or "").split()


def shares(rows: list[dict[str, Any]]) -> dict[str, float]:
    right = Counter(row["kind"] for row in rows if prose(row, compiled=False) == (row["ideal"] or "").split())
    return {kind: right[kind] / number for kind, number in Counter(row["kind"] for row in rows).items()}


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_pages_become_what_the_wiki_shows(step: int) -> None:
    shown = shares(pages()[::step])
    assert {kind: share for kind, share in shown.items() if share < LEAST[kind] - 0.03 * (step > 1)} == {}


@pytest.mark.costly
@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_the_kernels_agree(step: int) -> None:
    for row in pages()[::step]:
        assert prose(row, compiled=True) == prose(row, compiled=False), row["wikitext"]
