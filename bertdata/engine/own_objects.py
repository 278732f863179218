"""Objects of the user's own that are given in Python: how worker processes find them, and when they have changed.

An object of a module is named as `module:name`, and workers import it. One that no module has, as a lambda, or what a
notebook or a script defines, is named after its code, as `shorter@1f0c2a9b`, and goes to the workers with their tasks,
pickled by value. So it has another name once its code is another, and the parts that it made are made again.
"""

from __future__ import annotations

import dis
import hashlib
import importlib.util
import pickle
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from bertdata.errors import ConfigError
from bertdata.plugins import consent_to
from bertdata.registry import Registry, handed_over

_MAIN = ("__main__", "__mp_main__")


def name_of(registry: Registry[Any], item: Any, *, keep: bool = False) -> str:
    """Return the name by which a registry finds an object here and in worker processes.

    item: an object, or already a name; both are the consent to import its module. keep: what is built says the name,
    and later programs look it up by it: an object that no module has is refused with ConfigError, as is an object of
    another kind.
    """
    if isinstance(item, str):
        return consent_to(item)
    if name := registry.name_of(item):
        return name
    label = _label(item)
    registry.adapted(label, item)
    if name := importable_name(item):
        registry.forget(name)  # the module may have been reloaded since
        return consent_to(name)
    if keep:
        raise ConfigError(
            f"the {registry.kind} {label} is in no module that worker processes, and those who read the build, can "
            "import; write it into a file beside this one, in a notebook with %%writefile my_objects.py, and import it "
            "from there"
        )
    name = f"{label}@{digest(item)[:8]}"
    handed_over[registry.kind, name] = item
    return name


def handed_over_as(names: Iterable[str]) -> dict[tuple[str, str], object]:
    """Return the objects that names stand for which `name_of` gave to such as no module has."""
    wanted = {name.partition("=")[0] for name in names}
    return {key: item for key, item in handed_over.items() if key[1] in wanted}


def _label(item: Any) -> str:
    """Return what an object is called: by its own name, or by the variable that a script has it in."""
    if name := getattr(item, "__name__", ""):
        return str(name).strip("<>")
    main = vars(sys.modules["__main__"])
    return next((name for name, value in list(main.items()) if value is item and name[0] != "_"), type(item).__name__)


def importable_name(item: Any) -> str:
    """Return `module:name` of a function, a class or an object at the top of a module, "" where there is none.

    >>> import json
    >>> importable_name(json.loads), importable_name(json.decoder.WHITESPACE), importable_name(lambda text: text)
    ('json:loads', 'json.decoder:WHITESPACE', '')
    """
    home = getattr(item, "__module__", None) or type(item).__module__
    if isinstance(item, FunctionType | type):
        return next((f"{home}:{name}" for name in _names(home, item)), "")
    others = sorted(name for name in list(sys.modules) if name != home)
    return next((f"{module}:{name}" for module in [home, *others] for name in _names(module, item)), "")


def _names(module: str, item: Any) -> list[str]:
    """Return the names of an object in a module that another process can import."""
    loaded = sys.modules.get(module)
    if module in _MAIN or not isinstance(loaded, ModuleType):
        return []
    names = [name for name, value in list(vars(loaded).items()) if value is item and name.isidentifier()]
    try:
        spec = importlib.util.find_spec(module) if names else None
    except (ImportError, ValueError):
        return []
    return names if spec and spec.origin == getattr(loaded, "__file__", None) else []


def digest(item: Any) -> str:
    """Return 32 hexadecimal digits that change with the code of a function, or of an object and its class.

    The code includes default arguments, variables of functions around it, and the functions, classes and values of its
    own module that it reads, not those of other modules, which count by their names. Another version of Python
    compiles other code. Raises ConfigError for a value that cannot be pickled.

    >>> digest(lambda text: text.lower()) == digest(lambda text: text.lower()), digest(len) == digest(max)
    (True, False)
    """
    inner = item
    while isinstance(inner, partial | MethodType):
        inner = inner.func if isinstance(inner, partial) else inner.__func__
    home = str(getattr(inner, "__module__", None) or type(inner).__module__)
    try:
        described = repr(_described(item, home, {}))
    except RecursionError as error:
        raise ConfigError(
            f"{type(item).__name__} holds objects in objects too deep to tell when it changes; put it into a module"
        ) from error
    return hashlib.sha256(described.encode()).hexdigest()[:32]


def _described(item: Any, home: str, seen: dict[int, tuple[int, Any]]) -> Any:
    """Return nested tuples of text that tell what an object is; one that was `seen` is its number.

    seen: the number of each object that can hold itself, and the object, so that no other gets its id.
    """

    def all_of(values: Any) -> tuple[Any, ...]:
        return tuple(_described(value, home, seen) for value in values)

    if item is None or isinstance(item, bool | int | float | str | bytes):
        return repr(item)
    if type(item) is tuple:
        return ("tuple", *all_of(item))
    if id(item) in seen:
        return ("seen", seen[id(item)][0])
    seen[id(item)] = len(seen), item
    match item:
        case ModuleType():
            return ("module", item.__name__)
        case CodeType():
            names = (item.co_names, item.co_varnames, item.co_freevars)
            return ("code", item.co_code.hex(), names, all_of(item.co_consts))
        case tuple() | list():
            return (type(item).__name__, *all_of(item))
        case set() | frozenset():
            return ("set", *all_of(sorted(item, key=repr)))
        case Mapping():
            return ("mapping", *all_of(item.keys()), *all_of(item.values()))
        case MethodType():
            return ("method", *all_of([item.__self__, item.__func__]))
        case partial():
            return ("partial", *all_of([item.func, item.args, item.keywords]))
        case property():
            return ("property", *all_of([item.fget, item.fset]))
        case classmethod() | staticmethod():
            return (type(item).__name__, *all_of([item.__func__]))
        case FunctionType() if _is_own(item, home):
            inside = [item.__code__, item.__defaults__, item.__kwdefaults__]
            cells = [cell.cell_contents for cell in item.__closure__ or ()]
            read = [item.__globals__.get(name) for name in sorted(_globals_of(item.__code__))]
            return ("function", *all_of([*inside, *cells, *read]))
        case type() if _is_own(item, home):
            return ("class", item.__qualname__, *all_of([*item.__bases__, _members(item)]))
        case FunctionType() | type():
            return ("named", item.__module__, item.__qualname__)
    if isinstance(getattr(item, "__dict__", None), dict):
        return ("object", *all_of([type(item), vars(item)]))
    try:
        return ("pickled", pickle.dumps(item, protocol=4).hex())
    except Exception as error:
        raise ConfigError(
            f"{type(item).__name__} cannot be handed over to worker processes ({error}); make it where it is used, or "
            "put the object into a module"
        ) from error


def _is_own(item: Any, home: str) -> bool:
    """Return whether the code of a function or class counts: it is of the own module, or has no name in another."""
    return getattr(item, "__module__", None) in (home, *_MAIN) or "<" in item.__qualname__


def _members(kind: type) -> dict[str, Any]:
    """Return what a class defines: its methods and its other attributes."""
    left_out = ("__", "_abc_impl")
    return {name: var for name, var in vars(kind).items() if callable(var) or not name.startswith(left_out)}


def _globals_of(code: CodeType) -> set[str]:
    """Return the global names that a function and those inside it read."""
    inner = (_globals_of(co_const) for co_const in code.co_consts if isinstance(co_const, CodeType))
    names = {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    return names.union(*inner)
