"""A setting is a field of a frozen dataclass, with its help, its default, its choices and its limits."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass
from typing import Any

from bertdata.errors import ConfigError, expected_one_of
from bertdata.plugins import consent_to
from bertdata.registry import Registry

MIB = 1 << 20
_MOST = 1 << 63
"""Whole numbers with limits are below it: arrays and kernels have 64 bits for them. A seed may be any number."""
_LIMITS = {
    "at_least": (operator.ge, "{} or more"),
    "above": (operator.gt, "more than {}"),
    "at_most": (operator.le, "at most {}"),
    "below": (operator.lt, "less than {}"),
}


def option(
    default: Any,
    help: str,  # noqa: A002
    choices: Collection[str] | None = None,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    several: bool = False,
    metavar: str = "N",
    items: Registry[Any] | None = None,
    later: bool = False,
    code: bool = False,
) -> Any:
    """Declare a setting as a field of a dataclass.

    at_least, at_most: the limits of a number; above, below: limits that it does not reach. The default is allowed also
    outside them. several: the flag takes several values, and a build is made for each; a field of type tuple[str, ...]
    takes several at once. items: a registry whose names are the values, each with a `help` for --help. later: the
    setting was added after the first builds, whose fingerprints do not have it: see `stored_values`. code: a value may
    name an object as `module:name`, as one of a registry may.
    """
    ends = {"at_least": at_least, "above": above, "at_most": at_most, "below": below}
    limits = {name: limit for name, limit in ends.items() if limit is not None}
    metadata = {"help": help, "choices": choices, "limits": limits, "several": several, "metavar": metavar}
    code = code or isinstance(choices, Registry) or items is not None
    return field(default=default, metadata=metadata | {"items": items, "later": later, "code": code})


def names_code(setting: Field[Any]) -> bool:
    """Return whether the values of a setting may name objects as `module:name`."""
    return bool(setting.metadata.get("code"))


def limits_text(limits: Mapping[str, float]) -> str:
    """Return the limits of a number as text, "" without any.

    >>> limits_text({"at_least": 1, "at_most": 100}), limits_text({"at_least": 0, "below": 1})
    ('1 to 100', '0 or more and less than 1')
    """
    if {*limits} == {"at_least", "at_most"}:
        return "{at_least} to {at_most}".format(**limits)
    return " and ".join(_LIMITS[name][1].format(limit) for name, limit in limits.items())


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


_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "tuple[str, ...]": (tuple,),
    "frozenset[str]": (frozenset,),
}


@dataclass(frozen=True)
class Settings:
    """Base of settings classes, whose fields are declared with `option` and checked when an object is made.

    Raises ConfigError where a value is not of the type of its field, not one of its choices, or outside its limits. An
    int is accepted for a float, and a list, as JSON has it, for a tuple, which it becomes. A subclass that checks
    several fields together extends `__post_init__`. Settings are pickled for processes that the user's own started;
    what they name is consented to there as well.
    """

    def __post_init__(self) -> None:
        for setting in fields(self):
            value, kinds = getattr(self, setting.name), _KINDS[str(setting.type)]
            if tuple in kinds and isinstance(value, list):
                value = tuple(value)
                object.__setattr__(self, setting.name, value)
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                name = flag_of(setting.name)
                raise ConfigError(f"{name} is of the type {type(value).__name__}; expected {setting.type}")
            options = setting.metadata
            allowed = value in options["choices"] if options["choices"] else _within(value, options["limits"])
            if not allowed and value != setting.default:
                choices = options["choices"]
                expected = (
                    expected_one_of(str(value), choices) if choices else f"; expected {_expected(setting, value)}"
                )
                raise ConfigError(f"{flag_of(setting.name)} is {value!r}{expected}")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for setting in fields(self):
            value = state.get(setting.name, ()) if names_code(setting) else ()
            for name in [value] if isinstance(value, str) else value:
                consent_to(name)


def _expected(setting: Field[Any], value: Any) -> str:
    """Return which numbers a setting can be in the place of a value, with the default as an example."""
    limits, default = setting.metadata["limits"], setting.default
    if isinstance(value, int) and (value >= _MOST or value < -_MOST):
        return f"a whole number of 64 bits, -{_MOST} to {_MOST - 1}"
    if not limits or default in limits.values():
        return limits_text(limits) or "a finite number"
    return f"{limits_text(limits)}, {'as' if _within(default, limits) else 'or'} {default}"


def _within(value: Any, limits: Mapping[str, float]) -> bool:
    if isinstance(value, int):
        fits = not limits or -_MOST <= value < _MOST
    else:
        fits = not isinstance(value, float) or math.isfinite(value)
    return fits and all(_LIMITS[name][0](value, limit) for name, limit in limits.items())


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
