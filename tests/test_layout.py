"""Packages import in the order of the data flow, and the map in CONTRIBUTING.md is true."""

from __future__ import annotations

import ast
import fnmatch
import importlib
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import bertdata
from bertdata.registry import Registry

PACKAGE = Path(bertdata.__file__).parent
ROOT = PACKAGE.parent
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ORDER = re.findall(
    r"^      (\w+)(?:\.py|/)", CONTRIBUTING.replace("registry.py ", "registry.py\n      registry.py "), re.M
)
ENTRIES = ["__init__", "__main__", "pipelines", "sample", "vocab"]
"""What is in no order: the public names, the command's entry, and data."""


FOLDERS = {".ci", ".github", "benchmarks", "bertdata", "docs", "examples", "findings", "pipelines", "recipes", "runs"}
FOLDERS |= {"scripts", "tests", "vocab"}


@cache
def modules() -> dict[str, ast.Module]:
    """Return the modules of bertdata, parsed, by their dotted names; those of pipelines aside."""
    names = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[1] != "pipelines":
            name = ".".join(parts).removesuffix(".__init__")
            names[name] = ast.parse(path.read_text(encoding="utf-8"))
    return names


def imports(name: str, *, by_name: bool = False) -> Iterator[str]:
    """Yield the modules of bertdata that a module imports, also inside functions.

    by_name: also those that it imports for type checkers, or names in a string, as "bertdata.a.b:NAME"; but not in the
    `__init__` of a package, which holds the registry of its kind and its public names.
    """
    tree = modules()[name]
    if by_name and not (PACKAGE.parent / Path(*name.split("."))).is_dir():
        yield from _named(tree)
    checked = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    ]
    skipped = {id(inner) for node in checked for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "bertdata":
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in modules() else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules())


def _named(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            module = node.value.partition(":")[0]
            if module.startswith("bertdata.") and module in modules():
                yield module
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bertdata."):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in modules() else str(node.module)


def package(name: str) -> str:
    _, *rest = name.split(".")
    return rest[0] if rest else "__init__"


def test_no_output_of_a_command_is_among_the_files_of_the_project() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode or not listed.stdout:
        pytest.skip("git lists no files here")
    tracked = [Path(name) for name in listed.stdout.decode().split("\0") if name]
    assert {path.parts[0] for path in tracked if len(path.parts) > 1} == FOLDERS
    kinds = {path.suffix for path in tracked if len(path.parts) == 1}
    assert kinds <= {"", ".md", ".cff", ".yaml", ".yml", ".toml", ".py"}


def test_at_most_eight_modules_are_in_no_package() -> None:
    loose = [path.name for path in PACKAGE.glob("*.py")]
    assert len(loose) <= 8, loose


def test_the_map_has_every_package_and_module_once() -> None:
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert sorted(ORDER) == sorted(there - set(ENTRIES))


@pytest.mark.parametrize("name", sorted(set(map(package, modules())) - set(ENTRIES)))
def test_a_package_imports_from_those_above_it_alone(name: str) -> None:
    for module in (module for module in modules() if package(module) == name):
        for other in imports(module):
            if package(other) not in ENTRIES:
                assert ORDER.index(package(other)) <= ORDER.index(name), f"{module} imports {other}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    arrows = {name: {*imports(name, by_name=True)} - {name} for name in modules()}
    while leaves := [name for name, others in arrows.items() if not others & arrows.keys()]:
        for name in leaves:
            del arrows[name]
    assert not arrows, sorted(arrows)


def test_every_package_says_what_it_is() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def registries() -> list[tuple[str, Any]]:
    registries_read = []
    for name, tree in modules().items():
        for node in tree.body:
            value = getattr(node, "value", None)
            if (
                isinstance(value, ast.Call)
                and ast.unparse(value.func) == "Registry"
                and isinstance(node, ast.AnnAssign)
            ):
                registries_read.append(
                    (ast.unparse(node.target), getattr(importlib.import_module(name), ast.unparse(node.target)))
                )
    return registries_read


def test_a_registry_stands_in_its_package_and_imports_nothing_of_its_kind() -> None:
    for name, tree in modules().items():
        makes = [node for node in tree.body if isinstance(node, ast.AnnAssign) and "Registry(" in ast.unparse(node)]
        if makes:
            assert (PACKAGE.parent / Path(*name.split("."))).is_dir(), (
                f"{name} holds a registry; move it to its package"
            )
            assert {*imports(name)} <= {"bertdata.registry"}, name


@pytest.mark.parametrize("package", sorted(path.parent for path in (ROOT / "bertdata").rglob("__init__.py")))
def test_no_public_name_that_is_loaded_when_it_is_used_is_that_of_a_module(package: Path) -> None:
    """Importing such a module would put it in the place of the name."""
    source = (package / "__init__.py").read_text()
    if "__getattr__" in source:
        names = importlib.import_module(".".join(package.relative_to(ROOT).parts)).__all__
        assert not {*names} & {path.stem for path in package.iterdir()}


def test_what_a_registry_names_is_there() -> None:
    pytest.importorskip("torch", reason="the models of a registry need it")
    named = registries()
    assert len(named) >= 9
    for name, registry in named:
        assert isinstance(registry, Registry), name
        assert [registry[name] for name in registry], name


def test_the_table_of_doors_names_files_that_are_there() -> None:
    [table] = re.findall(r"\| to add \|.*?\n\n", CONTRIBUTING, re.S)
    rows = [row.split("|")[1:-1] for row in table.strip().split("\n")[2:]]
    assert len(rows) == 11
    for added, _, *others in rows:
        for path in re.findall(r"`([\w/]+\.py)`", " ".join(others)):
            assert (ROOT / path).is_file(), f"{path}, for {added.strip()}"


def test_data_beside_the_code_is_packaged() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
        "package-data"
    ]
    patterns = [
        f"{package.replace('.', '/')}/{pattern}" for package, patterns in settings.items() for pattern in patterns
    ]
    data = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "bertdata").rglob("*")
        if path.is_file() and path.suffix != ".py" and path.parent.name != "__pycache__"
    ]
    assert "bertdata/io/languages.toml" in data
    assert [path for path in data if not any(fnmatch.fnmatch(path, pattern) for pattern in patterns)] == []
