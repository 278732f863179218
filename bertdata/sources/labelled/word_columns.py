"""Which column of a file of columns has the words: by a first line of names, and whether what is in it can be words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

from bertdata.errors import ConfigError, InputError, shortened
from bertdata.sources.labelled.labels import Label

_WORDS = ("word", "words", "token", "tokens", "form", "text")
_OTHERS = (
    *("tag", "tags", "label", "labels", "ner", "ner_tag", "ner_tags", "entity", "pos", "pos_tag", "pos_tags", "upos"),
    *("xpos", "chunk", "chunk_tag", "chunk_tags", "lemma", "id", "index", "sentence", "sentence_id", "sentence #"),
)
_LANGUAGE = re.compile(r"([a-z]{2,3}(?:[-_][a-z]+)?:)(?=.)")
_DIGITS = {*"0123456789"}
_FEW = 10
"""Words that tell nothing yet of a column."""


_TEXT = 4
"""The words in a tag from which on it is a text."""


class _Words(Protocol):
    @property
    def words(self) -> tuple[str, ...]: ...

    @property
    def tags(self) -> tuple[Label, ...] | None: ...


Sentence = TypeVar("Sentence", bound=_Words)


def a_word_a_line(words: int, tags: int) -> str:
    """Return a command that writes lines of sentences as lines of words, given the columns, from 1."""
    return (
        f"""awk -F'\\t' '{{n=split(${words},w," "); split(${tags},t," "); """
        """for(i=1;i<=n;i++) print w[i]"\\t"t[i]; print ""}'"""
    )


def column_names(fields: Sequence[str], asked: Iterable[str | None] = ()) -> list[str]:
    """Return the names that a first line gives to its columns, none where it is a word with its tags.

    asked: the names of columns that a user gave; a first line that has one of them names its columns.

    >>> column_names(["Word", "POS", "Tag"]), column_names(["Word", "NN", "O"]), column_names(["text"])
    (['word', 'pos', 'tag'], [], [])
    >>> column_names(["TOKEN", "NE-LIT", "MISC"], ["NE-LIT"])
    ['token', 'ne-lit', 'misc']
    """
    names = [field.strip().lower() for field in fields]
    if len(names) < 2 or len({*names}) < len(names):
        return []
    if any(name and not name.isdigit() and name.lower() in names for name in asked):
        return names
    return names if {*names} <= {*_WORDS, *_OTHERS} and may_name_columns(fields) else []


def may_name_columns(fields: Sequence[str]) -> bool:
    """Tell whether one of the fields of a first line is a usual name of a column of words."""
    return len(fields) > 1 and any(field.strip().lower() in _WORDS for field in fields)


_BRACKETED = re.compile(r"\*\)*|(?:\([^()*]+)+(?:\*\)*|\)+)")
_BRACKETS_TO_BIO = (
    """awk '/^#/{next} !NF{print ""; next} {t=TAG; if(gsub(/\\(/,"(",t)>1)"""
    """{print "nested: " $0 > "/dev/stderr"; exit 1} k=t; gsub(/[()*]/,"",k); b=(t ~ /^\\(/); if(b)e=k; """
    """print WORD "\\t" (e==""?"O":(b?"B-":"I-") e); if(t ~ /\\)$/)e=""}' FILE > NEW"""
)


def column_number(given: str | None, names: Sequence[str], default: int, flag: str) -> int:
    """Return the place of a column, from 0: by its number from 1, or by its name where the file has names.

    default: the place of one that is not given; -1 for the last. Raises ConfigError for a column that is not there.

    >>> column_number("2", [], 0, "--text-columns"), column_number("Tag", ["word", "tag"], -1, "--label-column")
    (1, 1)
    """
    if given is None:
        return default
    if given.lower() in names:
        return names.index(given.lower())
    if not given.isdigit() or int(given) < 1:
        named = f", or one of its names: {', '.join(names)}" if names else ""
        raise ConfigError(f"{flag} is {given!r}; of a CoNLL file it is the number of a column, from 1{named}")
    return int(given) - 1


def default_word_column(names: Sequence[str]) -> int:
    """Return the place of the column whose name is that of words, 0 without one.

    >>> default_word_column(["sentence #", "word", "tag"]), default_word_column([])
    (1, 0)
    """
    return next((place for place, name in enumerate(names) if name in _WORDS), 0)


