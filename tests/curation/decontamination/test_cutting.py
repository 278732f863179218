"""What is left of a text when passages are cut out."""

from __future__ import annotations

from bertdata.curation.decontamination.cutting import without_passages


def span(text: str, passage: str) -> tuple[int, int]:
    begin = len(text[: text.index(passage)].encode())
    return begin, begin + len(passage.encode())


def test_two_hundred_characters_go_on_either_side() -> None:
    text = "é" * 10 + " " + "a " * 250 + "the answer" + " b" * 250
    left = without_passages(text, [span(text, "the answer")])
    assert left == ("é" * 10 + " " + "a " * 150).strip() + "\n\n" + ("b " * 150).strip()


def test_a_passage_ends_at_the_border_of_a_word() -> None:
    text = "keep " * 60 + "a" * 300 + " the answer"
    assert without_passages(text, [span(text, "the answer")]) == ("keep " * 60).strip()


def test_pieces_under_two_hundred_characters_go() -> None:
    text = "x " * 150 + "the answer" + " y" * 250
    assert without_passages(text, [span(text, "the answer")]) == ("y " * 150).strip()
    assert without_passages("a b the answer c", [(4, 14)]) == ""


def test_passages_that_touch_are_one() -> None:
    text = "x " * 300 + "answer" + " y" * 150 + " answer2" + " z" * 300
    left = without_passages(text, [span(text, "answer"), span(text, "answer2")])
    assert left == ("x " * 200).strip() + "\n\n" + ("z " * 200).strip()


def test_a_text_in_more_than_ten_pieces_goes_whole() -> None:
    piece = "x " * 320
    for cuts, kept in ((9, 10), (10, 0)):
        text = piece + "".join(f"answer{number:02d} " + piece for number in range(cuts))
        left = without_passages(text, [span(text, f"answer{number:02d}") for number in range(cuts)])
        assert len([part for part in left.split("\n\n") if part]) == kept
