"""Runs of three sentences are left out as datatrove's sentence deduplication leaves them out, where it is installed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bertdata.curation.dedup.spans.folded import fold
from bertdata.curation.dedup.spans.repeats import rank_of
from bertdata.curation.dedup.spans.text_units import whole_units
from tests.curation.dedup.spans.corpus import SEGMENTER, all_left, left
from tests.curation.stages import Document

dedup: Any = pytest.importorskip("datatrove.pipeline.dedup.sentence_dedup")
pytest.importorskip("spacy")


class OurSentences:
    """The sentences of the segmenter and words of ours, in place of a tokenizer of datatrove's."""

    def sent_tokenize(self, text: str) -> list[str]:
        return SEGMENTER.segment(text)

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        return SEGMENTER.spans(text)

    def word_tokenize(self, text: str) -> list[str]:
        return [""] * int(fold(whole_units(pa.array([text]))).words[0])


def by_datatrove(folder: Path, documents: Sequence[Document], words: int, sentences: int) -> dict[str, str]:
    """Return what datatrove leaves of documents, given in the order in which ours come before others."""
    from datatrove.data import Document as Given
    from datatrove.utils.text import TextNormConfig

    norm = TextNormConfig(norm_numbers=False, norm_unicode_diacritics=False)
    config = dedup.SentDedupConfig(min_doc_words=words, min_num_sentences=sentences, norm_config=norm)
    ordered = sorted(documents, key=lambda one: rank_of(one[0], one[1].encode()))

    def given() -> Any:
        return iter([Given(text=text, id=name) for name, text in ordered])

    signatures, repeats = str(folder / "signatures"), str(folder / "repeats")
    dedup.SentenceDedupSignature(output_folder=signatures, config=config).run(given(), 0, 1)
    dedup.SentenceFindDedups(data_folder=signatures, output_folder=repeats, config=config).run(None, 0, 1)
    kept = dedup.SentenceDedupFilter(data_folder=repeats, config=config).run(given(), 0, 1)
    return {document.id: document.text for document in kept}


def corpus(seed: int) -> list[Document]:
    draw = random.Random(seed)
    pool = [f"The {n} boats of {draw.choice('ABCDEFG')} came in at {n * 7}, and they left." for n in range(60)]
    documents = []
    for number in range(60):
        begin = draw.randrange(50)
        run = pool[begin : begin + draw.randrange(2, 10)]
        own = [f"Nobody at place {number * 100 + k} saw it happen." for k in range(draw.randrange(8))]
        documents.append((f"row:{number}", " ".join([*own[:3], *run, *own[3:], *draw.choices(pool, k=2)])))
    return documents


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sentences", [0, 3])
def test_the_same_sentences_are_left_with_datatroves_own_tokenizer(seed: int, sentences: int, tmp_path: Path) -> None:
    documents = corpus(seed)
    config = all_left("sentences", dedup_spans_sentences_left=sentences)
    texts_left = dict(left(tmp_path, [documents[:20], documents[20:]], config))
    assert texts_left == by_datatrove(tmp_path, documents, 0, sentences)
    assert texts_left != dict(documents)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_documents_are_too_short_where_sentences_and_words_are_the_same(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dedup, "load_word_tokenizer", lambda language: OurSentences())
    monkeypatch.setattr(dedup, "split_into_sentences", lambda text, language: SEGMENTER.segment(text))
    changes = {"boats": "boats of Dr. Brown", "it happen": "it. “Yes”"}
    documents = []
    for name, text in corpus(seed):
        for old, new in changes.items():
            text = text.replace(old, new)  # noqa: PLW2901
        documents.append((name, text))
    config = all_left("sentences", dedup_spans_words_left=50, dedup_spans_sentences_left=3)
    texts_left = dict(left(tmp_path, [documents[:20], documents[20:]], config))
    assert texts_left == by_datatrove(tmp_path, documents, 50, 3)
    assert 0 < len(texts_left) < len(documents)
