"""Finished builds made from a few texts by the pure layer alone, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from bertdata.corpus.manifest import build_manifest, source_entry, write_dataset_files
from bertdata.corpus.plan import plan_shards
from bertdata.corpus.stage import ShardsSpec, TokensSpec, plan_tokens, shard_part, sharded, tokens_part
from bertdata.documents import DocumentWriter, cut_ranges
from bertdata.engine.parts import Counters, PartMetadata, Task, run_once
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.mixing import plan_shares
from bertdata.objectives.settings import ExamplesConfig, MixingConfig
from bertdata.sentences import SentenceSegmenter
from bertdata.shards.mask_tables import save
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.settings import ShardsConfig
from bertdata.shards.similar_words import FOLDER, with_fingerprint
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer

WORDS = ["salt", "water", "stone", "river", "lamp", "clock", "bread", "garden", "winter", "holds", "warms", "hides"]
TOKENIZER = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "[unused0]", "the", "##s", "##er", ".", ",", *WORDS])


def text_of(number: int) -> str:
    """Return a text of 6 to 14 short sentences."""
    sentences = []
    for place in range(6 + number % 9):
        turn = number * 7 + place * 3
        words = [WORDS[(turn * step + place) % len(WORDS)] for step in range(2, 5 + turn % 7)]
        sentences.append(f"The {' '.join(words)}s{', the xylophone' if turn % 8 == 0 else ''}.")
    return " ".join(sentences)


def _write_documents(task: Task, file: BinaryIO) -> Counters:
    counters = Counters()
    with DocumentWriter(file, counters) as writer:
        for name, text in task.payload:
            counters.add("pages" if name.startswith("wiki") else "books")
            writer.add(name, "", name, "", text)
    return counters


def cleaned(directory: str, kind: str, documents: Sequence[tuple[str, str]]) -> tuple[Task, PartMetadata]:
    """Write documents, (id, text), as one part, as cleaning would."""
    task = Task(directory, f"{kind}-00000", ".parquet", f"made of {kind}", 1, documents)
    return task, run_once(task, _write_documents)


def write_build(
    output: Path,
    examples: ExamplesConfig | None = None,
    *,
    documents: int = 50,
    shards: int = 2,
    validation_fraction: float = 0.1,
    masking: MaskingConfig | None = None,
    tokenizer: WordPieceTokenizer = TOKENIZER,
    mix: dict[str, float] | None = None,
) -> Path:
    """Write a finished build of two kinds of source and return its directory."""
    stages = f"{output}/stages"
    names = {"wikipedia": "wiki", "books": "book"}
    parts = {
        kind: cleaned(f"{stages}/{kind}", kind, [(f"{name}:{i}", text_of(i)) for i in range(first, documents, 2)])
        for first, (kind, name) in enumerate(names.items())
    }
    size = sum(record.counts["text_bytes"] for _, record in parts.values()) // shards + 1
    examples = examples or ExamplesConfig(max_seq_length=32)
    sharding = ShardsConfig(max(1024, size), validation_fraction)
    plan = plan_shards([record for _, record in parts.values()], sharding)
    segmenter, place = SentenceSegmenter.from_pretrained("english"), f"{output}/tokenizer"
    tokenizer.save_pretrained(place)
    sizes = {kind: record.counts["text_bytes"] for kind, (_, record) in parts.items()}
    mixing = MixingConfig(tuple(f"{name}={weight}" for name, weight in (mix or {}).items()))
    shares = plan_shares(mixing, sizes, examples.dupe_factor) if mix else {}
    epochs = [share.epochs for share in shares.values()]
    masks, similar, _ = with_fingerprint(masking or MaskingConfig(), tokenizer)
    save(similar, str(output), FOLDER)
    info = PretrainingInfo.of(tokenizer, examples=examples, masking=masks, sources=tuple(parts), epochs=tuple(epochs))
    tokens = TokensSpec(place, tokenizer.fingerprint, "english", segmenter.fingerprint, plan.ends)
    ranges = cut_ranges([(task.path, record) for task, record in parts.values()])
    source_of = {task.path: number for number, (task, _) in enumerate(parts.values())}
    tokenizing = plan_tokens(ranges, f"{stages}/tokens", tokens, source_of)
    tokenized = [(task, run_once(task, lambda part, file: tokens_part(tokens, part, file))) for task in tokenizing]
    spec = ShardsSpec(str(output), plan, info, place)
    written = [
        run_once(task, lambda part, file: shard_part([spec], part, file)) for task in sharded([spec]).plan(tokenized)
    ]
    sources: dict[str, Any] = {kind: source_entry([(f"{kind}.txt", 9)], [parts[kind][1]]) for kind in parts}
    vocabulary = {"pieces": tokenizer.vocab_size}
    origins = {"sources": sources, "vocabulary": vocabulary}
    said = {name: share.values() for name, share in shares.items()}
    manifest = build_manifest(origins, [record for _, record in tokenized], plan, info, written, said)
    write_dataset_files(str(output), manifest, info)
    return output
