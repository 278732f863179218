"""Print what peers give of small inputs, and what bertdata gives: the tables of docs/peers.md.

Run: python benchmarks/peers.py     the peers are installed in an environment of their own

A new peer is a line of a subject, a new subject an entry of SUBJECTS.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from _harness import ROOT, environment_of, table

from bertdata import SentenceSegmenter, clean_book, clean_wikitext, load_tokenizer
from bertdata.curation.dedup.minhash import estimate, signature
from bertdata.io.encoding_guess import guesses
from bertdata.sentences.parameters import PunktParameters

REQUIREMENTS = (
    "blingfire==0.1.8",
    "chardet==7.7.0",
    "charset-normalizer==3.5.3",
    "datasketch==2.0.0",
    "faust-cchardet==3.2.0",
    "gutenberg-cleaner==0.1.6",
    "gutenbergpy==0.4.0",
    "kitoken==0.11.1",
    "mwparserfromhell==0.7.2",
    "nltk==3.10.4",
    "numpy==2.4.6",
    "rensa==0.5.0",
    "sentencex==1.0.32",
    "setuptools==80.9.0",
    "splintr-rs==0.22.0",
    "tokenizers==0.23.1",
    "wikitextparser==3.0.0",
)
VOCABULARY = ROOT / "vocab" / "bertdata-30k-uncased"
LINE_END = "\u23ce"


@dataclass(frozen=True)
class Subject:
    """One table: what each peer and bertdata give of each case.

    head: the first column's; cases: the texts; peers: of each, statements that define `give`, a function from a case to
    a text; ours: the same of bertdata; shown: how a case is shown, None for code; figures: whether numbers are given.
    """

    head: str
    cases: Sequence[str]
    peers: dict[str, str]
    ours: Callable[[str], str]
    shown: Callable[[str], str] | None = None
    figures: bool = False

    def table(self, by_peers: Sequence[Sequence[str]]) -> str:
        """Return the table as Markdown; by_peers: what each peer gives, a list for each case."""
        rows = [
            [(self.shown or code)(case), *map(str if self.figures else code, [*given, self.ours(case)])]
            for case, given in zip(self.cases, by_peers, strict=True)
        ]
        return table([self.head, *self.peers, "bertdata"], rows)


def code(text: str) -> str:
    """Return a text as a cell of a Markdown table shows it."""
    return "`" + text.replace("\n", LINE_END).replace("|", "\\|") + "`" if text else "nothing"


def number_of_sentences(text: str) -> str:
    """Return how many sentences bertdata cuts a text into, without parameters of a language."""
    return str(len(SentenceSegmenter(PunktParameters(), sentence_marks=True).segment(text)))


def tokens(text: str) -> str:
    """Return the tokens that a tokenizer of bertdata gives."""
    return " ".join(load_tokenizer(str(VOCABULARY)).tokenize(text))


def similarity(pair: str) -> str:
    """Return the similarity of two texts on two lines, by the signatures that near duplicates are found by."""
    first, second = map(signature, pair.split("\n"))
    return f"{float(estimate(first[None], second[None])[0]):.2f}"


def encoding(text: str) -> str:
    """Return the encoding that bertdata takes the bytes of a case to be in."""
    return guesses(encoded(text))[0].encoding


def encoded(case: str) -> bytes:
    """Return the bytes of a case: an encoding's name, a colon and a text."""
    name, _, text = case.partition(": ")
    return text.encode(name)


SIMILAR = """
def give(case):
    first, second = map(signed, case.split('\\n'))
    return f'{first.jaccard(second):.2f}'
"""
DATASKETCH = """
import datasketch
def signed(text):
    minhash = datasketch.MinHash(128)
    minhash.update_batch([word.encode() for word in text.split()])
    return minhash
"""
RENSA = """
import rensa
def signed(text):
    minhash = rensa.RMinHash(128, 42)
    minhash.update(text.split())
    return minhash
"""
OF_BYTES = """
def give(case):
    name, _, text = case.partition(': ')
    return str(of(text.encode(name)))
"""
LICENSE = "*** START OF THE PROJECT GUTENBERG EBOOK SEA ***"
LICENSE_END = "*** END OF THE PROJECT GUTENBERG EBOOK SEA ***"

