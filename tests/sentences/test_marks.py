"""Sentences of scripts whose marks Punkt does not know, in cases written for this project."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.sentences import SentenceSegmenter
from bertdata.sentences.marks import BEFORE_SPACE, WITHOUT_SPACE

MARKED = SentenceSegmenter.from_pretrained(sentence_marks=True)
PLAIN = SentenceSegmenter.from_pretrained()
GOLD = {
    "Japanese": ["朝から雨が降った。", "道はぬれている！", "傘はあるか？", "ある。"],
    "Japanese quotes": ["彼は立った。", "「もう帰ろう。」と彼は言った。", "『はい。』", "外は暗い。"],
    "Japanese comma after a quote": ["「帰る。」、そう決めた。", "夜だった。"],
    "Chinese": ["今天下雨。", "路很滑！！", "你有伞吗？", "有。"],
    "Chinese quotes": ["他站起来。", "他说：“走吧。”", "她笑了。"],
    "halfwidth": ["ｱﾒｶﾞﾌﾙ｡", "ｶｴﾛｳ｡"],
    "a mark in brackets": ["（雨だった。）", "翌日は晴れ。"],
}
SPACED = {
    "Hindi": ["आज वर्षा हुई।", "क्या तुम घर जाओगे?", "हाँ।", "रास्ता गीला है॥"],
    "Hindi quotes": ["उसने कहा, “चलो।”", "वह हँसी।"],
    "Urdu": ["آج بارش ہوئی۔", "کیا تم گھر جاؤ گے؟", "ہاں۔"],
    "Arabic": ["نزل المطر اليوم.", "هل تذهب إلى البيت؟", "نعم!", "الطريق مبتل."],
    "Armenian": ["Անձրև եկավ։", "Ճանապարհը թաց է։"],
    "Amharic": ["ዝናብ ዘነበ።", "መንገዱ እርጥብ ነው።"],
    "Burmese": ["မိုးရွာသည်။", "လမ်းစိုသည်။"],
    "Khmer": ["ភ្លៀងធ្លាក់។", "ផ្លូវសើម។"],
}


@pytest.mark.parametrize("name", GOLD)
def test_sentences_without_spaces_end_at_their_marks(name: str) -> None:
    assert MARKED.segment("".join(GOLD[name])) == GOLD[name]


@pytest.mark.parametrize("name", SPACED)
def test_sentences_with_spaces_end_at_their_marks(name: str) -> None:
    assert MARKED.segment(" ".join(SPACED[name])) == SPACED[name]


def test_a_mark_inside_a_word_ends_nothing() -> None:
    assert MARKED.segment("अ।ब हुआ। फिर") == ["अ।ब हुआ।", "फिर"]


def test_text_in_latin_letters_is_cut_as_without() -> None:
    text = "Dr. Brown lives on St. James St. in the U.S. Do you? “Yes.” He left… and came back! [3] So."
    assert MARKED.segment(text) == PLAIN.segment(text)


def test_citations_after_a_mark_stay_with_their_sentence() -> None:
    both = SentenceSegmenter.from_pretrained(attach_citations=True, sentence_marks=True)
    assert both.segment("雨が降った。[3] 道はぬれた。") == ["雨が降った。[3]", "道はぬれた。"]


LETTERS = st.sampled_from([*"aB雨と、」”) .\n!?…", *WITHOUT_SPACE, *BEFORE_SPACE, "[3]", "\n\n", "वर्षा"])


@given(st.lists(st.lists(LETTERS, max_size=40).map("".join), max_size=5))
def test_a_batch_is_cut_as_each_text_is(texts: list[str]) -> None:
    expected = [MARKED.segment(text) for text in texts]
    assert MARKED.segment_batch(pa.array(texts, pa.string())).to_pylist() == expected
    assert MARKED.segment_batch(pa.array(texts, pa.string()), compiled=False).to_pylist() == expected


def test_a_long_text_is_cut_as_a_short_one() -> None:
    sentences = GOLD["Japanese"] * 200
    text = "".join(sentences)
    assert len(text) > 2000
    assert MARKED.segment(text) == sentences
    assert [text[start:stop] for start, stop in MARKED.spans(text)] == sentences


def test_the_option_is_part_of_what_a_segmenter_is() -> None:
    assert MARKED.fingerprint != PLAIN.fingerprint
    assert pickle.loads(pickle.dumps(MARKED)) == MARKED
    assert pickle.loads(pickle.dumps(MARKED)).segment("雨。雪。") == ["雨。", "雪。"]
