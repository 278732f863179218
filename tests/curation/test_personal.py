"""Personal data: which addresses are replaced, and that they are those that datatrove replaces."""

from __future__ import annotations

import random
import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.curation.cleaners import cleaned
from bertdata.curation.personal import EMAIL, IP_ADDRESS, IPV6_ADDRESS, without_emails, without_ipv6_addresses
from bertdata.engine.parts import Counters
from tests.data import data_path
from tests.growth import REPETITIONS, assert_linear, repeated

OCTET = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"
ATOM, LABEL = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+", "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
ADDRESS = re.compile(
    rf"\b{ATOM}(?:\.{ATOM})*"
    rf"@(?:(?:{LABEL}\.)+{LABEL}|\[(?:{OCTET}\.){{3}}(?:{OCTET}|[A-Za-z0-9-]*[A-Za-z0-9]:)\])"
)
"""An address as one expression, as datatrove has it: readable, and quadratic in runs of atoms."""

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
    cleaned_texts, _ = cleaned(pa.array(texts, pa.string()), ["emails", "ip-addresses"], counters := Counters())
    return cleaned_texts.to_pylist(), counters.counts


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at 2a00:1450:4001:0831:0000:0000:0000:200e, or", "at {}, or"),
        ("[2606:4700::1111]:443 and 2001:4860:4860::8888/64.", "[{}]:443 and {}/64."),
        ("2a02:2f0e::: is not, 2620:fe::fe: is", "2a02:2f0e::: is not, {}: is"),
        ("http://[2A00:1450:4001::200E]/", "http://[{}]/"),
        ("local fe80::1%eth0, fd00::1, ::1, 2001:db8::7", "local fe80::1%eth0, fd00::1, ::1, 2001:db8::7"),
        ("2024:05:01 12:30:45, 2001::Space, a2a00::1, 2a00::1x, cafe::babe", None),
        ("2a00:1:2:3:4:5:6:7:8 has nine groups, 2a00:1:2:3:4:5:6 seven", None),
    ],
)
def test_public_addresses_of_version_6_are_replaced(text: str, expected: str | None) -> None:
    clean_text = text if expected is None else expected.replace("{}", IPV6_ADDRESS)
    assert without_ipv6_addresses(pa.array([text])).to_pylist() == [clean_text]


@given(st.ip_addresses(v=6), st.sampled_from(["{}", "({})", "at {}, and", "{}\n", "<{}>"]))
def test_an_address_of_version_6_is_replaced_where_it_is_public_and_of_unicast(address: Any, frame: str) -> None:
    replaced = IPV6_ADDRESS if address.is_global and int(address) >> 125 == 1 else str(address)
    for written in (str(address), address.exploded, str(address).upper()):
        [text] = without_ipv6_addresses(pa.array([frame.format(written)])).to_pylist()
        assert text == frame.format(replaced if replaced == IPV6_ADDRESS else written)


def test_long_runs_of_groups_take_linear_time() -> None:
    assert_linear(lambda text: without_ipv6_addresses(pa.array([text])), lambda number: "2a00:" * number)


def test_changed_documents_are_counted_for_each_kind_of_address() -> None:
    assert clean(["a@b.co", "8.8.8.8 a@b.co", "none"])[1] == {"changed by emails": 2, "changed by ip-addresses": 1}


def test_what_is_replaced_is_what_datatrove_replaces() -> None:
    formatters = pytest.importorskip("datatrove.pipeline.formatters", reason="datatrove is not installed")
    peer = formatters.PIIFormatter(email_replacement=EMAIL, ip_replacement=IP_ADDRESS)
    draw = random.Random()
    texts = ["".join(draw.choice(PIECES) + draw.choice(["", " "]) for _ in range(12)).strip() for _ in range(3000)]
    assert clean(texts)[0] == [peer.format(text) for text in texts]


@given(st.text("aZ0.-_@é'/ \n[]:", max_size=30) | st.lists(st.sampled_from([*PIECES, "-" * 70])).map("".join))
def test_addresses_are_those_of_one_expression(text: str) -> None:
    assert without_emails(pa.array([text])).to_pylist() == [ADDRESS.sub(EMAIL, text)]


@pytest.mark.slow
def test_addresses_in_real_texts_are_those_of_one_expression() -> None:
    paths = [path for path in data_path().rglob("*") if path.suffix in (".txt", ".json", ".xml", ".md")]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    lines = [line for text in texts for line in text.splitlines() if "@" in line and len(line) < 2000]
    assert len(lines) > 50
    assert without_emails(pa.array(lines)).to_pylist() == [ADDRESS.sub(EMAIL, line) for line in lines]


@pytest.mark.parametrize("length", [60, 63, 64, 65, 66, 127, 128, 129, 1000])
@pytest.mark.parametrize("before", ["", " ", ".", "..", "é", "(", "a@b.co", "x@"])
def test_long_local_parts_are_replaced_whole(length: int, before: str) -> None:
    for local in ["a" * length, "a." * (length // 2) + "b", "b" + "." * (length % 3) + "a" * length, "-" * length]:
        text = f"{before}{local}@mail.org, and"
        assert without_emails(pa.array([text])).to_pylist() == [ADDRESS.sub(EMAIL, text)]


@pytest.mark.parametrize("name", ["a picture in base64", "base64 and @", "letters in dots", "letters in hyphens"])
def test_pictures_and_long_names_take_linear_time(name: str) -> None:
    assert_linear(lambda text: without_emails(pa.array(["me@x.org", text, text + "@x.org"])), REPETITIONS[name])


@pytest.mark.costly
@pytest.mark.parametrize("unit", ["a-", "a.", "a@", "x@[1.", "@", "a@b.", "a@b.co", "é-"])
@pytest.mark.parametrize(("after", "before"), [("x@", ""), ("", "@ x"), ("", "@x.org"), ("x@[1.1.1.", ":]")])
def test_runs_on_either_side_of_an_at_take_linear_time(unit: str, after: str, before: str) -> None:
    assert_linear(lambda text: without_emails(pa.array([text])), repeated(unit, after=after, before=before))