def with_true_words(
    sentences: Iterator[Sentence], path: str, column: int, tag_column: int | None
) -> Iterator[Sentence]:
    """Yield sentences; raises InputError at the end where the column holds no words, but numbers or a name of a text.

    Nor may tags, in their column, be brackets around words, `(PERSON*`, `*`, `*)`, as those of CoNLL-2012; None: tags
    do not matter.

    A line holds all words of a sentence and all their tags, as files of slots do, or texts are in the place of tags, as
    in tables of sentences; a column numbers words, as the first
    one of GermEval's and Universal NER's files; holds offsets; repeats the name of a document, as OntoNotes'; or its
    words begin with the code of a language, as in raw WikiANN, or end in the place of a character in its word, as in
    the files of Weibo.
    """
    numbers = offsets = repeats = True
    longest = total = several = texts = sentences_as_words = 0
    text = sentence_as_word = ""
    all_sentences = True
    prefixes: set[str] | None = None
    places = brackets = True
    opened = False
    for sentence in sentences:
        words = sentence.words
        longest, total = max(longest, len(words)), total + len(words)
        if all_sentences and sentence.tags:
            lengths = [
                (len(word.split()), len(str(tag or "").split())) for word, tag in zip(words, sentence.tags, strict=True)
            ]
            all_sentences = all(of_word == of_tag for of_word, of_tag in lengths)
            several += sum(of_word > 1 for of_word, _ in lengths)
        for word in words:
            if _is_text(word):
                sentences_as_words, sentence_as_word = sentences_as_words + 1, sentence_as_word or word
        if numbers or offsets:
            digits = all(word.isdecimal() for word in words)
            values = [int(word) for word in words] if digits else []
            numbers = numbers and digits and values[:1] in ([0], [1])
            numbers = numbers and values == list(range(values[0], values[0] + len(values)))
            offsets = offsets and digits and all(first < second for first, second in pairwise(values))
        tags = [str(tag) for tag in sentence.tags or () if tag is not None]
        brackets = brackets and all(map(_BRACKETED.fullmatch, tags))
        opened = opened or any(tag.startswith("(") for tag in tags)
        for tag in tags:
            if _is_text(tag):
                texts, text = texts + 1, text or tag
        repeats = repeats and len({*words}) == 1
        places = places and _are_placed(words)
        if prefixes != set():
            here = {match[1] if (match := _LANGUAGE.match(word)) else "" for word in words}
            prefixes = (here | (prefixes or set())) - {""} if "" not in here else set()
            prefixes = prefixes if len(prefixes) == 1 else set()
        yield sentence
    if all_sentences and 2 * several > total:
        raise InputError(
            "has a sentence in each line, its tags behind a tab; expected a word and its tag in each line, and a blank "
            f"line after each sentence: {a_word_a_line(1, 2)} FILE > NEW",
            path=path,
        )
    of_tags = 2 * texts > total and tag_column is not None
    if of_tags or 2 * sentences_as_words > total:
        what, example = ("tags", text) if of_tags else ("words", sentence_as_word)
        words_at, place = (3, "third") if of_tags else (1, "first")
        raise InputError(
            f"has texts in the column of the {what}, as {shortened(example)}, as tables of sentences do; expected a "
            "word and its tag in each line: --task classification learns a label for each text, and tags in another "
            f"column, as the second beside sentences in the {place}, become such lines by "
            f"{a_word_a_line(words_at, 2)} FILE > NEW",
            path=path,
        )
    if brackets and opened and tag_column is not None:
        word, tag = f"${column + 1}", "$NF" if tag_column < 0 else f"${tag_column + 1}"
        raise InputError(
            "has brackets around words as tags, (X*, *, *), as files of CoNLL-2012; expected a tag of its own for each "
            f"word, as B-X, I-X and O: {_BRACKETS_TO_BIO.replace('WORD', word).replace('TAG', tag)}",
            path=path,
        )
    if longest < 2:
        return
    problem = ""
    if numbers:
        problem = "numbers the words of each sentence"
    elif total > _FEW and offsets:
        problem = "has numbers that grow within each sentence"
    elif total > _FEW and repeats:
        problem = "has the same value for all words of each sentence"
    if problem:
        place = f", as --text-columns {column + 2}" if numbers else " by its number with --text-columns"
        raise InputError(
            f"column {column + 1} {problem}; expected words: name their column{place}, and that of their tags with "
            "--label-column",
            path=path,
        )
    if total > 1 and prefixes:
        [prefix] = prefixes
        raise InputError(
            f"all words begin with {prefix!r}, as in raw files of WikiANN; expected words alone: take it away, as with "
            f"sed 's/^{prefix}//' FILE > NEW",
            path=path,
        )
    if total > _FEW and places:
        raise InputError(
            f"all words end in a digit that counts the characters of a word ({words[0]!r}), as in files of Weibo; "
            "expected words alone: take the digits away, as with "
            "sed -E 's/^([^[:space:]]+)[0-9]([[:space:]])/\\1\\2/' FILE > NEW",
            path=path,
        )


def _is_text(field: str) -> bool:
    return field.count(" ") >= _TEXT - 1 and len(field.split()) >= _TEXT


def _are_placed(words: Sequence[str]) -> bool:
    """Tell whether all words end in a digit, which is 0 or one more than that of the word before.

    >>> _are_placed(["酸0", "酸1", "好0"]), _are_placed(["a1", "b1"]), _are_placed(["10"])
    (True, False, True)
    """
    digits = [word[-1:] if len(word) > 1 else "" for word in words]
    if not all(digit in _DIGITS for digit in digits):
        return False
    return all(after in ("0", str(int(before) + 1)) for before, after in pairwise(["-1", *digits]))
