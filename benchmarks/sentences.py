"""Sentence boundaries: how accurate on gold text, and how fast on one core, ours and other tools.

Run: python benchmarks/sentences.py [--megabytes 4] [--rounds 5]
Accuracy is the F1 of the boundaries inside the paragraphs of English Web Treebank, GUM and LinES (development and test
parts), their sentences joined by a space, and of the golden rules of Pragmatic Segmenter. Speed is bytes of plain
Wikipedia articles over CPU seconds, all tools in turns on the same core and text; the slowest get a tenth of it. Before
it measures, it checks that our spans and NLTK's with the same parameters are equal. It needs the folder that
BERTDATA_DATA names, or ../shared/data; each peer gets an environment of its own in a cache folder, and is left out,
saying so, where that cannot be made.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BERTDATA_DATA") or ROOT.parent / "shared" / "data")
GOLD = {
    "EWT": "ewt_dev_test.jsonl",
    "GUM": "gum_dev_test.jsonl",
    "LinES": "lines.jsonl",
    "golden rules": "golden-rules.json",
}
PEERS = {
    "sentencex": ["sentencex"],
    "BlingFire": ["blingfire", "numpy"],
    "pySBD": ["pysbd"],
    "spaCy sentencizer": ["spacy"],
}
OURS, STRINGS = "bertdata `spans_batch`", "bertdata `segment_batch` (strings)"
JOINED, REFERENCE = "bertdata `spans_batch`, `attach_citations`", "bertdata, plain Python reference"
SAME, NLTK = "NLTK, our parameters", "NLTK, its parameters"
SLOW = (REFERENCE, SAME, NLTK, "pySBD", "spaCy sentencizer")
Segment = Callable[[str], list[str]]


def main() -> None:
    """Check, measure in turns, print one table."""
    import _harness as harness

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without", nargs="*", default=[], choices=list(PEERS), metavar="PEER", help="leave peers out")
    flags = parser.parse_args()
    if not (DATA / "sentences").exists():
        sys.exit(f"no gold text below {DATA}; set BERTDATA_DATA to a folder with sentences/ and wikipedia-plain/")
    gold = {name: gold_of(name) for name in GOLD}
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        work = Path(folder) / "work.json"
        paragraphs = {name: [" ".join(sentences) for sentences in texts] for name, texts in gold.items()}
        work.write_text(json.dumps({"texts": articles(flags.megabytes * 1e6), "gold": paragraphs}))
        contestants = {}
        for name in (
            OURS,
            JOINED,
            STRINGS,
            REFERENCE,
            SAME,
            NLTK,
            *(name for name in PEERS if name not in flags.without),
        ):
            python: str | Path = sys.executable
            if name in PEERS:
                try:
                    python = harness.environment_of(name.split(maxsplit=1)[0].lower(), PEERS[name])
                except subprocess.CalledProcessError as error:
                    print(f"{name} is left out: its environment cannot be made ({error})", file=sys.stderr)
                    continue
            contestants[name] = harness.Contestant([python, __file__, "--work", work, name], core=0)
        digests = {contestants[name].first["spans"] for name in (OURS, SAME)}
        if len(digests) > 1:
            sys.exit("our spans and those of NLTK with the same parameters differ; see sentences_equality.py")
        said = harness.interleaved(contestants, flags.rounds)
        for contestant in contestants.values():
            contestant.end()
    speeds = {name: harness.median(answers, "bytes_per_second") for name, answers in said.items()}
    rows = []
    for name, contestant in contestants.items():
        scores = [f"{100 * f1(gold[key], contestant.first['gold'][key]):.2f}" for key in GOLD]
        rows.append([name, *scores, f"{speeds[name] / 1e6:.1f}", f"{speeds[name] / speeds[SAME]:.1f}"])
    print(harness.table(["tool", *(f"F1 {name}" for name in GOLD), "MB/s", "times NLTK"], rows))
    print(f"\n{flags.megabytes} MB, {flags.rounds} rounds, one core of {harness.machine()}; spans equal to NLTK's")


def gold_of(name: str) -> list[list[str]]:
    """Return the paragraphs of a gold set as lists of sentences."""
    text = (DATA / "sentences" / GOLD[name]).read_text(encoding="utf-8")
    if name == "golden rules":
        return [[" ".join(sentence.split()) for sentence in rule["sents"]] for rule in json.loads(text)]
    paragraphs = [paragraph for line in text.splitlines() for paragraph in json.loads(line)["paragraphs"]]
    return [[joined for text in paragraph if (joined := " ".join(text.split()))] for paragraph in paragraphs]


def articles(size: float) -> list[str]:
    """Return whole articles of about so many bytes."""
    import zstandard

    texts: list[str] = []
    with open(sorted((DATA / "wikipedia-plain").glob("*.jsonl.zst"))[0], "rb") as file:
        for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8"):
            texts.append(json.loads(line)["text"])
            size -= len(texts[-1])
            if size < 0:
                break
    return texts


def f1(gold: list[list[str]], predicted: list[list[int]]) -> float:
    """Return the F1 of boundaries, each given by the characters before it that are no white space."""
    both = ours = theirs = 0
    for sentences, boundaries in zip(gold, predicted, strict=True):
        expected = set(boundaries_of(sentences))
        both, ours, theirs = both + len(expected & set(boundaries)), ours + len(boundaries), theirs + len(expected)
    return 2 * both / (ours + theirs)


def boundaries_of(sentences: list[str]) -> list[int]:
    """Return how many characters that are no white space stand before each boundary."""
    result, at = [], 0
    for sentence in sentences:
        at += len("".join(sentence.split()))
        result.append(at)
    return sorted(set(result[:-1]) - {0, at})


def contest(work: str, name: str) -> None:
    """Be one contestant: say the boundaries of the gold text, then the speed of each round."""
    given = json.loads(Path(work).read_text())
    texts: list[str] = given["texts"]
    if name in SLOW:
        left, texts = sum(map(len, texts)) / 10, []
        while left > 0:
            texts.append(given["texts"][len(texts)])
            left -= len(texts[-1])
    segment, run = tool(name, texts)
    boundaries = {key: [boundaries_of(segment(text)) for text in rows] for key, rows in given["gold"].items()}
    first = {"gold": boundaries, "spans": spans_digest(name, given["texts"]) if name in (OURS, SAME) else ""}
    run()
    print(json.dumps(first), flush=True)
    size = sum(len(text.encode()) for text in texts)
    for _ in sys.stdin:
        began = time.process_time()
        run()
        print(json.dumps({"bytes_per_second": size / (time.process_time() - began)}), flush=True)


def spans_digest(name: str, texts: list[str]) -> str:
    """Return a digest of the spans of all texts, by us or by NLTK with our parameters."""
    from bertdata import SentenceSegmenter

    digest = hashlib.sha256()
    for text in texts:
        if name == OURS:
            spans = SentenceSegmenter.from_pretrained().spans(text)
        else:
            from sentences_equality import pair_of, spans_by_nltk

            spans = spans_by_nltk(pair_of("bertdata english")[1], text)
        digest.update(json.dumps(spans).encode())
    return digest.hexdigest()


def tool(name: str, texts: list[str]) -> tuple[Segment, Callable[[], object]]:
    """Return what cuts one paragraph, and what does a round of the work; peers get one paragraph at a time."""
    if name in (OURS, JOINED, STRINGS, REFERENCE):
        import pyarrow as pa

        from bertdata import SentenceSegmenter

        segmenter, column = SentenceSegmenter.from_pretrained(attach_citations=name == JOINED), pa.array(texts)
        rounds = {
            OURS: lambda: segmenter.spans_batch(column),
            JOINED: lambda: segmenter.spans_batch(column),
            STRINGS: lambda: segmenter.segment_batch(column),
            REFERENCE: lambda: [segmenter._classifier.spans(text) for text in texts],
        }
        return segmenter.segment, rounds[name]
    segment = peer(name)
    paragraphs = [part.strip() for text in texts for part in text.split("\n\n") if part.strip()]
    if name in (SAME, NLTK):
        tokenizer: Any = segment.__self__  # type: ignore[attr-defined]
        return segment, lambda: [list(tokenizer.span_tokenize(paragraph)) for paragraph in paragraphs]
    return segment, lambda: [segment(paragraph) for paragraph in paragraphs]


def peer(name: str) -> Segment:
    """Return the function of another tool that cuts a text into sentences."""
    if name in (SAME, NLTK):
        from sentences_equality import pair_of

        tokenizer = pair_of("bertdata english" if name == SAME else "NLTK english")[1]
        tokenizer._params.ortho_context = defaultdict(int, tokenizer._params.ortho_context)
        segment: Segment = tokenizer.tokenize
        return segment
    module: Any = importlib.import_module(name.split(maxsplit=1)[0].lower())
    if name == "sentencex":
        return lambda text: list(module.segment("en", text))
    if name == "BlingFire":
        return lambda text: str(module.text_to_sentences(text)).split("\n")
    if name == "pySBD":
        splitter = module.Segmenter(language="en", clean=False)
        return lambda text: list(splitter.segment(text))
    nlp = module.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 1 << 30
    return lambda text: [sentence.text for sentence in nlp(text).sents]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        contest(sys.argv[2], sys.argv[3])
    else:
        main()
