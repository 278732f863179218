"""Modules are imported by name with the user's consent, and from where installed modules are."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bertdata import plugins
from bertdata.errors import ConfigError
from bertdata.objectives.settings import ExamplesConfig
from bertdata.options.option import Settings
from bertdata.plugins import adopt, consent, consent_to, is_consented, module_of, use_plugins
from bertdata.registry import Registry

CODE = """
from pathlib import Path
Path(__file__).with_suffix(".ran").touch()
CODEC = "a codec"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that modules are imported from, in a process whose user has consented to nothing yet."""
    for state in ("_loaded", "_typed", "_plugins", "_unnamed"):
        monkeypatch.setattr(plugins, state, set())
    monkeypatch.delenv(plugins.PLUGINS, raising=False)
    place = tmp_path / "modules"
    place.mkdir()
    monkeypatch.syspath_prepend(place)
    return place


def write_module(folder: Path, name: str = "codec_of_mine") -> Path:
    """Write a module that leaves a file beside it when it is imported; returns that file."""
    sys.modules.pop(name, None)
    (folder / f"{name}.py").write_text(CODE)
    importlib.invalidate_caches()
    return folder / f"{name}.ran"


def codecs() -> Registry[Any]:
    return Registry("codec", {"json": "json:loads"})


def test_a_name_in_a_file_imports_nothing(folder: Path) -> None:
    ran = write_module(folder)
    for name in ("codec_of_mine:CODEC", "codec_of_mine:NONE", "subprocess:getoutput", "no_such_module:x", ":x"):
        with pytest.raises(ConfigError, match=f"the codec '{name}' is code, of the module .* only if you ask for it"):
            codecs()[name]
        with pytest.raises(ConfigError, match="is code"):
            assert name in codecs()
    assert not ran.exists()
    assert "no_such_module" not in sys.modules


def test_a_message_says_what_consents(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_module(folder)
    with pytest.raises(ConfigError, match=r'give plugins=\["codec_of_mine"\], or set BERTDATA_PLUGINS=codec_of_mine'):
        codecs()["codec_of_mine:CODEC"]
    use_plugins(["codec_of_mine"])
    assert codecs()["codec_of_mine:CODEC"] == "a codec"
    monkeypatch.setattr(plugins, "_plugins", set())
    assert not is_consented("codec_of_mine")
    monkeypatch.setenv(plugins.PLUGINS, "codec_of_mine")
    assert codecs()["codec_of_mine:CODEC"] == "a codec"


def test_what_the_user_types_is_imported(folder: Path) -> None:
    ran = write_module(folder)
    assert consent_to("codec_of_mine:CODEC=3") == "codec_of_mine:CODEC=3"
    assert not ran.exists()
    assert codecs()["codec_of_mine:CODEC"] == "a codec"
    assert ran.exists()


def test_consent_to_a_package_is_consent_to_its_modules(folder: Path) -> None:
    (folder / "codecs_of_mine").mkdir()
    (folder / "codecs_of_mine" / "__init__.py").touch()
    write_module(folder / "codecs_of_mine", "one")
    use_plugins(["codecs_of_mine"])
    assert codecs()["codecs_of_mine.one:CODEC"] == "a codec"
    assert not is_consented("codecs_of_mine_too")
    assert not is_consented("codecs")


@pytest.mark.parametrize(
    "name", ["nsp", "s3://bucket/lid.176.bin", "C:\\lid.bin", "min-characters=a:b", "a-b:c", "a:", ":a", "a.:b"]
)
def test_other_names_have_no_module(name: str) -> None:
    assert module_of(name) == ""


def test_consent_goes_to_worker_processes(folder: Path) -> None:
    consent_to("first_of_mine:CODEC")
    write_module(folder)
    use_plugins(["codec_of_mine"])
    given = consent()
    for held in (plugins._typed, plugins._plugins):
        held.clear()
    assert not is_consented("first_of_mine")
    adopt(pickle.loads(pickle.dumps(given)))
    assert is_consented("first_of_mine")
    assert is_consented("codec_of_mine")


def test_a_current_folder_that_is_not_named_is_not_in_worker_processes_either(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_module(folder)
    monkeypatch.chdir(folder)
    given = consent()
    monkeypatch.setenv("PYTHONPATH", str(folder))  # that of workers has all folders of their parent
    adopt(given)
    with pytest.raises(ConfigError, match="lies in the current folder"):
        use_plugins(["codec_of_mine"])
    monkeypatch.setattr(plugins, "_unnamed", set())
    adopt(consent())
    use_plugins(["codec_of_mine"])


def test_settings_take_the_consent_to_what_they_name_to_other_processes(folder: Path) -> None:
    class Mine(ExamplesConfig):
        """Settings that are not checked, as their objective is in no module."""

        def __post_init__(self) -> None:
            pass

    pickled = Mine(objective="codec_of_mine:CODEC").__reduce_ex__(4)
    assert isinstance(pickled, tuple)
    assert not is_consented("codec_of_mine")
    Mine().__setstate__(pickled[2])
    assert is_consented("codec_of_mine")
    assert issubclass(Mine, Settings)


def run(folder: Path, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with the package that is tested."""
    root = str(Path(plugins.__file__).parents[1])
    paths = os.pathsep.join(filter(None, [root, environment.pop("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


LOOK = """
import sys
from bertdata.errors import BertDataError
from bertdata.plugins import use_plugins
from bertdata.registry import Registry
try:
    use_plugins(sys.argv[1:])
    print(Registry("codec", {})["codec_of_mine:CODEC"])
except BertDataError as error:
    print("error:", error)
"""


@pytest.mark.parametrize("by_variable", [True, False])
def test_no_module_of_the_current_folder_is_imported_by_its_name(tmp_path: Path, by_variable: bool) -> None:
    ran = write_module(tmp_path)
    variables = {plugins.PLUGINS: "codec_of_mine"} if by_variable else {}
    command = ["-c", LOOK, *([] if by_variable else ["codec_of_mine"])]
    done = run(tmp_path, command, **variables)
    assert "the module 'codec_of_mine' lies in the current folder" in done.stdout, done.stderr
    assert not ran.exists()
    assert run(tmp_path, command, **variables, PYTHONPATH=str(tmp_path)).stdout == "a codec\n"
    ran.unlink()
    (tmp_path / "deeper").mkdir()
    assert run(tmp_path / "deeper", command, **variables, PYTHONPATH=str(tmp_path)).stdout == "a codec\n"


def test_no_module_of_a_build_is_imported_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"bertdata": "0.1.0"}))
    (tmp_path / "train").mkdir()
    for folder in (tmp_path, tmp_path / "train"):
        ran = write_module(folder)
        done = run(Path("/"), ["-c", LOOK, "codec_of_mine"], PYTHONPATH=str(folder))
        assert f"the module 'codec_of_mine' lies in the build {tmp_path}" in done.stdout, done.stderr
        assert not ran.exists()
        (folder / "codec_of_mine.py").unlink()


def test_metadata_in_the_current_folder_adds_no_plugin(tmp_path: Path) -> None:
    ran = write_module(tmp_path)
    write_entry_point(tmp_path, "codecs", "codec_of_mine")
    list_names = ["-c", "from bertdata.registry import Registry; print(list(Registry('codec', {})))"]
    assert run(tmp_path, list_names).stdout == "[]\n"
    assert not ran.exists()
    assert run(tmp_path, list_names, PYTHONPATH=str(tmp_path)).stdout == "[]\n"
    assert ran.exists()


def test_the_command_imports_nothing_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('imported from the current folder')")
    done = run(tmp_path, ["-m", "bertdata", "recipes"])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (None, r"ModuleNotFoundError: No module named 'broken_plugin'"),
        ("import no_such_module", r"ModuleNotFoundError: No module named 'no_such_module'"),
        ("def", r"SyntaxError: invalid syntax .*"),
        ("1 / 0", r"ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", r"SystemExit: 0"),
        (
            "from bertdata.registry import Registry\nRegistry('codec', {'json': 'json:loads'}).add('json', str)",
            r"the name 'json' is taken by another codec; give yours another name",
        ),
    ],
)
def test_a_module_that_cannot_be_loaded_is_named_each_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: str | None, reason: str
) -> None:
    if code is not None:
        (folder / "broken_plugin.py").write_text(code)
    monkeypatch.setenv(plugins.PLUGINS, "broken_plugin")
    for _ in range(2):
        monkeypatch.delitem(sys.modules, "broken_plugin", raising=False)
        message = rf"the module 'broken_plugin' that BERTDATA_PLUGINS names cannot be loaded \({reason}\); correct it"
        with pytest.raises(ConfigError, match=message):
            list(Registry("codec", {}))


