"""A module of someone else's that adds to the registries, and new processes that load it as a plugin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bertdata.plugins import PLUGINS

ROOT = Path(__file__).resolve().parents[1]
_COMMANDS = """
import contextlib, io, json, sys
from bertdata.cli.main import main

for command in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(command)
        except SystemExit as stop:
            code = stop.code or 0
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@dataclass(frozen=True)
class Outside:
    """The folder in which commands run, and the name of the module in it that they load as a plugin."""

    folder: Path
    module: str

    @classmethod
    def write(cls, folder: Path, module: str, code: str) -> Outside:
        """Write the module into a folder."""
        (folder / f"{module}.py").write_text(code)
        return cls(folder, module)

    def without_plugin(self) -> Outside:
        """Return the same folder with no plugin."""
        return replace(self, module="")

    def python(self, code: str, *arguments: object) -> str:
        """Run code in a new process and return what it printed; AssertionError with what it said where it fails."""
        paths = [str(self.folder), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {"PYTHONPATH": os.pathsep.join(paths), PLUGINS: self.module, "COLUMNS": "1000"}
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            cwd=self.folder,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ran(self, *commands: Sequence[object]) -> list[subprocess.CompletedProcess[str]]:
        """Run commands of `bertdata` one after another in one new process; returns the code and output of each."""
        words = [list(map(str, command)) for command in commands]
        printed = [json.loads(line) for line in self.python(_COMMANDS, json.dumps(words)).splitlines()]
        return [subprocess.CompletedProcess(command, *result) for command, result in zip(words, printed, strict=True)]

    def bertdata(self, *commands: Sequence[object]) -> list[str]:
        """Do what `ran` does where each command is to succeed; returns what each printed."""
        done = self.ran(*commands)
        assert [process.stderr for process in done if process.returncode] == []
        return [process.stdout for process in done]
