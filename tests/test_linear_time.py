"""Whatever reads text takes time in proportion to it: each entry of the registries, on kinds of repetition."""

from __future__ import annotations

from functools import cache, partial
from itertools import islice
from pathlib import Path

import pytest

from bertdata.curation.cleaners import CLEANERS
from bertdata.curation.filters import FILTERS
from bertdata.sources.formats import SOURCE_FORMATS
from tests.growth import DRAWN, REPETITIONS, Repetition, assert_linear, every_repetition, repeated
from tests.readers import Run, file_readers, text_readers

READERS = text_readers()
IN_FILES = [
    *"a\"',;|\\[{<\n\t ",
    "\r\n",
    '""',
    '",',
    '"\n',
    "a,",
    "a\t",
    '[""',
    '{"a":',
    "[1,",
    "a\n\n",
    "= a =\n",
    "\ufeff",
]
"""What repeats in files."""


@cache
def _text(text_of: Repetition, length: int) -> str:
    return text_of(length)


def slow_kinds(run: Run, kinds: dict[str, Repetition], enough: int) -> list[str]:
    """Return the kinds of repetition on which a function takes more than linear time, three at most."""
    slow: list[str] = []
    for kind, text_of in kinds.items():
        try:
            assert_linear(run, partial(_text, text_of), enough=enough, floor=0.01)
        except AssertionError as error:
            slow.append(f"{kind}: {error}")
            if len(slow) == 3:
                break
    return slow


def some_kinds(share: int) -> dict[str, Repetition]:
    """Return the drawn texts and a fourth of the other kinds of repetition, another fourth for the next share."""
    return DRAWN | dict(islice(REPETITIONS.items(), share % 4, None, 4))


@pytest.mark.parametrize("name", READERS)
def test_a_reader_of_text_takes_linear_time(name: str) -> None:
    slow = slow_kinds(READERS[name], some_kinds(list(READERS).index(name)), 16_384)
    assert not slow, "\n".join(slow)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", READERS)
def test_a_reader_of_text_takes_linear_time_on_every_repetition(name: str) -> None:
    slow = slow_kinds(READERS[name], every_repetition(), 65_536)
    assert not slow, "\n".join(slow)


FILES = list(file_readers(Path()))


@pytest.mark.parametrize("name", FILES)
def test_a_reader_of_files_takes_linear_time(name: str, tmp_path: Path) -> None:
    slow = slow_kinds(file_readers(tmp_path)[name], {unit: repeated(unit) for unit in IN_FILES}, 65_536)
    assert not slow, "\n".join(slow)


def test_every_entry_of_a_registry_is_run() -> None:
    assert {f"cleaner {name}" for name in CLEANERS} | {f"filter {name}" for name in FILTERS} <= set(READERS)
    assert set(SOURCE_FORMATS) <= set(FILES)
