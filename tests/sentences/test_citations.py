"""Reference marks: what moves to the sentence before, what stays, and the kernel against its twin."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.sentences import SentenceSegmenter
from bertdata.sentences.citations import attach_citations
from tests.generated import examples
from tests.sentences.texts import english, pieces

WITH = SentenceSegmenter.from_pretrained(attach_citations=True)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rained. [3] We left.", ["It rained. [3]", "We left."]),
        ("It rained. [1, 4\u20136] [a] We left.", ["It rained. [1, 4\u20136] [a]", "We left."]),
        ("It rained. [...] We left! [\u2026]", ["It rained. [...]", "We left! [\u2026]"]),
        ("It rained. [He] left.", ["It rained.", "[He] left."]),
        ("It rained. [3]rd time.", ["It rained.", "[3]rd time."]),
        ("It rained. [] [ ] [3", ["It rained.", "[] [ ] [3"]),
        ("[3] It rained.", ["[3] It rained."]),
        ("It rained.\n\n[3] We left.", ["It rained.", "[3] We left."]),
    ],
)
def test_a_mark_goes_back_where_one_sentence_ends_before_it_in_the_paragraph(text: str, sentences: list[str]) -> None:
    assert WITH.segment(text) == sentences
    assert WITH.segment_batch([text, "", text]).to_pylist() == [sentences, [], sentences]


def odd_texts() -> st.SearchStrategy[str]:
    marks = st.sampled_from(
        [". [3] ", "! [1-2]", ". [a]\n", ". [12,\u2013", "[...] ", ". [\u2026]\n\n", ". [", "] ", ". [4]", "A", "b "]
    )
    return st.lists(marks | pieces(), max_size=25).map(lambda parts: "".join(parts).replace("\ud800", ""))


@given(st.lists(odd_texts(), min_size=1, max_size=4))
@settings(max_examples=examples(300), deadline=None)
def test_columns_give_what_the_twin_gives_on_the_exact_sentences(rows: list[str]) -> None:
    columns = WITH.spans_batch(rows).to_pylist()
    for row, spans in zip(rows, columns, strict=True):
        expected = attach_citations(row, english().spans(row))
        data = row.encode()
        assert [data[span["start"] : span["end"]].decode() for span in spans] == [row[a:b] for a, b in expected]
        assert WITH.spans(row) == expected


@given(st.lists(st.sampled_from([b"[", b"]", b"3", b"a", b".", b"\xe2", b"\x80", b"\xa6", b"\x93", b" ", b"\n"])))
@settings(max_examples=examples(300), deadline=None)
def test_bytes_that_are_not_utf_8_stay_inside_their_spans(parts: list[bytes]) -> None:
    from bertdata.sentences import citations_kernel

    data = np.frombuffer(b"x" + b"".join(parts), np.uint8)
    data.flags.writeable = False
    starts, stops, counts = np.array([0, 1]), np.array([1, len(data)]), np.array([2])
    left = citations_kernel.attach_citations(data, english()._tables.chars, starts, stops, counts)
    assert left == counts[0] in (1, 2)
    assert (starts[:left] < stops[:left]).all()
    assert stops[left - 1] <= len(data)


def test_long_texts_give_what_their_parts_give() -> None:
    part = "It rained all of that day in \u00c9vreux. [3] We left."
    assert WITH.segment(f"{part} " * 100) == WITH.segment(part) * 100


def test_the_option_is_kept_and_told_by_the_fingerprint() -> None:
    again = pickle.loads(pickle.dumps(WITH))
    assert again.attach_citations
    assert again.fingerprint == WITH.fingerprint != english().fingerprint
