"""Wrapped lines as one: words that a line end parts, and dashes."""

from __future__ import annotations

import pytest

from bertdata.sources.books.dehyphenate import HYPHENS, joined, one_line
from bertdata.sources.books.read import clean_book


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["no-\nbody left"], ["nobody left"]),
        (["no-\nbody", "came in"], ["nobody", "came in"]),
        (["a no-\nbody-\nelse b"], ["a nobody- else b"]),
        (["well-\nknown", "well-known"], ["well-known", "well-known"]),
        (["Anglo-\nSaxon"], ["Anglo-Saxon"]),
        (["in 1914-\n18 and -\nlater"], ["in 1914- 18 and - later"]),
        (["a b"], ["a b"]),
    ],
)
def test_a_word_that_a_line_end_parts_is_written_as_the_rest_writes_it(texts: list[str], expected: list[str]) -> None:
    assert joined(texts) == expected


@pytest.mark.parametrize(
    "text", [" It rained.", "It rained. ", "It  rained.", "It\nrained.", "It\trained.", "It rained."]
)
def test_a_line_has_single_spaces_and_none_at_its_ends(text: str) -> None:
    assert one_line(text) == "It rained."


@pytest.mark.parametrize("hyphen", HYPHENS.replace("=", ""))
def test_any_hyphen_at_a_line_end_divides_a_word(hyphen: str) -> None:
    assert joined([f"It was no{hyphen}\nbody.", "Nobody came."])[0] == "It was nobody."
    assert joined([f"Noth{hyphen}\ning came, and nothing went."]) == ["Nothing came, and nothing went."]
    assert joined([f"a well{hyphen}\nknown man", "of a well-known, well-known kind"])[0] in (
        "a well-known man",
        f"a well{hyphen}known man",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Der Wagenzug kam, und der Wagen-\nzug hielt", "Der Wagenzug kam, und der Wagenzug hielt"),
        ("Der Hund und der Wagen-\nzug", "Der Hund und der Wagenzug"),
        ("EVERY-\nBODY knew everybody", "EVERYBODY knew everybody"),
        ("the Anglo-\nSaxon and", "the Anglo-Saxon and"),
        ("he and Erh-\nchu and she", "he and Erh-chu and she"),
        ("some and thing and some-\nthing", "some and thing and something"),
        ("blue and green and blue-\ngreen", "blue and green and blue-green"),
        ("up-\nto-date and", "up-to-date and"),
        ("to-day, to-day and to-\nday, today", "to-day, to-day and to-day, today"),
        ("today, today and to-\nday, to-day", "today, today and today, to-day"),
        ("the X-\nray and", "the X-ray and"),
        ("tug‐of‐war and tug‐\nof‐war", "tug‐of‐war and tug‐of‐war"),
        ("good‐natured, and good‐\nnatured", "good‐natured, and good‐natured"),
        ("Wagen=\nzug und Wagenzug", "Wagenzug und Wagenzug"),
        ("x=\ny and z", "x= y and z"),
        ("every\u00adbody and", "everybody and"),
    ],
)
def test_the_words_of_the_book_then_of_its_language_say_how_a_word_is_written(text: str, expected: str) -> None:
    assert joined([text]) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Kinder und die Haupt-\nund Nebenstraßen", "Kinder und die Haupt- und Nebenstraßen"),
        ("Ein-\noder Zweizimmerwohnungen, und", "Ein- oder Zweizimmerwohnungen, und"),
        ("zwei-\nbis dreimal und öfter", "zwei- bis dreimal und öfter"),
        ("pre-\nand post-war houses, and", "pre- and post-war houses, and"),
        ("two-\nto three-year terms and", "two- to three-year terms and"),
        ("de voor-\nen achterkant, en", "de voor- en achterkant, en"),
        ("in-\noch utgången, och", "in- och utgången, och"),
        ("ind-\nog udgang, og", "ind- og udgang, og"),
        ("Haupt-\nbzw. Nebenstraßen und", "Haupt- bzw. Nebenstraßen und"),
        ("Haupt-\nsowie Nebenstraßen und", "Haupt- sowie Nebenstraßen und"),
        ("Haupt-\nrespektive Nebenstraßen und", "Haupt- respektive Nebenstraßen und"),
        ("twee-\ntot driejarige, en", "twee- tot driejarige, en"),
        ("två-\ntill treåriga, och", "två- till treåriga, och"),
        ("to-\ntil treårige, og", "to- til treårige, og"),
        ("a doct-\nor and she", "a doctor and she"),
        ("rock-\nand-roll and", "rock-and-roll and"),
    ],
)
def test_a_suspended_hyphen_keeps_its_space(text: str, expected: str) -> None:
    assert joined([text]) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("she smiled self-\nconsciously, and", "she smiled self-consciously, and"),
        ("his self-\nabnegation and", "his self-abnegation and"),
        ("a well-\nordered house and", "a well-ordered house and"),
        ("half-\nforgotten and", "half-forgotten and"),
        ("non-\nintervention and", "non-intervention and"),
        ("three-\ncornered and", "three-cornered and"),
        ("twenty-\nseventh and", "twenty-seventh and"),
        ("SELF-\nABNEGATION and", "SELF-ABNEGATION and"),
        ("co-\nlossal and", "colossal and"),
        ("all-\nowance and", "allowance and"),
        ("re-\nmonstrated and", "remonstrated and"),
        ("non-\nchalantly and", "nonchalantly and"),
        ("anti-\npathetic and", "antipathetic and"),
        ("wor-\nthiness and", "worthiness and"),
        ("un sous-\nlieutenant et", "un sous-lieutenant et"),
        ("demi-\nmondaine et", "demi-mondaine et"),
        ("sou-\ndainement et", "soudainement et"),
    ],
)
def test_compounds_of_a_first_part_that_has_a_hyphen_in_frequent_words_keep_it(text: str, expected: str) -> None:
    assert joined([text]) == [expected]


