"""Modules outside bertdata that it imports by name: with whose consent, and from where.

A name such as `my_objects:SWAPPED` which the user types or hands over is also the consent to import `my_objects`. The
same name in a file (a manifest, the metadata of a shard, a recipe, a checkpoint) is not: whoever wrote the file chose
it. There it needs the module among `plugins` (`--plugin my_objects`, `use_plugins(["my_objects"])`, the environment
variable BERTDATA_PLUGINS, or the entry point group `bertdata.plugins` of an installed package), and a module that lies
where Python looks only because it was started there, or in a build, is not imported at all (`check_place`).
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bertdata.errors import ConfigError, names_flags, printable

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

PLUGINS = "BERTDATA_PLUGINS"
ENTRY_POINTS = "bertdata.plugins"
_NAMED = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d]\w*(?==|\Z)")
_ENTRY_POINT = re.compile(r"[\w.]+(?:\s*:\s*[\w.]+)?\s*(?:\[[^\[\]]*\]\s*)?")
_MOST_SHOWN = 200
"""Characters of a name out of a package's files, or of what its module raises, that a message shows."""
_METADATA = re.compile(r"\AMetadata-Version: [\d.]+\nName: (\S+)\n")
_typed: set[str] = set()
_plugins: set[str] = set()
_loaded: set[str] = set()
_unnamed: set[str] = set()


class Consent(NamedTuple):
    """The modules that the user of a process named: `typed` in an argument, as `module:name`; `plugins` by themselves.

    Worker processes `adopt` that of the process that gave them their tasks. unnamed: the current folder where its
    PYTHONPATH does not name it; that of workers has all folders that modules were imported from there.
    """

    typed: frozenset[str]
    plugins: frozenset[str]
    unnamed: frozenset[str] = frozenset()


def module_of(name: str) -> str:
    """Return the module of a name such as `my_package.my_module:MY_OBJECT=argument`, "" for any other text.

    >>> module_of("my_objects:LONG=280"), module_of("full-stop"), module_of("s3://bucket/lid.176.bin")
    ('my_objects', '', '')
    """
    named = _NAMED.match(name)
    return named[1] if named else ""


def consent_to(name: str) -> str:
    """Return a name that the user typed or handed over, and note the consent to import its module if it has one."""
    if module := module_of(name):
        _typed.add(module)
    return name


def is_consented(module: str) -> bool:
    """Return whether the user named a module, or a package that it is in."""
    parts = module.split(".")
    packages = {".".join(parts[: end + 1]) for end in range(len(parts))}
    return not packages.isdisjoint(_typed | _plugins | set(_from_environment()))


def consent() -> Consent:
    """Return what the user of this process consented to, for processes that it starts."""
    here = os.path.realpath(os.getcwd())
    return Consent(
        frozenset(_typed), frozenset(_plugins), frozenset() if _is_in_pythonpath(here) else frozenset({here})
    )


def adopt(given: Consent) -> None:
    """Consent to what the process that started this one did."""
    _typed.update(given.typed)
    _plugins.update(given.plugins)
    _unnamed.update(given.unnamed)


def use_plugins(modules: Iterable[str]) -> None:
    """Import modules that add to registries, or whose objects files may name as `module:name`, in this process.

    Raises ConfigError, with the module, where one cannot be imported, or lies where none is imported from.

        use_plugins(["my_objects"])
        open_shards("corpus")       # its objective is my_objects:SWAPPED
    """
    if isinstance(modules, str):
        raise ConfigError(f"--plugins is {modules!r}; expected a list of names of modules, as [{modules!r}]")
    for module in modules:
        _load_module(module, "--plugin", f"the module {module!r} of --plugin")
        _plugins.add(module)


def import_named(what: str, name: str) -> object:
    """Return the object that `module:name` names, its module imported.

    what: the name in messages. Raises ConfigError without the user's consent to import the module, or where there is no
    such object.
    """
    module, _, attribute = name.partition(":")
    if not is_consented(module):
        asked = f"--plugin {module}" if names_flags() else f'plugins=["{module}"]'
        raise ConfigError(
            f"{what} is code, of the module {module!r}, which bertdata imports only if you ask for it; if you trust "
            f"it, give {asked}, or set {PLUGINS}={module}"
        )
    try:
        if module not in _typed:
            check_place(module)
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, SystemExit) as error:
        if isinstance(error, ConfigError):
            raise
        reason = "it ends the process, by sys.exit" if isinstance(error, SystemExit) else error
        raise ConfigError(
            f"{what} cannot be imported ({reason}); expected module:name, with the folder of the module in PYTHONPATH, "
            "which worker processes inherit"
        ) from error


