"""The sources of a kernel are all that it is compiled from."""

from __future__ import annotations

from pathlib import Path

import pytest

import bertdata
from bertdata.kernels.sources import sources_of

PACKAGE = Path(bertdata.__file__).parent
SOURCES = {
    "room/kernel.py": "from bertdata.room.rules import (\n    LIMIT,  # most\n    least as small,\n)\nimport numpy\n",
    "room/kernel_more.py": "import bertdata.whole\nfrom bertdata.other import module, near as far\n",
    "room/rules.py": "from bertdata.deep import Thing\n\n\ndef late():\n    from bertdata.unseen import x\n",
    "room/beside.py": "",
    "room/__init__.py": "",
    "deep.py": "from bertdata.room.rules import LIMIT\n",
    "other/__init__.py": "from bertdata import last\n",
    "other/module.py": "",
    "other/near.py": "",
    "other/unnamed.py": "",
    "whole.py": "",
    "last.py": "",
    "unseen.py": "",
    "__init__.py": "",
}


def test_the_sources_of_kernels_are_all_that_they_import_in_any_spelling(tmp_path: Path) -> None:
    for name, text in SOURCES.items():
        path = tmp_path / "bertdata" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    sources = sources_of((tmp_path / "bertdata" / "room").glob("kernel*.py"), tmp_path)
    assert [path.relative_to(tmp_path / "bertdata").as_posix() for path in sources] == [
        "__init__.py",
        "deep.py",
        "last.py",
        "other/__init__.py",
        "other/module.py",
        "other/near.py",
        "room/kernel.py",
        "room/kernel_more.py",
        "room/rules.py",
        "whole.py",
    ]


@pytest.mark.parametrize(
    ("kernel", "imported"),
    [
        ("wikitext/kernels/page.py", "wikitext/rules.py"),
        ("wikitext/kernels/page.py", "wikitext/templates/measurement_units.txt"),
        ("curation/words/kernel.py", "curation/words/english.json"),
        ("sentences/punkt_kernel.py", "sentences/compiled_parameters.py"),
        ("tokenizers/training/merging/kernels/merges.py", "tokenizers/training/merging/merge_score.py"),
        ("masking/masking_kernel.py", "kernels/mixer.py"),
        ("sources/plain_text_kernel.py", "kernels/jit.py"),
    ],
)
def test_a_module_that_kernels_take_constants_from_is_among_their_sources(kernel: str, imported: str) -> None:
    sources = sources_of([PACKAGE / kernel], PACKAGE.parent)
    assert PACKAGE / imported in sources
    assert PACKAGE / "cli" / "main.py" not in sources
