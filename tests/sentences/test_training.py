"""Trained parameters against NLTK's trainer, counts that merge, and the settings that are ours."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError
from bertdata.sentences import PunktCounts, PunktSettings, train_punkt
from tests.data import data_path
from tests.generated import examples
from tests.sentences.story import STORY, by_nltk

WORDS = [
    "Mr.",
    "mr",
    "Brown",
    "brown",
    "However",
    "however",
    "the",
    "The",
    "5.",
    "12",
    "A.",
    "etc.",
    "x.",
    "X",
    ",",
    "?",
]


def counted(*texts: str) -> PunktCounts:
    counts = PunktCounts()
    for text in texts:
        counts.add(text)
    return counts


def long_story() -> str:
    names = ["Brown", "Green", "Bach", "Smith", "Reade", "Wells", "Hardy"]
    return "".join(STORY.replace("Brown", name).replace("5", str(n)) for n, name in enumerate(names * 20))


def test_a_story_gives_the_parameters_of_nltk() -> None:
    text = long_story()
    ours = train_punkt([text])
    assert ours == by_nltk(text)
    assert {"mr", "corp", "p.m"} <= ours.abbrev_types
    assert ours.sent_starters
    assert ours.collocations


@given(
    st.lists(
        st.sampled_from([*WORDS, "\n", "\n\n", ". ", "... ", "! ", '"', "(", "e.g.", "--"]), min_size=1, max_size=80
    )
)
@settings(max_examples=examples(300), deadline=None)
def test_generated_text_gives_the_parameters_of_nltk(words: list[str]) -> None:
    text = "x " + " ".join(words)
    assert train_punkt([text]) == by_nltk(text)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (PunktSettings(include_all_collocs=True), {"INCLUDE_ALL_COLLOCS": True}),
        (PunktSettings(include_abbrev_collocs=True), {"INCLUDE_ABBREV_COLLOCS": True}),
        (
            PunktSettings(include_all_collocs=True, min_colloc_freq=30),
            {"INCLUDE_ALL_COLLOCS": True, "MIN_COLLOC_FREQ": 30},
        ),
    ],
)
def test_the_settings_of_nltk_mean_the_same(ours: PunktSettings, theirs: dict[str, Any]) -> None:
    text = long_story()
    assert train_punkt([text], ours) == by_nltk(text, **theirs)
    assert train_punkt([text], ours) != train_punkt([text])


@pytest.mark.parametrize("name", ["pg1080.txt", "46-0.txt"])
def test_a_real_book_gives_the_parameters_of_nltk(name: str) -> None:
    text = data_path("books", name).read_text(encoding="utf-8-sig")
    assert train_punkt([text]) == by_nltk(text)


def test_counts_merge_in_any_order_to_the_same_parameters() -> None:
    parts = [long_story()[start : start + 3000] for start in range(0, 12_000, 3000)]
    whole = counted(*parts).parameters()
    for order in itertools.permutations(parts):
        merged = PunktCounts()
        for part in order:
            merged.merge(pickle.loads(pickle.dumps(counted(part))))
        assert merged.parameters() == whole


def test_parts_that_end_in_a_question_and_begin_with_a_blank_line_merge_to_what_nltk_finds_in_the_whole() -> None:
    parts = [
        STORY.strip() + " Was it?",
        *("\n\n" + STORY.replace("Brown", name) + " Was it?" for name in ["Lee", "Orr"] * 9),
    ]
    merged = PunktCounts()
    for part in parts:
        merged.merge(counted(part))
    assert merged.parameters() == by_nltk("".join(parts))


def test_between_two_texts_no_pair_is_counted() -> None:
    assert not counted("They met Mr.", "Brown left").pairs
    assert counted("They met Mr.\n\nBrown left").pairs == {("Mr.", "Brown"): 1}


def test_all_numbers_are_counted_as_one_token() -> None:
    assert counted("In 1990 and 1,991 or 2.5 it was \u0663 in 1992.").tokens["0"] == 4
    assert counted("In 1990. And 7.").tokens["0."] == 2


def test_pruned_counts_keep_their_total_and_the_common_abbreviations() -> None:
    counts = counted(long_story(), " ".join(f"rare{n}x Rare{n}. word" for n in range(500)))
    full = len(counts)
    total = counts.tokens.total()
    counts.prune(2)
    assert len(counts) < full / 2
    assert counts.tokens.total() + counts.pruned_tokens == total
    assert {"mr", "corp", "p.m"} <= counts.parameters().abbrev_types


def test_pruned_counts_keep_their_total_of_tokens_that_end_with_a_period() -> None:
    counts = counted("Cf. Mr. Hill. He saw Mr. Hill once.")
    with_period = sum(count for token, count in counts.tokens.items() if token.endswith("."))
    counts.prune(2)
    kept = sum(count for token, count in counts.tokens.items() if token.endswith("."))
    assert kept < with_period == kept + counts.pruned_periods


def test_training_stays_within_the_entries_it_may_hold() -> None:
    texts = [" ".join(f"word{n}x Mr. Word{n}. y" for n in range(start, start + 100)) for start in range(0, 5000, 100)]
    bounded = train_punkt(texts, max_entries=1000)
    assert "mr" in bounded.abbrev_types
    assert len(bounded.ortho_context) < 1000 < len(train_punkt(texts).ortho_context)


def test_given_abbreviations_are_known_before_the_rest_is_learned() -> None:
    text = " ".join(f"We saw Prf. Lee go home. I know the prf went. You saw it{n}." for n in range(99))
    plain = train_punkt([text])
    given_ = train_punkt([text], PunktSettings(abbreviations=frozenset({"prf"})))
    assert given_.abbrev_types - plain.abbrev_types == {"prf"}
    assert plain.sent_starters - given_.sent_starters == {"lee"}


def test_a_rare_misprint_leaves_no_trace_above_the_share() -> None:
    text = "We saw the house. The end was near. " * 99 + "In The house."
    exact = train_punkt([text]).ortho_context["the"]
    assert train_punkt([text], PunktSettings(min_ortho_share=0.02)).ortho_context["the"] == exact & ~4
    assert exact & 4


def test_rare_types_and_names_can_be_left_out() -> None:
    story = "Bach has been there again. However# it rained there. We know however# it went. I saw Bach there. "
    text = "".join(story.replace("#", f" x{n}") for n in range(99)) + "It is so. Is it so? " * 99 + "a zebra."
    plain = train_punkt([text])
    small = train_punkt([text], PunktSettings(min_ortho_count=2, lower_case_starters=True))
    assert plain.ortho_context.keys() - small.ortho_context.keys() >= {"zebra"}
    assert plain.sent_starters == {"bach", "is", "we"}
    assert small.sent_starters == {"is"}


def test_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="no text"):
        train_punkt(["", " \n"])


@pytest.mark.parametrize("bad", [{"min_ortho_share": 1.5}, {"min_ortho_count": -1}, {"min_colloc_freq": -1}])
def test_settings_out_of_range_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        PunktSettings(**bad)


def test_with_dotted_abbreviations_others_are_those_given() -> None:
    text = (
        "Mr. Brown met Gen. Lee at 5 p.m. today. He was at the U.N.E.F. office. Mr. Brown had left at 3 p.m. then. "
        * 20
    )
    learned = train_punkt([text]).abbrev_types
    assert {"mr", "p.m"} <= learned
    given = PunktSettings(abbreviations=frozenset({"gen"}), dotted_abbreviations=True)
    assert train_punkt([text], given).abbrev_types == {"gen"} | {type_ for type_ in learned if "." in type_}
