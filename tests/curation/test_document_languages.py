"""The documents of a part by language are those that are left, whatever stage dropped or cut the others."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from bertdata.curation.decontamination.stage import Decontaminate, test_table
from bertdata.curation.dedup.spans.stage import DropSpans
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.settings import DecontaminationConfig, DedupConfig, DedupSpansConfig
from bertdata.documents import DOCUMENT_LANGUAGES
from bertdata.engine.stages import BuildState
from tests.curation.dedup.spans.corpus import SEGMENTER
from tests.curation.stages import left_in, part_with_languages, run_stage

SHARED = "The lamp of the harbour burned all night, and nobody who saw it from the sea could say who had lit it."
TEST = "Which of the seven lakes of the valley is the one that never freezes in any winter at all?"


def documents() -> list[tuple[str, str, str]]:
    rows = []
    for number in range(24):
        own = " ".join(f"w{number}x{k}" for k in range(60))
        text = [f"{own}.", f"{own}.\n\n{SHARED}", f"{own}.\n\n{TEST}\n\n{own[::-1]}", SHARED][number % 4]
        rows.append((f"d{number}", text, ["en", "de", "", "fr"][number % 4 if number < 12 else number % 3]))
    return [*rows, ("again", rows[0][1], rows[0][2])]


def told(build_state: BuildState) -> dict[str, list[int]]:
    [(_, record)] = build_state.documents
    languages: dict[str, list[int]] = record.details[DOCUMENT_LANGUAGES]
    return languages


def counted(build_state: BuildState) -> dict[str, list[int]]:
    """Return the documents and bytes of each language by the documents that are left."""
    number, size = Counter[str](), Counter[str]()
    table = left_in(build_state)
    for text, columns in zip(table["text"].to_pylist(), table["columns"].to_pylist(), strict=True):
        code = json.loads(columns).get("language") or "unknown"
        number[code] += 1
        size[code] += len(text.encode())
    return {code: [number[code], size[code]] for code in number}


@pytest.mark.parametrize("action", ["drop", "cut"])
@pytest.mark.parametrize("dedup", ["exact", "near"])
def test_they_are_counted_anew_by_every_stage(action: str, dedup: str, tmp_path: Path) -> None:
    build_state = part_with_languages(tmp_path, documents())
    assert told(build_state) == counted(build_state)
    config = DecontaminationConfig(decontaminate=("quiz.txt",), decontaminate_action=action)
    (tmp_path / "quiz.txt").write_text(TEST)
    table = test_table(
        DecontaminationConfig(decontaminate=(str(tmp_path / "quiz.txt"),)), lambda path: [Path(path).read_text()]
    )
    for stage in (
        DropDuplicates(str(tmp_path / "duplicates"), DedupConfig(dedup)),
        DropSpans(str(tmp_path / "spans"), DedupSpansConfig("paragraphs"), SEGMENTER),
        Decontaminate(str(tmp_path / "decontamination"), config, table),
    ):
        before, build_state = told(build_state), run_stage(stage, build_state)
        assert told(build_state) == counted(build_state)
        assert told(build_state) != before
