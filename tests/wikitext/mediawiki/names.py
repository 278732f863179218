"""What MediaWiki says of its languages, and pages that it rendered: real data for tests, absent from the project."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from tests.data import data_path


@lru_cache(maxsize=1)
def languages() -> dict[str, Any]:
    """Return the facts of each language, or skip the test that asked."""
    names: dict[str, Any] = json.loads(data_path("mediawiki", "names.json").read_text(encoding="utf-8"))["languages"]
    return names


@lru_cache(maxsize=1)
def pages() -> list[dict[str, Any]]:
    """Return small pages with their prose as MediaWiki renders it, or skip the test that asked."""
    lines = data_path("mediawiki", "mediawiki-languages-dev.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
