from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from bertdata.documents import DocumentRange, DocumentWriter
from bertdata.engine.byte_ranges import Stream, read_stream
from bertdata.engine.parts import Counters, PartResult, run_once
from bertdata.engine.stages import Grouping
from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.training.partitions import PARTITIONS
from bertdata.tokenizers.training.stage import (
    _with_long_words,
    account_of,
    merge_part,
    merged_words,
    plan_words,
    trained_vocabulary,
    vocabulary_part,
    words_part,
)
from bertdata.tokenizers.wordpiece import train_wordpiece

TEXTS = ["the fox saw the grapes", "the grapes were sour", "said the fox of sour grapes", "foxes say so"]


def ranges_of(folder: Path, cuts: Sequence[int]) -> list[DocumentRange]:
    folder.mkdir()
    ranges = []
    for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(TEXTS)], strict=True)):
        path = folder / f"documents-{number}.parquet"
        with path.open("wb") as file, DocumentWriter(file, Counters()) as writer:
            for text in TEXTS[begin:end]:
                writer.add(text, "", "", "", text)
        ranges.append(DocumentRange(str(path), str(number), 0, 1, path.stat().st_size))
    return ranges


def counted(folder: Path, cuts: Sequence[int], config: VocabularyConfig) -> list[PartResult]:
    tasks = plan_words(ranges_of(folder, cuts), str(folder / "words"), config)
    return [(task, run_once(task, lambda part, file: words_part(config, part, file))) for task in tasks]


def merged(folder: Path, words: Sequence[PartResult]) -> list[PartResult]:
    return [(task, run_once(task, merge_part)) for task in merged_words(str(folder), words[0][0].directory).plan(words)]


def trained(folder: Path, cuts: Sequence[int], max_words: int) -> tuple[bytes, dict[str, int], dict[str, int]]:
    config = VocabularyConfig(vocab_size=60, max_words=max_words)
    [task] = trained_vocabulary(str(folder), config).plan(merged(folder, counted(folder, cuts, config)))
    record = run_once(task, lambda part, file: vocabulary_part(config, part, file))
    return Path(task.path).read_bytes(), record.counts, record.drops


