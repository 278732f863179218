"""Registries find what is built in, what was added, and what modules outside the package add."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bertdata import registry
from bertdata.errors import ConfigError
from bertdata.registry import Registry


def test_what_is_built_in_is_imported_when_it_is_asked_for() -> None:
    codecs: Registry[Any] = Registry("codec", {"json": "json:loads", "none": "no_such_module:no_such_name"})
    assert codecs["json"]("[1, 2]") == [1, 2]
    assert list(codecs) == ["json", "none"]
    assert len(codecs) == 2
    assert "json" in codecs


def test_what_is_added_comes_behind_what_is_built_in() -> None:
    codecs: Registry[Any] = Registry("codec", {"json": "json:loads"})
    codecs.add("upper", str.upper)
    codecs.add("upper", str.upper)
    assert codecs["upper"]("a") == "A"
    assert list(codecs) == ["json", "upper"]


def test_a_name_is_given_once() -> None:
    codecs: Registry[Any] = Registry("codec", {"json": "json:loads"})
    with pytest.raises(ConfigError, match="the name 'json' is taken by another codec; give yours another name"):
        codecs.add("json", str.upper)


def test_an_unknown_name_is_told_the_names_there_are() -> None:
    codecs: Registry[Any] = Registry("codec", {"json": "json:loads", "upper": "builtins:str"})
    with pytest.raises(ConfigError, match="there is no codec 'xml'; expected one of json, upper"):
        codecs["xml"]


def test_an_object_is_named_by_its_module_without_being_registered() -> None:
    codecs: Registry[Any] = Registry("codec", {"json": "json:loads"})
    assert "builtins:str" in codecs
    assert codecs["builtins:len"]("abc") == 3
    assert not codecs.is_builtin("builtins:len")
    for name, reason in (("json:none", "has no attribute"), ("no_such_module:x", "No module named"), (":x", "Empty")):
        with pytest.raises(ConfigError, match=f"the codec '{name}' cannot be imported .*{reason}"):
            codecs[name]


@dataclass
class Named:
    name: str
    revision: int = 1


@pytest.mark.parametrize(("own", "found"), [("", "has no name"), ("bz2", "has the name 'bz2'")])
def test_the_name_of_an_item_is_the_one_it_is_registered_under(own: str, found: str) -> None:
    codecs: Registry[Named] = Registry("codec", {})
    with pytest.raises(ConfigError, match=f"the codec registered as 'gz' {found}; set its `name` to 'gz'"):
        codecs.add("gz", Named(own))
    codecs.add("gz", Named("gz"))


def test_an_attribute_that_a_module_does_not_have_is_named() -> None:
    codecs: Registry[Any] = Registry("codec", {"json": "json:load_all"})
    with pytest.raises(ConfigError, match="the codec 'json' is registered as json:load_all, and json has no load_all"):
        codecs["json"]


def test_revisions_are_given_only_where_they_were_raised() -> None:
    codecs: Registry[Any] = Registry("codec", {"json": "json:loads"})
    codecs.add("gz", Named("gz"))
    codecs.add("zst", Named("zst", revision=3))
    assert codecs.raised_revisions(["zst", "gz", "json"]) == [["codec", "zst", 3]]


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that modules are imported from, in a process that has loaded no plugins yet."""
    monkeypatch.setattr(registry, "_loaded", set())
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (None, r"ModuleNotFoundError: No module named 'broken_plugin'"),
        ("import no_such_module", r"ModuleNotFoundError: No module named 'no_such_module'"),
        ("def", r"SyntaxError: invalid syntax .*"),
        ("1 / 0", r"ZeroDivisionError: division by zero"),
        (
            "from bertdata.registry import Registry\nRegistry('codec', {'json': 'json:loads'}).add('json', str)",
            r"the name 'json' is taken by another codec; give yours another name",
        ),
    ],
)
def test_a_module_that_cannot_be_loaded_is_named_each_time(
    plugins: Path, monkeypatch: pytest.MonkeyPatch, code: str | None, reason: str
) -> None:
    if code is not None:
        (plugins / "broken_plugin.py").write_text(code)
    monkeypatch.setenv(registry.PLUGINS, "broken_plugin")
    for _ in range(2):
        monkeypatch.delitem(sys.modules, "broken_plugin", raising=False)
        message = rf"the module 'broken_plugin' that BERTDATA_PLUGINS names cannot be loaded \({reason}\); correct it"
        with pytest.raises(ConfigError, match=message):
            list(Registry("codec", {}))


@pytest.mark.parametrize("line", ["plugins/mine.py", "mine.py", "mine:Codec", "first second", "json,.mine"])
def test_a_line_of_plugins_that_is_no_list_of_modules_is_refused(
    plugins: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setenv(registry.PLUGINS, line)
    with pytest.raises(ConfigError, match=r"BERTDATA_PLUGINS has '.*'; expected names of modules separated by commas"):
        list(Registry("codec", {}))


@pytest.mark.parametrize("value", ["no_such_module", "json:no_such_attribute"])
def test_an_entry_point_that_cannot_be_loaded_is_named_with_its_package(plugins: Path, value: str) -> None:
    write_entry_point(plugins, "broken", value)
    message = rf"the entry point broken = {value} in the group bertdata.plugins of broken cannot be loaded \(.*no"
    with pytest.raises(ConfigError, match=message):
        list(Registry("codec", {}))


def write_entry_point(folder: Path, package: str, value: str) -> None:
    """Write the metadata of an installed package with one entry point for plugins."""
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{registry.ENTRY_POINTS}]\n{package} = {value}\n")


def test_plugins_are_found_by_the_variable_and_by_entry_points(tmp_path: Path) -> None:
    (tmp_path / "codecs_of_mine.py").write_text(
        "from bertdata.registry import Registry\nCODECS = Registry('codec', {'json': 'json:loads'})\n"
    )
    for name in ("first", "second"):
        (tmp_path / f"{name}_plugin.py").write_text(
            f"from codecs_of_mine import CODECS\nCODECS.add({name!r}, str.{'upper' if name == 'first' else 'lower'})\n"
        )
    write_entry_point(tmp_path, "second", "second_plugin")
    code = "from codecs_of_mine import CODECS; print(CODECS['second']('A'), CODECS['first']('a'), *CODECS)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path), registry.PLUGINS: "first_plugin"},
        check=True,
    )
    assert done.stdout.split() == ["a", "A", "json", "first", "second"]
