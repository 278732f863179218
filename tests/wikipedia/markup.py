"""Random wikitext for property tests: pieces of markup strung together, as hypothesis strategies."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = [
    *("{{", "}}", "{{{", "}}}", "{", "}", "[[", "]]", "{|", "|}", "\n{|\n", "\n|}\n", "|", "||", "=", "==", "[", "]"),
    *("\n== See also ==\n", "\n==", "==''Notes''== x", "----", "! a", "   an indented line", "''", "'''", "'''''", "'"),
    *("<ref>", "</ref>", '<ref name="a"/>', '<ref name="a>b">', "<!--", "-->", "<nowiki>", "</nowiki>", "<poem>"),
    *("</poem>", "<table>", "</table>", "<ul>", "</ul>", "<div>", "<br>", "< br/>", "<s>", "</s>", "<math>", "</math>"),
    *("x^2", "<gallery>", "</gallery>", "-{", "}-", "zh-cn:a;zh-tw:b", "__TOC__", "__", "_", "&amp;", "&#42;"),
    *(
        "&#133;",
        "&#10;",
        "&#127;",
        "&nbsp;",
        "&bogus;",
        "&nGt;",
        "&#x110000;",
        "\n",
        "\n\n",
        " ",
        "  ",
        "* ",
        "# ",
        ": ",
    ),
    *("; ", "(", ")", ",", ".", ";", '"', "[http://a.b c]", "[//a ", "[mailto:x", "http://x", "convert|1|km|mi"),
    *(
        "convert|",
        "1/0",
        "1e99",
        "lang|de|",
        "lang|",
        "lang-de|x",
        "val|",
        "val|1|",
        "frac|",
        "birth date|99",
        "hlist|",
    ),
    *(
        "nowrap|",
        "disambig",
        "soft redirect",
        "DEFAULTSORT:",
        "#if:",
        "#if:|a|b",
        "ndash",
        "chem|14|C",
        "File:",
        "Datei:",
    ),
    *("Категория:", "de:", "Category:", "User_talk:", "word", "Prose here.", "é", "漢字", "。", "”", "–", "—", " and "),
    *(" – ", "/", "-", "😀", "𐍈", "\u3000", "\u00a0", "\u200b", "\x85", "\x00", "\x0c", "\x1c", "\r", "\r\n", "\t"),
    *("\x7f", "\x0b", "\x01", "\x02", "\x03", "\ud800"),
]

MARKUP = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
