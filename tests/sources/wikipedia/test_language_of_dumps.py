"""`--language` is taken for the language that the header of a dump says, of all dumps or of those of a source."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bertdata.engine.parts import Task
from bertdata.errors import ConfigError
from bertdata.sources.formats import Request, SourceFile, write_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.wikipedia.format import WIKIPEDIA

DUMP = (
    '<mediawiki xml:lang="en"><siteinfo><dbname>enwiki</dbname></siteinfo><page><title>A</title><ns>0</ns><id>7</id>'
    "<revision><id>1</id><text>Der Fluss ist lang. {{formatnum:1234.5}} Menschen leben an ihm.</text></revision></page>"
    "</mediawiki>"
)


def planned(path: Path, *language: str, sources: tuple[str, ...] = ("wiki",)) -> list[Task]:
    path.write_text(DUMP)
    given = [SourceFile(str(path), path.name, name) for name in sources]
    return WIKIPEDIA.plan(given, Request("out", 1 << 30, CleaningConfig(language=language), format="wikipedia"))[0]


def languages(task: Task) -> dict[str, int]:
    languages_counted: dict[str, int] = write_documents(task, io.BytesIO()).details["languages"]
    return languages_counted


def text_of(task: Task) -> dict[str, str]:
    file = io.BytesIO()
    write_documents(task, file)
    [row] = pq.read_table(io.BytesIO(file.getvalue())).to_pylist()
    return dict(row)


def test_the_language_of_the_header_is_replaced_and_the_pages_keep_their_ids(tmp_path: Path) -> None:
    [header], [other] = planned(tmp_path / "a.xml"), planned(tmp_path / "a.xml", "de")
    assert (languages(header), languages(other)) == ({"en": 1}, {"de": 1})
    assert header.fingerprint != other.fingerprint
    rows = [text_of(task) for task in (header, other)]
    assert [row["id"] for row in rows] == ["enwiki:7", "enwiki:7"]
    assert ["1,234.5" in rows[0]["text"], " 1.234,5 " in rows[1]["text"]] == [True, True]


def test_a_source_has_its_own(tmp_path: Path) -> None:
    [task] = planned(tmp_path / "a.xml", "fr", "wiki=de")
    assert languages(task) == {"de": 1}
    with pytest.raises(ConfigError, match="`language` names 'wikis', no source of dumps"):
        planned(tmp_path / "a.xml", "wikis=de")


@pytest.mark.parametrize("given", [("",), ("wiki=",), ("de fr",), ("d",), ("wiki=de/x",)])
def test_what_is_no_code_of_a_language_is_refused(given: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="`language` has"):
        CleaningConfig(language=given)


def test_one_source_has_one_language() -> None:
    with pytest.raises(ConfigError, match="`language` names all dumps twice"):
        CleaningConfig(language=("de", "fr"))
