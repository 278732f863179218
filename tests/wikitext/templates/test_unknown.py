"""Which argument an unknown template prints inside a sentence, and which templates print none."""

from __future__ import annotations

import pytest

from bertdata.wikitext.mediawiki.folding import fold_name
from bertdata.wikitext.template_calls import numbered
from bertdata.wikitext.templates.unknown import unknown_text


def printed(call: str) -> str | None:
    head, *parts = call.split("|")
    return unknown_text(head, fold_name(head), numbered(parts))


@pytest.mark.parametrize(
    ("call", "text"),
    {
        "Hue|deep blue": "deep blue",
        "Hue| deep ": "deep",
        "Hue|1968": "1968",
        "Hue|1968|Dance": "1968",
        "Hue|deep|sea": "deep",
        "Hue|page||label": "label",
        "Hue|page|section|label": "page",
        "Hue|2022|Junior|2022 Junior contest": "2022 Junior contest",
        "Hue|#ff0000|deep": "deep",
        "Hue|darkred|deep": "deep",
        "Hue|120%|deep": "deep",
        "Hue|fr|bleu": "bleu",
        "Hue|Ukraine|y=2022": "Ukraine",
        "Hue|Ukraine|t=the land": "the land",
        "Hue|text=deep": "deep",
        "CO2": "CO2",
        "C6H12O6": "C6H12O6",
    }.items(),
)
def test_the_argument_that_looks_like_a_label_is_printed(call: str, text: str) -> None:
    assert printed(call) == text


@pytest.mark.parametrize(
    "call",
    [
        *("Infobox lake|deep", "Refhue|date=May", "Hue needed|deep", "Hue?|deep", "Hue-inline|deep", "Sfnhue|deep"),
        *("Hue|deep|date=May 2020", "Hue|deep|group=a", "Hue|t=deep", "Hue|a=deep", "Hue|deep|a=1|b=2|c=3|d=4"),
        *(
            "Hue|a|b|c|d|e",
            "Hue|12|34",
            "Hue|X|deep",
            "Hue|fr",
            "Hue|deep.ogg",
            "Hue|https://example.org",
            "Hue|de\nep",
        ),
        *("Hue|1936|10|3", "Hue|BE", "Hue|DE-BE", "Metadaten Hue|Berlin"),
        *("Hue|*deep", "Hue|", "Hue", "Hue|…", "Epiv", "EPIV", "CO", "Hue" * 20 + "|deep", "Hue|" + "deep " * 500),
    ],
)
def test_notes_boxes_codes_and_what_is_no_text_print_nothing(call: str) -> None:
    assert printed(call) is None
