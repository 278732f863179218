"""A model learns from shards of other tokenizers than WordPiece."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import AutoTokenizer

from bertdata import load_tokenizer
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers import TOKENIZERS, Tokenizer
from bertdata.torch import BertConfig
from bertdata.torch.training import pretrain
from tests.small_build import write_build
from tests.tokenizers.letters import LetterTokenizer
from tests.tokenizers.made import made
from tests.torch.training.small_runs import SETTINGS, log

TEXT = "salt and water"


@pytest.mark.costly
@pytest.mark.parametrize("tokenizer", [LetterTokenizer(), made("byte-level")], ids=["letters", "byte-level"])
def test_bert_trains_on_whole_words_of_another_tokenizer(
    tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TOKENIZERS._items, "letters", LetterTokenizer)
    examples, masking = ExamplesConfig(max_seq_length=32), MaskingConfig(mask_unit="word")
    build = write_build(tmp_path / "build", examples, masking=masking, pieces=tokenizer)
    shape = BertConfig.tiny(vocab_size=tokenizer.vocab_size, max_position_embeddings=32)
    pretrain.pretrain(build, shape, tmp_path / "model", SETTINGS)
    assert log(tmp_path / "model")[-1]["step"] == SETTINGS.max_steps
    for place in (tmp_path / "model", tmp_path / "model/checkpoints/step-000000012"):
        assert load_tokenizer(place) == tokenizer
        if not isinstance(tokenizer, LetterTokenizer):
            ids = tokenizer.encode_batch([TEXT]).to_pylist()[0]
            assert AutoTokenizer.from_pretrained(place).encode(TEXT, add_special_tokens=False) == ids
