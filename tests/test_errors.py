from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import bertdata
from bertdata.errors import (
    BertDataError,
    ConfigError,
    InputError,
    MissingExtraError,
    OutputError,
    VerificationError,
    printable,
)
from bertdata.io.console import table

CHILDREN = [ConfigError, InputError, OutputError, VerificationError]


@pytest.mark.parametrize("kind", CHILDREN)
def test_every_error_is_a_bertdata_error_and_says_path_byte_and_page_first(kind: type[BertDataError]) -> None:
    error = kind("is damaged; get it again", path="x.bz2", offset=0, title="Salt")
    assert isinstance(error, BertDataError)
    assert str(error) == "x.bz2, byte 0, page 'Salt': is damaged; get it again"
    assert str(kind("is damaged")) == "is damaged"


def test_a_setting_is_a_value_error_and_a_missing_extra_an_import_error() -> None:
    assert issubclass(ConfigError, ValueError)
    assert issubclass(MissingExtraError, ImportError)
    assert not issubclass(InputError, (OSError, ValueError))


def test_a_missing_extra_says_how_to_get_it() -> None:
    error = MissingExtraError("apache-beam", "beam")
    assert str(error) == 'apache-beam is not installed; get it with: pip install ".[beam]" (in a clone of bertdata)'


@pytest.mark.parametrize(
    ("package", "lacking", "said"),
    [
        (
            "pytest",
            "pyparsing.core",
            f"pytest {pytest.__version__} is installed, but importing it fails: No module; get",
        ),
        (
            "pytest[dev]",
            "pyparsing",
            f"pytest {pytest.__version__} is installed, but importing it fails: No module; get",
        ),
        ("pytest", None, f"pytest {pytest.__version__} is installed, but importing it fails: No module; get"),
        ("pytest-xdist", "pytest_xdist.inner", "pytest-xdist is not installed; get it with"),
        ("no-such-package", "pyparsing", "no-such-package is not installed; get it with"),
    ],
)
def test_a_package_that_lacks_what_it_needs_itself_is_not_called_missing(
    package: str, lacking: str | None, said: str
) -> None:
    with pytest.raises(MissingExtraError) as caught:
        raise MissingExtraError(package, "beam") from ModuleNotFoundError("No module", name=lacking)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    "error",
    [
        MissingExtraError("torch", "torch"),
        *(kind("found this", path="p", offset=3, title="t") for kind in CHILDREN),
    ],
)
def test_an_error_comes_back_from_a_worker_process_as_it_was(error: BertDataError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__


NAMES = {
    "a\x1b[2Jb": r"a\x1b[2Jb",
    "a\nb": r"a\nb",
    "a\r\tb\x00": r"a\r\tb\x00",
    "a\u202eb": r"a\u202eb",
    "a\x9b1mb\x7f": r"a\x9b1mb\x7f",
    "a\u061cb\u200e\u200f\u2066c": r"a\u061cb\u200e\u200f\u2066c",
    "a\ud800b": r"a\ud800b",
    "Zürich 塩.txt": "Zürich 塩.txt",
}


@pytest.mark.parametrize("name", NAMES)
def test_control_characters_of_names_are_shown_as_escapes(name: str) -> None:
    assert printable(name) == NAMES[name]
    assert printable(printable(name)) == printable(name)
    assert str(InputError("is bad", path=name)) == f"{NAMES[name]}: is bad"
    assert table([(name, name)]) == f"{NAMES[name]}  {NAMES[name]}"


def test_an_error_of_several_lines_keeps_them_and_escapes_the_rest() -> None:
    assert str(InputError("one \x1b\ntwo \x07")) == "one \\x1b\ntwo \\x07"
    assert "\x1b" not in str(InputError("x", title="\x1b[1m"))


@pytest.mark.costly
def test_where_arrow_fails_for_want_of_memory_no_file_is_called_damaged() -> None:
    """ArrowMemoryError is an ArrowException: what says that a file is damaged, so that it is deleted, lets it pass."""
    checked = 0
    for path in Path(bertdata.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            handlers = node.handlers if isinstance(node, ast.Try) else []
            for number, handler in enumerate(handlers):
                if handler.type and "ArrowException" in ast.unparse(handler.type):
                    earlier = [ast.unparse(before) for before in handlers[:number]]
                    first = ast.unparse(handler.body[0])
                    checked += 1
                    assert first.startswith("if lacks_memory(") or any(
                        "MemoryError" in before.splitlines()[0] and before.endswith("raise") for before in earlier
                    ), f"{path}, line {handler.lineno}"
    assert checked > 15


def texts_of(error: ast.expr) -> Iterator[str]:
    """Yield the texts that an error is raised with, what they are filled with as {}."""
    for argument in error.args if isinstance(error, ast.Call) else ():
        values = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
        yield "".join(str(value.value) if isinstance(value, ast.Constant) else "{}" for value in values)


@pytest.mark.costly
def test_a_command_in_an_error_is_quoted_so_that_its_flags_stay_flags_in_python() -> None:
    """Outside of quotes `arguments_for_flags` takes them for those of the call that has failed."""
    command = re.compile(r"\bbertdata [a-z-]+( [^,;.]*)? --[a-z]")
    checked = 0
    for path in Path(bertdata.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            for text in texts_of(node.exc) if isinstance(node, ast.Raise) and node.exc else ():
                checked += bool(command.search(text))
                for outside in text.split("`")[::2]:
                    assert not command.search(outside), f"{path}: {text}"
    assert checked > 5
