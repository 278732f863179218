"""Build the sample corpus with filters of your own: a function of a text, and a `Filter` over Arrow arrays.

    python examples/own_filter.py corpus

On a command line: bertdata build --output corpus --filter own_filter:is_prose own_filter:LONGER=3000, with
PYTHONPATH=examples.
"""

import sys

import pyarrow.compute as pc

import bertdata
from bertdata.curation.filters import Filter


def is_prose(text: str) -> bool:
    """Return whether there is a full stop in 120 characters, or more."""
    return text.count(".") * 120 >= len(text)


LONGER = Filter(
    help="drops documents with fewer bytes of UTF-8 than the argument",
    keep=lambda texts, least: pc.greater_equal(pc.binary_length(texts), least),
    parse=int,
)


if __name__ == "__main__":
    corpus = bertdata.build(sys.argv[1], filter={is_prose: None, LONGER: 3000}, vocab="bertdata-30k-uncased")
    print(corpus)
    for name, source in corpus["sources"].items():
        print(f"{name}: {source['counts']['documents']} documents are kept; dropped: {source['drops']}")
