"""The classes of model types are those that `AutoTokenizer` of transformers takes."""

from __future__ import annotations

import pytest

from bertdata.tokenizers.model_types import CLASS_OF_TYPE

AS_THEY_ARE = {"TokenizersBackend", "MistralCommonBackend", "PreTrainedTokenizerFast", None}


def test_the_classes_are_those_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    if not transformers.__version__.startswith("5.24."):
        pytest.skip("the table is of transformers 5.24")
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

    theirs = {
        model_type: str(name).removesuffix("Fast")
        for model_type, name in TOKENIZER_MAPPING_NAMES.items()
        if name not in AS_THEY_ARE
    }
    assert theirs == CLASS_OF_TYPE
