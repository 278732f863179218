"""Whatever reads text takes time in proportion to it: each entry of the registries, on kinds of repetition."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import bertdata
from bertdata.curation import CLEANERS, FILTERS
from bertdata.sources import SOURCE_FORMATS
from bertdata.tokenizers.file_keys import PART_KEYS
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from tests.entries import READ_ROWS, READ_TEXT, entry_readers, registries, registry
from tests.growth import REPETITIONS, Repetition, assert_linear, every_repetition, repeated, some_repetitions
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


def slow_kinds(run: Run, kinds: dict[str, Repetition], enough: int, floor: float) -> list[str]:
    """Return the kinds of repetition on which a function takes more than linear time, three at most."""
    slow: list[str] = []
    for kind, text_of in kinds.items():
        try:
            assert_linear(run, text_of, enough=enough, floor=floor)
        except AssertionError as error:
            slow.append(f"{kind}: {error}")
            if len(slow) == 3:
                break
    return slow


BRIEF, WHOLE = (8192, 0.0008), (65_536, 0.01)
"""At how many characters a text is long enough, and what a run takes at least, in seconds: of a quick run and of all.

A quadratic function that takes 0.0008 seconds for 8,192 characters takes 0.05 for 65,536.
"""
SHARES = 24
"""The kinds of repetition are shared among so many readers in a quick run, where each reads those of one share."""


@pytest.mark.costly
@pytest.mark.parametrize("name", READERS)
def test_a_reader_of_text_takes_linear_time(name: str) -> None:
    slow = slow_kinds(READERS[name], some_repetitions(list(READERS).index(name), SHARES), *BRIEF)
    assert not slow, "\n".join(slow)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", READERS)
def test_a_reader_of_text_takes_linear_time_on_every_repetition(name: str) -> None:
    slow = slow_kinds(READERS[name], every_repetition(), *WHOLE)
    assert not slow, "\n".join(slow)


ENTRIES = entry_readers()
ENTRY_SHARES = 300


@pytest.mark.costly
@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_of_a_registry_takes_linear_time(name: str) -> None:
    kinds = some_repetitions(7 * list(ENTRIES).index(name), ENTRY_SHARES)
    slow = slow_kinds(ENTRIES[name], kinds, *BRIEF)
    assert not slow, "\n".join(slow)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_of_a_registry_takes_linear_time_on_many_repetitions(name: str) -> None:
    slow = slow_kinds(ENTRIES[name], REPETITIONS, *WHOLE)
    assert not slow, "\n".join(slow)


FILES = list(file_readers(Path()))
FILE_SHARES = 5


@pytest.mark.costly
@pytest.mark.parametrize("name", FILES)
def test_a_reader_of_files_takes_linear_time(name: str, tmp_path: Path) -> None:
    units = IN_FILES[FILES.index(name) % FILE_SHARES :: FILE_SHARES]
    slow = slow_kinds(file_readers(tmp_path)[name], {unit: repeated(unit) for unit in units}, *BRIEF)
    assert not slow, "\n".join(slow)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", FILES)
def test_a_reader_of_files_takes_linear_time_on_every_unit(name: str, tmp_path: Path) -> None:
    slow = slow_kinds(file_readers(tmp_path)[name], {unit: repeated(unit) for unit in IN_FILES}, *WHOLE)
    assert not slow, "\n".join(slow)


NEEDS_A_FILE = {"score fasttext", "language lingua"}
"""Entries that read models which are not installed here; the first has a kernel of fastText's own."""
if importlib.util.find_spec("sentencepiece") is None:
    NEEDS_A_FILE |= {"normalizer Precompiled"}


def sources() -> list[Path]:
    """Return the files of the package, and of its pipelines."""
    root = Path(bertdata.__file__).parent
    return [*sorted(root.rglob("*.py")), *sorted((root.parent / "pipelines").rglob("*.py"))]


def test_every_entry_of_a_registry_is_run() -> None:
    assert {f"cleaner {name}" for name in CLEANERS} | {f"filter {name}" for name in FILTERS} <= set(READERS)
    assert set(SOURCE_FORMATS) <= set(FILES)
    assert registries().keys() == {*READ_TEXT, *READ_ROWS}
    calls = [re.findall(r"\bRegistry(?:\[[^]]*\])?\(\s*\"", path.read_text(encoding="utf-8")) for path in sources()]
    assert sum(map(len, calls)) == len(registries()) + 1, "the other one is the example in bertdata.registry"
    for name, prefix in READ_TEXT.items():
        if name not in ("SOURCE_FORMATS", "TOKENIZERS"):
            assert {f"{prefix} {entry}" for entry in registry(name)} <= {*READERS, *ENTRIES} | NEEDS_A_FILE, name
    families = [registry("TOKENIZERS")[name] for name in registry("TOKENIZERS")]
    assert all(issubclass(family, JsonTokenizer | WordPieceTokenizer) for family in families)
    stages = {f"{part} {kind}" for part in PART_KEYS if part != "post_processor" for kind in PART_KEYS[part]}
    assert stages <= {*ENTRIES} | NEEDS_A_FILE
