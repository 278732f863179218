"""Registries: the named implementations of one kind, such as objectives or export formats.

An implementation is one file and one line: its name and where it is, in the registry of its kind. It is imported when
it is first asked for. A package outside bertdata adds its own in a module that calls `Registry.add` when it is
imported. bertdata imports such modules where they are named by the entry point group `bertdata.plugins` of an
installed package, or by the environment variable BERTDATA_PLUGINS (module names with commas between them), which
worker processes inherit.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar, cast

from bertdata.errors import ConfigError

Item = TypeVar("Item")

PLUGINS = "BERTDATA_PLUGINS"
ENTRY_POINTS = "bertdata.plugins"
_loaded: set[str] = set()


class Registry(Generic[Item]):
    """Named implementations of one kind; `kind` is what messages call one of them.

    `builtin` gives for each name "module:attribute". Names are in the order in which they were given or added.

    >>> codecs: Registry[Any] = Registry("codec", {"json": "json:loads"})
    >>> codecs["json"]("[1]"), "xml" in codecs, list(codecs)
    ([1], False, ['json'])
    """

    def __init__(self, kind: str, builtin: Mapping[str, str]) -> None:
        self.kind = kind
        self._items: dict[str, Item | str] = dict(builtin)

    def add(self, name: str, item: Item) -> None:
        """Add an implementation; raises ConfigError where the name is taken by another one."""
        if self._items.setdefault(name, item) is not item:
            raise ConfigError(f"there is a {self.kind} {name!r} already; give yours another name")

    def __getitem__(self, name: str) -> Item:
        """Return the implementation of a name, imported if need be; raises ConfigError for an unknown name."""
        if name not in self._items:
            load_plugins()
        if name not in self._items:
            raise ConfigError(f"there is no {self.kind} {name!r}; expected one of {', '.join(self._items)}")
        item = self._items[name]
        if isinstance(item, str):
            module, _, attribute = item.partition(":")
            item = self._items[name] = cast("Item", getattr(importlib.import_module(module), attribute))
        return item

    def __contains__(self, name: object) -> bool:
        if name not in self._items:
            load_plugins()
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        load_plugins()
        return iter(tuple(self._items))

    def __len__(self) -> int:
        load_plugins()
        return len(self._items)


def load_plugins() -> None:
    """Import the modules that packages outside bertdata name, each once a process.

    Raises ConfigError where one that BERTDATA_PLUGINS names cannot be imported.
    """
    from importlib.metadata import entry_points

    for module in filter(None, map(str.strip, os.environ.get(PLUGINS, "").split(","))):
        if module not in _loaded:
            _loaded.add(module)
            try:
                importlib.import_module(module)
            except ImportError as error:
                raise ConfigError(
                    f"{PLUGINS} names the module {module!r}, which cannot be imported ({error}); "
                    "install its package, or put its folder into PYTHONPATH"
                ) from error
    if ENTRY_POINTS not in _loaded:
        _loaded.add(ENTRY_POINTS)
        for one in entry_points(group=ENTRY_POINTS):
            one.load()
