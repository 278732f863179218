"""An example is a mapping, which only the default collators of transformers may not take."""

from __future__ import annotations

from typing import Any

import pytest

from bertdata.errors import ConfigError
from bertdata.loader.examples import Example


@pytest.mark.parametrize("name", ["torch_default_data_collator", "numpy_default_data_collator", "collate"])
@pytest.mark.parametrize("module", ["transformers.data.data_collator", "my_collators"])
def test_only_the_default_collators_of_transformers_are_refused(name: str, module: str) -> None:
    namespace: dict[str, Any] = {"__name__": module}
    exec(f"def {name}(example): return dict(example.items())", namespace)
    if name != "collate" and module.startswith("transformers."):
        with pytest.raises(ConfigError, match="give the Trainer data_collator=PretrainingCollator"):
            namespace[name](Example(a=1))
        return
    assert namespace[name](Example(a=1)) == {"a": 1}
