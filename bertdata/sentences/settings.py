"""Where a sentence ends: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import option


@dataclass(frozen=True)
class SentencesConfig:
    """Where a sentence ends."""

    sentences: str = option(
        "english", "Punkt parameters: english, nltk:LANGUAGE, or a folder, as train-sentences writes one"
    )
    join_references: bool = option(
        False, "a mark like [3] behind a sentence stays with it (Punkt begins the next sentence with it)"
    )