SUBJECTS = (
    Subject(
        "wikitext",
        (
            "The sea is cold<ref>Smith 2001</ref> here.",
            "[[File:a.jpg|thumb|A cold sea]]The air is salty.",
            "== Sea ==\nThe air is salty.",
        ),
        {
            "mwparserfromhell": "import mwparserfromhell as m; give = lambda text: str(m.parse(text).strip_code())",
            "wikitextparser": "import wikitextparser as w; give = lambda text: w.parse(text).plain_text()",
        },
        lambda text: clean_wikitext(text) or "",
    ),
    Subject(
        "sentences in",
        (
            "\u201cNo.\u201d Go! He said: \u201cYes.\u201d Then he left.",
            "वर्षा हुई। हम घर गए।",
            "Սա ծով է։ Ջուրը սառն է։",
            "នេះជាសមុទ្រ។ ទឹកត្រជាក់។",
        ),
        {
            "NLTK's Punkt": "from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer as P; "
            "give = lambda text: str(len(P(PunktParameters()).tokenize(text)))",
            "BlingFire": "import blingfire as b; give = lambda text: str(len(b.text_to_sentences(text).split('\\n')))",
            "sentencex": "import sentencex; "
            "of = {'व': 'hi', 'Ս': 'hy', 'ន': 'km'}; "
            "give = lambda text: str(sum(1 for s in sentencex.segment(of.get(text[0], 'en'), text) if s.strip()))",
        },
        number_of_sentences,
        lambda text: text,
        figures=True,
    ),
    Subject(
        "text",
        ("cafe\u0301", "ΣΑΣ", "sea\u00adshell", "[MASK] sea"),
        {
            "tokenizers": "from tokenizers import Tokenizer; t = Tokenizer.from_file(file); "
            "give = lambda text: ' '.join(t.id_to_token(i) for i in t.encode(text, add_special_tokens=False).ids)",
            "kitoken": "import kitoken; k = kitoken.Kitoken.from_file(file); "
            "give = lambda text: ' '.join(t.id_to_token(i) for i in k.encode(text, False))",
            "splintr": "import splintr; s = splintr.from_json(file); "
            "give = lambda text: ' '.join(t.id_to_token(i) for i in s.encode_raw(text))",
        },
        tokens,
    ),
    Subject(
        "two texts",
        (
            "the cold sea lies below the white house of salt\nThe cold sea lies below the white house of salt.",
            "海の水は冷たくて白い家の下にある塩の匂いがする\n海の水は冷たくて白い家の下にある塩の味がする",
            "ทะเลเย็นอยู่ใต้บ้านสีขาวที่มีกลิ่นเกลือ\nทะเลเย็นอยู่ใต้บ้านสีขาวที่มีกลิ่นปลา",
        ),
        {"datasketch": DATASKETCH + SIMILAR, "rensa": RENSA + SIMILAR},
        similarity,
        lambda pair: pair.replace("\n", "<br>"),
        figures=True,
    ),
    Subject(
        "book",
        (
            f"{LICENSE}\n\nProduced by A. Reader.\n\n\nThe sea was cold. We\nwent home.\n\n{LICENSE_END}\nTerms.",
            "The boats were out. The water-\nfall was loud, and we saw the water-\nfall again.",
            "The end was near,[1] and we all waited for the boat.\n\n[1] See the other book.",
        ),
        {
            "gutenberg-cleaner": "import gutenberg_cleaner as g; give = lambda text: g.simple_cleaner(text).strip()",
            "gutenbergpy": "import gutenbergpy.textget as g; "
            "give = lambda text: g.strip_headers(text.encode()).decode().strip()",
        },
        lambda text: clean_book(text) or "",
    ),
    Subject(
        "encoding: text",
        (
            "cp1252: \u201cThe sea,\u201d she said \u2013 and left.",
            "cp1250: Żółta łódź płynie po morzu, a woda jest zimna.",
            "koi8_r: Море холодное, и мы идём домой.",
            "cp1253: Η θάλασσα είναι κρύα σήμερα.",
            "cp1256: البحر بارد اليوم ونحن نعود إلى البيت.",
        ),
        {
            "chardet": "import chardet; of = lambda data: chardet.detect(data)['encoding']" + OF_BYTES,
            "charset-normalizer": "import charset_normalizer as c; of = lambda data: c.from_bytes(data).best().encoding"
            + OF_BYTES,
            "faust-cchardet": "import cchardet; of = lambda data: cchardet.detect(data)['encoding']" + OF_BYTES,
        },
        encoding,
    ),
)

PEERS = """
import json, sys, contextlib
file, subjects = json.load(sys.stdin)
answers = []
for cases, peers in subjects:
    functions = []
    for statements in peers:
        names = {"file": file}
        with contextlib.redirect_stdout(sys.stderr):
            exec("from tokenizers import Tokenizer; t = Tokenizer.from_file(file)", names)
            exec(statements, names)
        functions.append(names["give"])
    def given(give, case):
        try:
            return give(case)
        except Exception as error:
            return type(error).__name__
    answers.append([[given(give, case) for give in functions] for case in cases])
print(json.dumps(answers))
"""
"""Prints what each peer gives of each case of each subject, as JSON."""


def of_peers() -> list[list[list[str]]]:
    """Return what each peer gives of each case of each subject."""
    python = environment_of("peers", REQUIREMENTS)
    asked = [[subject.cases, [*subject.peers.values()]] for subject in SUBJECTS]
    done = subprocess.run(
        [python, "-W", "ignore", "-c", PEERS],
        input=json.dumps([str(VOCABULARY / "tokenizer.json"), asked]),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    answers: list[list[list[str]]] = json.loads(done.stdout)
    return answers


def main() -> None:
    """Print a table for each subject."""
    print("\n\n".join(subject.table(given) for subject, given in zip(SUBJECTS, of_peers(), strict=True)))


if __name__ == "__main__":
    main()
