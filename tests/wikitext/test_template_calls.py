"""How the arguments of a call are named."""

from __future__ import annotations

import pytest

from bertdata.wikitext.template_calls import numbered


@pytest.mark.parametrize("count", [0, 1, 3, 63, 64, 65, 1000])
def test_arguments_without_names_are_counted_alike_in_short_and_long_calls(count: int) -> None:
    parts = [f" {number}! " for number in range(count)]
    named = {str(position): part for position, part in enumerate(parts, 1)}
    arguments = numbered(parts)
    assert dict(arguments) == named
    assert list(arguments) == list(named)
    assert len(arguments) == count
    for name in ("0", "-1", "1", "01", " 1", "+1", "1_0", "1.0", "", "x", "١", "¹", "64", str(count), str(count + 1)):
        assert arguments.get(name) == named.get(name), name
        assert (name in arguments) == (name in named)


def test_names_are_stripped_and_the_last_of_a_name_wins_over_a_position() -> None:
    parts = ["first", "1 = other", *["more"] * 100, "x=a", "x=b"]
    arguments = numbered(parts)
    assert (arguments["1"], arguments["2"], arguments["101"], arguments["x"]) == ("other", "more", "more", "b")
