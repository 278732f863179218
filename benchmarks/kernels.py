"""The speed-up of the compiled kernels over their plain Python references, and the time to compile them.

Run: python benchmarks/kernels.py [--rounds 3] [--only NAME ...] [--compile]
Each row calls a public function on the same documents, with the kernel and with its reference (on a part of the
documents, as it is slow), in turns; figures are megabytes of text, or millions of tokens, a second of processor time.
`--compile` measures something else: with an empty cache of machine code, the processor seconds that each kernel takes
until it is compiled, its numba functions included, in one process that calls every row once with the kernel. The
documents are articles and books of `BERTDATA_DATA`, else the sample's. References of which a library does the same
faster are that library, named in the row.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SIZE = 4e6


class Row(NamedTuple):
    """One kernel's work: the amount (bytes or tokens), the call, and a share of it done by the reference."""

    amount: float
    kernel: Callable[[], Any]
    reference: Callable[[], Any] | None = None
    share: float = 1.0


def rows() -> dict[str, Callable[[], Row]]:
    """Return what makes the input of each row."""
    return {
        "wikitext": wikitext,
        "XML entities": unescaping,
        "bz2": bz2_streams,
        "books": books,
        "sentences": sentences,
        "citations": citations,
        "tokenizer": tokenizer,
        "tokenizer, offsets": offsets,
        "word counts": word_counts,
        "vocabulary": vocabulary,
        "MinHash": minhash,
        "plain text": plain_text,
        "CRC-32C": crc,
        **{f"examples, {objective}": partial(examples, objective) for objective in OBJECTIVES},
        **{f"masks, {unit}": partial(masks, unit) for unit in ("token", "word", "ngram", "span")},
        "masks, token, smoothing": partial(masks, "token", mask_smoothing=0.7),
        "masks, token, in turn": partial(masks, "token", mask_in_turn=True),
    }


OBJECTIVES = ("nsp", "sentence-pair-nsp", "doc-sentences", "single-segment")


def texts() -> list[str]:
    """Return articles."""
    from _articles import texts as articles

    return articles(SIZE)[0]


def wikitext() -> Row:
    """Return wikitext of a dump, cleaned."""
    from bertdata.wikitext.clean import clean_utf8

    pages = [data for _, data in _pages()]
    few = pages[::10]

    def run(compiled: bool) -> None:
        for page in pages if compiled else few:
            clean_utf8(page, compiled=compiled)

    return Row(*_sized(pages, few, run))


def _sized(whole: list[bytes], few: list[bytes], run: Callable[[bool], None]) -> tuple[Any, ...]:
    size = sum(map(len, whole))
    return size, lambda: run(True), lambda: run(False), sum(map(len, few)) / size


def _pages() -> list[tuple[str, bytes]]:
    from _articles import DATA

    from bertdata.sample import SAMPLE_DUMP
    from bertdata.sources.wikipedia.dump import ranges, reader, siteinfo

    path = DATA / "wikipedia" / "enwiki-dev-pages-articles-multistream.xml.bz2"
    dump = str(path) if path.exists() else SAMPLE_DUMP
    site = siteinfo.read_siteinfo(dump)
    pages: list[tuple[str, bytes]] = []
    size = 0
    for span in ranges.plan_ranges(dump, 1 << 20).ranges:
        for page in reader.read_pages(span, site, compiled=False):
            if isinstance(page, reader.Page) and not page.wikitext.startswith(b"#"):
                pages.append((page.title, page.wikitext))
                size += len(page.wikitext)
        if size > SIZE:
            break
    return pages


def unescaping() -> Row:
    """Return XML's entities resolved."""
    from xml.sax.saxutils import escape

    from bertdata.sources.wikipedia.dump.unescape import unescape
    from bertdata.sources.wikipedia.dump.unescape_kernel import unescape_compiled

    pages = [escape(data.decode()).encode() for _, data in _pages()]
    return Row(
        sum(map(len, pages)), lambda: [unescape_compiled(page) for page in pages], lambda: [*map(unescape, pages)]
    )


def bz2_streams() -> Row:
    """Return articles as one bz2 stream, decoded; the reference is Python's bz2."""
    import bz2
    import io

    from bertdata.io.compression import decompress

    text = b"".join(data for _, data in _pages())
    stream = bz2.compress(text)

    def run(compiled: bool) -> None:
        for _ in decompress(io.BytesIO(stream), "bz2", "articles.bz2", compiled=compiled):
            pass

    return Row(len(text), lambda: run(True), lambda: run(False))


