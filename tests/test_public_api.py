from __future__ import annotations

import ast
import importlib.metadata
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest
import setuptools

import bertdata
from tests.clock import child_seconds

PACKAGE = Path(bertdata.__file__).parent
NAMES = {
    "BertDataError",
    "ConfigError",
    "InputError",
    "MissingExtraError",
    "OutputError",
    "SentenceSegmenter",
    "VerificationError",
    "WordPieceTokenizer",
    "build",
    "clean_book",
    "clean_wikitext",
    "load_tokenizer",
    "open_shards",
    "train_wordpiece",
}
HEAVY = (
    "apache_beam",
    "charset_normalizer",
    "datasets",
    "fsspec",
    "nltk",
    "numba",
    "numpy",
    "pyarrow",
    "tokenizers",
    "torch",
    "tqdm",
    "transformers",
    "zstandard",
)


def python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)} | environment,
    )
    return done.stdout


def test_the_public_names_are_all_there_and_sorted() -> None:
    assert bertdata.__all__ == sorted(bertdata.__all__)
    assert set(bertdata.__all__) == NAMES
    assert dir(bertdata) == sorted(NAMES)
    for name in NAMES:
        assert getattr(bertdata, name).__name__ == name


def test_type_checkers_see_every_public_name() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == NAMES
    assert (PACKAGE / "py.typed").is_file()


def test_a_star_import_gives_the_public_names() -> None:
    assert set(python("from bertdata import *; print(*[n for n in dir() if n[0] != '_'])").split()) == NAMES


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'bertdata' has no attribute 'clean_wiki'"):
        _ = bertdata.clean_wiki
    assert not hasattr(bertdata, "__wrapped__")


def test_the_version_stands_in_one_place_and_the_citation_has_it() -> None:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "bertdata.__version__"}
    assert f"\nversion: {bertdata.__version__}\n" in (PACKAGE.parent / "CITATION.cff").read_text()


def test_extras_name_the_distribution_and_hold_something() -> None:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]
    assert project["name"] == "bertdata-toolkit"
    assert project["scripts"] == {"bertdata": "bertdata.__main__:main"}
    for name, needed in project["optional-dependencies"].items():
        assert needed, f"the extra {name} is empty"
        for requirement in needed:
            own = re.fullmatch(r"(bertdata[\w-]*)\[([\w,-]+)\]", requirement)
            if requirement.startswith("bertdata"):
                assert own, requirement
                assert own[1] == project["name"]
                assert set(own[2].split(",")) <= set(project["optional-dependencies"])


@pytest.mark.parametrize("package", ["numba", "apache-beam"])
def test_what_is_used_by_its_private_parts_has_an_upper_bound_that_the_tests_run_with(package: str) -> None:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]
    listed = [*project["dependencies"], *project["optional-dependencies"]["beam"]]
    [bound] = [
        match[1] for requirement in listed if (match := re.fullmatch(rf"{package}>=[\d.]+,<([\d.]+)", requirement))
    ]
    major, minor = map(int, bound.split("."))
    assert importlib.metadata.version(package).split(".")[:2] == [str(major), str(minor - 1)]


def test_nobody_is_told_to_install_a_distribution_that_is_anothers() -> None:
    root = PACKAGE.parent
    folders = ("bertdata", "pipelines", "tests", "docs", "examples", "scripts", "benchmarks", ".ci")
    paths = [path for folder in folders for path in (root / folder).rglob("*") if path.is_file()]
    advising = [path for path in [*paths, *root.glob("*.md"), root / "pyproject.toml"] if path.suffix != ".pyc"]
    assert len(advising) > 300
    hint = re.compile(rb"bertdata\\?\[[a-z]|pip install (-\S+ )*[\"']?bertdata(?![-\w])")
    for path in advising:
        hint_match = hint.search(path.read_bytes())
        assert path == Path(__file__) or hint_match is None, (path, hint_match)


def test_every_package_and_its_data_is_in_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    root, given = PACKAGE.parent, {}
    monkeypatch.chdir(root)
    monkeypatch.setattr(setuptools, "setup", lambda **arguments: given.update(arguments))
    runpy.run_path(str(root / "setup.py"))
    packages = {".".join(path.parent.relative_to(root).parts) for path in PACKAGE.rglob("__init__.py")}
    beside = {"bertdata.pipelines": "pipelines", "bertdata.recipes": "recipes", "bertdata.vocab": "vocab"}
    assert sorted(given["packages"]) == sorted({*packages, *beside})
    assert given["package_dir"] == beside
    project = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    for package, folder in beside.items():
        patterns = [*project["package-data"].get(package, ()), "*.py"]
        data = {path for path in (root / folder).rglob("*") if path.is_file() and path.suffix != ".pyc"}
        assert {path for pattern in patterns for path in (root / folder).glob(pattern)} == data