def check_place(module: str) -> None:
    """Raise ConfigError where Python would import a module from a build, or from the current folder unasked.

    Unasked is a current folder that PYTHONPATH does not name: a notebook, `python -c` and `python -m` look there first,
    so that a file in a folder of somebody else takes the place of an installed module. A module whose package the
    program has imported already is as it is.
    """
    top = module.partition(".")[0]
    if top in sys.modules:
        return
    spec = importlib.util.find_spec(top)
    if spec is None:
        return
    homes = [os.path.dirname(place) for place in spec.submodule_search_locations or ()]
    if not homes and spec.has_location and spec.origin:
        homes = [os.path.dirname(spec.origin)]
    for home in map(os.path.realpath, homes):
        if home == os.path.realpath(os.getcwd()) and not _is_in_pythonpath(home):
            raise ConfigError(
                f"the module {module!r} lies in the current folder, {home}, from where none is imported by its name; "
                "start in another folder, with that of the module in PYTHONPATH"
            )
        build = next((str(folder) for folder in [Path(home), *Path(home).parents] if _is_build(folder)), None)
        if build:
            raise ConfigError(
                f"the module {module!r} lies in the build {build}, from where none is imported; if you trust it, "
                "move it to another folder, and put that into PYTHONPATH"
            )


def load_plugins() -> None:
    """Import the modules that plugins, the environment and installed packages name, each once in a process.

    Raises ConfigError, with the module or the entry point, where one cannot be imported, or lies where none is imported
    from.
    """
    for module in sorted(_plugins):
        _load_module(module, "--plugin", f"the module {module!r} of --plugin")
    for module in _from_environment():
        _load_module(module, PLUGINS, f"the module {module!r} that {PLUGINS} names")
    if ENTRY_POINTS not in _loaded:
        for package, entry in _entry_points():
            named = f"{entry.name[:_MOST_SHOWN]} = {entry.value[:_MOST_SHOWN]}"
            what = printable(f"the entry point {named} in the group {ENTRY_POINTS} of {package[:_MOST_SHOWN]}")
            remedy = printable(f"correct or uninstall {package[:_MOST_SHOWN]}")
            if not _ENTRY_POINT.fullmatch(entry.value):
                raise ConfigError(f"{what} is not the name of a module; {remedy}")
            _load_once(what, entry.module, entry.load, remedy)
        _loaded.add(ENTRY_POINTS)


def _from_environment() -> list[str]:
    return [name for part in os.environ.get(PLUGINS, "").split(",") if (name := part.strip())]


def _entry_points() -> Iterator[tuple[str, EntryPoint]]:
    """Yield packages with their entry points, but for metadata that lies in a current folder which nobody named.

    A package without a name is left out with a warning. Raises ConfigError where the entry points of one cannot be
    read, as numba and others stop there too.
    """
    from importlib.metadata import distributions

    here, seen = os.path.realpath(os.getcwd()), set()
    paths = [path for path in sys.path if os.path.realpath(path) != here or _is_in_pythonpath(here)]
    for package in distributions(path=paths):
        where = printable(str(package.locate_file("")))
        try:
            name = _name(package)
        except (ValueError, KeyError) as error:  # of any package there: most have no plugins
            logging.getLogger("bertdata").warning(
                "a package in %s has damaged metadata (%s), so its plugins are left out; install it again", where, error
            )
            continue
        try:
            entries = package.entry_points
        except Exception as error:  # what the parser makes of any bytes
            reason = printable(f"{type(error).__name__}: {error}")
            raise ConfigError(
                f"the package {printable(str(name))} in {where} has damaged entry points ({reason}); install it again"
            ) from error
        if name not in seen:
            seen.add(name)
            yield from ((name, entry) for entry in entries if entry.group == ENTRY_POINTS)


def _name(package: Distribution) -> str:
    """Return the name of a package, from the second line of its metadata where it stands there, as it mostly does.

    All lines are parsed in 0.3 ms, those of each package that is installed.
    """
    match = _METADATA.match(package.read_text("METADATA") or "")
    if match:
        return match[1]
    if "Name" not in package.metadata:
        raise KeyError("Name")
    return package.name


def _is_in_pythonpath(folder: str) -> bool:
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return folder not in _unnamed and folder in {os.path.realpath(path) for path in paths if path}


def _is_build(folder: Path) -> bool:
    """Return whether a folder holds a build of bertdata, or of one who says so."""
    try:
        return "bertdata" in json.loads((folder / "manifest.json").read_bytes())
    except (OSError, ValueError, TypeError, RecursionError):
        return False


def _load_module(module: str, where: str, what: str) -> None:
    if not all(part.isidentifier() for part in module.split(".")) or module.endswith(".py"):
        raise ConfigError(
            f"{where} has {module!r}; expected names of modules separated by commas, as my_package.my_filters"
        )
    remedy = "correct it, install its package, or put its folder into PYTHONPATH"
    _load_once(what, module, partial(importlib.import_module, module), remedy)


def _load_once(what: str, module: str, load: Callable[[], object], remedy: str) -> None:
    """Call `load` unless that was done, or is being done, in this process; raises ConfigError for what it raises."""
    if what in _loaded:
        return
    _loaded.add(what)
    try:
        check_place(module)
        load()
    except (Exception, SystemExit) as error:
        _loaded.discard(what)
        reason = str(error) if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"[:_MOST_SHOWN]
        raise ConfigError(f"{what} cannot be loaded ({reason}); {remedy}") from error
