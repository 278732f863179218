"""transformers, where it is installed: how it is called for files of others, and what its errors become.

No code that lies beside a model is run, whatever its config.json names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bertdata.errors import BertDataError, ConfigError, MissingExtraError, did_you_mean, nearest
from bertdata.io import files


def transformers_library() -> Any:
    """Return the module; raises MissingExtraError where it is not installed."""
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise MissingExtraError("transformers", "examples") from error
    return transformers


def _first_line(error: Exception) -> str:
    """Return the first line of what an error says, or its type."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


@contextmanager
def raising(kind: type[BertDataError], problem: str, path: str) -> Iterator[None]:
    """Raise an error of a kind for those of any kind that transformers raises for what is in a folder."""
    try:
        yield
    except Exception as error:
        raise kind(f"{problem} ({_first_line(error)}); expected what it saves", path=path) from error


def peer_config(config: str) -> Any:
    """Return the config of a folder or file, or of a name that transformers finds: in its cache, else on its hub.

    A name like that of a model type is not looked up on the hub. Raises ConfigError where there is none.
    """
    library, place = transformers_library(), config.removesuffix("config.json") or "."
    near = nearest(config, library.CONFIG_MAPPING, 0.75)
    misspelt = near and "/" not in config and not config.startswith(f"{near}-") and not files.exists(config)
    try:
        return library.AutoConfig.from_pretrained(place, local_files_only=bool(misspelt), trust_remote_code=False)
    except Exception as error:
        reason = _first_line(error)
        found = "which is no model type" if misspelt else f"of which transformers makes nothing ({reason})"
        hint = did_you_mean(config, library.CONFIG_MAPPING, 0.75)
        raise ConfigError(
            f"--config is {config!r}, {found}; expected a folder with a config.json, or a model type such as "
            f"deberta-v2{hint}"
        ) from error
