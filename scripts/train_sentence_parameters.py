"""Train the English sentence parameters that come with bertdata.

The shipped files in `bertdata/sentences/parameters/english` are what this wrote from the plain text of 6,002 featured
and good articles of the English Wikipedia of 2019 and 64 English books of Project Gutenberg:

    python scripts/train_sentence_parameters.py --output bertdata/sentences/parameters/english \
        wikipedia-plain/*.jsonl.zst books/*.txt

Two things differ from plain Punkt training, and the card beside the parameters says so. Punkt unlearns an
abbreviation that a large, mixed corpus also writes without its period ("Mr Smith", "Dr Jones"), so a list of common
ones is given. And in so much text every word was once misprinted with a capital, so rare places and cases are left
out of the orthographic context, as are words too rare to matter.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Iterator

from bertdata import files
from bertdata.sentences import PunktCounts, PunktParameters, PunktSettings, save_parameters
from bertdata.sentences.parameters import LOWER

ABBREVIATIONS = frozenset(
    """
    adm asst assoc bros capt cmdr col corp co cpl dept dr drs est fr gen gov hon inc insp jr lt ltd maj messrs mlle mme
    mr mrs ms prof pres pvt rep reps rev sen sgt sr st ste supt univ
    jan feb mar apr jun jul aug sep sept oct nov dec tue tues thu thur thurs fri
    ave blvd ft hwy mt rd
    ala ariz ark calif colo conn fla ga ind kan ky mich minn mo mont neb nev okla ont pa que tenn tex va vt wis wyo
    al approx ca cf ed eds encl eq etc ext fig figs ibid nos op p pp tel v vol vols vs viz
    a.d a.m b.c d.c e.g i.e l.a m.d n.j n.y p.m ph.d u.k u.n u.s u.s.a u.s.s.r
    """.split()  # noqa: SIM905
)
SETTINGS = PunktSettings(
    abbreviations=ABBREVIATIONS, min_ortho_share=0.05, min_ortho_count=20, lower_case_starters=True
)
_GUTENBERG = re.compile(r"\*\*\* ?(START|END) OF (?:THE|THIS) PROJECT GUTENBERG[^\n]*", re.IGNORECASE)


def texts_of(path: str) -> Iterator[str]:
    """Yield the texts of a .jsonl file (field `text`, compressed or not), or the one of a .txt book."""
    with files.open_decompressed(path) as file:
        if ".jsonl" in os.path.basename(path):
            for line in file:
                yield json.loads(line)["text"]
        else:
            data = file.read()
            try:
                text = data.decode("utf-8-sig")
            except UnicodeDecodeError:
                text = data.decode("cp1252", "replace")
            yield strip_gutenberg(text.replace("\r\n", "\n"))


def strip_gutenberg(text: str) -> str:
    """Return a book without what stands before its START line and after its END line, where it has them."""
    start, end = 0, len(text)
    for match in _GUTENBERG.finditer(text):
        if match[1].upper() == "START":
            start = match.end()
        else:
            end = match.start()
            break
    return text[start:end]


def without_idle_context(parameters: PunktParameters) -> PunktParameters:
    """Leave out the types never seen in lower case: Punkt decides as if they were not there."""
    kept = {type_: flags for type_, flags in parameters.ortho_context.items() if flags & LOWER}
    return dataclasses.replace(parameters, ortho_context=kept)


def main() -> None:
    """Count every text, classify once, write the tables and the card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help=".jsonl or .jsonl.zst with a field `text`, or .txt books")
    parser.add_argument("--output", required=True, help="directory for the four tables and card.json")
    options = parser.parse_args()

    counts = PunktCounts()
    corpus: dict[str, dict[str, int]] = {}
    digest = hashlib.sha256()
    for path in files.expand(options.paths, [".jsonl", ".jsonl.zst", ".txt"]):
        kind = "Wikipedia articles" if ".jsonl" in os.path.basename(path) else "Project Gutenberg books"
        entry = corpus.setdefault(kind, {"texts": 0, "characters": 0})
        for text in texts_of(path):
            counts.add(text)
            entry["texts"] += 1
            entry["characters"] += len(text)
            digest.update(text.encode())
    trained = counts.parameters(SETTINGS)
    automatic = counts.parameters(dataclasses.replace(SETTINGS, abbreviations=frozenset()))
    parameters = without_idle_context(trained)
    card = {
        "algorithm": "Punkt (Kiss and Strunk 2006), counts as NLTK's PunktTrainer",
        "language": "English",
        "made_by": "scripts/train_sentence_parameters.py",
        "corpus": corpus,
        "corpus_sha256": digest.hexdigest(),
        "tokens": counts.tokens.total(),
        "settings": {name: value for name, value in dataclasses.asdict(SETTINGS).items() if name != "abbreviations"},
        "given_abbreviations": sorted(ABBREVIATIONS),
        "given_abbreviations_not_learned": sorted(ABBREVIATIONS - automatic.abbrev_types),
        "ortho_context": (
            f"{len(parameters.ortho_context)} types: those counted at least {SETTINGS.min_ortho_count} times and "
            "also written in lower case (others decide nothing); a place and case stands where it is at least "
            f"{SETTINGS.min_ortho_share:.0%} of a type's occurrences"
        ),
    }
    save_parameters(dataclasses.replace(parameters, card=card), options.output)


if __name__ == "__main__":
    main()
