"""Training Punkt: counts that add up, and parameters out of them, the same as NLTK's `PunktTrainer`.

NLTK needs all tokens of a text in memory, in order. Here a text leaves four tables of counts, which are merged in any
order; only the end, `PunktCounts.parameters`, classifies, with NLTK's own likelihoods and thresholds.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from bertdata.characters.newer import alike
from bertdata.errors import InputError
from bertdata.options.option import Settings, option
from bertdata.sentences import parameters as ortho
from bertdata.sentences.classifier import BreakClassifier
from bertdata.sentences.parameters import PunktParameters
from bertdata.sentences.tokens import (
    NUMBER,
    has_letter,
    is_alphabetic,
    is_ellipsis,
    is_initial,
    is_lower,
    is_upper,
    lines_of_tokens,
    type_of,
    without_period,
)

_MARKS = frozenset(".?!")
_DOTTED = re.compile(r"[^\W\d_]+(?:\.-?[^\W\d_]+)+")


@dataclasses.dataclass(frozen=True)
class PunktSettings(Settings):
    """How counts become parameters; the defaults give what NLTK's `PunktTrainer` gives.

    The first three are the trainer's settings of these names in capitals; its others keep their values (ABBREV 0.3,
    ABBREV_BACKOFF 5, COLLOCATION 7.88, SENT_STARTER 30). The rest is ours, for large and mixed corpora:

    - `abbreviations`, lower-case and without their final period, are known before anything else is learned, whatever
      the counts say of them (a few "Mr" without a period outvote any number with one);
    - a place and case enters the orthographic context of a type only where it is `min_ortho_share` of the type's
      occurrences, and types counted less than `min_ortho_count` times have no context;
    - with `lower_case_starters` a sentence starter is a single letter, or a word seen more often in lower case than
      with a capital inside a sentence, which leaves names out;
    - with `drop_idle_context` types never seen in lower case have no context; every decision is the same without;
    - with `dotted_abbreviations` only those with a period inside, as u.s.a, are learned: half a million words are too
      few to tell other abbreviations from rare words at the end of sentences.

    Raises ConfigError for values out of range.
    """

    include_all_collocs: bool = option(False, "any pair with a period between them may be a collocation")
    include_abbrev_collocs: bool = option(False, "a pair whose first word is an abbreviation may be a collocation, too")
    min_colloc_freq: int = option(1, "a collocation must be seen more often than this", at_least=0)
    abbreviations: frozenset[str] = option(frozenset(), "abbreviations known from the start")
    min_ortho_share: float = option(
        0.0, "share of a word's occurrences that a place and case must have to count", at_least=0, at_most=1
    )
    min_ortho_count: int = option(0, "words seen less often have no orthographic context", at_least=0)
    lower_case_starters: bool = option(False, "leave names out of the sentence starters")
    drop_idle_context: bool = option(False, "leave out words never seen in lower case, which decide nothing")
    dotted_abbreviations: bool = option(
        False,
        "learn only abbreviations with a period inside, as u.s.a; others are given by --abbreviations",
        later=True,
    )


class PunktCounts:
    """What Punkt needs to know of texts: four tables of counts, keyed by token.

    `tokens` counts every token; `begin` and `unknown` those of them that surely, or perhaps, follow a boundary;
    `pairs` (a token with a final period, the token after it). All numbers are counted as one token. Counts of texts
    are added with `add` and `merge`, in any order, and can be pickled.

    One text gives what NLTK finds in it. Between two texts NLTK, given both as one with a blank line between, would
    also count a pair (last token of the first, first token of the second) and take the second's first token as the
    beginning of a paragraph; texts here do not touch. A text that begins with a blank line begins a paragraph.

    >>> counts = PunktCounts()
    >>> counts.add("Mr. Brown met Mr. Green. They talked.")
    >>> counts.tokens["Mr."], counts.pairs["Green.", "They"]
    (2, 1)
    """

    def __init__(self) -> None:
        self.tokens: Counter[str] = Counter()
        self.begin: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()
        self.pruned_tokens = 0
        self.pruned_periods = 0

    def __len__(self) -> int:
        """Return the entries of the tables, which is what takes memory (about 150 bytes each)."""
        return len(self.tokens) + len(self.begin) + len(self.unknown) + len(self.pairs)

    def add(self, text: str) -> None:
        """Count the tokens of one text."""
        tokens: Counter[str] = Counter()
        begin: list[str] = []
        unknown: list[str] = []
        pairs: list[tuple[str, str]] = []
        last, paragraph = "", False
        for line in lines_of_tokens(text):
            words = list(line)
            if not words:
                paragraph = True
                continue
            tokens.update(words)
            if last in {"?", "!"} or (last[-1:] != "." and paragraph):
                begin.append(words[0])
            elif last[-1:] != "." or is_ellipsis(last):
                unknown.append(words[0])
            else:
                pairs.append((last, words[0]))
            last, paragraph = words[-1], False
            words.append("")
            for index in [index for index, word in enumerate(words) if word[-1:] in _MARKS]:
                word, following = words[index], words[index + 1]
                if not following:
                    continue
                if word in {"?", "!"}:
                    begin.append(following)
                elif is_ellipsis(word):
                    unknown.append(following)
                elif word[-1] == ".":
                    pairs.append((word, following))
        fold = _fold_numbers(tokens)
        for table, counts in ((self.tokens, tokens), (self.begin, Counter(begin)), (self.unknown, Counter(unknown))):
            for token, count in counts.items():
                table[fold.get(token, token)] += count
        for (token, following), count in Counter(pairs).items():
            self.pairs[fold.get(token, token), fold.get(following, following)] += count

    def merge(self, other: PunktCounts) -> None:
        """Add the counts of other texts to these."""
        self.tokens.update(other.tokens)
        self.begin.update(other.begin)
        self.unknown.update(other.unknown)
        self.pairs.update(other.pairs)
        self.pruned_tokens += other.pruned_tokens
        self.pruned_periods += other.pruned_periods

    def prune(self, min_count: int) -> None:
        """Drop tokens and pairs counted less than `min_count` times; the parameters are then no longer NLTK's exactly.

        The total of tokens stays right. The second token of a dropped pair counts as one in an unknown place.
        """
        for (_, following), count in self.pairs.items():
            if count < min_count:
                self.unknown[following] += count
        self.pairs = Counter({pair: count for pair, count in self.pairs.items() if count >= min_count})
        for token, count in self.tokens.items():
            if count < min_count:
                self.pruned_tokens += count
                self.pruned_periods += count if token[-1] == "." else 0
        self.tokens = Counter({token: count for token, count in self.tokens.items() if count >= min_count})
        self.begin = Counter({token: count for token, count in self.begin.items() if token in self.tokens})
        self.unknown = Counter({token: count for token, count in self.unknown.items() if token in self.tokens})

    def keep_within(self, max_entries: int) -> None:
        """Where there are more entries, prune those seen once, then twice, and so on until at most half is filled."""
        min_count = 2
        while len(self) > max_entries // (1 if min_count == 2 else 2) and min_count < 1 << 20:
            self.prune(min_count)
            min_count += 1

    def parameters(self, settings: PunktSettings | None = None) -> PunktParameters:
        """Return the parameters these counts lead to; raises InputError where nothing was counted."""
        if not self.tokens:
            raise InputError("there is no text to train sentence parameters on; expected at least one word")
        return _Trainer(self, settings or PunktSettings()).parameters()


def train_punkt(
    texts: Iterable[str], settings: PunktSettings | None = None, *, max_entries: int | None = None
) -> PunktParameters:
    """Return Punkt parameters trained on texts, each as NLTK's `PunktTrainer` would see it (`PunktCounts`).

    `max_entries` bounds the memory: whenever the tables hold more entries, those seen once, then twice, and so on are
    dropped until they fill at most half. None keeps all: about 400 MB for 180 MB of English.

    >>> text = "Mr. Brown met Mr. Green. They talked. Mr. Brown was leaving. " * 20
    >>> sorted(train_punkt([text]).abbrev_types)
    ['mr']
    """
    counts = PunktCounts()
    for text in texts:
        counts.add(text)
        if max_entries is not None:
            counts.keep_within(max_entries)
    return counts.parameters(settings)


def _fold_numbers(tokens: Iterable[str]) -> dict[str, str]:
    """Return the tokens that are numbers, each with the token it is counted as: "0", or "0." with a final period."""
    return {
        token: "0." if token[-1] == "." else "0"
        for token in tokens
        if not is_alphabetic(token[0]) and type_of(token) == NUMBER
    }


class _Trainer:
    """The steps from counts to parameters (sections 3 and 4 of the paper), once the counts are complete."""

    def __init__(self, counts: PunktCounts, settings: PunktSettings) -> None:
        from nltk.probability import FreqDist
        from nltk.tokenize.punkt import PunktTrainer

        self.counts, self.settings = counts, settings
        self.type_of = {token: type_of(token) for token in counts.tokens}
        for _, following in counts.pairs:
            self.type_of.setdefault(following, type_of(following))
        types: Counter[str | None] = Counter()
        for token, count in counts.tokens.items():
            types[self.type_of[token]] += count
        if counts.pruned_tokens:
            types[None] = counts.pruned_tokens
        self.trainer: Any = PunktTrainer()
        self.types = self.trainer._type_fdist = FreqDist(types)
        self.trainer._num_period_toks = counts.pruned_periods + sum(
            count for token, count in counts.tokens.items() if token[-1] == "."
        )
        self.trainer.find_abbrev_types()
        self.abbreviations = settings.abbreviations | self.trainer._params.abbrev_types
        classifier = BreakClassifier(PunktParameters(abbrev_types=self.abbreviations))
        self._breaks, self._is_abbreviation = classifier.breaks_alone, classifier.is_abbreviation

    def parameters(self) -> PunktParameters:
        settings, trainer = self.settings, self.trainer
        places = self._places()
        exact = _ortho_context(places, 0.0, 0)
        trainer.MIN_COLLOC_FREQ = settings.min_colloc_freq
        trainer._sentbreak_count = sum(n for token, n in self.counts.tokens.items() if self._breaks(token))
        for (token, following), count in self.counts.pairs.items():
            type_, next_type = self._type(token), self._type(following)
            breaks = self._breaks(token)
            number_or_initial = self._is_number_or_initial(token)
            if breaks and not number_or_initial and is_alphabetic(following):
                trainer._sent_starter_fdist[next_type] += count
            if (
                settings.include_all_collocs
                or (settings.include_abbrev_collocs and self._is_abbreviation(token))
                or (breaks and number_or_initial)
            ) and (has_letter(type_) and has_letter(next_type)):
                trainer._collocation_fdist[without_period(type_), self._type_in_text(following)] += count
        trainer.finalize_training()
        starters = frozenset(trainer._params.sent_starters)
        if settings.lower_case_starters:
            starters = frozenset(type_ for type_ in starters if len(type_) == 1 or _mostly_lower(places.get(type_)))
        ortho_context = _ortho_context(places, settings.min_ortho_share, settings.min_ortho_count)
        if settings.drop_idle_context:
            ortho_context = {type_: flags for type_, flags in ortho_context.items() if flags & ortho.LOWER}
        learned = self.abbreviations | self._rare_abbreviations(exact)
        if settings.dotted_abbreviations:
            learned = settings.abbreviations | {type_ for type_ in learned if _DOTTED.fullmatch(alike(type_))}
        return PunktParameters(
            abbrev_types=learned,
            collocations=frozenset(trainer._params.collocations),
            sent_starters=starters,
            ortho_context=ortho_context,
        )

    def _type(self, token: str) -> str:
        learned = self.type_of.get(token)
        return type_of(token) if learned is None else learned

    def _type_in_text(self, token: str) -> str:
        return without_period(self._type(token)) if self._breaks(token) else self._type(token)

    def _is_number_or_initial(self, token: str) -> bool:
        return self._type(token).startswith(NUMBER) or is_initial(token)

    def _places(self) -> dict[str, Counter[int]]:
        """Return how often each type was seen in which place and case, by the flags of the orthographic context."""
        begin: Counter[str] = Counter(self.counts.begin)
        unknown: Counter[str] = Counter(self.counts.unknown)
        for (token, following), count in self.counts.pairs.items():
            sure = self._breaks(token) and not self._is_number_or_initial(token)
            (begin if sure else unknown)[following] += count
        places: dict[str, Counter[int]] = {}
        for token, count in self.counts.tokens.items():
            upper = is_upper(token[0])
            if not upper and not is_lower(token[0]):
                continue
            seen = places.setdefault(self._type_in_text(token), Counter())
            seen[ortho.BEGIN_UPPER if upper else ortho.BEGIN_LOWER] += begin[token]
            seen[ortho.MIDDLE_UPPER if upper else ortho.MIDDLE_LOWER] += count - begin[token] - unknown[token]
            seen[ortho.UNKNOWN_UPPER if upper else ortho.UNKNOWN_LOWER] += unknown[token]
        return places

    def _rare_abbreviations(self, ortho_context: dict[str, int]) -> set[str]:
        """Return the types that are too rare for the likelihood and that their neighbour shows to be abbreviations."""
        result: set[str] = set()
        for token, following in self.counts.pairs:
            if not self._breaks(token):
                continue
            type_ = without_period(self._type(token))
            if self.types[type_] + self.types[type_[:-1]] >= self.trainer.ABBREV_BACKOFF:
                continue
            context = ortho_context.get(self._type_in_text(following), 0)
            if following[0] in ",:;" or (
                is_lower(following[0]) and context & ortho.BEGIN_UPPER and not context & ortho.MIDDLE_UPPER
            ):
                result.add(type_)
        return result


def _ortho_context(places: dict[str, Counter[int]], min_share: float, min_count: int) -> dict[str, int]:
    result: dict[str, int] = {}
    for type_, seen in places.items():
        total = seen.total()
        if total >= min_count:
            result[type_] = sum(flag for flag, count in seen.items() if count and count >= min_share * total)
    return result


def _mostly_lower(seen: Counter[int] | None) -> bool:
    if seen is None:
        return False
    return sum(count for flag, count in seen.items() if flag & ortho.LOWER) > seen[ortho.MIDDLE_UPPER]
