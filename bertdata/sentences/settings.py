"""Where a sentence ends: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import Settings, option


@dataclass(frozen=True)
class SentencesConfig(Settings):
    """Where a sentence ends."""

    sentences: str = option(
        "english", "Punkt parameters: english, nltk:LANGUAGE, or a folder, as train-sentences writes one"
    )
    attach_citations: bool = option(
        False, "a citation mark such as [3] after a sentence stays with it (Punkt puts it into the next one)"
    )
    sentence_marks: bool = option(
        False,
        "also end sentences at the marks of other scripts, as 。！？ । ۔ ؟ ։, which Punkt does not know",
        later=True,
    )
