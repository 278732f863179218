"""Objects that `bertdata.build` is given in place of names: those of a module, and those that no module has."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

import bertdata
from bertdata.curation.cleaners import Cleaner
from bertdata.curation.filters import Filter
from bertdata.engine.own_objects import name_of
from bertdata.errors import ConfigError
from bertdata.masking import MASK_UNITS
from bertdata.masking.units import MaskUnit
from bertdata.objectives import OBJECTIVES
from tests.pipelines.builds import environment
from tests.shards.build import text_of

NO_SALT = Cleaner(help="without salt", clean=lambda texts: pc.replace_substring(texts, "salt", "sugar"))
LONG = Filter(help="long texts", keep=lambda texts, least: pc.greater(pc.utf8_length(texts), least), parse=int)
PAIR = MaskUnit("pair", "two words", lambda config: [0.0, 1.0])


def is_long(text: str) -> bool:
    return len(text) > 280


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    rows = [{"id": str(number), "text": text_of(number)} for number in range(60)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {"documents": tmp_path / "texts.jsonl", "vocab": "bertdata-30k-uncased", "workers": 1}


def test_an_object_of_a_module_is_what_its_name_is(settings: dict[str, Any], tmp_path: Path) -> None:
    named = {"filter": [f"{__name__}:is_long", f"{__name__}:LONG=400"], "clean": f"{__name__}:NO_SALT"}
    by_name = bertdata.build(tmp_path / "names", **named, mask_unit=f"{__name__}:PAIR", **settings)
    as_objects = bertdata.build(
        tmp_path / "objects", filter=[is_long, f"{__name__}:LONG=400"], clean=NO_SALT, mask_unit=PAIR, **settings
    )
    assert as_objects.manifest == by_name.manifest
    assert len(as_objects["sources"]["documents"]["drops"]) == 2
    registered = bertdata.build(tmp_path / "registered", objective=OBJECTIVES["sop"], **settings)
    assert registered["info"]["examples"]["objective"] == "sop"


def test_a_mapping_gives_filters_their_arguments(settings: dict[str, Any], tmp_path: Path) -> None:
    corpus = bertdata.build(tmp_path / "corpus", filter={LONG: 400, "min-characters": 20}, **settings)
    assert list(corpus["sources"]["documents"]["drops"]) == [f"filter {__name__}:LONG=400"]
    with pytest.raises(ConfigError, match="is a function of a text alone; expected no argument"):
        bertdata.build(tmp_path / "other", filter={is_long: 3}, **settings)


def test_a_function_of_no_module_works_in_this_process(settings: dict[str, Any], tmp_path: Path) -> None:
    removed = "the"
    corpus = bertdata.build(
        tmp_path / "corpus",
        clean=lambda text: text.replace(removed, "a"),
        filter=Filter(
            help="no t", keep=lambda texts, least: pc.greater(pc.utf8_length(texts), 280), parse=str, default=""
        ),
        **settings,
    )
    counts, drops = corpus["sources"]["documents"]["counts"], corpus["sources"]["documents"]["drops"]
    assert [name.partition("@")[0] for name in counts if "changed" in name] == ["changed by lambda"]
    assert [name.partition("@")[0] for name in drops] == ["filter Filter"]


def test_other_code_makes_the_documents_again_and_the_same_does_not(
    settings: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(suffix: str) -> str:
        bertdata.build(tmp_path / "corpus", clean=lambda text: text + suffix, **settings)
        return capsys.readouterr().err

    assert "of 60 documents" in build(" One.")
    assert build(" One.") == ""
    changed = build(" Two.")
    assert "of 60 documents" in changed
    assert 'changed --clean: ["lambda@' in changed


def test_what_shards_name_must_be_in_a_module(settings: dict[str, Any], tmp_path: Path) -> None:
    unit = MaskUnit("pair", "two words", lambda config: [0.0, 1.0])
    with pytest.raises(ConfigError, match=r"the masking unit MaskUnit is in no module .* %%writefile my_objects.py"):
        bertdata.build(tmp_path / "corpus", mask_unit=unit, **settings)
    assert name_of(MASK_UNITS, PAIR, keep=True) == f"{__name__}:PAIR"
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("clean", 3, r"the cleaner 'int' is of the type int; expected Cleaner"),
        ("filter", [is_long, None], r"the filter 'NoneType' is of the type NoneType; expected Filter"),
        ("objective", PAIR, r"the objective 'MaskUnit' is of the type MaskUnit; expected Objective"),
        ("mask_unit", MaskUnit, r"the masking unit 'MaskUnit' is a class that takes arguments"),
        ("objektive", "nsp", r"there is no setting 'objektive', did you mean 'objective'\?"),
    ],
)
def test_an_object_of_another_kind_is_refused(
    setting: str, value: Any, message: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=message):
        bertdata.build(tmp_path / "corpus", **{setting: value}, **settings)


SCRIPT = """
    import re, sys, bertdata

    WORDS = re.compile("the")

    def shorter(text):
        return WORDS.sub("", text)

    if __name__ == "__main__":
        corpus = bertdata.build("corpus", documents="texts.jsonl", vocab="bertdata-30k-uncased", clean=shorter,
            filter=lambda text: len(text) > 300, workers=int(sys.argv[1]))
        source = corpus["sources"]["documents"]
        print(*source["counts"], *source["drops"])
"""


@pytest.mark.slow
def test_a_script_hands_over_its_own_functions_to_workers_and_runs_again_with_nothing_to_do(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT))
    done = [
        subprocess.run(
            [sys.executable, "script.py", workers],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        for workers in ("2", "1")
    ]
    assert [process.returncode for process in done] == [0, 0], done
    assert "changed by shorter@" in done[0].stdout
    assert "filter lambda@" in done[0].stdout
    assert done[0].stdout == done[1].stdout
    assert "read documents" in done[0].stderr
    assert done[1].stderr == ""
