"""The encoding of a text that is not UTF-8: what its header declares, else what its language says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bertdata.cli.main import main
from bertdata.io.eight_bits import eight_bits
from bertdata.io.encoding_guess import declared, guesses, supersets
from bertdata.io.encodings import find_bad_byte, fitting
from bertdata.io.languages import languages_of
from bertdata.io.letters import likely_language
from bertdata.sources.books.read import Book, read_books

TEXTS = {
    "Esperanto": "Ĉiutage la maljunulo iris al la rivero, kaj li parolis kun ĉiuj. La ŝipoj venis, kaj ĉiu ĝojis.",
    "Greek": "Άνθρωποι πολλοί ήλθαν το πρωί εις το χωριό, και ο γέρος τους είδε από μακριά. Άλλοι έφεραν ψωμί.",
    "French": "Le cœur de l'œuvre coûte cent € et l'été finit ; l'élève rêvait à Noël, là où nous étions hier soir.",
    "Polish": "Przyszedł do domu późno wieczorem i długo nie mógł zasnąć, choć było już ciemno.",
    "Czech": "Příliš žluťoučký kůň úpěl ďábelské ódy, a všichni už spali.",
    "Hungarian": "Az árvíztűrő tükörfúrógép őszintén szólva különös jószág.",
    "Russian": "Он пришёл домой поздно вечером и долго не мог уснуть от усталости.",
    "Ukrainian": "Він прийшов додому пізно ввечері, і її ґанок був порожній.",
    "Turkish": "Çığlık çığlığa bağırışlar, ığdır dağlarının ardındaki kışlık sığırlar.",
    "Estonian": "Õhtul tuli ta koju ja mängis žurnaaliga, šokk oli suur.",
    "Latvian": "Glāžšķūņa rūķīši dzērumā čiepj Baha koncertflīģeļu vākus.",
    "Romanian": "Gândul său era în altă parte, și ţara îi lipsea.",
    "Icelandic": "Það er gott að þú ert hér, sagði hún við hann í gær.",
    "Maltese": "Il-ħuta għandha ż-żmien tagħha u ċ-ċavetta ġiet.",
    "German": "Das Mädchen kam spät nach Hause, größer als früher, über die Straße.",
    "Thai": "วันนี้ฝนตกหนักมากตั้งแต่เช้า เราจึงไม่ได้ออกไปไหนเลย",
    "Hebrew": "הוא חזר הביתה מאוחר בערב ולא הצליח להירדם מרוב עייפות.",
    "Arabic": "عاد إلى البيت متأخرا في المساء ولم يستطع أن ينام من التعب.",
}
"""A text of each of some languages."""
MAC = ("mac_greek", "mac_latin2", "mac_roman", "mac_iceland", "mac_turkish")
CASES = [
    (language, name)
    for language, text in TEXTS.items()
    for name in eight_bits()
    if name not in MAC and text.encode(name, "ignore").decode(name) == text
]
"""Languages and encodings that have all signs of the text."""


def header(language: str, encoding: str = "") -> bytes:
    stated = f"Character set encoding: {encoding}\r\n\r\n" if encoding else ""
    return f"The Project Gutenberg EBook of X\r\n\r\nLanguage: {language}\r\n\r\n{stated}".encode()


@pytest.mark.parametrize(("language", "name"), CASES)
def test_without_a_declaration_the_language_tells_the_text(language: str, name: str) -> None:
    data = header(language) + (TEXTS[language] + "\r\n").encode(name) * 4
    assert data.decode(guesses(data)[0].encoding) == data.decode(name)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("ISO-8859-1", "latin_1"),
        ("ISO Latin-1", "latin_1"),
        ("ISO-8859-1 (Latin-1)", "latin_1"),
        ("ISO-646-US (US-ASCII)", "ascii"),
        ("ISO 8859-7", "iso8859_7"),
        ("iso_8859-15", "iso8859_15"),
        ("latin2", "iso8859_2"),
        ("Windows Code Page 1252", "cp1252"),
        ("Codepage 1250", "cp1250"),
        ("CP-1251", "cp1251"),
        ("windows-1253", "cp1253"),
        ("IBM 850", "cp850"),
        ("MS-DOS 437", "cp437"),
        ("MacRoman", "mac_roman"),
        ("Macintosh", "mac_roman"),
        ("KOI8-R", "koi8_r"),
        ("Big5", "big5"),
        ("Shift-JIS", "shift_jis"),
        ("EUC-KR", "euc_kr"),
        ("GB2312", "gb2312"),
        ("TIS-620", "tis_620"),
        ("Unicode UTF-8", "utf_8"),
    ],
)
def test_usual_spellings_of_a_declaration_are_known(spelling: str, name: str) -> None:
    for line in (f"Character set encoding: {spelling}\r\n", f"CHARACTER SET: {spelling}\n"):
        assert declared(b"Title: X\r\n" + line.encode())[0] == name
    assert declared(f"The character set encoding: {spelling} was new to me.\n".encode()) == ()


@pytest.mark.parametrize(
    "declaration", ["ISO-8859-3", "ISO-8859-7", "ISO-8859-15", "Windows-1257", "Big5", "Shift_JIS"]
)
def test_a_declared_encoding_is_taken_where_the_bytes_are_text_in_it(declaration: str) -> None:
    text = {"ISO-8859-3": "Esperanto", "ISO-8859-7": "Greek", "ISO-8859-15": "French", "Windows-1257": "Latvian"}
    book = TEXTS[text[declaration]] if declaration in text else "山下有一座小小的村子，一位老人在河邊。"
    name = declared(header("X", declaration))[0]
    data = header("Klingon", declaration) + book.encode(name) * 3
    assert guesses(data)[0].encoding == name
    assert not guesses(data)[0].doubt


def test_latin_1_with_quotes_of_windows_is_cp1252_as_is_the_rule_of_the_web() -> None:
    data = header("English", "ISO-8859-1") + "“The café” — he said.".encode("cp1252")
    assert guesses(data)[0].encoding == "cp1252"
    assert (supersets("latin_1"), supersets("iso8859_9"), supersets("iso8859_2")) == (("cp1252",), ("cp1254",), ())


@pytest.mark.parametrize("end", ["— „x“ café €", "Zoë’s", "naïve – it is"])
def test_a_short_text_is_not_read_so_that_its_words_mix_two_scripts(end: str) -> None:
    assert guesses(f"Aft {end}".encode("cp1252"))[0].encoding == "cp1252"


@pytest.mark.parametrize(
    ("language", "name"),
    [
        *(("Russian", name) for name in ("cp866", "iso8859_5", "mac_cyrillic", "cp1251", "koi8_r")),
        *(("Arabic", name) for name in ("iso8859_6", "cp1256")),
        *(("French", name) for name in ("cp1252", "cp850", "mac_roman")),
        *(("German", name) for name in ("cp1252", "cp437", "cp850", "mac_roman")),
        *(("Spanish", name) for name in ("cp1252", "cp850", "mac_roman")),
        *(("Polish", name) for name in ("cp1250", "iso8859_2", "iso8859_16", "cp852", "mac_latin2")),
        *(("Czech", name) for name in ("cp1250", "iso8859_2", "cp852", "mac_latin2")),
        *(("Hungarian", name) for name in ("cp1250", "iso8859_2", "cp852", "mac_latin2")),
        *(("Turkish", name) for name in ("cp1254", "iso8859_9", "cp857", "mac_turkish")),
        *(("Lithuanian", name) for name in ("cp1257", "iso8859_13", "cp775")),
        *(("Danish", name) for name in ("cp1252", "cp850", "cp865", "mac_roman")),
    ],
)
def test_without_header_and_language_the_words_tell_the_encoding(language: str, name: str) -> None:
    text = {
        "Russian": "Вечером ветер повернул на север, и фонари на улице погасли один за другим. Никто не знал, где "
        "была лодка, потому что паруса её порвались, а матросы молчали.\n",
        "Arabic": "ولما وصل القارب إلى الميناء لم يعرف أحد أين كان، لأن أشرعته كانت ممزقة "
        "ولم يتكلم البحارة عن الرحلة.\n",
        "French": "Les apostrophes ont été effacées : lÉtat et lÉglise étaient séparés, à lépoque où le père dÉmile "
        "rêvait déjà dÉvreux ; le maître était sévère, et lélève répétait.\n",
        "German": "Abends drehte der Wind nach Norden, und die Laternen über der Straße gingen aus. Wo das Boot war, "
        "wußte keiner, denn die Segel waren zerrissen, und die Männer schwiegen müde. Öde lag das Land.\n",
        "Spanish": "Al anochecer el viento cambió y los faroles de la calle se apagaron. ¿Dónde estaba el niño? Nadie "
        "lo sabía, según decían, y la última lámpara ardía aún. ¡Qué frío, señor! Mañana será otro día.\n",
        "Polish": "Wieczorem wiatr zmienił kierunek i latarnie na ulicy zgasły. Nikt nie wiedział, gdzie jest łódź, bo "
        "żagle były podarte, a ludzie milczeli. Ścieżka nad wodą była pusta, źdźbła ćmiły się w mroku.\n",
        "Czech": "Večer se vítr obrátil k severu a lucerny v ulici zhasly. Nikdo nevěděl, kde je člun, protože plachty "
        "byly roztrhané a lidé mlčeli. Říční břeh byl prázdný, jen kůň stál v šeru a tiše přežvykoval.\n",
        "Hungarian": "Este a szél északra fordult, és az utcai lámpák kialudtak. Senki sem tudta, hol van a csónak, "
        "mert a vitorlák elszakadtak, és az emberek hallgattak. Őszi köd ült a folyó fölött, űrt hagyva.\n",
        "Turkish": "Akşam rüzgâr kuzeye döndü ve sokaktaki fenerler söndü. Kayığın nerede olduğunu kimse bilmiyordu, "
        "çünkü yelkenler yırtılmıştı ve adamlar susuyordu. Issız kıyıda yaşlı bir çınar duruyordu.\n",
        "Lithuanian": "Vakare vėjas pasisuko į šiaurę ir gatvės žibintai užgeso. Niekas nežinojo, kur yra valtis, nes "
        "burės buvo suplėšytos, o žmonės tylėjo. Ąžuolas stovėjo prie upės, ūkanos kilo į viršų.\n",
        "Danish": "Om aftenen vendte vinden mod nord, og lygterne på gaden gik ud. Ingen vidste, hvor båden var, fordi "
        "sejlene var revet i stykker, og mændene tav. Åen løb stille, og træerne stod sorte ved bredden.\n",
    }[language] * 4
    assert text.encode(name).decode(guesses(text.encode(name))[0].encoding) == text


def test_the_language_of_a_text_that_is_longer_than_what_is_looked_at_is_known_as_well() -> None:
    line = (
        "Müde gingen die Männer über die Straße nach Öhringen, wo es schöner war; dann schliefen alle bis zum Abend\n"
    )
    assert likely_language(line.encode("cp850")) == likely_language(line.encode("cp850") * 5000) == ("de",)


def test_a_text_with_few_letters_beyond_ascii_has_no_likely_language() -> None:
    text = "She said that the café was “closed” and that it’s late; nobody, not even Zoë, knew why. " * 3
    assert likely_language((text + "The rest is plain. " * 100).encode("cp1252")) == ()


def test_a_declaration_that_is_wrong_is_a_doubt_that_says_so() -> None:
    czech = (TEXTS["Czech"] + "\n").encode("cp1250") * 3
    [first, *_] = guesses(header("Czech", "ISO-8859-2") + czech)
    assert first.encoding == "cp1250"
    assert first.doubt == "its header says iso8859_2, which it is not"
    [first, *_] = guesses(header("French", "Windows-1252") + (TEXTS["French"] + "\n").encode("iso8859_15") * 9)
    assert (first.encoding, first.doubt) == ("cp1252", "its header says cp1252, and its words look like iso8859_15")
    for vague in ("ASCII", "UTF-8", ""):
        [first, *_] = guesses(header("Czech", vague) + czech)
        assert (first.encoding, first.doubt) == ("cp1250", "")


def test_languages_are_known_by_their_names_and_codes() -> None:
    assert languages_of(b"Languages: French, Middle French\nLanguage: de\n") == ("fr",)
    assert languages_of(b"Language:  Norwegian Bokm\xe5l / Danish") == ("nb", "da")
    assert languages_of(b"a book") == ()


def test_books_files_and_the_command_take_the_same_encoding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\r\n".join(
        ["*** START OF THIS PROJECT GUTENBERG EBOOK X ***", "", "", TEXTS["Greek"], "", TEXTS["Greek"], ""]
    )
    path = tmp_path / "x-8.txt"
    path.write_bytes(header("Greek", "ISO-8859-7") + text.encode("iso8859_7"))
    notes: Counter[str] = Counter()
    [book] = read_books(str(path), notes=notes)
    assert isinstance(book, Book)
    assert (notes, book.encoding, book.doubt) == ({"iso8859_7": 1}, "iso8859_7", "")
    bad = find_bad_byte(str(path))
    assert bad is not None
    assert fitting(str(path), bad) == "iso8859_7"
    assert main(["clean", "--kind", "book", str(path)]) == 0
    captured = capsys.readouterr()
    assert "Άνθρωποι" in captured.out
    assert captured.err == "read as iso8859_7, as it is not UTF-8\n"
    assert main(["clean", str(path)]) != 0
    assert "it fits iso8859_7; --encoding iso8859_7 reads it" in capsys.readouterr().err


def test_clean_books_counts_the_encodings_and_names_doubtful_books(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sure.txt").write_bytes(header("Polish", "ISO-8859-2") + TEXTS["Polish"].encode("iso8859_2"))
    (tmp_path / "doubt.txt").write_bytes(header("Czech", "ISO-8859-2") + (TEXTS["Czech"] + "\n").encode("cp1250") * 3)
    assert main(["clean-books", str(tmp_path), "--output", str(tmp_path / "out")]) == 0
    captured = capsys.readouterr()
    assert "read as iso8859_2" in captured.out
    assert "read as cp1250" in captured.out
    assert "warning: 1 of the books of the source books may be in another encoding" in captured.err
    assert "doubt as cp1250 (its header says iso8859_2, which it is not)" in captured.err


def test_signs_between_the_letters_of_japanese_are_no_doubt() -> None:
    text = (
        "支那《シナ》の上海《シャンハイ》の或《ある》町です。昼でも薄暗い或《ある》家の二階に、印度《インド》人がいました。\n"
        * 20
    )
    first = guesses(text.encode("shift_jis"))[0]
    assert (first.encoding, first.doubt) in (("shift_jis", ""), ("cp932", ""))