def books() -> Row:
    """Return books, cleaned."""
    from _articles import DATA

    from bertdata.io.patterns import expand
    from bertdata.sample import SAMPLE_BOOKS
    from bertdata.sources.books.read import clean_book

    folder = DATA / "books"
    paths = [*map(str, sorted(folder.glob("*.txt"))[:16])] or [*map(str, expand([SAMPLE_BOOKS], [".txt"]))]
    bodies = [Path(path).read_text("utf-8", "replace") for path in paths]

    def run(compiled: bool) -> None:
        for body in bodies:
            clean_book(body, compiled=compiled)

    return Row(sum(len(body.encode()) for body in bodies), lambda: run(True), lambda: run(False))


def sentences() -> Row:
    """Return articles, segmented."""
    from bertdata.sentences import SentenceSegmenter
    from bertdata.sentences.classifier import BreakClassifier

    segmenter = SentenceSegmenter.from_pretrained()
    documents = texts()
    plain = BreakClassifier(segmenter.parameters)
    return Row(
        _bytes(documents),
        lambda: segmenter.segment_batch(documents, compiled=True),
        lambda: [plain.spans(text) for text in documents],
    )


def citations() -> Row:
    """Return the same with reference marks given back to the sentence before."""
    from bertdata.sentences import SentenceSegmenter

    segmenter = SentenceSegmenter.from_pretrained(attach_citations=True)
    documents = texts()
    return Row(_bytes(documents), lambda: segmenter.segment_batch(documents, compiled=True))


def tokenizer() -> Row:
    """Return articles as ids, against `tokenizers`."""
    from _articles import tokenizer_of

    documents = texts()
    ours = tokenizer_of(documents)
    few = documents[::10]
    other = ours.to_tokenizers()
    return Row(
        _bytes(documents),
        lambda: ours.encode_batch(documents),
        lambda: other.encode_batch_fast(few, add_special_tokens=False),
        _bytes(few) / _bytes(documents),
    )


def offsets() -> Row:
    """Return ids and where they stand."""
    from _articles import tokenizer_of

    documents = texts()
    ours = tokenizer_of(documents)
    return Row(_bytes(documents), lambda: ours.encode_batch_with_offsets(documents))


def word_counts() -> Row:
    """Return the words of articles, counted."""
    from bertdata.tokenizers.wordpiece import count_words
    from bertdata.tokenizers.wordpiece.normalizer import Normalizer

    documents = texts()
    few, normalizer = documents[::10], Normalizer(True, None, True)
    return Row(
        _bytes(documents),
        lambda: count_words(documents),
        lambda: Counter(word for text in few for word in normalizer.words(text)),
        _bytes(few) / _bytes(documents),
    )


def vocabulary() -> Row:
    """Return a vocabulary of 30,000, trained from the counts of articles."""
    from bertdata.tokenizers.wordpiece import count_words, train_wordpiece

    documents = texts()
    counts = count_words(documents)
    return Row(_bytes(documents), lambda: train_wordpiece(counts, vocab_size=30000))


def minhash() -> Row:
    """Return signatures of articles."""
    import pyarrow as pa

    from bertdata.curation.dedup import signature, signatures

    some_texts = texts()
    few = some_texts[::20]
    return Row(
        _bytes(some_texts),
        lambda: signatures(pa.array(some_texts)),
        lambda: [*map(signature, few)],
        _bytes(few) / _bytes(some_texts),
    )


def plain_text() -> Row:
    """Return documents of lines."""
    from bertdata.sources.plain_text import read_texts

    data = "\n\n".join(text.replace("\n\n", "\n") for text in texts()).encode()
    path = Path(tempfile.gettempdir(), "bertdata-benchmark-kernels.txt")
    path.write_bytes(data)
    return Row(len(data), lambda: [None for _ in read_texts(str(path), 0, len(data))])


