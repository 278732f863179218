"""Build the sample corpus with a cleaner of your own: what stands in brackets is taken out of every document.

    python examples/own_cleaner.py corpus

On a command line: bertdata build --output corpus --clean own_cleaner:without_brackets, with PYTHONPATH=examples.
"""

import re
import sys

import bertdata

BRACKETS = re.compile(r"\s*\([^()]*\)")


def without_brackets(text: str) -> str:
    """Return a text without its brackets; a document of which nothing is left is dropped."""
    return BRACKETS.sub("", text)


if __name__ == "__main__":
    corpus = bertdata.build(sys.argv[1], clean=without_brackets, vocab="bertdata-30k-uncased")
    print(corpus)
    for name, source in corpus["sources"].items():
        changed = sum(number for what, number in source["counts"].items() if what.startswith("changed by "))
        print(f"{name}: {changed} of {source['counts']['documents']} documents changed")
