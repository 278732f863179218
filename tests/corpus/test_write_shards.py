from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bertdata.corpus.write_shards import require_documents_for, require_examples
from bertdata.errors import ConfigError
from bertdata.objectives import OBJECTIVES
from bertdata.sentences import SentenceSegmenter
from bertdata.shards.settings import SelectionConfig
from tests.shards.build import cleaned

SEGMENTER = SentenceSegmenter.from_pretrained("english")
ONE, TWO = "It rains.", "It rains. It stops."


def require(objective: str, folder: Path, *texts: str) -> None:
    task, record = cleaned(f"{folder}/books", "books", [(f"book:{n}", text) for n, text in enumerate(texts)])
    require_documents_for(objective, [(task.path, record)], SEGMENTER)


@pytest.mark.parametrize("objective", ["nsp", "sentence-pair-nsp"])
def test_rule_10_a_corpus_of_one_document_is_refused_for_nsp(objective: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the corpus has 1; add documents, or choose `objective` sop"):
        require(objective, tmp_path, TWO)


@pytest.mark.parametrize("objective", ["sentence-pair-nsp", "sop"])
def test_documents_of_one_sentence_are_refused_for_pairs_of_sentences(objective: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="none of the 300 documents has two"):
        require(objective, tmp_path, *[ONE] * 300)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_one_document_of_two_sentences_among_many_is_enough(objective: str, tmp_path: Path) -> None:
    require(objective, tmp_path, *[ONE] * 300, TWO)


@pytest.mark.parametrize(
    "objective",
    [name for name in OBJECTIVES if not (OBJECTIVES[name].min_documents or OBJECTIVES[name].sentence_pairs)],
)
def test_objectives_without_pairs_take_one_document_of_one_sentence(objective: str, tmp_path: Path) -> None:
    require(objective, tmp_path, ONE)


@pytest.mark.parametrize(
    ("selection", "flags"),
    [
        (SelectionConfig(where="tokens > 9"), "`where` 'tokens > 9'"),
        (SelectionConfig(sources=("books", "news")), "`sources` books news"),
        (SelectionConfig(sample=("books=0.1",)), "`sample` books=0.1"),
    ],
)
def test_a_selection_that_leaves_no_document_of_train_is_named(selection: SelectionConfig, flags: str) -> None:
    info = SimpleNamespace(examples=SimpleNamespace(bins=(64,)), selection=selection)
    spec: Any = SimpleNamespace(plan=SimpleNamespace(validation=1), info=info)
    shards: Any = [SimpleNamespace(counts={"examples": held, "documents": held}) for held in (5, 0, 0)]
    with pytest.raises(ConfigError, match=f"no document of train is left by {flags}"):
        require_examples(spec, shards)
