"""What a caller asks for: values by the names of settings, as a command line or Python's keywords give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from numbers import Number
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from bertdata.errors import ConfigError
from bertdata.io import paths
from bertdata.options.option import flag_of, require

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Config = TypeVar("Config", bound="DataclassInstance")


class Request(SimpleNamespace):
    """Values as attributes, all that a command has; settings classes check them.

    named: those that the caller gave, by how the caller wrote them, as {"mask_unit": "--mask-unit"}. runner_flags:
    Beam's.
    """

    named: dict[str, str]
    runner_flags: tuple[str, ...]

    def refuse_unread(self, names: Iterable[str], read: bool, why: str) -> None:
        """Raise ConfigError where one of the settings `names` was given although nothing reads them (`read`: False)."""
        for name in () if read else names:
            if name in self.named:
                raise ConfigError(f"{self.named[name]} has no effect: {why}")


def defaults_of(kinds: Iterable[type[Any]]) -> dict[str, Any]:
    """Return the values of the settings of classes that nobody gives: a list where there can be several."""
    defaults = {setting.name: setting.default for kind in kinds for setting in fields(kind)}
    return {name: [] if isinstance(value, tuple) else value for name, value in defaults.items()}


def value_of_keyword(name: str, value: Any, default: Any) -> Any:
    """Return a value of Python or of a recipe as a command line gives it: paths as text, a list where it has several.

    A mapping is a list of NAME=VALUE, of several values one each.

    >>> value_of_keyword("mix", {"news": 2.5}, []), value_of_keyword("clean", "email", [])
    (['news=2.5'], ['email'])
    >>> value_of_keyword("books", {"old": ["a.txt", "b.txt"]}, [])
    ['old=a.txt', 'old=b.txt']
    """
    if isinstance(value, Mapping):
        return [f"{key}={_text(item)}" for key, items in value.items() for item in _several(items)]
    if paths.is_path(value):
        value = paths.path_text(value)
    if not isinstance(default, list):
        return list(value) if isinstance(value, tuple) else value
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, Iterable):
        raise ConfigError(f"{flag_of(name)} is {value!r}; expected one or several strings")
    return [*map(_text, values)]


def _several(value: Any) -> Iterable[Any]:
    """Return what stands for several values, or one as the only one."""
    return value if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping) else [value]


def _text(value: Any) -> str:
    """Return a number or a path as a command line gives it."""
    return str(value) if isinstance(value, Number | Mapping | None) else paths.path_text(value)


def settings_from(values: object, config: type[Config]) -> Config:
    """Make a settings object of the attributes that have the names of its fields.

    Raises ConfigError, also for several values (see `each_settings_from`).
    """
    [settings] = each_settings_from(values, config, most=1)
    return settings


def each_settings_from(values: object, config: type[Config], *, most: int = 0) -> tuple[Config, ...]:
    """Make a settings object for each value of the setting that has several, in ascending order, or one object.

    Raises ConfigError also where a value is given twice, or there are more than `most` (0: any number).
    """
    given: dict[str, Any] = {setting.name: getattr(values, setting.name, setting.default) for setting in fields(config)}
    for setting in fields(config):
        value = given[setting.name]
        if isinstance(setting.default, tuple):
            given[setting.name] = tuple(value)
        elif isinstance(value, list):
            flag, text = flag_of(setting.name), " ".join(map(str, value))
            require(len(set(value)) == len(value), f"{flag} {text} has a value twice; give each once")
            require(not most or len(value) <= most, f"{flag} {text} has {len(value)} values; expected one")
            return tuple(config(**(given | {setting.name: each})) for each in sorted(value))
    return (config(**given),)
