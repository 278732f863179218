"""Tables for notebooks, and whether this is one."""

from __future__ import annotations

from xml.etree import ElementTree

from bertdata.io.notebook import escaped, html_table, in_notebook


def test_a_table_is_well_formed_whatever_its_texts() -> None:
    table = html_table([["  <b>", 'a "b" & c'], ["\x1b[2J", "12"]], ["name", "</table>"])
    rows = ElementTree.fromstring(table.replace("&nbsp;", "\N{NO-BREAK SPACE}")).findall(".//tr")
    texts = [[cell.text for cell in row] for row in rows]
    assert texts == [["name", "</table>"], ["\N{NO-BREAK SPACE}" * 2 + "<b>", 'a "b" & c'], ["\\x1b[2J", "12"]]
    assert escaped("\n") == "\\n"


def test_a_test_is_no_notebook() -> None:
    assert not in_notebook()
