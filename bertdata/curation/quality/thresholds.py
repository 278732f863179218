"""Rules with thresholds, and how they are written: NAME:VALUE,NAME:VALUE, a rule that is not named keeps its default.

`--filter gopher-quality=max_bullet_lines:0.8,min_stop_words:off` changes one threshold and leaves one rule out; in a
recipe it is `filter = ["gopher-quality=max_bullet_lines:0.8,min_stop_words:off"]`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.curation.filters import Filter, Judgement, figure_text
from bertdata.errors import expected_one_of

ON, OFF = "on", "off"


@dataclass(frozen=True)
class Rule:
    """One rule: its name, its default, the reason in the ledger, and what it drops.

    default: the published threshold, or True or False of a rule without one. reason: "" of a setting of other rules.
    """

    name: str
    default: float | bool
    reason: str
    help: str


@dataclass(frozen=True)
class Thresholds:
    """The thresholds of the rules of a filter, in their order; NaN where a rule is off, 1 where one without is on.

    >>> RULES = (Rule("min_words", 50, "too few words", ""), Rule("curly_brackets", True, "code", ""))
    >>> parse_thresholds("min_words:20,curly_brackets:off", RULES)["min_words"]
    20.0
    """

    rules: tuple[Rule, ...]
    values: tuple[float, ...]

    def __getitem__(self, name: str) -> float:
        return self.values[[rule.name for rule in self.rules].index(name)]

    def array(self) -> NDArray[np.float64]:
        """Return the thresholds, float64 (rules,)."""
        return np.array(self.values, np.float64)


def parse_thresholds(text: str, rules: Sequence[Rule]) -> Thresholds:
    """Return the thresholds that NAME:VALUE,NAME:VALUE gives; raises ValueError with what was expected."""
    values = {rule.name: float(rule.default) if rule.default is not False else math.nan for rule in rules}
    by_name = {rule.name: rule for rule in rules}
    given: set[str] = set()
    for part in text.split(",") if text else ():
        name, sign, value = (field.strip() for field in part.partition(":"))
        if name not in by_name:
            raise ValueError(f"there is no rule {name!r}{expected_one_of(name, by_name)}")
        if not sign or name in given:
            problem = "twice" if sign else "without a value"
            raise ValueError(f"{name} is given {problem}; expected each rule once, as {_example(by_name[name])}")
        given.add(name)
        values[name] = _threshold(value, by_name[name])
    return Thresholds(tuple(rules), tuple(values.values()))


def _threshold(value: str, rule: Rule) -> float:
    if value == OFF and rule.reason:
        return math.nan
    if isinstance(rule.default, bool):
        if value in (ON, OFF):
            return 1.0 if value == ON else math.nan
        raise ValueError(f"{rule.name} is {value!r}; expected on or off")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        off = " or off" if rule.reason else ""
        raise ValueError(f"{rule.name} is {value!r}; expected a number of 0 or more{off}, as {_example(rule)}")
    return number


def _example(rule: Rule) -> str:
    return f"{rule.name}:{ON if rule.default is True else OFF if rule.default is False else f'{rule.default:g}'}"


Figures = Callable[[str, Thresholds], Iterable[tuple[str, float]]]
"""Returns what rules measure of a text, by their names."""


Judged = tuple[NDArray[np.int8], NDArray[np.float64]]
"""The number of the first rule that drops each text, -1 where it is kept, and what that rule measured."""


def kernel_filter(what: str, rules: Sequence[Rule], judged: Callable[[pa.StringArray, Thresholds], Judged]) -> Filter:
    """Return the filter of rules whose kernel also says what the rule that drops a text measured."""
    figures = partial(_figure_of_drop, rules, judged)
    return replace(rule_filter(what, rules, partial(_judgement, rules, judged), figures), only_drops=True)


def _judgement(
    rules: Sequence[Rule],
    judged: Callable[[pa.StringArray, Thresholds], Judged],
    texts: pa.StringArray,
    thresholds: Thresholds,
) -> Judgement:
    return Judgement(named(judged(texts, thresholds)[0], rules))


def _figure_of_drop(
    rules: Sequence[Rule], judged: Callable[[pa.StringArray, Thresholds], Judged], text: str, thresholds: Thresholds
) -> Iterable[tuple[str, float]]:
    """Yield the name of the first rule that drops a text, and its figure; nothing where it is kept."""
    [code], [figure] = (values.tolist() for values in judged(pa.array([text], pa.string()), thresholds))
    if code >= 0:
        yield rules[code].name, figure


def rule_filter(
    what: str,
    rules: Sequence[Rule],
    judge: Callable[[pa.StringArray, Thresholds], Judgement],
    figures: Figures,
    revision: int = 1,
) -> Filter:
    """Return the filter that applies rules; its help names each with its default. figures: for samples of drops."""
    listed = ", ".join(map(_example, rules))
    return Filter(
        help=f"{what}; rules, as NAME:VALUE,NAME:VALUE or NAME:off: {listed}",
        judge=judge,
        measure=partial(_measured, rules, figures),
        parse=lambda text: parse_thresholds(text, rules),
        default="",
        revision=revision,
    )


def _measured(rules: Sequence[Rule], figures: Figures, text: str, thresholds: Thresholds, reason: str) -> str:
    """Return the figure of the rule that dropped a text, beside its threshold."""
    names = {rule.name for rule in rules if rule.reason and rule.reason == reason}
    for name, value in figures(text, thresholds) if names else ():
        if name in names:
            return figure_text(name, value, thresholds[name])
    return ""


def named(codes: NDArray[np.int8], rules: Sequence[Rule]) -> pa.StringArray:
    """Return the reasons of rules by their numbers, null for -1."""
    reasons = pa.array([rule.reason for rule in rules], pa.string())
    return reasons.take(pa.array(codes, pa.int8(), mask=codes < 0))
