"""Schemes of entity tags: which one a set of tags is of, and tags as `seqeval` knows them.

A tag is "O", or a letter that says where a word is in an entity, and the type after a hyphen; without types, the letter
alone. A scheme is a line in `SCHEMES`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_TAG = re.compile(r"(?P<letter>[A-Z])(?:-(?P<type>.+))?", re.DOTALL)
OUTSIDE = "O"


@dataclass(frozen=True)
class TagScheme:
    """A scheme.

    letters: the letter of each place in an entity, and the one that seqeval has for it; strict: the class of
    `seqeval.scheme` by whose rules an entity counts only if its tags are right, "" for those of conlleval, which
    repair wrong tags.
    """

    name: str
    letters: dict[str, str]
    strict: str = ""

    def seqeval_tag(self, tag: str) -> str:
        """Return a tag with seqeval's letter.

        >>> SCHEMES["BMES"].seqeval_tag("M-PER"), SCHEMES["BMES"].seqeval_tag("O")
        ('I-PER', 'O')
        """
        return tag if tag == OUTSIDE else self.letters[tag[0]] + tag[1:]


def _scheme(name: str, letters: str, seqeval_letters: str, strict: str = "") -> TagScheme:
    return TagScheme(name, dict(zip(letters, seqeval_letters, strict=True)), strict)


SCHEMES = {
    scheme.name: scheme
    for scheme in (
        _scheme("BIO", "BI", "BI"),
        _scheme("BIOES", "BIES", "BIES"),
        _scheme("BILOU", "BILU", "BILU", "BILOU"),
        _scheme("BMES", "BMES", "BIES", "IOBES"),
        _scheme("BMEWO", "BMEW", "BIES", "IOBES"),
    )
}
"""The schemes by name: the first that has all letters of a set of tags is the one of the set."""


def scheme_of(labels: Iterable[str]) -> TagScheme | None:
    """Return the scheme of a set of tags, None where no scheme fits.

    >>> scheme_of(["O", "B-PER", "M-PER", "E-PER", "S-PER"]).name, scheme_of(["O", "U-PER"]).name
    ('BMES', 'BILOU')
    >>> scheme_of(["B", "M", "E", "S"]).name, scheme_of(["O", "B_PER"]), scheme_of(["NOUN", "VERB"])
    ('BMES', None, None)
    """
    names = set(labels)
    parts = [_TAG.fullmatch(name) for name in names - {OUTSIDE}]
    if None in parts:
        return None
    letters = {part["letter"] for part in parts if part}
    typed = {part["type"] is not None for part in parts if part}
    fitting = [scheme for scheme in SCHEMES.values() if letters <= scheme.letters.keys()]
    whole = bool(fitting) and (OUTSIDE in names or letters == fitting[0].letters.keys())
    return fitting[0] if whole and len(typed) <= 1 else None


def why_no_entities(labels: Sequence[str]) -> str:
    """Return why tags that look like those of entities have no scores of entities, "" where they do not look so.

    >>> why_no_entities(["B_PER", "I_PER", "O"])[:52]
    'the tags B_PER, I_PER, O fit no scheme of entities ('
    >>> why_no_entities(["NOUN", "VERB"]), why_no_entities(["O", "B-PER"])
    ('', '')
    """
    like = re.compile(r"[BIESLUMW]?[-_/:.].+|.+[-_/:.][BIESLUMW]|[BIESLUMW]", re.DOTALL)
    marked = [name for name in labels if like.fullmatch(name)]
    if scheme_of(labels) or not (marked or OUTSIDE in labels):
        return ""
    first_labels = ", ".join(labels[:8]) + (", ..." if len(labels) > 8 else "")
    return (
        f"the tags {first_labels} fit no scheme of entities ({', '.join(SCHEMES)}, as B-PER), so they are scored as "
        "tags of single words, by accuracy alone; for F1 of entities name them by one of these schemes, O included"
    )
