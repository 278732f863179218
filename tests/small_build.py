"""A small build made from text by the pure layer alone, without Beam, for the tests of what reads a finished build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bertdata.corpus.manifest import build_manifest, source_entry, write_dataset_files
from bertdata.corpus.plan import plan_shards
from bertdata.corpus.stage import ShardsSpec, TokensSpec, plan_tokens, shard_part, sharded, tokens_part
from bertdata.documents import DocumentWriter, cut_ranges
from bertdata.engine.parts import Counters, Task, run_once
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.sentences import SentenceSegmenter
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.settings import ShardsConfig
from bertdata.tokenizers import Tokenizer
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer

_NOUNS = ["salt", "water", "stone", "river", "lamp", "keeper", "clock", "bread", "garden", "winter"]
_VERBS = ["holds", "warms", "hides", "follows", "covers"]


def tokenizer() -> WordPieceTokenizer:
    """Return a tokenizer that knows the words of `texts`, except that `keeper` takes two pieces."""
    pieces = [*_NOUNS, *_VERBS, "the", "a", "and", "keep", "##er", "##s", ".", ",", "[", "]", "<", ">", "&"]
    return WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, *(piece for piece in pieces if piece != "keeper")])


def texts(documents: int) -> Iterator[str]:
    """Yield texts of 6 to 14 short sentences, no two alike; one word in forty is not in the vocabulary."""
    for number in range(documents):
        sentences = []
        for place in range(6 + number % 9):
            turn = number * 7 + place * 3
            noun, verb, other = _NOUNS[turn % 10], _VERBS[(turn // 3) % 5], _NOUNS[(turn * turn + place) % 10]
            tail = f" and <&> a {_NOUNS[(turn + 4) % 10]}" if place % 3 else ""
            strange = ", xylophone" if (number + place) % 8 == 0 else ""
            sentences.append(f"The {noun} {verb} the {other}{tail}{strange}.")
        yield " ".join(sentences)


def write_build(
    output: Path,
    examples: ExamplesConfig | None = None,
    *,
    documents: int = 60,
    shards: int = 2,
    masking: MaskingConfig | None = None,
    pieces: Tokenizer | None = None,
) -> Path:
    """Write a finished build with a train and a validation split, and return its directory; `pieces` tokenizes."""
    stages = str(output / "stages")
    examples = examples or ExamplesConfig(max_seq_length=32)
    task = Task(f"{stages}/documents", "documents-00000", ".parquet", "0" * 32, 1, list(texts(documents)))
    cleaned = run_once(task, _write_documents)
    size = cleaned.counts["text_bytes"] // shards + 1
    sharding = ShardsConfig(shard_bytes=max(1024, size), validation_fraction=0.1)
    plan = plan_shards([cleaned], sharding)
    pieces, segmenter = pieces or tokenizer(), SentenceSegmenter.from_pretrained("english")
    place = str(output / "tokenizer")
    pieces.save_pretrained(place)
    info = PretrainingInfo.of(pieces, examples=examples, masking=masking or MaskingConfig())
    flags = pieces.continuation is None
    tokens = TokensSpec(place, pieces.fingerprint, "english", segmenter.fingerprint, plan.ends, word_starts=flags)
    tokenizing = plan_tokens(cut_ranges([(task.path, cleaned)]), f"{stages}/tokens", tokens)
    tokenized = [
        (each_task, run_once(each_task, lambda part, file: tokens_part(tokens, part, file))) for each_task in tokenizing
    ]
    spec = ShardsSpec(str(output), plan, info, place)
    written = [
        run_once(each_task, lambda part, file: shard_part([spec], part, file))
        for each_task in sharded([spec]).plan(tokenized)
    ]
    sources = {"books": source_entry([("books.txt", 1000)], [cleaned])}
    vocabulary = {"pieces": pieces.vocab_size, "asked": 30_000}
    manifest = build_manifest(
        {"sources": sources, "vocabulary": vocabulary}, [record for _, record in tokenized], plan, info, written
    )
    write_dataset_files(str(output), manifest, info)
    return output


def _write_documents(task: Task, file: BinaryIO) -> Counters:
    counters = Counters()
    with DocumentWriter(file, counters) as writer:
        for number, text in enumerate(task.payload):
            counters.add("books")
            writer.add(f"books:{number}", "books", f"Book {number}", "", text)
    counters.add("books", 2)
    counters.drop("too short", 1)
    counters.drop("broken: it is <b>bold</b>", 1)
    counters.details["broken"] = [{"path": "books.txt", "title": "<i>No end", "reason": "it is <b>bold</b>"}]
    return counters
