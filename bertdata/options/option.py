"""A setting is a field of a frozen dataclass, with its help, its default and its choices; and checks of settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, fields, is_dataclass
from typing import Any

from bertdata.errors import ConfigError
from bertdata.registry import Registry

MIB = 1 << 20


def option(
    default: Any,
    help: str,  # noqa: A002
    choices: Collection[str] | None = None,
    *,
    several: bool = False,
    metavar: str = "N",
    items: Registry[Any] | None = None,
    later: bool = False,
) -> Any:
    """Declare a setting as a field of a dataclass.

    several: the flag takes several values, and a build is made for each; a field of type tuple[str, ...] takes several
    at once. items: a registry whose names are the values, each with a `help` for --help. later: the setting was added
    after the first builds, whose fingerprints do not have it: see `stored_values`.
    """
    metadata = {"help": help, "choices": choices, "several": several, "metavar": metavar, "later": later}
    return field(default=default, metadata=metadata | ({} if items is None else {"items": items}))


def help_of(metadata: Mapping[str, Any]) -> str:
    """Return the help of a setting, with that of each item if its values are names of a registry."""
    text, choices = metadata["help"], metadata.get("items", metadata["choices"])
    if isinstance(choices, Registry):
        text += ". " + "; ".join(f"{name}: {choices[name].help}" for name in choices)
    return str(text)


def require(condition: bool, message: str) -> None:
    """Raise ConfigError with a message unless a condition holds."""
    if not condition:
        raise ConfigError(message)


def flag_of(name: str) -> str:
    """Return the flag of a setting.

    >>> flag_of("max_seq_length")
    '--max-seq-length'
    """
    return "--" + name.replace("_", "-")


def choice(flag: str, value: str, choices: Collection[str]) -> None:
    """Raise ConfigError unless the value of a flag is one of its choices."""
    require(value in choices, f"{flag} is {value!r}; expected one of {', '.join(choices)}")


_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "tuple[str, ...]": (tuple,),
}


def check_types(settings: Any) -> None:
    """Raise ConfigError where a setting is not of the type of its field.

    An int is accepted for a float, and a list, as JSON has it, for a tuple, which it becomes.
    """
    for setting in fields(settings):
        value = getattr(settings, setting.name)
        kinds = _KINDS[str(setting.type)]
        if tuple in kinds and isinstance(value, list):
            value = tuple(value)
            object.__setattr__(settings, setting.name, value)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            name = flag_of(setting.name)
            raise ConfigError(f"{name} is of the type {type(value).__name__}; expected {setting.type}")


def stored_values(settings: Any) -> dict[str, Any]:
    """Return settings, nested ones too, as fingerprints and origins hold them.

    A setting declared with `later` is left out at its default, so that builds from before it stay valid.
    """
    values = {}
    for setting in fields(settings):
        value = getattr(settings, setting.name)
        if not (setting.metadata.get("later") and value == setting.default):
            values[setting.name] = stored_values(value) if is_dataclass(value) else value
    return values
