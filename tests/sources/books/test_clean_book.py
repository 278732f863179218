"""A book becomes paragraphs of prose: headings, contents and tables go, wrapped lines are joined."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata import ConfigError
from bertdata.sources.books.read import clean_book, clean_chapters
from tests.growth import assert_linear, repeated
from tests.sources.books.bookish import FIRST, SECOND, SPEECH, clean, in_a_book, wrap


def test_wrapped_lines_become_paragraphs() -> None:
    assert clean(wrap(FIRST), SPEECH, wrap(SECOND)) == [FIRST, SPEECH, SECOND]


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\r\r\n", "\n"])
def test_every_kind_of_line_end_reads_the_same(line_end: str) -> None:
    source = f"{wrap(FIRST)}\n\n{wrap(SECOND)}\n".replace("\n", line_end)
    assert clean_book(source) == f"{FIRST}\n\n{SECOND}"


@pytest.mark.parametrize(
    "heading",
    [
        "CHAPTER I.",
        "CHAPTER I. MR. SHERLOCK HOLMES.",
        "Chapter Four: The Supper",
        "Chapter 12",
        "Chapter XII.--A Long Way",
        "I.",
        "XIV",
        "I. THE EVE OF THE WAR.",
        "II. The Horror In Clay",
        "BOOK THE FIRST",
        "Book the First--Recalled to Life",
        "PART TWO",
        "STAVE ONE",
        "THE FIRST BOOK",
        "THE GOOSE-GIRL",
        "Preface",
        "INTRODUCTION.",
        "EPILOGUE",
        "THE END",
        "FINIS.",
        "End of Volume One",
        "CHAPTER III\nIN WHICH NOTHING HAPPENS,\nAND SLOWLY",
        "The Last Supper",
        "* * * * *",
        "-----------------------",
        "#",
        "123",
        "[Page 123]",
        "- 45 -",
        "                              HOUDINI.",
    ],
)
def test_headings_rules_and_page_numbers_go(heading: str) -> None:
    assert in_a_book(heading) == []


def test_the_title_of_a_chapter_without_a_blank_line_goes_and_its_text_stays() -> None:
    assert in_a_book(f"Chapter III. The old Sea\n{wrap(FIRST)}") == [FIRST]


def test_a_heading_without_a_blank_line_leaves_its_text() -> None:
    assert clean(f"CHAPTER I.\n{wrap(FIRST)}", f"XII\n{wrap(SECOND)}") == [FIRST, SECOND]


@pytest.mark.parametrize(
    "prose",
    [
        SPEECH,
        "“Yes.”",
        '"Rake!"',
        "“I—”",
        "“NO!”",
        "“CHAPTER I,” he read.",
        "I did so and found it correct.",
        "Part of the crew went home.",
        "Book learning was not for him.",
        "One part of it was true.",
        "A boy came running towards me.",
        "—Come up, Kinch!",
        "Mild.",
    ],
)
def test_short_paragraphs_of_prose_stay(prose: str) -> None:
    assert in_a_book(prose) == [prose.replace("--", "—")]


@pytest.mark.parametrize(
    "contents",
    [
        "CHAPTER I. The Supper\nCHAPTER II. The Morning\nCHAPTER III. The End of It",
        "    I. THE CHRISTENING                   1\n\n    II. EARLY LIFE                      12",
        "I.  Fire worship.--Fire eating and heat resistance.--The Middle\nAges.--Among the Navajo.--Walkers.",
        "BOOK I.\n\nThe Hall\n\nExtinct.\n\nBOOK II.\n\nBurial with Bonfire.",
        " Chapter I. Outside the Mill\n Chapter II. Mr Tulliver Declares His Resolution about Tom\n Chapter III. Tom",
        "The Hall . . . . . . . . . 12\nThe Road . . . . . . . . . 24",
    ],
)
def test_tables_of_contents_go(contents: str) -> None:
    assert clean("THE HALL", "by N. N.", "CONTENTS", contents, "CHAPTER I", wrap(FIRST), SPEECH) == [FIRST, SPEECH]


def test_a_short_first_paragraph_after_the_contents_stays() -> None:
    assert clean("CONTENTS", "I. The Hall", "II. The Road", "CHAPTER I", SPEECH, wrap(FIRST)) == [SPEECH, FIRST]


def test_a_synopsis_under_a_chapter_heading_goes() -> None:
    synopsis = "The Pretty Lago di Lecco--A Carriage Drive in the Country--Astonishing\nSociability--Sleepy Land"
    assert in_a_book("CHAPTER XXI.", synopsis) == []


def test_a_title_page_goes() -> None:
    page = [
        "cover",
        "THE HALL",
        "A NOVEL",
        "By N. N.",
        "NEW YORK\nHARPER AND CO.\n1871",
        "With twenty-five coloured plates",
    ]
    assert clean(*page, wrap(FIRST), wrap(SECOND)) == [FIRST, SECOND]


def test_tables_and_lists_with_page_numbers_go() -> None:
    assert in_a_book("eBooks    Year    Month\n    1     1971    July\n   10     1991    January") == []
    assert in_a_book("Aachen, 12, 34\nAthens, 7\nBerlin, 102, 204") == []
    assert in_a_book("| a | b |\n| 1 | 2 |") == []


def test_an_index_and_endnotes_go_to_the_end() -> None:
    body = [wrap(FIRST)] * 30
    index = ["INDEX", "A", "ANGOULEME, Duchesse d', parts from her father.", "C", "CAMUS, Archivist, imprisoned."]
    assert clean(*body, *index) == [FIRST] * 30
    assert clean(*body, "FOOTNOTES", "    1 In Russian, “silen.”", wrap(SECOND, "    ")) == [FIRST] * 30


def test_verse_is_one_paragraph_and_its_lines_are_joined() -> None:
    verse = "    The almond tree is white and tall,\n    And white upon the garden wall\n    The evening lies."
    assert in_a_book(verse) == ["The almond tree is white and tall, And white upon the garden wall The evening lies."]


def test_an_indented_quotation_is_prose() -> None:
    assert in_a_book(wrap(SECOND, "     ")) == [SECOND]


def test_paragraphs_told_by_their_indent_only_are_parted() -> None:
    third = wrap(FIRST).replace("It was", "    It was", 1)
    fourth = wrap(SECOND).replace("Nobody", "    Nobody", 1)
    assert clean(f"{third}\n{fourth}\n{third}") == [FIRST, SECOND, FIRST]


@pytest.mark.parametrize(
    ("parted", "elsewhere", "healed"),
    [
        ("for in-\nstance", "", "for instance"),
        ("a well-\nknown man", "He was well-known there.", "a well-known man"),
        ("a care-\nless man", "A careless boy, with care and less wit.", "a careless man"),
        ("the red-\nroom door", "The room was red.", "the red-room door"),
        ("in English-\nspeaking lands", "", "in English-speaking lands"),
        ("it came--\nand went", "", "it came—and went"),
    ],
)
def test_words_parted_at_a_line_end_are_healed_as_the_book_writes_them(
    parted: str, elsewhere: str, healed: str
) -> None:
    lead = "and it was all of this which he had never seen before that he had said, "
    cleaned = in_a_book(*([elsewhere] if elsewhere else []), f"{lead}{parted} he had been there.")
    assert cleaned[-1] == f"{lead}{healed} he had been there."


def test_one_sentence_to_a_line_keeps_its_lines() -> None:
    lines = ["`` i 'm sorry , '' he said .", "she laughed .", "chapter 1", "he said ,", "it was n't a joke ?", "* * *"]
    expected = [lines[0], lines[1], lines[3], lines[4]]
    assert clean("\n".join(lines * 10)) == expected * 10


def test_one_paragraph_to_a_line_keeps_its_paragraphs() -> None:
    assert clean("\n".join([FIRST, SECOND, SPEECH] * 9)) == [FIRST, SECOND, SPEECH] * 9
    assert clean("The Hall", "By N. N.", "I. The Horror In Clay", *[FIRST, SPEECH] * 5) == [FIRST, SPEECH] * 5


@pytest.mark.parametrize("source", ["", "\n\n", "* * *", "CHAPTER I", "[Illustration: A CAT]", "1 2 3\n4 5 6", "\0"])
def test_a_book_without_prose_is_none_and_counted(source: str) -> None:
    drops: Counter[str] = Counter()
    assert clean_book(source, drops=drops) is None
    assert drops == {"no prose": 1}


def test_a_book_with_prose_is_not_counted() -> None:
    drops: Counter[str] = Counter()
    assert clean_book(FIRST, drops=drops) == FIRST
    assert not drops


@given(st.text(alphabet="aI1. _[]*=-\n\r—“”{}(){}CHAPTER"))
def test_any_text_gives_clean_paragraphs(source: str) -> None:
    cleaned = clean_book(source)
    if cleaned is not None:
        for paragraph in cleaned.split("\n\n"):
            assert paragraph == " ".join(paragraph.split())
            assert re.search(r"[^\W\d_]", paragraph)


@pytest.mark.costly
@pytest.mark.parametrize(
    "junk",
    [
        "[Illustration ",
        "_a ",
        "=a ",
        "*",
        "(",
        "I\n",
        "I\n\n",
        "a-\n",
        "a",
        "[",
        " ",
        "1.",
        "Footnote ",
        "ab " * 20 + "\n\n",
    ],
)
def test_hostile_repetition_takes_linear_time(junk: str) -> None:
    assert_linear(clean_book, repeated(junk, after="a b-\nc ", before=" x."))


@pytest.mark.parametrize("value", [None, b"It rained.", 12, ["It rained."]])
def test_what_is_no_string_is_refused(value: Any) -> None:
    for function in (clean_book, clean_chapters):
        with pytest.raises(ConfigError, match=rf"as of read_books, found {type(value).__name__}"):
            function(value)


DEDICATION = """Es war ein lachender Maiabend auf dem Berge. Oben um
das Schloss bluehte der Garten und die Blaetter der roten Akazie warfen gezackte Schatten auf den Rasen. Unten
im Dunkel des Tals sprangen die Rehe aus dem Holz und
schauten nach der Gestalt der Frau. Die Ruhe
des Abends lag auf dem Tal, und nur aus weiter Entfernung klang zuweilen das Rollen des Donners in das
Land. An diesem Abend sah der Herr, an die Steine
der alten Mauer gelehnt, sorgenvoll in die Ferne. Was
er damals sprach, das waren goldene Worte, und sie
werden lange nachklingen. Seit diesem Abend habe ich
den Wunsch, mit seinem Namen das Buch zu schmuecken, dessen Plan ich damals mit mir trug. Und so sei ihm
das leichte Werk gewidmet, so gut ich es eben kann.
Anna Bauer"""
CONTENTS = "\n".join(
    f"Von der Schale Nummer {'abc'[n % 3]} und vom alten Haus in zwiefacher Gestalt" for n in range(20)
)


def test_a_signed_dedication_in_ragged_lines_is_text() -> None:
    text = " ".join(DEDICATION.split())
    assert clean("Soll und Haben", DEDICATION, "Erstes Buch", wrap(FIRST)) == [text, FIRST]


def test_lines_of_a_table_of_contents_are_not_a_dedication() -> None:
    ragged = CONTENTS.replace("Gestalt", "Gestalt und noch in einer anderen, die niemand sah oder hoerte", 3)
    assert clean(wrap(FIRST), ragged, wrap(SECOND)) == [FIRST, SECOND]


@pytest.mark.parametrize(
    "line",
    [
        "Und da kam ihr ein Entschluss!",
        "Und ich bin der Herr im Hause!",
        '"Das kommt meinem Anliegen entgegen", sagte',
        "»Also morgen!« stöhnte der Commerzienrath, und",
        "“I have it here,” said the old man of the sea, and",
    ],
)
def test_a_line_that_reads_as_text_is_no_heading(line: str) -> None:
    assert clean(wrap(FIRST), line, wrap(SECOND)) == [FIRST, line, SECOND]


@pytest.mark.parametrize(
    "line", ["The House of the Wolf.", "“Nevermore”", "Das Schloss am Meer.", "“Home, Sweet Home”"]
)
def test_a_title_with_a_mark_or_in_quotes_is_a_heading(line: str) -> None:
    assert clean(wrap(FIRST), line, wrap(SECOND)) == [FIRST, SECOND]


def test_short_lines_with_the_margin_of_all_lines_are_text() -> None:
    long = f"{FIRST} {SECOND}"
    lines = [long, "He laughed out loud.", long, "“Not now, I beg you!”", long]
    for between in ("\n", "\n\n"):
        assert clean_book(between.join(" " * 33 + line for line in lines)) == "\n\n".join(lines)


def test_verse_whose_lines_all_end_in_a_dash_is_no_synopsis() -> None:
    verse = "Who comes there now?--How came he in?--\nThe old one fell--He is no more--\nIt was a cask--It is a stave--"
    joined = verse.replace("--", "—").replace("\n", "")
    assert clean(wrap(FIRST), "THE CROWD:", verse, wrap(SECOND)) == [FIRST, joined, SECOND]
    synopsis = "The crowd comes in--The fall of the old one--\nA cask and a stave--The end"
    assert clean(wrap(FIRST), "CHAPTER II", synopsis, wrap(SECOND)) == [FIRST, SECOND]


def test_author_and_title_before_the_first_label_of_a_text_of_long_lines_are_left_out() -> None:
    long = f"{FIRST} {SECOND}"
    text = clean_book(
        "\n".join(["Anna Bauer", "Unterm Baum", "ERSTES KAPITEL", long, "Siebenundzwanzigstes Kapitel", long])
    )
    assert text == f"{long}\n\n{long}"
    for begin in ("It rained.", long):
        assert clean_book("\n".join([begin, "CHAPTER I", long])) == f"{begin}\n\n{long}"


@pytest.mark.parametrize(
    "notice",
    [
        "Alle Rechte vorbehalten.",
        "Alle Rechte, insbesondere das der Übersetzung, vorbehalten.",
        "Alle Rechte vorbehalten, insbesondere die der Übersetzung. Gedruckt auf Papier.",
        "Der Verfasser behält sich das Recht der Uebersetzung ins Englische vor.",
        "Der Verfasser behält sich die Uebersetzung dieses Werkes vor.",
        "Tous droits réservés.",
        "#Inhalt des ersten Bandes.#",
        "Inhaltsverzeichniß.",
    ],
)
def test_notices_of_rights_and_contents_in_other_languages_are_left_out(notice: str) -> None:
    assert clean(notice, wrap(FIRST), wrap(SECOND)) == [FIRST, SECOND]


def test_a_rule_across_the_page_divides_and_is_no_line_of_a_paragraph() -> None:
    narrow = "\n".join(re.findall(r".{1,40}(?: |$)", f"{FIRST} {SECOND}"))
    for rule in ("-" * 80, "= = = = = = = = = = = =", "\u3000" + "\u2500" * 40):
        assert clean(f"{rule}\n{narrow}\n{rule}\n{wrap(FIRST)}") == [f"{FIRST} {SECOND}", FIRST], rule


def test_ideographic_spaces_at_the_beginning_of_lines_begin_paragraphs() -> None:
    first, second = (
        "\u5c71\u4e0b\u6709\u4e00\u5ea7\u5c0f\u5c0f\u7684\u6751\u5b50\uff0c" * 9,
        "\u6709\u4e00\u5929\u4e0b\u8d77\u4e86\u5927\u96e8\uff0c" * 11,
    )

    def wrapped(text: str) -> str:
        indented = "\u3000\u3000" + text[:-1] + "\u3002"
        return "\n".join(indented[place : place + 30] for place in range(0, len(indented), 30))

    assert clean("\n".join(map(wrapped, (first, second, first)))) == [
        f"{text[:-1]}\u3002" for text in (first, second, first)
    ]


KAPPA = (
    "\u3000｜経《た》った頃《ころ》、河童［＃「河童」に傍点］が※［＃「目＋爭」、第3水準1-88-85］って立っていた。",
    "「君は誰《だれ》だ」と私は訊《き》いた。",
    "\u3000河童は黙《だま》って水《みず》に帰った。",
)
READ_KAPPA = ["経った頃、河童が睜って立っていた。", "「君は誰だ」と私は訊いた。", "河童は黙って水に帰った。"]


def test_the_notation_of_aozora_bunko_is_read_and_what_it_adds_is_left_out() -> None:
    rule = "-" * 55
    legend = f"河童\n某\n\n{rule}\n【テキスト中に現れる記号について】\n\n《》：ルビ\n（例）頃《ころ》\n{rule}\n\n"
    colophon = "\n\n\n底本：「全集」某社\n入力：某\n青空文庫作成ファイル：\nこのファイルは、青空文庫で作られました。\n"
    chapter = "［＃３字下げ］一［＃「一」は中見出し］\n\n" + "\n".join(KAPPA)
    assert clean(legend + chapter + colophon) == READ_KAPPA
    assert clean("\n".join(KAPPA)) == READ_KAPPA
    header = "Title: Kappa\n\n*** START OF THIS PROJECT GUTENBERG EBOOK KAPPA ***\n\nProduced by Some One\n\n"
    signs = f"{rule}\nNotes on the signs in the text\n\n《...》 shows ruby.\nEg. 其《そ》\n\n{rule}\n\n"
    assert (
        clean(header + signs + "\n".join(KAPPA) + "\n\n*** END OF THIS PROJECT GUTENBERG EBOOK KAPPA ***") == READ_KAPPA
    )


def test_titles_between_the_marks_of_readings_stay() -> None:
    text = "山下有一座村子，他每天讀《石頭記》，也讀《詩》與《書》，和《史記》，又讀《論語》和《孟子》。"
    assert clean(f"{text}\n\n{text}") == [text, text]


def test_speech_of_a_line_each_is_text_where_there_are_no_spaces() -> None:
    lines = ["\u3000遠藤は手紙を読んだ。", "「もうそろそろ時刻だ。」", "「行こう。」", "\u3000彼は答えなかった。"]
    chapters = [f"一\n\n{chr(10).join(lines)}", f"二\n\n{chr(10).join(lines)}"]
    assert clean(*chapters) == [line.strip() for line in lines] * 2


def test_contents_without_a_heading_are_left_out() -> None:
    entry = "Que trata de la condición y ejercicio del famoso\nhidalgo don Quijote número {}"
    entries = [entry.format(name) for name in ("uno", "dos", "tres", "cuatro", "cinco", "seis", "siete")]
    assert clean(*entries, *[wrap(FIRST), wrap(SECOND)] * 4) == [FIRST, SECOND] * 4
    assert clean(*entries[:3], *[wrap(FIRST), wrap(SECOND)] * 4)[3:] == [FIRST, SECOND] * 4
    without_marks = [text.rstrip(".") for text in (FIRST, SECOND)] * 4
    assert len(clean(*map(wrap, without_marks))) == 8


def test_notes_on_electronic_editions_in_french_and_german_are_left_out() -> None:
    reader = "  Au lecteur\n\n  Cette version électronique reproduit dans son intégralité\n  la version originale.\n\n"
    reader += "  L'orthographe a été conservée. Seuls quelques mots ont été modifiés.\n\n\n"
    changes = "\n\nListe des modifications:\n\n  Page 140: «condammés» remplacé par «condamnés»"
    thanks = (
        "  Dieses Buch wurde uns freundlicherweise vom Gutenberg Projekt-DE\n  zur Verfuegung gestellt.  Das Projekt "
    )
    thanks += "ist unter der Internet-Adresse\n  http://gutenberg.example.org erreichbar.\n\n"
    text = [wrap(FIRST), wrap(SECOND)] * 6
    assert clean(reader, *text, changes) == [FIRST, SECOND] * 6
    assert clean(thanks, *text) == [FIRST, SECOND] * 6
    author = (
        "  Au lecteur\n\n  Cette édition nouvelle reproduit les contes que tout le monde connaît dans mon pays.\n\n"
    )
    assert len(clean(author, *text)) == 13


def test_an_entry_of_several_lines_that_ends_in_a_page_is_no_text() -> None:
    entry = (
        "  XXIX    Ritorna a casa della Fata, la quale gli promette\n            che il giorno dopo non sarà più un\n"
    )
    entry += (
        "            burattino, ma diventerà un ragazzo, per un grande\n            avvenimento                     189"
    )
    assert in_a_book(entry) == []
