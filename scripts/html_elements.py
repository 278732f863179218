"""Write the sets of HTML elements by which a parser closes elements, out of the sources of Lexbor.

    git clone https://github.com/lexbor/lexbor
    python scripts/html_elements.py lexbor > bertdata/sources/wikipedia/published/html_elements.toml

Lexbor is the parser that selectolax runs; its tables are those of the HTML standard (https://html.spec.whatwg.org).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

TAGS = "utils/lexbor/tag_ns/data/tags.json"
TREE = "source/lexbor/html/tree.c"
CASES = "source/lexbor/html/tree/insertion_mode/{}.c"
CATEGORIES = {
    "special": "SPECIAL",
    "formatting": "FORMATTING",
    "scope": "SCOPE",
    "button_scope": "SCOPE_BUTTON",
    "list_item_scope": "SCOPE_LIST_ITEM",
    "table_scope": "SCOPE_TABLE",
}
IMPLIED = {
    "implied": "lxb_html_tree_generate_implied_end_tags",
    "implied_thoroughly": "lxb_html_tree_generate_all_implied_end_tags_thoroughly",
}
HANDLED = {
    "blocks": ("in_body", "lxb_html_tree_insertion_mode_in_body_abcdfhmnopsu"),
    "ended_in_scope": ("in_body", "lxb_html_tree_insertion_mode_in_body_abcdfhlmnopsu_closed"),
    "void": ("in_body", "lxb_html_tree_insertion_mode_in_body_abeikw"),
    "void_without_text": ("in_body", "lxb_html_tree_insertion_mode_in_body_pst"),
}


def main(repository: Path) -> None:
    """Print the table."""
    tags = json.loads(read(repository, TAGS))["data"]
    print(f'source = "Lexbor {version(repository)}, {TAGS} and {TREE}"')
    for key, category in CATEGORIES.items():
        show(key, (name for name, tag in tags["HTML"].items() if category in tag.get("cat", ())))
    for space in ("MATH", "SVG"):
        show(f"special_{space.lower()}", (n for n, tag in tags[space].items() if "SPECIAL" in tag.get("cat", ())))
    tree = read(repository, TREE)
    for key, function in IMPLIED.items():
        show(key, cases(body_of(tree, function)))
    for key, (mode, function) in HANDLED.items():
        show(key, cases_before(read(repository, CASES.format(mode)), function))
    show("out_of_foreign", foreign_breakers(read(repository, CASES.format("foreign_content"))))


def read(repository: Path, path: str) -> str:
    """Return a file of a work tree, or of a bare repository."""
    if (repository / path).exists():
        return (repository / path).read_text()
    return subprocess.run(
        ["git", "-C", str(repository), "show", f"HEAD:{path}"], check=True, capture_output=True, text=True
    ).stdout


def version(repository: Path) -> str:
    """Return what git calls the commit."""
    describe = ["git", "-C", str(repository), "describe", "--tags", "--always"]
    return subprocess.run(describe, check=True, capture_output=True, text=True).stdout.strip()


def body_of(source: str, function: str) -> str:
    """Return the text of a C function, which ends with a brace at the beginning of a line."""
    begin = source.index(f"\n{function}(")
    return source[begin : source.index("\n}", begin)]


def cases(source: str) -> list[str]:
    """Return the elements named by the `case` labels of C source, `_` in them a hyphen."""
    return [name.lower().replace("_", "-") for name in re.findall(r"case LXB_TAG_(\w+):", source)]


def cases_before(source: str, function: str) -> list[str]:
    """Return the elements whose `case` labels lead to the call of a function."""
    labels = re.search(rf"((?:\s*case LXB_TAG_\w+:)+)\s*return {function}\(", source)
    if labels is None:
        raise SystemExit(f"no case leads to {function}")
    return cases(labels[1])


def foreign_breakers(source: str) -> list[str]:
    """Return the elements that end foreign content: the longest run of `case` labels of that mode."""
    return cases(max(re.findall(r"(?:\s*case LXB_TAG_\w+:)+", source), key=len))


def show(key: str, names: object) -> None:
    """Print one set."""
    print(f'{key} = "{" ".join(sorted(names))}"')  # type: ignore[call-overload]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