def crc() -> Row:
    """Return checksums of articles."""
    from bertdata.formats.crc32c import checksums, crc32c

    data = "".join(texts()).encode()
    ends = np.arange(0, len(data), 1000)
    few = data[: len(data) // 50]
    return Row(len(data), lambda: checksums(data, ends), lambda: crc32c(few), len(few) / len(data))


def examples(objective: str) -> Row:
    """Return rows of an objective."""
    from bertdata.objectives.objective import plan_examples
    from bertdata.objectives.rows import build_rows
    from bertdata.objectives.settings import ExamplesConfig
    from bertdata.tokenizers.pairs import bert_template

    block = _block()
    config, template = ExamplesConfig(objective=objective), bert_template(2, 3)

    def run() -> None:
        plan = plan_examples(block, config, 0, template)
        chosen = np.arange(len(plan.offsets) - 1)
        build_rows(block, plan, chosen, template)

    return Row(len(block.tokens), run)


def _block() -> Any:
    from _articles import tokenizer_of

    from bertdata.objectives.blocks import TokenBlock
    from bertdata.objectives.kernels import rows as kernel
    from bertdata.sentences import SentenceSegmenter

    some_texts = texts()
    ours = tokenizer_of(some_texts)
    split = SentenceSegmenter.from_pretrained().segment_batch(some_texts, keep_whitespace=True)
    encoded = ours.encode_batch(split.values)
    ids = np.ascontiguousarray(encoded.values.to_numpy().astype(np.uint16))
    continuation = ours.continuation
    starts = np.empty(len(ids), np.bool_)
    assert kernel.word_starts(ids, continuation, starts)
    ends = encoded.offsets.to_numpy()[1:].astype(np.int64)
    documents = ends[split.offsets.to_numpy()[1:] - 1]
    return TokenBlock(ids, starts, ends, documents, np.arange(len(documents), dtype=np.uint64))


def masks(unit: str, **settings: Any) -> Row:
    """Return batches, masked."""
    from bertdata.masking.masking import Masker
    from bertdata.masking.settings import MaskingConfig
    from bertdata.masking.smoothing import delays
    from tests.oracles.masking import mask_row

    count, length, few = 4096, 128, 16
    ids = np.random.default_rng(0).integers(1000, 30000, count * length).astype(np.uint16)
    ids[::length], ids[length - 1 :: length] = 101, 102
    continuation = np.zeros(30522, np.bool_)
    continuation[20000:] = True
    choices, offsets, examples = np.arange(1000, 20000), np.arange(0, len(ids) + 1, length), np.arange(count)
    config, later = MaskingConfig(mask_unit=unit, **settings), delays(10**9 // np.arange(1, 30523), [101, 102], 0.7)
    masker = Masker(config, 0, 101, 102, 103, choices, continuation, delays=later)
    named: dict[str, Any] = {
        "config": config,
        "seed": 0,
        "epoch": 0,
        "mask_token_id": 103,
        "continuation": continuation.tolist(),
        "delays": later.tolist(),
    }

    def by_reference() -> None:
        for row in range(few):
            tokens = ids[row * length : (row + 1) * length].tolist()
            special = [token in (101, 102) for token in tokens]
            mask_row(tokens, special, row, replacement_ids=choices.tolist(), **named)

    return Row(len(ids), lambda: masker.mask(ids, offsets, examples, 0, narrow=True), by_reference, few / count)


def _bytes(some_texts: list[str]) -> float:
    return sum(len(text.encode()) for text in some_texts)


def main() -> None:
    """Measure in turns and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="rows whose names begin like this")
    parser.add_argument("--compile", action="store_true")
    flags = parser.parse_args()
    chosen = {name: make for name, make in rows().items() if not flags.only or name.startswith(tuple(flags.only))}
    if flags.compile:
        with tempfile.TemporaryDirectory() as folder:
            if os.environ.get("NUMBA_CACHE_DIR") != (folder := os.environ.get("BERTDATA_COMPILE_IN", folder)):
                environment = os.environ | {"NUMBA_CACHE_DIR": folder, "BERTDATA_COMPILE_IN": folder}
                sys.exit(subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode)
        compile_times(chosen)
        return
    print(f"{'':28} {'kernel, M/s':>12} {'reference':>10} {'ratio':>7}")
    for name, make in chosen.items():
        row = make()
        kernel, reference = [], []
        row.kernel()
        for _ in range(flags.rounds):
            kernel.append(row.amount / _seconds(row.kernel) / 1e6)
            if row.reference:
                reference.append(row.amount * row.share / _seconds(row.reference) / 1e6)
        speed = statistics.median(kernel)
        line = f"{name:28} {speed:12.2f}"
        if reference:
            slow = statistics.median(reference)
            line += f" {slow:10.2f} {speed / slow:7.1f}"
        print(line, flush=True)


def _seconds(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def compile_times(chosen: dict[str, Callable[[], Row]]) -> None:
    """Call each row once and print what was compiled meanwhile."""
    from numba.core import event

    spent: defaultdict[str, float] = defaultdict(float)
    open_: list[list[float]] = []

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            open_.append([time.process_time(), 0.0])

        def on_end(self, compile_event: Any) -> None:
            begin, inside = open_.pop()
            seconds = time.process_time() - begin
            if open_:
                open_[-1][1] += seconds
            spent[compile_event.data["dispatcher"].py_func.__module__] += seconds - inside

    event.register("numba:compile", Listener())
    for name, make in chosen.items():
        before = sum(spent.values())
        make().kernel()
        print(f"{name:28} {sum(spent.values()) - before:6.1f} s", flush=True)
    print()
    for module, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        print(f"{seconds:6.2f} {module}")
    print(f"{sum(spent.values()):6.2f} all kernels")


if __name__ == "__main__":
    main()
