"""Environments that hold what a page says to install, and nothing else of what is installed here.

They are made of links to this environment's packages, so that nothing is downloaded, and a page that forgets to install
something fails here as it does for its reader.
"""

from __future__ import annotations

import csv
import os
import re
import shlex
import sys
import venv
from collections.abc import Container, Iterable, Sequence
from functools import cache
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "bertdata-toolkit"
FIRST = (PROJECT,)
"""What a page without a line of its own builds on: the first command of the README."""
_INSTALLS = re.compile(r"\bpip install ([^`\n#&;|)]+)")
_OPTIONS_WITH_VALUES = re.compile(r"--torch-backend[ =]\S+")
_INSTALLERS = ("uv",)


def requirements_of(text: str) -> tuple[str, ...]:
    """Return what the `pip install` lines of a page name in alphabetic order, and FIRST if none names bertdata.

    >>> requirements_of('`pip install ".[hub,torch]" transformers` and `pip install -e "../x[hub]"`')
    ('bertdata-toolkit[hub,torch]', 'transformers')
    >>> requirements_of('`pip install uv && uv pip install --torch-backend cpu ".[torch]"`')
    ('bertdata-toolkit[torch]',)
    >>> requirements_of("pip install trafilatura")
    ('bertdata-toolkit', 'trafilatura')
    """
    lines = (_OPTIONS_WITH_VALUES.sub("", line) for line in _INSTALLS.findall(text))
    words = [word for line in lines for word in shlex.split(line) if word not in _INSTALLERS]
    named = {re.sub(r"^\.(?=\[|$)", PROJECT, word) for word in words if not word.startswith(("-", "../"))}
    return tuple(sorted(named if any(name.startswith(PROJECT) for name in named) else named.union(FIRST)))


class NotInstalledError(LookupError):
    """A package that an environment is to hold is not installed here."""


def closure(requirements: Iterable[str], unused: Container[str] = ()) -> dict[str, Distribution]:
    """Return the packages that requirements bring, by name; raises NotInstalledError where one is missing here.

    unused: requirements that may be missing, as nothing that is run uses them.
    """
    chosen: dict[str, Distribution] = {}
    waiting = [
        Requirement(requirement)
        for requirement in requirements
        if requirement not in unused or _is_installed(requirement)
    ]
    seen: set[tuple[str, str]] = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        for extra in ("", *wanted.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            try:
                chosen[name] = distribution(name)
            except PackageNotFoundError as error:
                raise NotInstalledError(name) from error
            needed = [Requirement(line) for line in chosen[name].requires or ()]
            waiting += [
                requirement
                for requirement in needed
                if requirement.marker is None or requirement.marker.evaluate({"extra": extra})
            ]
    return chosen


def _is_installed(requirement: str) -> bool:
    try:
        return bool(closure([requirement]))
    except NotInstalledError:
        return False


@cache
def _files() -> dict[str, tuple[str, ...]]:
    """Return the files of each package that is installed beside numpy, by their paths there."""
    home, files = _home(), dict[str, tuple[str, ...]]()
    for package in distributions(path=[str(home)]):
        rows = csv.reader((package.read_text("RECORD") or "").splitlines())
        names = (row[0] for row in rows if row)
        files[canonicalize_name(package.name)] = tuple(name for name in names if not name.startswith(("..", "/")))
    return files


def _home() -> Path:
    return Path(str(distribution("numpy").locate_file("")))


def make(requirements: Iterable[str], folder: Path, unused: Container[str] = ()) -> Path:
    """Make an environment in a folder; returns its Python. Raises NotInstalledError as `closure`."""
    chosen = closure(requirements, unused)
    venv.create(folder, symlinks=True)
    packages = next((folder / "lib").glob("python*")) / "site-packages"
    _link(packages, "", [(name, file) for name, files in _files().items() for file in files], chosen)
    for package in chosen.values():
        for entry in package.entry_points.select(group="console_scripts"):
            _write_script(folder / "bin", entry)
    return folder / "bin" / "python"


def _link(packages: Path, folder: str, files: Sequence[tuple[str, str]], chosen: Container[str]) -> None:
    """Link to what lies in a folder of packages and is of chosen ones alone; go into what they share with others."""
    inside: dict[str, list[tuple[str, str]]] = {}
    for name, file in files:
        inside.setdefault(file[len(folder) :].partition("/")[0], []).append((name, file))
    for entry, those in inside.items():
        owners = {name for name, _ in those}
        wanted = [name in chosen for name in owners]
        if all(wanted):
            (packages / folder / entry).symlink_to(_home() / folder / entry)
        elif any(wanted) and f"{folder}{entry}" != those[0][1]:
            (packages / folder / entry).mkdir()
            _link(packages, f"{folder}{entry}/", those, chosen)


def _write_script(folder: Path, entry: EntryPoint) -> None:
    """Write the program of an entry point, as pip does."""
    code = f"#!{folder / 'python'}\nimport sys\nfrom {entry.module} import {entry.attr}\nsys.exit({entry.attr}())\n"
    (folder / entry.name).write_text(code, encoding="utf-8")
    (folder / entry.name).chmod(0o755)


def path_variable(python: Path) -> str:
    """Return PATH with the programs of an environment first and without those of this one."""
    here = str(Path(sys.executable).parent)
    return os.pathsep.join(
        [str(python.parent), *(part for part in os.environ["PATH"].split(os.pathsep) if part != here)]
    )
