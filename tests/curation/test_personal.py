"""Personal data: which addresses are replaced, and that they are those that datatrove replaces."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from bertdata.curation.cleaners import cleaned
from bertdata.curation.personal import EMAIL, IP_ADDRESS
from bertdata.engine.parts import Counters

PIECES = [
    "a",
    "b.c",
    "@",
    "@",
    "mail.org",
    "example.com",
    "[8.8.8.8]",
    "[1.2.3.x-y:]",
    ".",
    "..",
    "-",
    "_",
    "+",
    "ann.lee",
    "x@y.z",
    "8.8.8.8",
    "8.8.8.888",
    "01.2.3.4",
    "10.0.0.1",
    "192.168.1.1",
    "256.1.1.1",
    "1.2.3",
    "1.2.3.4.5",
    "127.0.0.1",
    "172.16.0.1",
    "é",
    "ü@ö.de",
    "(me@here.net)",
    "<a@b.co>",
    "#",
    "!",
    "'s",
    "/",
    "?",
    "=",
    "169.254.1.1",
    "100.64.0.1",
    "255.255.255.255",
    "224.0.0.1",
    "0.0.0.0",
    "93.184.216.34",
]


def clean(texts: list[str]) -> tuple[list[str], dict[str, int]]:
    found, _ = cleaned(pa.array(texts, pa.string()), ["emails", "ip-addresses"], counters := Counters())
    return found.to_pylist(), counters.counts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to Ann.Lee+x@mail.example.org, or me@b.de.", f"Write to {EMAIL}, or {EMAIL}."),
        ("me@[8.8.8.8] a @ b, @name, a@b, jack@", f"{EMAIL} a @ b, @name, a@b, jack@"),
        ("93.184.216.34 and 192.168.0.1, 10.1.1.1, 1.2.3", f"{IP_ADDRESS} and 192.168.0.1, 10.1.1.1, 1.2.3"),
        ("999.1.1.1 08.8.8.8", f"9{IP_ADDRESS} 08.8.8.8"),
    ],
)
def test_addresses_are_replaced(text: str, expected: str) -> None:
    assert clean([text])[0] == [expected]


def test_changed_documents_are_counted_for_each_kind_of_address() -> None:
    assert clean(["a@b.co", "8.8.8.8 a@b.co", "none"])[1] == {"changed by emails": 2, "changed by ip-addresses": 1}


def test_what_is_replaced_is_what_datatrove_replaces() -> None:
    formatters = pytest.importorskip("datatrove.pipeline.formatters", reason="datatrove is not installed")
    peer = formatters.PIIFormatter(email_replacement=EMAIL, ip_replacement=IP_ADDRESS)
    draw = random.Random()
    texts = ["".join(draw.choice(PIECES) + draw.choice(["", " "]) for _ in range(12)).strip() for _ in range(3000)]
    assert clean(texts)[0] == [peer.format(text) for text in texts]
