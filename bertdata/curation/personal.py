"""Cleaners of personal data: e-mail addresses and public IP addresses, each replaced by one that is nobody's.

What is taken for an address is what datatrove 0.10's `PIIFormatter` takes for one, which FineWeb was cleaned with. That
draws on several replacements in turn, so that its result depends on the order of documents; here there is one of each.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation.cleaners import Cleaner

EMAIL, IP_ADDRESS = "email@example.com", "192.0.2.1"
"""What replaces addresses: of a domain and of a network that are kept for examples (RFC 2606, RFC 5737)."""
_OCTET = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"
_NUMBERS = re.compile(rf"(?:{_OCTET}\.){{3}}{_OCTET}")
_ATOM, _LABEL = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+", "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_ADDRESS = re.compile(
    rf"\b{_ATOM}(?:\.{_ATOM})*"
    rf"@(?:(?:{_LABEL}\.)+{_LABEL}|\[(?:{_OCTET}\.){{3}}(?:{_OCTET}|[A-Za-z0-9-]*[A-Za-z0-9]:)\])"
)


def without_emails(texts: pa.StringArray) -> pa.StringArray:
    """Return texts with `email@example.com` for each e-mail address.

    >>> without_emails(pa.array(["Write to Ann.Lee@mail.org."])).to_pylist()
    ['Write to email@example.com.']
    """
    return _changed(texts, pc.match_substring(texts, "@"), lambda text: _ADDRESS.sub(EMAIL, text))


def without_ip_addresses(texts: pa.StringArray) -> pa.StringArray:
    """Return texts with `192.0.2.1` for each IP address (version 4) that can be reached from anywhere.

    >>> without_ip_addresses(pa.array(["From 8.8.8.8 to 192.168.0.1, by version 1.2.3"])).to_pylist()
    ['From 192.0.2.1 to 192.168.0.1, by version 1.2.3']
    """
    likely = pc.match_substring_regex(texts, r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]")
    return _changed(texts, likely, lambda text: _NUMBERS.sub(_public_replaced, text))


def _public_replaced(found: re.Match[str]) -> str:
    try:
        return IP_ADDRESS if ipaddress.ip_address(found.group()).is_global else found.group()
    except ValueError:  # a number that begins with 0
        return found.group()


def _changed(texts: pa.StringArray, likely: pa.BooleanArray, replace: Callable[[str], str]) -> pa.StringArray:
    """Return texts with those replaced that are likely to hold an address."""
    return pc.replace_with_mask(texts, likely, pa.array(map(replace, texts.filter(likely).to_pylist()), pa.string()))


EMAILS = Cleaner(help=f"e-mail addresses become {EMAIL}", clean=without_emails)
IP_ADDRESSES = Cleaner(help=f"public IP addresses become {IP_ADDRESS}", clean=without_ip_addresses)
