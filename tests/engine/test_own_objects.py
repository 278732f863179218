"""Objects that are handed over: the name of each, and that another name follows from other code."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bertdata.engine.own_objects import digest, handed_over_as, importable_name, name_of
from bertdata.errors import ConfigError
from bertdata.registry import Registry

WORDS = re.compile("[a-z]+")


def at_the_top(text: str) -> str:
    return text


def of_code(code: str) -> Any:
    """Return `f` of a module of some code, that cannot be imported."""
    module = ModuleType("__main__")
    exec(code, vars(module))
    return vars(module)["f"]


@pytest.fixture
def codecs() -> Registry[Any]:
    return Registry("codec", {"json": "json:loads"})


def test_an_object_of_a_module_has_its_name_there() -> None:
    here = __name__
    assert importable_name(at_the_top) == f"{here}:at_the_top"
    assert importable_name(WORDS) == f"{here}:WORDS"
    assert importable_name(Registry) == "bertdata.registry:Registry"
    for other in (lambda text: text, partial(at_the_top), re.compile("[b-y]+"), of_code("def f(text): pass")):
        assert importable_name(other) == ""


def test_a_module_that_is_found_under_no_path_gives_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("made_by_hand")
    exec("def f(text): pass", vars(module))
    monkeypatch.setitem(sys.modules, "made_by_hand", module)
    assert importable_name(module.f) == ""


def test_a_name_an_entry_and_an_object_are_found_by_a_registry(codecs: Registry[Any]) -> None:
    assert name_of(codecs, "anything") == "anything"
    assert name_of(codecs, codecs["json"]) == "json"
    assert codecs[name_of(codecs, at_the_top)] is at_the_top
    name = name_of(codecs, shout := lambda text: text.upper())
    assert re.fullmatch("lambda@[0-9a-f]{8}", name)
    assert codecs[name] is shout
    assert name_of(codecs, shout) == name


def test_an_object_that_has_changed_has_another_name(codecs: Registry[Any]) -> None:
    rule = Rule(str.isalpha)
    first = name_of(codecs, rule)
    assert codecs[first] is rule
    rule.keep = of_code("def f(text): return True")
    assert name_of(codecs, rule) != first


def test_an_object_that_is_looked_up_later_must_be_in_a_module(codecs: Registry[Any]) -> None:
    assert name_of(codecs, at_the_top, keep=True).endswith(":at_the_top")
    with pytest.raises(ConfigError, match=r"the codec f is in no module .*write it into a file.*%%writefile"):
        name_of(codecs, of_code("def f(text): return text"), keep=True)


def test_a_module_that_was_reloaded_gives_its_new_object(
    codecs: Registry[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "reloaded.py").write_text("def f(text): return 'old'\n")
    module = importlib.import_module("reloaded")
    assert codecs[name_of(codecs, module.f)]("") == "old"
    (tmp_path / "reloaded.py").write_text("def f(text): return 'of now'\n")
    importlib.reload(module)
    assert codecs[name_of(codecs, module.f)]("") == "of now"


HELPER = "def helper(text): return text + {}\ndef f(text): return helper(text)"
CLASS = "class Rule:\n    def keep(self, text): return text + {}\nf = Rule()"
BASE = "class Base:\n    limit = {}\nclass Rule(Base):\n    pass\nf = Rule()"
AROUND = "def make(suffix):\n    return lambda text: text + suffix\nf = make({})"
VALUE = "import re\nPATTERN = re.compile(str({}))\ndef f(text): return PATTERN.sub('', text)"
INNER = "def f(text): return [word + {} for word in text]"
DEFAULT = "def f(text, suffix={}): return text + suffix"
PARTIAL = "from functools import partial\ndef g(suffix, text): return text + suffix\nf = partial(g, {})"
STATE = "class Rule:\n    def __init__(self, limit): self.limit = limit\nf = Rule({})"
PROPERTY = "class Rule:\n    @property\n    def limit(self): return {}\nf = Rule()"
STATIC = "class Rule:\n    @staticmethod\n    def limit(): return {}\nf = Rule()"
METHOD = "class Rule:\n    def keep(self, text): return text + {}\nf = Rule().keep"
CONTAINERS = "LIMITS = {{'a': [1, ({}, 2)], 'b': {{3, 4}}}}\ndef f(text): return LIMITS"
TWO_CLASSES = (
    "class One:\n    a = 1\nclass Two:\n    b = {}\nclass Three:\n    c = 1\ndef f(text): return One, Two, Three"
)
IN_A_CLASS = "LIMIT = {}\ndef f(text):\n    class Rule:\n        limit = LIMIT\n    return Rule().limit"
RECURSIVE = "def f(text): return f(text[1:]) if text else {}"


@pytest.mark.parametrize(
    "code",
    [
        HELPER,
        CLASS,
        BASE,
        AROUND,
        VALUE,
        INNER,
        DEFAULT,
        PARTIAL,
        STATE,
        PROPERTY,
        STATIC,
        METHOD,
        CONTAINERS,
        IN_A_CLASS,
        RECURSIVE,
        TWO_CLASSES,
    ],
)
def test_the_digest_follows_all_code_and_values_that_an_object_reads(code: str) -> None:
    one, same, other = (digest(of_code(code.format(value))) for value in ("'a'", "'a'", "'b'"))
    assert one == same != other


def test_the_digest_does_not_follow_names_that_are_not_read_nor_where_the_code_stands() -> None:
    code = "def f(text): return text"
    assert digest(of_code(f"unread = 3\n\n\n{code}")) == digest(of_code(code))


def test_an_attribute_is_no_global_of_its_name() -> None:
    code = "import _thread\nlock = _thread.allocate_lock()\ndef f(text): return text.lock"
    assert digest(of_code(code)) == digest(of_code("def f(text): return text.lock"))


Box = of_code("class Box:\n    def __init__(self, keep): self.keep = keep\nf = Box")


def longer_than(number: int) -> Callable[[str], bool]:
    return lambda text: len(text) > number


def test_a_function_without_a_name_counts_by_its_code_also_in_an_object_of_another_module() -> None:
    one, same, other = (digest(Box(longer_than(number))) for number in (1, 1, 2))
    assert one == same != other


def test_a_partial_function_counts_by_the_code_of_its_own_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    digests = []
    for text in ("one", "one", "another"):
        (tmp_path / "held.py").write_text(
            f"def f(suffix, text): return helper(text)\ndef helper(text): return {text!r}\n"
        )
        monkeypatch.delitem(sys.modules, "held", raising=False)
        importlib.invalidate_caches()
        digests.append(digest(partial(importlib.import_module("held").f, "!")))
    assert digests[0] == digests[1] != digests[2]


def test_a_value_that_cannot_be_handed_over_is_refused() -> None:
    lock = of_code("import _thread\nLOCK = _thread.allocate_lock()\ndef f(text): return LOCK")
    with pytest.raises(ConfigError, match=r"lock cannot be handed over to worker processes .*cannot pickle"):
        digest(lock)


def test_a_value_that_is_too_deep_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ConfigError, match="holds objects in objects too deep"):
        digest(partial(len, deep))


def test_of_all_that_was_handed_over_the_workers_get_what_is_named(codecs: Registry[Any]) -> None:
    first, second = (name_of(codecs, of_code(f"def f(text): return {number}")) for number in (1, 2))
    assert list(handed_over_as([f"{second}=3", "json"])) == [("codec", second)]
    assert first != second


@dataclass
class Rule:
    """An object of a module that holds a function of none."""

    keep: Callable[[str], bool]


def test_the_digest_follows_a_function_in_an_object_of_another_module() -> None:
    rules = [Rule(of_code(f"def f(text): return {limit}")) for limit in (1, 1, 2)]
    assert digest(rules[0]) == digest(rules[1]) != digest(rules[2])
