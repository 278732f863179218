"""The registered domain of an address, as example.co.uk of https://www.example.co.uk/page, by the public suffix list.

The list is that of the package publicsuffixlist, whose version names its date; nothing is downloaded. Of its two parts
the one of ICANN is used: the domain is the one that was registered at a registry, so a.github.io is of github.io.
"""

from __future__ import annotations

import importlib.metadata
import ipaddress
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from bertdata.curation.accounts import AccountFunction
from bertdata.errors import MissingExtraError

_PACKAGE, _EXTRA = "publicsuffixlist", "domains"


def registered_domain(cell: Any) -> str | None:
    """Return the registered domain of an address, in ASCII (IDNA), or its host where it has none; None without a host.

    An address without a scheme is read as if it had one. Raises MissingExtraError without the list.

    >>> [registered_domain(url) for url in ("https://www.Example.co.uk:8080/a", "http://192.168.0.1/", "-")]
    ['example.co.uk', '192.168.0.1', None]
    """
    host = _host(str(cell).strip())
    if host is None:
        return None
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return _registered(host)


def _host(address: str) -> str | None:
    """Return the host of an address in lower case and ASCII, None where it has none."""
    try:
        host = urlsplit(address if "://" in address else f"//{address}").hostname
    except ValueError:
        return None
    host = (host or "").strip(".")
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            return None
    whole = bool(host) and all(part.isprintable() and " " not in part and part for part in host.split("."))
    return host if whole and any(letter.isalnum() for letter in host) else None


@lru_cache(maxsize=1 << 16)
def _registered(host: str) -> str:
    return _list().privatesuffix(host) or host


@lru_cache(maxsize=1)
def _list() -> Any:
    try:
        from publicsuffixlist import PublicSuffixList
    except ImportError as error:
        raise MissingExtraError(_PACKAGE, _EXTRA) from error
    return PublicSuffixList(only_icann=True)


def _version() -> str:
    try:
        return f"{_PACKAGE} {importlib.metadata.version(_PACKAGE)}"
    except importlib.metadata.PackageNotFoundError as error:
        raise MissingExtraError(_PACKAGE, _EXTRA) from error


DOMAIN = AccountFunction(
    help="the registered domain of an address, as example.co.uk", of=registered_domain, made_from=_version
)
