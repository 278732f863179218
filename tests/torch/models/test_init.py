from __future__ import annotations

import subprocess
import sys

MISSING = """
import sys
sys.modules["torch"] = None
from bertdata.errors import MissingExtraError
try:
    import bertdata.torch
except MissingExtraError as error:
    assert isinstance(error, ImportError)
    assert str(error).startswith('torch is not installed; get it with: pip install ".[torch]" (in a clone of '), error
    assert '`pip install uv && uv pip install --torch-backend cpu ".[torch]"`' in str(error), error
else:
    raise AssertionError("no error")
"""


def run(code: str) -> None:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_a_missing_torch_says_what_to_install() -> None:
    run(MISSING)
