"""Registries find what is built in, what was added, and what modules outside the package add."""

from __future__ import annotations

import os
import subprocess
import sys
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
    with pytest.raises(ConfigError, match="there is a codec 'json' already; give yours another name"):
        codecs.add("json", str.upper)


def test_an_unknown_name_is_told_the_names_there_are() -> None:
    codecs: Registry[Any] = Registry("codec", {"json": "json:loads", "upper": "builtins:str"})
    with pytest.raises(ConfigError, match="there is no codec 'xml'; expected one of json, upper"):
        codecs["xml"]


def test_a_plugin_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_loaded", set())
    monkeypatch.setenv(registry.PLUGINS, "no_such_plugin")
    with pytest.raises(ConfigError, match="BERTDATA_PLUGINS names the module 'no_such_plugin', which cannot be"):
        list(Registry("codec", {}))


def test_plugins_are_found_by_the_variable_and_by_entry_points(tmp_path: Path) -> None:
    (tmp_path / "codecs_of_mine.py").write_text(
        "from bertdata.registry import Registry\nCODECS = Registry('codec', {'json': 'json:loads'})\n"
    )
    for name in ("first", "second"):
        (tmp_path / f"{name}_plugin.py").write_text(
            f"from codecs_of_mine import CODECS\nCODECS.add({name!r}, str.{'upper' if name == 'first' else 'lower'})\n"
        )
    metadata = tmp_path / "second-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: second\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[bertdata.plugins]\nsecond = second_plugin\n")
    code = "from codecs_of_mine import CODECS; print(CODECS['second']('A'), CODECS['first']('a'), *CODECS)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path), registry.PLUGINS: "first_plugin"},
        check=True,
    )
    assert done.stdout.split() == ["a", "A", "json", "first", "second"]