def test_the_book_decides_before_the_first_part_of_a_compound() -> None:
    assert joined(["well-\nhouse and wellhouse"]) == ["wellhouse and wellhouse"]


WITHOUT_SPACES = (
    "山下有一座小小的村子，村子裡住著一位老人，他說：“今天很好。”",
    "吾輩はその朝、ﾊﾝｶｸも「いつもの」通り台所の隅に座って、…主人を待っていた。",
    "วันนี้ฝนตกหนักมากตั้งแต่เช้าเราจึงไม่ได้ออกไปไหนเลย",
    "ມື້ນີ້ຝົນຕົກໜັກຫຼາຍຕັ້ງແຕ່ເຊົ້າ",
    "ថ្ងៃនេះភ្លៀងធ្លាក់ខ្លាំងតាំងពីព្រឹក",
    "ယနေ့မိုးအလွန်ရွာသည်",
    "དེ་རིང་ཆར་པ་ཆེན་པོ་བབས་སོང་",
)


@pytest.mark.parametrize("text", WITHOUT_SPACES)
def test_a_line_break_between_characters_of_scripts_without_spaces_is_no_space(text: str) -> None:
    for place in range(1, len(text)):
        assert joined([f"{text[:place]}\n{text[place:]}"]) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("오늘은 비가\n많이 왔다", "오늘은 비가 많이 왔다"),
        ("他說\nhello", "他說 hello"),
        ("the “end”\n“again”", "the “end” “again”"),
        ("བབས་སོང་།\nདེ་རིང་", "བབས་སོང་། དེ་རིང་"),
        ("ថ្ងៃនេះ។\nភ្លៀង", "ថ្ងៃនេះ។ ភ្លៀង"),
        ("zero\u200b\nwidth", "zero\u200bwidth"),
        ("one…\n山", "one…山"),
    ],
)
def test_other_line_breaks_are_spaces(text: str, expected: str) -> None:
    assert joined([text]) == [expected]


def test_a_wrapped_book_of_chinese_is_the_same_by_kernels_and_without() -> None:
    text = "\n\n".join(
        "\n".join(text[at : at + 12] for at in range(0, len(text), 12)) for text in WITHOUT_SPACES[:2] * 3
    )
    assert clean_book(text, compiled=False) == clean_book(text, compiled=True) == "\n\n".join(WITHOUT_SPACES[:2] * 3)


def test_a_word_that_has_a_hyphen_before_keeps_the_one_at_the_line_end() -> None:
    texts = ["His mother-in-\nlaw came--every-\nbody did.", "A jack-of-all-\ntrades, well-edu-\ncated, educated."]
    expected = ["His mother-in-law came—everybody did.", "A jack-of-all-trades, well-educated, educated."]
    assert joined(texts) == expected
