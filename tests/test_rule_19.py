"""Rule 19: no page of a dump is lost or kept by accident, and every dropped one is counted with its reason."""

from __future__ import annotations

from pathlib import Path

from tests.sources.test_cleaning import PROSE, clean, dump, page


def test_rule_19_redirects_disambiguations_entities_colons_and_the_last_page_are_each_what_they_are(
    tmp_path: Path,
) -> None:
    pages = [
        page(1, "Salt", f"Salt &amp; pepper: 3 &lt; 4. {PROSE}"),
        page(2, "Halite", "#REDIRECT [[Salt]]", more='<redirect title="Salt" />'),
        page(
            3, "Mercury", "Mercury may refer to:\n* [[Mercury (planet)]]\n* [[Mercury (element)]]\n{{disambiguation}}"
        ),
        page(4, "2001: A Space Odyssey", PROSE),
        page(5, "Talk:Salt", PROSE, ns=1),
        page(6, "The last page", PROSE),
    ]
    path = tmp_path / "wiki.xml"
    path.write_bytes(dump(*pages))
    record, documents = clean(path)
    assert [document["title"] for document in documents] == ["Salt", "2001: A Space Odyssey", "The last page"]
    assert documents[0]["text"].startswith("Salt & pepper: 3 < 4. Salt is a mineral")
    assert record.counts["pages"] == 6 == record.counts["documents"] + sum(record.drops.values())
    assert record.drops == {"disambiguation": 1, "not an article": 1, "redirect": 1}
