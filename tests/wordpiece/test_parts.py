from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from bertdata.config import VocabularyConfig
from bertdata.records import Task
from bertdata.wordpiece import count_words
from bertdata.wordpiece.parts import vocabulary_part

TEXTS = ["the fox saw the grapes", "the grapes were sour", "said the fox of sour grapes", "foxes say so"]


def trained(folder: Path, cuts: Sequence[int], max_words: int) -> tuple[bytes, dict[str, int], dict[str, int]]:
    paths = []
    for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(TEXTS)], strict=True)):
        table = count_words(TEXTS[begin:end])
        paths.append(str(folder / f"{number}.arrow"))
        with pa.ipc.new_stream(paths[-1], table.schema) as writer:
            writer.write_table(table)
    config = VocabularyConfig(vocab_size=60, max_words=max_words)
    file = io.BytesIO()
    tally = vocabulary_part(config, Task(str(folder), "vocab", ".txt", "", 0, tuple(paths)), file)
    return file.getvalue(), tally.counts, tally.drops


def test_rare_words_are_left_out_alike_however_the_corpus_is_cut(tmp_path: Path) -> None:
    whole = trained(tmp_path, [], 4)
    assert whole == trained(tmp_path, [1, 2, 3], 4) == trained(tmp_path, [2], 4)
    assert whole[1]["distinct_words"] == 11
    assert whole[2] == {"rare word": 7}
    assert b"\nthe\n" in whole[0]
    assert b"\nm\n" not in whole[0]


def test_no_word_is_left_out_where_all_fit(tmp_path: Path) -> None:
    assert trained(tmp_path, [2], 11)[2] == {}
