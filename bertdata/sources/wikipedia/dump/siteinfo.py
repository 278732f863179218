"""The head of a dump: which wiki it is of, and the names of its namespaces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from bertdata.sources.wikipedia.dump.ranges import read_head
from bertdata.sources.wikipedia.dump.unescape import unescape

SISTER_PROJECTS = (*("wikibooks", "wikinews", "wikiquote", "wikisource", "wikiversity", "wikivoyage", "wiktionary"),)
"""How the names of wikis end that are no Wikipedias."""
_CANONICAL = {
    -2: "Media", -1: "Special", 0: "", 1: "Talk", 2: "User", 3: "User talk", 4: "Project", 5: "Project talk",
    6: "File", 7: "File talk", 8: "MediaWiki", 9: "MediaWiki talk", 10: "Template", 11: "Template talk",
    12: "Help", 13: "Help talk", 14: "Category", 15: "Category talk",
}  # fmt: skip


@dataclass(frozen=True)
class SiteInfo:
    """A wiki as the head of its dump describes it; a text is empty where the dump does not state it.

    `base_url` is what page URLs begin with; `namespaces` maps a number to its names, the wiki's own first.
    """

    dbname: str
    base_url: str
    language: str
    namespaces: Mapping[int, tuple[str, ...]] = field(hash=False)

    @property
    def content_language(self) -> str:
        """The code of the language, else what the name of the wiki says of it; empty where neither is stated.

        >>> SiteInfo("be_x_oldwiki", "", "", {}).content_language, SiteInfo("dewiktionary", "", "", {}).content_language
        ('be-x-old', 'de')
        """
        if self.language:
            return self.language
        project = next((suffix for suffix in ("wiki", *SISTER_PROJECTS) if self.dbname.endswith(suffix)), "")
        return self.dbname.removesuffix(project).replace("_", "-") if project else ""

    def namespace(self, title: str) -> int:
        """Return the namespace that the prefix of a title names, 0 where it names none."""
        prefix, colon, _ = title.partition(":")
        prefix = prefix.strip().replace("_", " ").casefold()
        if colon and prefix:
            for number, names in self.namespaces.items():
                if any(prefix == name.casefold() for name in names):
                    return number
        return 0

    def url(self, title: str) -> str:
        """Return the address of a page, empty where the dump names no base address."""
        return self.base_url and self.base_url + quote(title.replace(" ", "_"), safe="/:,;@!*()'~$")


def read_siteinfo(path: str) -> SiteInfo:
    """Read the head of a dump; raises InputError where the file is missing, empty or not a dump."""
    head = read_head(path)[0].decode("utf-8", "replace")
    root = _first(r"<mediawiki\b([^<>]*)>", head)
    names: dict[int, tuple[str, ...]] = {number: (name,) for number, name in _CANONICAL.items()}
    for key, name in re.findall(r"<namespace\b[^<>]*?\bkey=\"(-?\d{1,9})\"[^<>/]*(?:/>|>([^<]*)</namespace>)", head):
        local, canonical = unescape(name.encode()).decode(), names.get(int(key), ())
        names[int(key)] = tuple(dict.fromkeys((local, *canonical)))
    base = _first(r"<base>([^<]*)</base>", head)
    return SiteInfo(
        dbname=_first(r"<dbname>([^<]*)</dbname>", head),
        base_url=base[: max(base.rfind("/"), base.rfind("=")) + 1],
        language=_first(r"\bxml:lang=\"([^\"]*)\"", root),
        namespaces=names,
    )


def _first(pattern: str, head: str) -> str:
    match = re.search(pattern, head)
    return unescape(match.group(1).strip().encode()).decode() if match else ""
