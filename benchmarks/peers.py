"""Print what peers give of small inputs, and what bertdata gives: the table of docs/peers.md.

Run: python benchmarks/peers.py     the peers are installed in an environment of their own
"""

from __future__ import annotations

import json
import subprocess

from _harness import environment_of, table

from bertdata import SentenceSegmenter, clean_wikitext
from bertdata.sentences.parameters import PunktParameters

REQUIREMENTS = (
    "mwparserfromhell==0.7.2",
    "wikitextparser==3.0.0",
    "nltk==3.10.4",
    "blingfire==0.1.8",
    "sentencex==1.0.32",
    "numpy==2.4.6",
)
WIKITEXT = (
    "The sea is cold<ref>Smith 2001</ref> here.",
    "[[File:a.jpg|thumb|A cold sea]]The air is salty.",
    "== Sea ==\nThe air is salty.",
)
SENTENCES = {
    "en": "\u201cNo.\u201d Go! He said: \u201cYes.\u201d Then he left.",
    "hi": "वर्षा हुई। हम घर गए।",
    "hy": "Սա ծով է։ Ջուրը սառն է։",
    "km": "នេះជាសមុទ្រ។ ទឹកត្រជាក់។",
}
PEERS = """
import json, sys
import blingfire, mwparserfromhell, sentencex, wikitextparser
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
wikitext, sentences = json.load(sys.stdin)
punkt = PunktSentenceTokenizer(PunktParameters())
print(json.dumps([
    [[str(mwparserfromhell.parse(text).strip_code()), wikitextparser.parse(text).plain_text()] for text in wikitext],
    [
        [
            punkt.tokenize(text),
            blingfire.text_to_sentences(text).split("\\n"),
            [sentence for sentence in sentencex.segment(language, text) if sentence.strip()],
        ]
        for language, text in sentences.items()
    ],
]))
"""
"""Prints what each peer gives of each case, as JSON."""


def of_peers() -> tuple[list[list[str]], list[list[list[str]]]]:
    """Return the text that each peer leaves of each wikitext, and its sentences of each text."""
    python = environment_of("peers", REQUIREMENTS)
    cases = json.dumps([WIKITEXT, SENTENCES])
    done = subprocess.run(
        [python, "-W", "ignore", "-c", PEERS], input=cases, check=True, stdout=subprocess.PIPE, text=True
    )
    texts, sentences = json.loads(done.stdout)
    return texts, sentences


def code(text: str) -> str:
    """Return a text as a cell of a Markdown table shows it."""
    return "`" + text.replace("\n", "\u23ce").replace("|", "\\|") + "`"


def main() -> None:
    """Print a table of wikitext and one of sentences."""
    texts, sentences = of_peers()
    rows = [
        [code(text), *map(code, by_peers), code(clean_wikitext(text) or "")]
        for text, by_peers in zip(WIKITEXT, texts, strict=True)
    ]
    print(table(["wikitext", "mwparserfromhell", "wikitextparser", "bertdata"], rows))
    segmenter = SentenceSegmenter(PunktParameters(), sentence_marks=True)
    counts = [
        [f"{text} ({language})", *(str(len(by_peer)) for by_peer in by_peers), str(len(segmenter.segment(text)))]
        for (language, text), by_peers in zip(SENTENCES.items(), sentences, strict=True)
    ]
    print()
    print(table(["sentences in", "NLTK's Punkt", "BlingFire", "sentencex", "bertdata"], counts))


if __name__ == "__main__":
    main()
