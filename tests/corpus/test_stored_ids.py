from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bertdata
from bertdata.corpus.built_corpus import BuiltCorpus
from bertdata.corpus.stored_ids import aligned, sizes_of
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.verify.build import verify
from tests.small_build import texts
from tests.sources.mds_files import write_mds
from tests.tokenizers.made import trained

ROWS = 24


@pytest.fixture(scope="module")
def pieces() -> JsonTokenizer:
    """A byte-level tokenizer, whose ids alone do not tell where words begin."""
    return trained("byte-level", [*texts(60)], 400)


@pytest.fixture(scope="module")
def rows(pieces: JsonTokenizer) -> list[list[int]]:
    """Chunks of ids that begin with a space and have single line breaks: their text has other ids."""
    chunks = [f" {text.replace('. ', '.' + chr(10))}" for text in texts(ROWS)]
    return [pieces.encode(chunk) for chunk in chunks]


def built(folder: Path, pieces: JsonTokenizer, rows: list[list[int]], **settings: Any) -> BuiltCorpus:
    place = str(folder / "tokenizer")
    pieces.save_pretrained(place)
    write_mds(
        folder / "shard.00000.mds",
        {"input_ids": [[pieces.cls_token_id, *row, pieces.sep_token_id] for row in rows]},
    )
    options: dict[str, Any] = {"vocab": place, "source_tokenizer": place, "objective": "doc-chunks"}
    options |= {"workers": 1, "quiet": True, "validation_fraction": 0.0, "max_seq_length": 512}
    return bertdata.build(str(folder / "corpus"), documents=str(folder / "shard.00000.mds"), **options | settings)


def ids_in(corpus: BuiltCorpus) -> list[list[int]]:
    return sorted(corpus.train[number]["input_ids"][1:-1].tolist() for number in range(len(corpus.train)))


def counts_of(corpus: BuiltCorpus) -> dict[str, int]:
    counts: dict[str, int] = corpus.manifest["tokens"]["counts"]
    return counts


def test_documents_have_the_ids_they_came_with(tmp_path: Path, pieces: JsonTokenizer, rows: list[list[int]]) -> None:
    corpus = built(tmp_path, pieces, rows)
    assert ids_in(corpus) == sorted(rows)
    counts = counts_of(corpus)
    assert counts["documents_read_by_ids"] == ROWS
    assert counts["tokens_read_by_ids"] == counts["tokens"] == sum(map(len, rows))
    assert counts["sentences"] > 3 * ROWS
    assert corpus.manifest["sources"]["documents"]["counts"]["documents whose text has other ids"] == ROWS
    verify(str(tmp_path / "corpus"))


def test_another_vocabulary_and_changed_texts_go_by_the_text(
    tmp_path: Path, pieces: JsonTokenizer, rows: list[list[int]]
) -> None:
    other = built(tmp_path, pieces, rows[:4], vocab="bertdata-30k-uncased")
    assert "documents_read_by_ids" not in counts_of(other)
    changed = built(tmp_path, pieces, rows[:4], clean=("emails", "tests.corpus.test_stored_ids:shouted"), force=True)
    assert "documents_read_by_ids" not in counts_of(changed)
    assert counts_of(changed)["tokens"] > 0


def shouted(text: str) -> str:
    """Return a text in capitals."""
    return text.upper()


def test_sentences_and_words_move_by_the_characters_before_them(pieces: JsonTokenizer) -> None:
    sizes = sizes_of(tuple(pieces.tokens))
    text, spaced = "The salt. A river.", "  The \n salt.\n\nA  river. "
    of_text = pieces.encode_batch_with_words([text])
    of_ids = pieces.encode_batch_with_words([spaced])
    ids, other = (np.array(batch["input_ids"][0].as_py()) for batch in (of_text, of_ids))
    begins = np.array(of_text["word_starts"][0].as_py())
    first = len(pieces.encode("The salt."))
    ends, flags = aligned(ids, other, np.array([first, len(ids)]), begins, sizes)
    assert "".join(pieces.tokens[number] for number in other[: ends[0]]).replace("Ġ", "").replace("Ċ", "") == "Thesalt."
    assert ends[1] == len(other)
    assert flags is not None
    assert int(flags.sum()) == int(begins.sum())
