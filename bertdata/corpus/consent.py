"""A finished build in the default output: a command that does not name it changes it only where the user agrees."""

from __future__ import annotations

import sys

from bertdata.corpus.requests import Named
from bertdata.engine.origin import Origin, refusal, settings_changed
from bertdata.errors import OutputError, printable

_SHOWN = 3


def unagreed(output: str, origin: Origin, named: Named, *, force: bool) -> str:
    """Return why a build needs the user's consent: its output is the default one, and has other settings. Else "".

    What `bertdata.engine.origin.refusal` refuses has its own reason, and needs --force.
    """
    if force or named.output or refusal(output, origin, named.settings):
        return ""
    changed = settings_changed(output, origin)
    if not changed:
        return ""
    shown = ", ".join(changed[:_SHOWN])
    more = f" and {len(changed) - _SHOWN:,} more" if len(changed) > _SHOWN else ""
    return f"is a finished build with other settings ({shown}{more})"


def require_consent(output: str, origin: Origin, named: Named, *, force: bool) -> None:
    """Ask on a terminal whether the default output may be changed; raises OutputError where it may not."""
    reason = unagreed(output, origin, named, force=force)
    if reason and not _agrees(output, reason):
        raise OutputError(f"{reason}, and this command names no --output; {remedy(output)}", path=output)


def remedy(output: str) -> str:
    """Return what to do about a default output that has other settings."""
    return f"add --output {output} or --force to change it, or choose another --output to keep it"


def _agrees(output: str, reason: str) -> bool:
    """Ask a question on a terminal, and return whether the answer is yes; without a terminal it is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print(f"{printable(output)} {printable(reason)}.", file=sys.stderr)
    print("Change it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
