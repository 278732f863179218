"""Registries: the named implementations of one kind, such as objectives or export formats.

An implementation is one file, and one line in the registry of its kind: its name, and where it is. It is imported at
its first use. A package outside bertdata adds its own in a module that calls `Registry.add` when it is imported.
bertdata imports such modules where they are named by the entry point group `bertdata.plugins` of an installed package,
or by the environment variable BERTDATA_PLUGINS (module names separated by commas), which worker processes inherit. An
object of a module can also be named where it is used, as `my_package.my_module:MY_OBJECT`, which is imported with the
consent of the user (`bertdata.plugins`). One that no module has is handed over by itself
(`bertdata.engine.own_objects`).
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar, cast

from bertdata.errors import ConfigError, InputError, expected_one_of, shortened
from bertdata.plugins import import_named, load_plugins

Item = TypeVar("Item")
_NAME = re.compile(r"[^\s:=,@]+")

handed_over: dict[tuple[str, str], object] = {}
"""The objects that no module has, by their kind and name; worker processes get them with their tasks."""


class Registry(Generic[Item]):
    """Named implementations of one kind; `kind` is what messages call one of them.

    `builtin` gives for each name "module:attribute". Names are in the order in which they were given or added. `adapt`
    is for objects that are not registered: their class, or a function that makes an implementation of a name and an
    object, as of a function; or "module:attribute" of one of these. Objects that were named as `module:name` are not
    among the names.

    >>> codecs: Registry[Any] = Registry("codec", {"json": "json:loads"})
    >>> codecs["json"]("[1]"), "xml" in codecs, list(codecs)
    ([1], False, ['json'])
    """

    def __init__(
        self,
        kind: str,
        builtin: Mapping[str, str],
        adapt: type[Item] | Callable[[str, Any], Item] | str | None = None,
    ) -> None:
        self.kind = kind
        self._adapt = adapt
        self._builtin = frozenset(builtin)
        self._items: dict[str, Item | str] = dict(builtin)
        self._found: dict[str, Item] = {}

    def add(self, name: str, item: Item) -> None:
        """Add an implementation.

        Raises ConfigError where the name is taken by another one, or is none that can be typed and printed, and where
        `item.name`, if there is one, is another name.
        """
        if not (isinstance(name, str) and name.isprintable() and _NAME.fullmatch(name)):
            raise ConfigError(
                f"a {self.kind} is registered as {shortened(name)}; expected a name without spaces and : = , @"
            )
        self._check_name(name, item)
        if self._items.setdefault(name, item) is not item:
            raise ConfigError(f"the name {name!r} is taken by another {self.kind}; give yours another name")

    def __getitem__(self, name: str) -> Item:
        """Return the implementation of a name; raises ConfigError, with the names there are, for an unknown name."""
        if name not in self:
            hint = "; it was handed over in Python, which has to be done again" if "@" in name else ""
            raise ConfigError(f"there is no {self.kind} {name!r}{hint}{expected_one_of(name, self._items)}")
        if name in self._found:
            return self._found[name]
        item = self._items[name]
        if isinstance(item, str):
            module, _, attribute = item.partition(":")
            loaded = getattr(importlib.import_module(module), attribute, None)
            if loaded is None:
                raise ConfigError(f"the {self.kind} {name!r} is registered as {item}, and {module} has no {attribute}")
            self._check_name(name, loaded)
            item = self._items[name] = cast("Item", loaded)
        return item

    def named_in(self, path: str, name: str) -> Item:
        """Return the implementation of a name that stands in a file.

        Raises InputError, with the file, for an unknown name, and for one of a module that the user has not named.
        """
        try:
            return self[name]
        except ConfigError as error:
            remedy = "; if a package adds it, install that, or name its module in BERTDATA_PLUGINS"
            raise InputError(f"{error}{'' if ':' in name else remedy}", path=path) from error

    def _find(self, name: str) -> None:
        """Look for a name that is not known: among those that plugins add, and as that of an object in a module.

        Raises ConfigError where a name as `my_package.my_module:MY_OBJECT` cannot be imported, or may not be.
        """
        if name not in self._items:
            load_plugins()
        if name in self._items or name in self._found:
            return
        if (self.kind, name) in handed_over:
            self._found[name] = self.adapted(name, handed_over[self.kind, name])
            return
        if ":" in name:
            self._found[name] = self.adapted(name, import_named(f"the {self.kind} {name!r}", name))

    def adapted(self, name: str, given: object) -> Item:
        """Return an object as an implementation; raises ConfigError, with its name, for one of another kind."""
        adapt: Any = self._adapt
        if isinstance(adapt, str):
            module, _, attribute = adapt.partition(":")
            adapt = getattr(importlib.import_module(module), attribute)
        if isinstance(adapt, type):
            return cast("Item", object_of(self.kind, name, given, adapt))
        return cast("Item", adapt(name, given) if adapt else given)

    def name_of(self, item: object) -> str:
        """Return the name of an implementation that a module has or added, if it was used before; else ""."""
        all_items = {**self._items, **self._found}
        names = (
            name
            for name, registered in all_items.items()
            if registered is item and (self.kind, name) not in handed_over
        )
        return next(names, "")

    def forget(self, name: str) -> None:
        """Import an implementation that is named as `module:name` again when it is asked for."""
        self._found.pop(name, None)

    def raised_revisions(self, names: Iterable[str]) -> list[list[str | int]]:
        """Return [kind, name, revision] of those of the names whose implementation has another `revision` than 1.

        The fingerprint of what they write holds these, so that it is written again when a revision is raised.
        """
        revisions = ((name, getattr(self[name], "revision", 1)) for name in names)
        return [[self.kind, name, revision] for name, revision in revisions if revision != 1]

    def is_builtin(self, name: str) -> bool:
        """Return whether an implementation comes with bertdata."""
        return name in self._builtin

    def _check_name(self, name: str, item: object) -> None:
        item_name = getattr(item, "name", name)
        if isinstance(item_name, str) and item_name != name:
            problem = f"has the name {item_name!r}" if item_name else "has no name"
            raise ConfigError(f"the {self.kind} registered as {name!r} {problem}; set its `name` to {name!r}")

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str):
            self._find(name)
        return name in self._items or name in self._found

    def __iter__(self) -> Iterator[str]:
        load_plugins()
        return iter(tuple(self._items))

    def __len__(self) -> int:
        load_plugins()
        return len(self._items)


def loading(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose public names are loaded when they are first used.

    homes: the module of the package where each name is. So the registry of a kind, which stands in its package, is
    imported without anything of that kind.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


def object_of(kind: str, name: str, given: object, wanted: type[Item]) -> Item:
    """Return an object if it is of a class; where it is a class itself, an object of it that is made without arguments.

    Raises ConfigError, which names the `kind` of object that was expected, for anything else.
    """
    if isinstance(given, type) and issubclass(given, wanted):
        try:
            given = given()
        except TypeError as error:
            raise ConfigError(
                f"the {kind} {name!r} is a class that takes arguments ({error}); expected an object of it"
            ) from error
    if not isinstance(given, wanted):
        raise ConfigError(
            f"the {kind} {name!r} is of the type {type(given).__name__}; expected {wanted.__name__}, as in "
            f"{wanted.__module__}"
        )
    return given
