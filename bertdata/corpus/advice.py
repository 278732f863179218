"""What a warning advises, by the settings that a build has already: advice that would change nothing is not given.

Each function returns a sentence with flags as a command line gives them. `corpus_warnings` says when there is a
warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bertdata.curation import LANGUAGE_MODELS
from bertdata.curation.languages import SOURCE, UNKNOWN
from bertdata.objectives.objective import find_objective
from bertdata.sentences.languages import base_code, parameters_for, shipped_by_code
from bertdata.sentences.settings import AUTO


@dataclass(frozen=True)
class Choices:
    """The settings of a build that advice depends on.

    objective: "" where it is not known. language: the code of that of the default sentence parameters, "" where their
    name tells none. dumps, books, plain_text: whether there are dumps, whose headers say a language, books, and
    .txt files of --documents. cleaned_dumps: whether pages come from dumps that another command cleaned. reads: the
    kinds of sources that the build itself cleans, and so has the flags for, as --language. trained: whether the
    vocabulary is. cleans: whether the command cleans its sources and can train a vocabulary, as build, and so has the
    flags for that; build-shards has not.
    """

    objective: str = ""
    language: str = ""
    by_language: bool = False
    dumps: bool = False
    books: bool = False
    plain_text: bool = False
    cleaned_dumps: bool = False
    reads: tuple[str, ...] = ("wikipedia", "books")
    trained: bool = False
    dedup: str = "none"
    language_model: str = ""
    split_chapters: bool = False
    whole_files: bool = False
    cleans: bool = True

    @property
    def by_sentences(self) -> bool:
        """Whether rows depend on where sentences end, as far as the objective is known."""
        return not self.objective or find_objective(self.objective).by_sentences

    @property
    def fills_rows(self) -> bool:
        """Whether rows go on over the borders of documents."""
        return bool(self.objective) and find_objective(self.objective).segments[1] is None


def shipped_text() -> str:
    """Return the names that --sentences takes.

    >>> shipped_text().endswith("spanish, nltk:LANGUAGE, or a folder from train-sentences")
    True
    """
    names = ", ".join(sorted(set(shipped_by_code().values()) - {"english"}))
    return f"{names}, nltk:LANGUAGE, or a folder from train-sentences"


def of_other_language(choices: Choices, articles: Mapping[str, int], *, is_english: bool | None = None) -> str:
    """Return what to do where sources say another language than that of the sentence parameters.

    articles: the number of each language, that of the parameters too. is_english: whether the text has English
    function words, None where they were not counted: a header that it contradicts is not followed.

    >>> of_other_language(Choices(language="en"), {"it": 9})
    'give --sentences italian'
    >>> of_other_language(Choices(language="en"), {"it": 9, "fr": 5, "en": 20})
    'give --sentences auto, which cuts each document by its language'
    >>> of_other_language(Choices(language="de", dumps=True), {"en": 9}, is_english=False)
    'the text is not English: the header of the dump is wrong; say its language, as --language de'
    >>> of_other_language(Choices(language="de"), {"en": 9}, is_english=False)
    'the text is not English: correct the column `language` of the source'
    """
    others = {code: number for code, number in articles.items() if base_code(code) != choices.language}
    most = max(others, key=lambda code: others[code])
    spoken, several = base_code(most), len({base_code(code) for code in articles}) > 1
    contradicted = is_english is not None and is_english != (spoken == "en") and "en" in (spoken, choices.language)
    if contradicted and not several:
        text = "the text is English" if is_english else "the text is not English"
        if choices.dumps:
            return f"{text}: the header of the dump is wrong; say its language, as --language {choices.language}"
        column = "correct the column `language` of the source"
        again = f"clean the dump again with `bertdata clean-wikipedia --language {choices.language}`, or "
        return f"{text}: {again if choices.cleaned_dumps else ''}{column}"
    name = parameters_for(most)
    if len({base_code(code) for code in others} - {UNKNOWN}) > 1:
        return f"give --sentences {AUTO}, which cuts each document by its language"
    if several and name not in (AUTO, "english"):
        return f"give --sentences-of {spoken}={name}"
    wrong = f"; or, if the header of the dump is wrong, --language {choices.language}"
    asked = is_english is None and choices.dumps and choices.language not in ("", "en")
    return f"give --sentences {name}{wrong if asked else ''}"


def of_text_that_is_not_english(choices: Choices, articles: Mapping[str, int], documents: int) -> str:
    """Return what to do where English parameters cut text that is not English, and no source says another language."""
    english = sum(number for code, number in articles.items() if base_code(code) == "en")
    if choices.dumps and 2 * english > documents:
        return (
            "the header of the dump says that it is English: say its language with --language CODE, and give "
            f"--sentences of it: {shipped_text()}"
        )
    model = choices.cleans and not choices.language_model
    several = "--sentences auto and --language-model py3langid cut" if model else "--sentences auto cuts"
    return f"give --sentences of the language: {shipped_text()}; for several, {several} each document by its language"


def of_languages_without_parameters(choices: Choices, others: Mapping[str, int]) -> str:
    """Return what to do where parameters go by language, and documents are in languages that have none."""
    most = max(others, key=lambda code: others[code])
    if most != UNKNOWN:
        return f"give --sentences-of {most}={parameters_for(most)}"
    if not choices.cleans:
        return "nothing says their language: give documents with a column `language`"
    if choices.language_model in ("", SOURCE):
        return "nothing says their language: give --language-model py3langid, or a column `language`"
    other = next(name for name in LANGUAGE_MODELS if name != choices.language_model)
    return f"the model does not know their language: give a column `language`, or --language-model {other}"


def of_short_documents(choices: Choices) -> str:
    """Return what to do where documents are short."""
    by_blank_lines = " (in .txt a blank line ends one, unless --whole-files)"
    join = "join what belongs together into documents"
    join += by_blank_lines if choices.plain_text and not choices.whole_files else ""
    if choices.fills_rows:
        return f"{join}; the rows of --objective {choices.objective} are full, but of many documents"
    return f"{join}, or choose --objective full-sentences, which fills rows over their borders"


def of_short_sentences(choices: Choices) -> str:
    """Return what to do where sentences are short."""
    join = "join the lines that belong together"
    if choices.plain_text and not choices.whole_files:
        return f"{join}: in .txt a line ends a sentence, unless --whole-files"
    return f"{join}, or leave out what is no prose, as lists and tables"


def of_broken_lines(choices: Choices) -> str:
    """Return what to do where lines seem to be broken inside sentences."""
    join = "join the lines of a paragraph"
    if choices.plain_text and not choices.whole_files:
        return f"{join}: in .txt a line ends a sentence, unless --whole-files; --books joins them in books"
    return f"{join} before the build, or see whether this text ends its sentences with a period"


def of_one_document(choices: Choices) -> str:
    """Return what to do where one document has most of the text."""
    ways = [
        *(["--split-chapters for books"] if choices.books and not choices.split_chapters else []),
        *(["blank lines in .txt"] if choices.plain_text and not choices.whole_files else []),
    ]
    how = f" ({'; '.join(ways)})" if ways else ""
    return f"split it into documents{how}, or add others"


def of_copies(choices: Choices) -> str:
    """Return what to do where documents are copies of others."""
    if choices.dedup == "exact":
        return "they differ in a few words: leave them out with --dedup near"
    return "leave them out with --dedup exact, or --dedup near"


def of_unknown_tokens(choices: Choices) -> str:
    """Return what to do where many tokens are [UNK]."""
    if choices.trained:
        return "raise --limit-alphabet, or train on more text"
    how = "leave --vocab out" if choices.cleans else "bertdata train-vocab"
    return f"train a vocabulary on these texts ({how}), or give one of their language"


def of_lost_marks(choices: Choices) -> str:
    """Return what to do where a tokenizer that strips accents makes other letters of those of a script."""
    return (
        "keep them with --no-do-lower-case"
        if choices.trained
        else "give a --vocab that keeps accents, as cased ones do"
    )


def of_long_sentences(choices: Choices, articles: Mapping[str, int]) -> str:
    """Return what to do where the ends of sentences are not found."""
    others = {code: number for code, number in articles.items() if base_code(code) != choices.language}
    if choices.language and others and not choices.by_language:
        remedy = of_other_language(choices, articles)
        return f"their ends are not found: {remedy}"
    line = "put a sentence a line in .txt, or " if choices.plain_text and not choices.whole_files else ""
    return (
        f"their ends are not found: see whether the texts have any; {line}train parameters on these texts (bertdata "
        "train-sentences)"
    )