@pytest.mark.slow
def test_a_wheel_builds_outside_of_the_checkout(tmp_path: Path) -> None:
    wheels, root, outside = tmp_path / "wheels", PACKAGE.parent, tmp_path / "outside"
    copied = tmp_path / "checkout"
    for name in ("bertdata", "pipelines", "recipes", "vocab"):
        shutil.copytree(root / name, copied / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, copied / name)
    build = "import setuptools.build_meta as backend, sys; print(backend.build_wheel(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", build, str(wheels)], cwd=copied, check=True, capture_output=True)
    shutil.rmtree(copied)
    [wheel] = wheels.iterdir()
    shutil.unpack_archive(wheel, outside, "zip")
    code = "bertdata.build('corpus', vocab='bertdata-30k-uncased', recipe='roberta', quiet=True, workers=1)"
    environment = {**os.environ, "PYTHONPATH": str(outside)}
    code = f"import bertdata; assert bertdata.__file__.startswith({str(outside)!r}); {code}"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "corpus" / "manifest.json").is_file()


def test_importing_bertdata_imports_nothing_heavy() -> None:
    loaded = json.loads(python("import sys, json, bertdata; print(json.dumps(sorted(sys.modules)))"))
    assert not [name for name in loaded if name.split(".")[0] in HEAVY]
    assert [name for name in loaded if name.startswith("bertdata")] == ["bertdata"]


def test_catching_an_error_imports_nothing_heavy() -> None:
    code = "import sys, json; from bertdata import InputError; print(json.dumps(sorted(sys.modules)))"
    assert not [name for name in json.loads(python(code)) if name.split(".")[0] in HEAVY]


def test_importing_bertdata_takes_less_than_a_fifth_of_a_second() -> None:
    # The best of five each: a fresh interpreter with the import, less one without.
    empty, full = (min(child_seconds(partial(python, code)) for _ in range(5)) for code in ("", "import bertdata"))
    assert full - empty < 0.2


@pytest.mark.costly
@pytest.mark.parametrize(
    ("module", "never"),
    [
        ("bertdata.masking.masking", ("apache_beam", "torch", "numba", "nltk", "pyarrow", "tokenizers", "fsspec")),
        ("bertdata.objectives.rows", ("apache_beam", "torch", "numba", "nltk", "pyarrow", "tokenizers", "fsspec")),
        ("bertdata.options.option", ("apache_beam", "torch", "numba", "nltk", "numpy", "pyarrow", "fsspec")),
        ("bertdata.io.files", ("apache_beam", "torch", "numba", "nltk", "numpy", "pyarrow", "fsspec", "zstandard")),
        ("bertdata.sources.tabular", ("apache_beam", "torch", "numba", "nltk", "tokenizers", "fsspec")),
        ("bertdata.shards", ("apache_beam", "torch", "numba")),
        ("bertdata.sources.wikipedia", ("apache_beam", "torch", "numba", "nltk")),
        ("bertdata.sources.books.read", ("apache_beam", "torch", "numba", "nltk")),
    ],
)
def test_a_module_imports_no_more_than_it_needs(module: str, never: tuple[str, ...]) -> None:
    loaded = json.loads(python(f"import sys, json, {module}; print(json.dumps(sorted(sys.modules)))"))
    assert not sorted({name.split(".")[0] for name in loaded} & set(never))


def test_what_cleans_books_and_pages_is_imported_where_there_are_some() -> None:
    code = """import json, sys
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.wikipedia.published.forms import choose
[SOURCE_FORMATS[name] for name in SOURCE_FORMATS]
choose(["id", "text"], "text")
print(json.dumps(sorted(sys.modules)))"""
    loaded = json.loads(python(code))
    assert "bertdata.sources.books.format" in loaded
    cleaning = ("bertdata.sources.books.read", "bertdata.wikitext.clean", "bertdata.wikitext.templates")
    assert [name for name in loaded if name.startswith(cleaning)] == []


@pytest.mark.costly
def test_no_module_outside_beam_and_torch_imports_them_at_its_top() -> None:
    for path in PACKAGE.rglob("*.py"):
        layer = path.relative_to(PACKAGE).parts[0]
        for node in ast.parse(path.read_text()).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                if layer != "beam":
                    assert not name.startswith(("apache_beam", "bertdata.beam.transforms")), path
                if layer != "torch":
                    assert not name.startswith(("torch", "bertdata.torch")), path


@pytest.mark.parametrize(
    ("package", "code", "message"),
    [
        (
            "torch",
            "import bertdata.torch",
            'torch is not installed; get it with: pip install ".[torch]" (in a clone of bertdata), which on Linux '
            "brings gigabytes of CUDA; without a GPU: "
            '`pip install uv && uv pip install --torch-backend cpu ".[torch]"`',
        ),
        (
            "apache_beam",
            "from bertdata.beam.runner import Runner; Runner(flags=('--runner=FnApiRunner',)).run([], [], [])",
            'apache-beam is not installed; get it with: pip install ".[beam]" (in a clone of bertdata)',
        ),
    ],
)
def test_without_an_extra_its_layer_says_what_to_install(package: str, code: str, message: str) -> None:
    printed_message = python(
        f"""import sys
sys.modules[{package!r}] = None
try:
    {code}
except ImportError as error:
    print(type(error).__name__, error)
"""
    )
    assert printed_message.strip() == f"MissingExtraError {message}"
