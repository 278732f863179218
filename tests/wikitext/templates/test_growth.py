"""The time that a template takes grows as its arguments do: every template of the table, and of each locale."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import pytest

from bertdata.wikitext.templates.factories import Handler
from bertdata.wikitext.templates.locales.read import LANGUAGES
from bertdata.wikitext.templates.table import BUILT_IN, templates_of
from tests.growth import assert_linear

Arguments = dict[str, str]
UNITS = [
    "1",
    "1 ",
    "a ",
    "1,",
    "1/",
    "x",
    "-",
    "&amp;",
    ".",
    "(",
    "|",
    "\n",
    "²",
    "٣",
    "d ",
    "a=",
    "km",
    "[[",
    "''",
    ";",
]
SHAPES: dict[str, Callable[[str, int], Arguments]] = {
    "the first is long": lambda unit, length: {"1": unit * (length // len(unit)), "2": "m", "3": unit * 3},
    "the second is long": lambda unit, length: {"1": "1", "2": unit * (length // len(unit)), "3": "m"},
    "four are long": lambda unit, length: {str(number): unit * (length // len(unit) // 4) for number in range(1, 5)},
    "there are many": lambda unit, length: {str(number): unit for number in range(1, length // 8)},
    "there are many with names": lambda unit, length: {f"a{number}": unit for number in range(1, length // 8)},
}
"""Arguments of so many characters together."""


@cache
def handlers() -> dict[str, Handler]:
    """Return each function that writes the text of a template once, by the first name that it has."""
    by_function: dict[int, tuple[str, Handler]] = {}
    for language in ["", *sorted(LANGUAGES)]:
        for name, handler in sorted((templates_of(language) if language else BUILT_IN).handlers.items()):
            by_function.setdefault(id(handler), (f"{name} {language}".strip(), handler))
    return dict(by_function.values())


def assert_linear_in(name: str, unit: str, enough: int) -> None:
    """Assert that a template's time grows as its arguments do, for each shape of these."""
    for arguments_of in SHAPES.values():
        assert_linear(
            handlers()[name],
            partial(arguments_of, unit),
            enough=enough,
            floor=0.002,
        )


def test_the_templates_of_all_locales_are_run() -> None:
    assert len(LANGUAGES) > 8
    assert len(handlers()) > 500


@pytest.mark.costly
@pytest.mark.parametrize("place", [0, *(pytest.param(place, marks=pytest.mark.slow) for place in (5, 10, 15))])
def test_each_template(place: int) -> None:
    """Take one unit for each template, others for the next and in the next case."""
    for number, name in enumerate(handlers()):
        assert_linear_in(name, UNITS[(place + 7 * number) % len(UNITS)], 16_384)


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_each_template_with_each_unit(unit: str) -> None:
    for name in handlers():
        assert_linear_in(name, unit, 65_536)
