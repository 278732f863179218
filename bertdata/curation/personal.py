"""Cleaners of personal data: e-mail and public IP addresses, each replaced by an address that belongs to nobody.

What is taken for an address is what datatrove 0.10's `PIIFormatter` takes for one, which FineWeb was cleaned with. That
draws on several replacements in turn, so that its result depends on the order of documents; here there is one of each.
It knows no IPv6: those have a cleaner of their own.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation.cleaners import Cleaner

EMAIL, IP_ADDRESS, IPV6_ADDRESS = "email@example.com", "192.0.2.1", "2001:db8::1"
"""What replaces addresses: of a domain and of networks that are kept for examples (RFC 2606, RFC 5737, RFC 3849)."""
_OCTET = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"
_NUMBERS = re.compile(rf"(?:{_OCTET}\.){{3}}{_OCTET}")
_UNICAST = re.compile(r"(?<![0-9A-Za-z:.])[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:]*+(?![0-9A-Za-z]|\.[0-9])")
"""What may be an address of 2000::/3, of which all public ones are (RFC 4291): names as `a::b` of programs are not."""
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_LABEL = "[A-Za-z0-9]++(?:-++[A-Za-z0-9]++)*+"
_DOMAIN = re.compile(rf"@(?:{_LABEL}(?:\.{_LABEL})++|\[(?:{_OCTET}\.){{3}}(?:{_OCTET}|[A-Za-z0-9-]*[A-Za-z0-9]:)\])")
_LOCAL_REVERSED = re.compile(rf"{_ATOM}++(?:\.{_ATOM}++)*+")
_LOCAL_BEGIN = re.compile(rf"\b{_ATOM}")
"""The parts of an address. A label holds no @ and an atom neither, so that no two addresses overlap."""
_WINDOW = 64
"""Characters before @ that are looked at first: the longest local part of RFC 5321. A longer one is found as well."""


def without_emails(texts: pa.StringArray) -> pa.StringArray:
    """Return texts with `email@example.com` for each e-mail address.

    >>> without_emails(pa.array(["Write to Ann.Lee@mail.org."])).to_pylist()
    ['Write to email@example.com.']
    """
    return _changed(texts, pc.match_substring(texts, "@"), _with_emails_replaced)


def without_ip_addresses(texts: pa.StringArray) -> pa.StringArray:
    """Return texts with `192.0.2.1` for each IP address (version 4) that can be reached from anywhere.

    >>> without_ip_addresses(pa.array(["From 8.8.8.8 to 192.168.0.1, by version 1.2.3"])).to_pylist()
    ['From 192.0.2.1 to 192.168.0.1, by version 1.2.3']
    """
    likely = pc.match_substring_regex(texts, r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]")
    return _changed(texts, likely, lambda text: _NUMBERS.sub(_public_replaced, text))


def without_ipv6_addresses(texts: pa.StringArray) -> pa.StringArray:
    """Return texts with `2001:db8::1` for each IPv6 address that can be reached from anywhere.

    >>> without_ipv6_addresses(pa.array(["From 2a00:1450:4001::200e to fe80::1, in std::string"])).to_pylist()
    ['From 2001:db8::1 to fe80::1, in std::string']
    """
    likely = pc.match_substring_regex(texts, r"[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:]*:")
    return _changed(texts, likely, lambda text: _UNICAST.sub(_unicast_replaced, text))


def _unicast_replaced(match: re.Match[str]) -> str:
    address = match[0]
    after = ":" if address.endswith(":") and not address.endswith("::") else ""  # of the sentence
    try:
        is_public = ipaddress.IPv6Address(address.removesuffix(after)).is_global
    except ValueError:  # not eight groups, as a time
        return address
    return IPV6_ADDRESS + after if is_public else address


def _with_emails_replaced(text: str) -> str:
    """Return a text with each address replaced; the time is linear in its length, whatever it holds.

    Looks for @ with a domain and from there back, because most runs of atoms, as a picture in base64, end without an @:
    a search from the left would read the rest of the run again from each word border in it.
    """
    pieces: list[str] = []
    end = 0
    for domain in _DOMAIN.finditer(text):
        begin = _local_begin(text, end, domain.start())
        if begin is not None:
            pieces += text[end:begin], EMAIL
            end = domain.end()
    return "".join([*pieces, text[end:]])


def _local_begin(text: str, after: int, at: int) -> int | None:
    """Return where the local part before the @ at `at` begins: the first word border in the atoms and single dots.

    It begins at `after`, the end of the address before, or later. None: there is no local part.

    >>> _local_begin("(..ann.lee@mail.org)", 0, 10)
    3
    """
    window = _WINDOW
    while True:
        first = max(at - window, after)
        atoms = _LOCAL_REVERSED.match(text[first:at][::-1])
        if atoms is None:
            return None
        if first == after or atoms.end() + 1 < at - first:  # at the border of the window a dot may go on
            border = _LOCAL_BEGIN.search(text, at - atoms.end(), at)
            return border.start() if border else None
        window *= 2


def _public_replaced(match: re.Match[str]) -> str:
    try:
        return IP_ADDRESS if ipaddress.ip_address(match.group()).is_global else match.group()
    except ValueError:  # a number that begins with 0
        return match.group()


def _changed(texts: pa.StringArray, likely: pa.BooleanArray, replace: Callable[[str], str]) -> pa.StringArray:
    """Return texts with those replaced that are likely to hold an address."""
    return pc.replace_with_mask(texts, likely, pa.array(map(replace, texts.filter(likely).to_pylist()), pa.string()))


EMAILS = Cleaner(help=f"e-mail addresses become {EMAIL}", clean=without_emails)
IP_ADDRESSES = Cleaner(help=f"public IP addresses of version 4 become {IP_ADDRESS}", clean=without_ip_addresses)
IPV6_ADDRESSES = Cleaner(help=f"public IP addresses of version 6 become {IPV6_ADDRESS}", clean=without_ipv6_addresses)
