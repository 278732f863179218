"""What ran out is said before libraries abort or wait for it."""

from __future__ import annotations

import resource

import pytest

from bertdata.errors import ConfigError
from bertdata.io.os_errors import require_address_space


@pytest.mark.parametrize("limit", [resource.RLIM_INFINITY, 700 << 20, 900 << 20])
def test_too_low_a_limit_of_the_address_space_is_said(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limit, limit))
    require_address_space(700 << 20, "a pipeline")
    if limit == 700 << 20:
        said = r"limited to 700 MiB \(ulimit -v\), and a pipeline takes at least 900 MiB; raise the limit"
        with pytest.raises(ConfigError, match=said):
            require_address_space(900 << 20, "a pipeline")
    else:
        require_address_space(900 << 20, "a pipeline")
