"""The form of rows that hold articles, and what forms share: an article, its rules, its identity, its plain text."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bertdata.sources.wikipedia.words import count_words
from bertdata.wikitext.mediawiki.folding import fold_title
from bertdata.wikitext.mediawiki.page_kinds import title_kind
from bertdata.wikitext.mediawiki.site_config import SECTIONS_WITHOUT_PROSE
from bertdata.wikitext.reference.cleanup import finish
from bertdata.wikitext.rules import INVISIBLE, ODD_SPACES, TITLE_EDGES

_SHOWN = str.maketrans({**dict.fromkeys(ODD_SPACES, " "), **dict.fromkeys(INVISIBLE, "")})
_WHOLE = re.compile(r"(-?[0-9]{1,18})(?:\.0*)?")
_LANGUAGE_OF_URL = re.compile(r"https?://([a-z][a-z-]*)\.(?:m\.)?wik(?:i[a-z]+|tionary)\.org/")


@dataclass(frozen=True)
class ArticleRules:
    """What of `CleaningConfig` articles are cleaned by: the fewest words, the user's templates, the variant, lists.

    `compiled` says whether by compiled kernels: this changes only the speed.
    """

    min_words: int = 0
    templates: str = ""
    templates_sha256: str = ""
    compiled: bool | None = None
    variant: str = ""
    keep_lists: bool = False


class Article(NamedTuple):
    """An article, its prose in paragraphs with a blank line between them, and why it is dropped, "" if it is not.

    language: the code of its wiki's, "" where it is unknown.
    """

    id: str = ""
    title: str = ""
    url: str = ""
    text: str = ""
    reason: str = ""
    language: str = ""


class Form(ABC):
    """How the rows of a published form of Wikipedia become articles.

    name         as errors and fingerprints call it
    text_column  the column that the text is in
    mark         columns that tell the form from others; a file of it has all of these and the column of the text
    others       columns that are read where they are present, beside those of `mark`
    revision     raise it when rows become other documents; it is in the fingerprints of parts
    """

    name = ""
    text_column = ""
    mark: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    revision = 1

    def fits(self, names: Sequence[str]) -> bool:
        """Tell whether a file with columns of these names is of this form."""
        return {self.text_column, *self.mark} <= set(names)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that `article` reads."""
        return (self.text_column, *self.mark, *self.others)

    @abstractmethod
    def article(self, row: Mapping[str, Any], rules: ArticleRules) -> Article:
        """Return the article of a row, dropped where it is none; the id is "" where the row has none.

        Raises MissingExtraError where it takes a library that is not installed.
        """


class Skipped:
    """Whether a place in a page lies in a section without prose, told by the headings before it.

    >>> skipped = Skipped()
    >>> skipped.enter(2, "See also"), skipped.enter(3, "Books"), skipped.enter(2, "Age")
    (True, True, False)
    """

    def __init__(self) -> None:
        self._level = 0

    def enter(self, level: int, title: str) -> bool:
        """Go on after a heading; returns whether what follows is skipped."""
        if not self._level or level <= self._level:
            self._level = level if without_prose(title) else 0
        return bool(self._level)


def without_prose(title: str) -> bool:
    """Tell whether the section of a title holds no prose, as "See also" does not."""
    return fold_title(title.translate(_SHOWN).strip(TITLE_EDGES)) in SECTIONS_WITHOUT_PROSE


def title_reason(article: Article, rules: ArticleRules, *, mostly_list: bool) -> str:
    """Return why a page's title says that it is not an article, "" if it may be one; a list must also look like a list.

    >>> title_reason(Article(title="Salt (disambiguation)"), ArticleRules(), mostly_list=False)
    'disambiguation'
    >>> [title_reason(Article(title="List of salts"), ArticleRules(), mostly_list=listed) for listed in (True, False)]
    ['list', '']
    """
    kind = title_kind(article.title, article.language)
    return "" if kind == "list" and (rules.keep_lists or not mostly_list) else kind


def plain(paragraphs: Sequence[str]) -> str:
    r"""Return paragraphs as the wikitext cleaner writes them: its spaces, no invisible characters, none without a word.

    >>> plain(["Salt\u00a0is a  mineral.\u200b", "—"])
    'Salt is a mineral.'
    """
    return finish("\n\n".join(paragraph.translate(_SHOWN) for paragraph in paragraphs))


def finished(article: Article, rules: ArticleRules) -> Article:
    """Return an article with the reason that its text is a reason to drop it for, if it has none yet."""
    if article.reason:
        return article
    if not article.text:
        return article._replace(reason="no prose")
    short = rules.min_words and count_words(article.text, rules.min_words) < rules.min_words
    return article._replace(reason="stub") if short else article


def parsed(value: Any) -> Any:
    """Return a value that a table holds as JSON text or as it is; None where the text is not JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def field(value: Any, *names: str) -> Any:
    """Return what is at a place in nested objects, some of them perhaps as JSON text; None where nothing is.

    >>> field({"namespace": '{"identifier": 14}'}, "namespace", "identifier")
    14
    """
    for name in names:
        value = parsed(value)
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def language_of(row: Mapping[str, Any]) -> str:
    """Return the code of the language of a row, by `in_language` or the address of its page; "" where neither tells.

    >>> language_of({"url": "https://de.wikipedia.org/wiki/Salz"})
    'de'
    """
    language = field(row, "in_language", "identifier")
    if isinstance(language, str) and language:
        return language
    match = _LANGUAGE_OF_URL.match(str(row.get("url")))
    return match[1] if match else ""


def whole(value: Any) -> int | None:
    """Return a number that a table holds as an integer, as a float (a column with gaps has such) or as text.

    None for anything else.

    >>> [whole(value) for value in (14, 14.0, "14", "14.0", 0.5, float("nan"), True, None, "x")]
    [14, 14, 14, 14, None, None, None, None, None]
    """
    if isinstance(value, str):
        return int(match[1]) if (match := _WHOLE.fullmatch(value.strip())) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def identity(row: Mapping[str, Any]) -> Article:
    """Return the article of a row of Wikimedia Enterprise without its text; its id is that of the page in a dump.

    >>> identity({"name": "Salt", "identifier": 7, "url": "https://en.wikipedia.org/wiki/Salt"})[:2]
    ('enwiki:7', 'Salt')
    """
    title, number, url = row.get("name"), whole(row.get("identifier")), row.get("url")
    url = url if isinstance(url, str) else ""
    wiki = field(row, "is_part_of", "identifier")
    if not isinstance(wiki, str) or not wiki:
        wiki = f"{language_of(row).replace('-', '_')}wiki"
    identifier = row.get("identifier")
    page = number if number is not None else identifier if isinstance(identifier, str) else ""
    return Article(
        f"{wiki}:{page}" if page != "" else "", title if isinstance(title, str) else "", url, language=language_of(row)
    )