@pytest.mark.parametrize("line", ["plugins/mine.py", "mine.py", "mine:Codec", "first second", "json,.mine"])
def test_a_line_of_plugins_that_is_no_list_of_modules_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setenv(plugins.PLUGINS, line)
    with pytest.raises(ConfigError, match=r"BERTDATA_PLUGINS has '.*'"):
        list(Registry("codec", {}))


@pytest.mark.parametrize("value", ["no_such_module", "json:no_such_attribute"])
def test_an_entry_point_that_cannot_be_loaded_is_named_with_its_package(folder: Path, value: str) -> None:
    write_entry_point(folder, "broken", value)
    message = rf"the entry point broken = {value} in the group bertdata.plugins of broken cannot be loaded \(.*no"
    with pytest.raises(ConfigError, match=message):
        list(Registry("codec", {}))


def test_a_module_of_the_users_that_ends_the_process_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "script_of_mine.py").write_text("import sys\nsys.exit()\n")
    monkeypatch.setenv(plugins.PLUGINS, "")
    plugins.consent_to("script_of_mine:keep")
    with pytest.raises(ConfigError, match=r"the filter 'x' cannot be imported \(it ends the process, by sys.exit\)"):
        plugins.import_named("the filter 'x'", "script_of_mine:keep")


def test_a_package_with_damaged_metadata_is_left_out_with_a_warning(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_entry_point(folder, "damaged", "no_such_module")
    (folder / "damaged-1.0.dist-info" / "METADATA").write_bytes(b"\xb2\x00\xff")
    assert list(Registry("codec", {"json": "json:loads"})) == ["json"]
    assert "has damaged metadata" in caplog.text


@pytest.mark.parametrize("data", [b"\xb2\x00\xff", b"[bertdata.plugins]\nno equals sign\n"])
def test_a_package_whose_entry_points_cannot_be_read_is_named(folder: Path, data: bytes) -> None:
    write_entry_point(folder, "damaged", "no_such_module")
    (folder / "damaged-1.0.dist-info" / "entry_points.txt").write_bytes(data)
    with pytest.raises(ConfigError, match=rf"the package damaged in {folder} has damaged entry points \(\w+Error: "):
        list(Registry("codec", {}))


def test_an_entry_point_that_names_no_module_is_refused_without_its_escapes(folder: Path) -> None:
    write_entry_point(folder, "odd", "no_such_module:\x1b[31m")
    with pytest.raises(
        ConfigError, match=r"odd = no_such_module:\\x1b\[31m .* is not the name of a module; correct or"
    ):
        list(Registry("codec", {}))


def test_a_package_without_a_name_is_left_out_with_a_warning(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_entry_point(folder, "nameless", "no_such_module")
    (folder / "nameless-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nVersion: 1.0\n")
    assert list(Registry("codec", {"json": "json:loads"})) == ["json"]
    assert "has damaged metadata" in caplog.text
    assert "so its plugins are left out" in caplog.text


@pytest.mark.parametrize("value", ["a." * 100_000 + "b", "a" + " " * 100_000 + "!", "raises_at_length"])
def test_what_a_message_shows_of_an_entry_point_is_short(folder: Path, value: str) -> None:
    (folder / "raises_at_length.py").write_text("raise ValueError('\\x1b' + 'x' * 10**6)\n")
    write_entry_point(folder, "long", value)
    with pytest.raises(ConfigError, match="the entry point long = ") as raised:
        list(Registry("codec", {}))
    assert len(str(raised.value)) < 1000


def write_entry_point(folder: Path, package: str, value: str) -> None:
    """Write the metadata of an installed package with one entry point for plugins."""
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{plugins.ENTRY_POINTS}]\n{package} = {value}\n")


def test_plugins_are_found_by_the_variable_and_by_entry_points(tmp_path: Path) -> None:
    (tmp_path / "codecs_of_mine.py").write_text(
        "from bertdata.registry import Registry\nCODECS = Registry('codec', {'json': 'json:loads'})\n"
    )
    for name in ("first", "second"):
        (tmp_path / f"{name}_plugin.py").write_text(
            f"from codecs_of_mine import CODECS\nCODECS.add({name!r}, str.{'upper' if name == 'first' else 'lower'})\n"
        )
    write_entry_point(tmp_path, "second", "second_plugin")
    code = "from codecs_of_mine import CODECS; print(CODECS['second']('A'), CODECS['first']('a'), *CODECS)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path), plugins.PLUGINS: "first_plugin"},
        check=True,
    )
    assert done.stdout.split() == ["a", "A", "json", "first", "second"]
