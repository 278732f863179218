"""Where a sentence ends: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import Settings, option, require
from bertdata.sentences.languages import base_code, shipped_by_code

AUTO = "auto"
"""What --sentences calls what ships for the language of each document."""


@dataclass(frozen=True)
class SentencesConfig(Settings):
    """Where a sentence ends."""

    sentences: str = option(
        "english",
        "Punkt parameters: dutch, english, french, german, italian, polish, russian, spanish, nltk:LANGUAGE, or a "
        "folder, as train-sentences writes one; auto: those of the language of each document, and the marks of other "
        "scripts",
    )
    attach_citations: bool = option(
        False, "a citation mark such as [3] after a sentence stays with it (Punkt puts it into the next one)"
    )
    sentence_marks: bool = option(
        False,
        "also end sentences at the marks of other scripts, as 。！？ । ۔ ؟ ։, which Punkt does not know",
        later=True,
    )
    sentences_of: tuple[str, ...] = option(
        (),
        "the Punkt parameters for documents in a language, as sv=nltk:swedish; --sentences is for the others",
        metavar="LANGUAGE=PARAMETERS",
        later=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        codes = []
        for choice in self.sentences_of:
            code, _, name = choice.partition("=")
            require(
                bool(code and name and name != AUTO),
                f"--sentences-of has {choice!r}; expected LANGUAGE=PARAMETERS, as de=nltk:german or de=FOLDER",
            )
            codes.append(base_code(code))
        twice = sorted({code for code in codes if codes.count(code) > 1})
        require(not twice, f"--sentences-of names {', '.join(twice)} twice; give each language once")

    @property
    def default(self) -> str:
        """The parameters of documents in other languages than those of `by_language`."""
        return "english" if self.sentences == AUTO else self.sentences

    @property
    def goes_by_language(self) -> bool:
        """Whether the language of a document decides about its parameters."""
        return self.sentences == AUTO or bool(self.sentences_of)

    @property
    def by_language(self) -> dict[str, str]:
        """The parameters by the code of a language.

        >>> SentencesConfig("nltk:german", sentences_of=("fr=folder",)).by_language
        {'fr': 'folder'}
        """
        shipped = shipped_by_code() if self.sentences == AUTO else {}
        named = (choice.partition("=") for choice in self.sentences_of)
        return shipped | {base_code(code): name for code, _, name in named}
