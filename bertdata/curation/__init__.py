"""Documents in, documents out: which are dropped, and why."""

from __future__ import annotations

from typing import Any

from bertdata.registry import Registry

ACCOUNT_FUNCTIONS: Registry[Any] = Registry(
    "function of --account",
    {"domain": "bertdata.curation.domains:DOMAIN", "year": "bertdata.curation.accounts:YEAR"},
    "bertdata.curation.accounts:AccountFunction",
)
"""What `--account FUNCTION(COLUMN)` names, each an `accounts.AccountFunction`."""

CLEANERS: Registry[Any] = Registry(
    "cleaner",
    {
        "nfc": "bertdata.curation.cleaners:NFC",
        "emails": "bertdata.curation.personal:EMAILS",
        "ip-addresses": "bertdata.curation.personal:IP_ADDRESSES",
        "ipv6-addresses": "bertdata.curation.personal:IPV6_ADDRESSES",
    },
    "bertdata.curation.cleaners:_cleaner",
)
"""What `--clean` names, each a `cleaners.Cleaner`."""

FILTERS: Registry[Any] = Registry(
    "filter",
    {
        "min-characters": "bertdata.curation.filters:MIN_CHARACTERS",
        "max-symbol-ratio": "bertdata.curation.filters:MAX_SYMBOL_RATIO",
        "max-address-ratio": "bertdata.curation.character_ratios:MAX_ADDRESSES",
        "max-digit-ratio": "bertdata.curation.character_ratios:MAX_DIGITS",
        "max-sign-ratio": "bertdata.curation.character_ratios:MAX_SIGNS",
        "gopher-quality": "bertdata.curation.quality.gopher:QUALITY",
        "gopher-repetition": "bertdata.curation.quality.repetition:REPETITION",
        "fineweb-quality": "bertdata.curation.quality.fineweb:FINEWEB",
        "c4-quality": "bertdata.curation.quality.c4:C4",
    },
    "bertdata.curation.filters:_filter",
)
"""What `--filter` names, each a `filters.Filter`."""

LANGUAGE_MODELS: Registry[Any] = Registry(
    "language model",
    {"py3langid": "bertdata.curation.languages:PY3LANGID", "lingua": "bertdata.curation.languages:LINGUA"},
    "bertdata.curation.languages:LanguageModel",
)
"""What `--language-model` names, each a `languages.LanguageModel`."""