def test_rare_words_are_left_out_alike_however_the_corpus_is_cut(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole", [], 4)
    assert whole == trained(tmp_path / "each", [1, 2, 3], 4) == trained(tmp_path / "halves", [2], 4)
    assert whole[1]["distinct_words"] == 11
    assert whole[1]["words"] == 18
    assert whole[2] == {"rare word": 7}
    assert b"\nthe\n" in whole[0]
    assert b"\nm\n" not in whole[0]


def test_no_word_is_left_out_where_all_fit(tmp_path: Path) -> None:
    assert trained(tmp_path / "halves", [2], 11)[2] == {}


def test_a_limit_that_leaves_no_word_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.tokenizers.training.test_stage.TEXTS", ["one two", "three"])
    with pytest.raises(ConfigError, match=r"`max_words` is 2, which leaves none of the 3 distinct words"):
        trained(tmp_path / "whole", [], 2)


def test_a_vocabulary_is_trained_as_the_settings_say(tmp_path: Path) -> None:
    config = VocabularyConfig(vocab_size=40, unused_tokens=3, limit_alphabet=5, min_frequency=3, criterion="frequency")
    parts = merged(tmp_path, counted(tmp_path / "corpus", [2], config))
    [task] = trained_vocabulary(str(tmp_path), config).plan(parts)
    run_once(task, lambda part, file: vocabulary_part(config, part, file))
    words = Counter(word for text in TEXTS for word in text.split())
    vocabulary = train_wordpiece(
        words, vocab_size=40, unused=3, limit_alphabet=5, min_frequency=3, criterion="frequency"
    )
    assert Path(task.path).read_text().split("\n") == [*vocabulary, ""]
    assert "[unused2]" in vocabulary


def test_an_account_names_the_words_left_out_if_any(tmp_path: Path) -> None:
    for most, left_out in ((4, {"rare_words_left_out": 7}), (11, {})):
        config = VocabularyConfig(vocab_size=60, max_words=most)
        parts = merged(tmp_path, counted(tmp_path / str(most), [], config))
        [task] = trained_vocabulary(str(tmp_path), config).plan(parts)
        record = run_once(task, lambda part, file, config=config: vocabulary_part(config, part, file))  # type: ignore[misc]
        assert account_of(record, config) == {"pieces": record.counts["pieces"], "asked": 60} | left_out


def test_partitions_are_summed_alike_in_whatever_order_their_words_come(tmp_path: Path) -> None:
    words = counted(tmp_path / "corpus", [1, 3], VocabularyConfig())
    grouping = merged_words(str(tmp_path), words[0][0].directory)
    here, there = grouping.plan(words), grouping.plan(reversed(words))
    assert here == there


def test_words_of_a_small_source_count_as_a_power_of_its_share_however_it_is_cut(tmp_path: Path) -> None:
    config, counts = VocabularyConfig(vocab_temperature=0.5), []
    for name, cuts in (("whole", [3]), ("cut", [1, 2, 3])):
        words = counted(tmp_path / name, cuts, config)
        source_of = {task.payload.path: "many" for task, _ in words[:-1]} | {words[-1][0].payload.path: "few"}
        tasks = merged_words(str(tmp_path / name), words[0][0].directory, config.vocab_temperature, source_of).plan(
            words
        )
        parts = [(task, run_once(task, merge_part)) for task in tasks]
        rows = [row for task, _ in parts for row in read_stream(Stream(task.path, "", 0, -1)).to_pylist()]
        counts.append({row["word"]: row["count"] for row in rows})
        assert sum(record.counts["words"] for _, record in parts) == 18
    # There are 15 words of the one source and 3 of the other, each of which counts sqrt(15 / 3) times: 2.24.
    assert counts[0] == counts[1]
    assert (counts[0]["foxes"], counts[0]["the"], counts[0]["grapes"]) == (2, 4, 3)


def test_damaged_counts_are_refused_with_their_place(tmp_path: Path) -> None:
    words = counted(tmp_path / "corpus", [], VocabularyConfig())
    Path(words[0][0].path).write_bytes(b"\x00" * words[0][1].bytes)
    with pytest.raises(InputError, match=r"words-00000\.arrow, byte \d+: this part of a build is damaged"):
        merged(tmp_path, words)


LONGEST = {"wordpiece": ("é", 100), "bpe": ("a", 4191), "unigram": ("a", 4192)}
"""The letter of a word, and how many make the longest; a pre-token of BPE has the space before it, too."""


@pytest.mark.parametrize("model", LONGEST)
def test_words_too_long_for_a_model_are_left_out_and_counted(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter, longest = LONGEST[model]
    words = [letter * (longest + more) for more in (-1, 0, 1, 5000)]
    monkeypatch.setattr("tests.tokenizers.training.test_stage.TEXTS", [f"so {word} {word}" for word in words])
    config = VocabularyConfig(model=model, do_lower_case=False)
    parts = counted(tmp_path / "corpus", [2], config)
    assert [record.drops for _, record in parts] == [{}, {"long word": 4}]
    assert [record.counts["words"] for _, record in parts] == [6, 2]
    assert [record.counts["distinct_words"] for _, record in parts] == [3, 1]


def test_text_without_a_word_that_is_short_enough_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.tokenizers.training.test_stage.TEXTS", ["x" * 101])
    with pytest.raises(ConfigError, match="no word of at most 100 characters to train a vocabulary from"):
        trained(tmp_path / "whole", [], 2)


def test_the_record_of_a_vocabulary_has_the_long_words_of_all_ranges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["so " + "x" * 101, "so it is", "so " + "y" * 200 + " " + "x" * 101]
    monkeypatch.setattr("tests.tokenizers.training.test_stage.TEXTS", texts)
    config = VocabularyConfig(vocab_size=60)
    parts = counted(tmp_path / "corpus", [1, 2], config)
    [task] = trained_vocabulary(str(tmp_path), config).plan(merged(tmp_path, parts))
    record = run_once(task, lambda part, file: vocabulary_part(config, part, file))
    _, record = _with_long_words((task, record), parts)
    assert account_of(record, config)["long_words_left_out"] == 3


def test_a_runner_groups_references_of_some_bytes_and_no_objects(tmp_path: Path) -> None:
    from apache_beam.coders.coders import FastPrimitivesCoder

    def sizes(grouping: Grouping, parts: Sequence[PartResult]) -> list[int]:
        references = [reference for task, record in parts for reference in grouping.references(task, record)]
        return [len(FastPrimitivesCoder().encode(reference)) for reference in references]

    words = counted(tmp_path / "corpus", [1, 2, 3], VocabularyConfig())
    counts = sizes(merged_words(str(tmp_path), words[0][0].directory), words)
    assert len(counts) == 4 * PARTITIONS
    assert max(counts) < 100
    sums = sizes(trained_vocabulary(str(tmp_path), VocabularyConfig()), merged(tmp_path, words))
    assert sums == sizes(trained_vocabulary(str(tmp_path), VocabularyConfig()), merged(tmp_path / "one", words[:1]))
