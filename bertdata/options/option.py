"""One setting: a field of a frozen dataclass with its help, its default and its choices; and the checks of settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, fields
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
) -> Any:
    return field(default=default, metadata={"help": help, "choices": choices, "several": several})


def help_of(metadata: Mapping[str, Any]) -> str:
    """Return the help of a setting; of one whose choices are a registry, with what each of them says of itself."""
    text, choices = metadata["help"], metadata["choices"]
    if isinstance(choices, Registry):
        text += ". " + "; ".join(f"{name}: {choices[name].help}" for name in choices)
    return str(text)


def require(condition: bool, message: str) -> None:
    """Raise ConfigError with a message unless a condition holds."""
    if not condition:
        raise ConfigError(message)


def choice(flag: str, value: str, choices: Collection[str]) -> None:
    require(value in choices, f"{flag} is {value!r}; expected one of {', '.join(choices)}")


_KINDS: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}


def check_types(settings: Any) -> None:
    """Raise ConfigError where a setting is of another type than its field says; an int may stand for a float."""
    for one in fields(settings):
        value = getattr(settings, one.name)
        kinds = _KINDS[str(one.type)]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            flag = "--" + one.name.replace("_", "-")
            raise ConfigError(f"{flag} is of the type {type(value).__name__}; expected {one.type}")
