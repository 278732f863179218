"""One setting: a field of a frozen dataclass with its help, its default and its choices; and the checks of settings."""

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
    """Declare a setting as a field of a dataclass, with what its flag shows.

    several: the flag takes several values, and a build is made for each; a field of type tuple[str, ...] takes several
    at once. items: what may be named, each with a `help` of its own, which --help shows. later: the setting came after
    the first builds, whose fingerprints do not name it: see `stored_values`.
    """
    metadata = {"help": help, "choices": choices, "several": several, "metavar": metavar, "later": later}
    return field(default=default, metadata=metadata | ({} if items is None else {"items": items}))


def help_of(metadata: Mapping[str, Any]) -> str:
    """Return the help of a setting; where it names items of a registry, with what each of them says of itself."""
    text, choices = metadata["help"], metadata.get("items", metadata["choices"])
    if isinstance(choices, Registry):
        text += ". " + "; ".join(f"{name}: {choices[name].help}" for name in choices)
    return str(text)


def require(condition: bool, message: str) -> None:
    """Raise ConfigError with a message unless a condition holds."""
    if not condition:
        raise ConfigError(message)


def choice(flag: str, value: str, choices: Collection[str]) -> None:
    require(value in choices, f"{flag} is {value!r}; expected one of {', '.join(choices)}")


_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "tuple[str, ...]": (tuple,),
}


def check_types(settings: Any) -> None:
    """Raise ConfigError where a setting is of another type than its field says; an int may stand for a float.

    A list, as JSON has it, stands for a tuple, and becomes one.
    """
    for one in fields(settings):
        value = getattr(settings, one.name)
        kinds = _KINDS[str(one.type)]
        if tuple in kinds and isinstance(value, list):
            value = tuple(value)
            object.__setattr__(settings, one.name, value)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            flag = "--" + one.name.replace("_", "-")
            raise ConfigError(f"{flag} is of the type {type(value).__name__}; expected {one.type}")


def stored_values(settings: Any) -> dict[str, Any]:
    """Return settings, and those within them, as fingerprints and origins hold them.

    A setting declared with `later` is left out at its default, so that builds from before it stay valid.
    """
    values = {}
    for one in fields(settings):
        value = getattr(settings, one.name)
        if not (one.metadata.get("later") and value == one.default):
            values[one.name] = stored_values(value) if is_dataclass(value) else value
    return values
