"""Registries find what is built in, what was added, and what modules outside the package add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from bertdata.errors import ConfigError
from bertdata.plugins import consent_to
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
    with pytest.raises(ConfigError, match="the name 'json' is taken by another codec"):
        codecs.add("json", str.upper)


@pytest.mark.parametrize("name", ["", "a b", "os:system", "a=1", "a,b", "a@b", "a\x1b[31m", "a\u202e", 7, None])
def test_a_name_that_cannot_be_typed_or_printed_is_refused(name: Any) -> None:
    codecs: Registry[Any] = Registry("codec", {})
    with pytest.raises(ConfigError, match=r"a codec is registered as .*; expected a name without spaces and : = , @"):
        codecs.add(name, str.upper)
    assert list(codecs) == []


def test_an_unknown_name_is_told_the_names_there_are() -> None:
    codecs: Registry[Any] = Registry("codec", {"json": "json:loads", "upper": "builtins:str"})
    with pytest.raises(ConfigError, match="there is no codec 'xml'"):
        codecs["xml"]


def test_an_object_is_named_by_its_module_without_being_registered() -> None:
    codecs: Registry[Any] = Registry("codec", {"json": "json:loads"})
    assert consent_to("builtins:str") in codecs
    assert codecs["builtins:len"]("abc") == 3
    assert not codecs.is_builtin("builtins:len")
    for name, reason in (("json:none", "has no attribute"), ("no_such_module:x", "No module named")):
        with pytest.raises(ConfigError, match=f"the codec '{name}' cannot be imported .*{reason}"):
            codecs[consent_to(name)]


def test_a_class_of_another_kind_is_not_called() -> None:
    class Delete:
        def __init__(self) -> None:
            raise AssertionError("was called")

    codecs: Registry[Named] = Registry("codec", {}, Named)
    with pytest.raises(ConfigError, match="the codec 'mine' is of the type type"):
        codecs.adapted("mine", Delete)


@dataclass
class Named:
    name: str
    revision: int = 1


@pytest.mark.parametrize(("own", "registered"), [("", "has no name"), ("bz2", "has the name 'bz2'")])
def test_the_name_of_an_item_is_the_one_it_is_registered_under(own: str, registered: str) -> None:
    codecs: Registry[Named] = Registry("codec", {})
    with pytest.raises(ConfigError, match=f"the codec registered as 'gz' {registered}; set its `name` to 'gz'"):
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
