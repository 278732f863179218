"""Token files and shards as parts: which tasks there are, and what makes one stale."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path

import pytest

from bertdata import build
from bertdata.corpus.plan import ShardPlan
from bertdata.corpus.stage import (
    ShardsSpec,
    TokensSpec,
    plan_tokens,
    shard_part,
    shard_task,
    sharded,
    tokens_part,
)
from bertdata.corpus.token_slices import TokenFile
from bertdata.corpus.token_store import TokenSlice
from bertdata.documents import SLOTS, cut_ranges
from bertdata.engine.parts import PartMetadata, Task, run_once
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.sentences import SentenceSegmenter
from bertdata.shards import open_shards
from bertdata.shards.pieces import PIECES, cut
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from tests.shards.build import TOKENIZER, cleaned, text_of

PLAN = ShardPlan((20_000, 40_000, SLOTS), 1)
INFO = PretrainingInfo.of(TOKENIZER, examples=ExamplesConfig(max_seq_length=32), masking=MaskingConfig())


def tokenized(folder: Path, parts: int) -> list[tuple[Task, PartMetadata]]:
    """Tokenise forty documents that stand in a number of parts."""
    documents = [(f"doc:{number}", text_of(number)) for number in range(40)]
    TOKENIZER.save_pretrained(folder / "tokenizer")
    spec = TokensSpec(
        str(folder / "tokenizer"),
        TOKENIZER.fingerprint,
        "english",
        SentenceSegmenter.from_pretrained().fingerprint,
        PLAN.ends,
    )
    done = [cleaned(f"{folder}/documents", str(number), documents[number::parts]) for number in range(parts)]
    tasks = plan_tokens(cut_ranges([(task.path, record) for task, record in done]), f"{folder}/tokens", spec)
    return [(task, run_once(task, partial(tokens_part, spec))) for task in tasks]


def spec_of(folder: Path) -> ShardsSpec:
    return ShardsSpec(str(folder / "out"), PLAN, INFO, str(folder / "tokenizer"))


@pytest.mark.parametrize("compiled_from", [0, 1 << 60])
def test_the_planned_bytes_decide_whether_sentences_are_found_by_compiled_code_and_change_no_token(
    compiled_from: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [record.sha256 for _, record in tokenized(tmp_path / "first", 2)]
    monkeypatch.setattr("bertdata.corpus.token_store.SENTENCES_COMPILED_FROM", compiled_from)
    compiled_results = tokenized(tmp_path / "second", 2)
    assert {task.payload.compiled for task, _ in compiled_results} == {compiled_from == 0}
    assert [record.sha256 for _, record in compiled_results] == expected


def test_every_shard_has_a_task_that_writes_below_its_split(tmp_path: Path) -> None:
    tasks = sharded([spec_of(tmp_path)]).plan(tokenized(tmp_path, 3))
    assert [task.path for task in tasks] == [
        f"{tmp_path}/out/{name}"
        for name in (
            "validation/data-00000-of-00001.arrow",
            "train/data-00000-of-00002.arrow",
            "train/data-00001-of-00002.arrow",
        )
    ]
    assert tasks[1].record_path == f"{tmp_path}/out/stages/shards/train/data-00000-of-00002.json"
    assert all(task.weight == sum(token_slice.length for token_slice in task.payload.slices) > 0 for task in tasks)


def test_a_shard_has_the_same_bytes_whatever_the_order_of_its_slices(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)
    pairs = [pair for task, record in tokenized(tmp_path, 4) for pair in TokenFile.of(task, record).slices()]
    slices = [token_slice for shard, token_slice in pairs if shard == 1]
    assert len(slices) == 4
    digests, marks = set(), set()
    for order in permutations(slices):
        task = shard_task(spec, 1, order)
        files.remove(task.record_path)
        digests.add(run_once(task, partial(shard_part, [spec])).sha256)
        marks.add(task.fingerprint)
    assert len(digests) == len(marks) == 1


def test_shards_have_the_same_bytes_however_documents_were_dealt_to_parts(tmp_path: Path) -> None:
    contents = []
    for parts in (1, 2, 5):
        folder = tmp_path / str(parts)
        tasks = sharded([spec_of(folder)]).plan(tokenized(folder, parts))
        contents.append([run_once(task, partial(shard_part, [spec_of(folder)])).sha256 for task in tasks])
    assert contents[0] == contents[1] == contents[2]
    assert len(set(contents[0])) == 3


def test_a_token_file_with_flags_is_not_taken_for_one_without(tmp_path: Path) -> None:
    done = cleaned(f"{tmp_path}/documents", "0", [("doc:0", text_of(0))])
    ranges, spec = cut_ranges([(done[0].path, done[1])]), TokensSpec("", "t", "english", "s", PLAN.ends)
    marks = {plan_tokens(ranges, "", replace(spec, word_starts=flags))[0].fingerprint for flags in (False, True)}
    assert len(marks) == 2


def test_a_moved_token_store_makes_no_shard_stale(tmp_path: Path) -> None:
    slices = [
        TokenSlice("/a/tokens-00000.arrow", "1" * 64, 8, 100),
        TokenSlice("/a/tokens-00001.arrow", "2" * 64, 8, 100),
    ]
    moved = [replace(token_slice, path=token_slice.path.replace("/a/", "/b/")) for token_slice in slices]
    spec = spec_of(tmp_path)
    assert shard_task(spec, 0, slices).fingerprint == shard_task(spec, 0, moved).fingerprint


def test_other_masks_make_a_shard_stale_where_they_are_in_it(tmp_path: Path) -> None:
    slices = [TokenSlice("/a/tokens-00000.arrow", "1" * 64, 8, 100)]

    def fingerprint(kind: str, rate: float) -> str:
        examples = ExamplesConfig(max_seq_length=32, masking=kind)
        info = replace(INFO, examples=examples, masking=MaskingConfig(masked_lm_prob=rate))
        return shard_task(replace(spec_of(tmp_path), info=info), 0, slices).fingerprint

    assert fingerprint("static", 0.2) != fingerprint("static", 0.15)
    assert fingerprint("dynamic", 0.2) == fingerprint("dynamic", 0.15)


@pytest.mark.parametrize(
    "change",
    [
        {"examples": ExamplesConfig(max_seq_length=32, seed=1)},
        {"examples": ExamplesConfig(max_seq_length=32, dupe_factor=2)},
        {"examples": ExamplesConfig(max_seq_length=32, masking="static")},
        {"tokenizer": "0" * 64},
        {"word_starts": True},
    ],
)
def test_another_setting_makes_a_shard_stale(tmp_path: Path, change: dict[str, object]) -> None:
    spec = spec_of(tmp_path)
    slices = [TokenSlice("/a/tokens-00000.arrow", "1" * 64, 8, 100)]
    other = replace(spec, info=replace(INFO, **change))  # type: ignore[arg-type]
    assert shard_task(other, 0, slices).fingerprint != shard_task(spec, 0, slices).fingerprint


def test_another_token_file_makes_a_shard_stale(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)
    marks = {shard_task(spec, 0, [TokenSlice("/a", digit * 64, 8, 100)]).fingerprint for digit in "12"}
    assert len(marks) == 2


def test_a_token_file_that_is_done_is_not_made_again(tmp_path: Path) -> None:
    times = [[os.stat(task.path).st_mtime_ns for task, _ in tokenized(tmp_path, 2)] for _ in range(2)]
    assert times[0] == times[1]


def test_a_tokenizer_that_changed_during_a_build_is_an_error(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)
    [task] = sharded([replace(spec, plan=ShardPlan((SLOTS,), 0))]).plan([])
    WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "other"]).save_pretrained(tmp_path / "tokenizer")
    with pytest.raises(ConfigError, match="changed while the build was running; build again"):
        run_once(task, partial(shard_part, [spec]))
    assert not files.exists(task.path)


def test_parts_that_the_building_process_makes_use_its_tokenizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: str) -> WordPieceTokenizer:
        raise AssertionError(f"{path} was loaded")

    monkeypatch.setattr("bertdata.corpus.stage.load_tokenizer", fail)
    (tmp_path / "a.jsonl").write_text('{"text": "It rained. It was late."}\n{"text": "The lamp was lit."}\n')
    build(
        documents=tmp_path / "a.jsonl",
        vocab="bertdata-30k-uncased",
        output=tmp_path / "corpus",
        objective="full-sentences",
        workers=1,
        quiet=True,
    )
    assert len(open_shards(tmp_path / "corpus", "train")) == 1


def test_a_large_shard_has_digests_of_its_pieces_in_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertdata.corpus.stage.PIECES_FROM", 1000)
    spec, done = spec_of(tmp_path), tokenized(tmp_path, 1)
    slices = [piece for task, record in done for shard, piece in TokenFile.of(task, record).slices() if shard == 0]
    task = shard_task(spec, 0, slices)
    record = run_once(task, partial(shard_part, [spec]))
    assert record.details[PIECES] == cut(task.path)
    assert sum(size for size, *_ in record.details[PIECES]) == record.bytes > 1000
    monkeypatch.setattr("bertdata.corpus.stage.PIECES_FROM", 10 * record.bytes)
    files.remove(task.record_path)
    again = run_once(task, partial(shard_part, [spec]))
    assert PIECES not in again.details
    assert again.sha256 == record.sha256
