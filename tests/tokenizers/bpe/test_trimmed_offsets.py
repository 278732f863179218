"""Offsets of a byte-level tokenizer that was trained here are without the space in front of a word, as RoBERTa's."""

from __future__ import annotations

import random

import pytest
import transformers
from tokenizers import Tokenizer, processors

from bertdata import load_tokenizer
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.bpe.vocabulary_model import tokenizer_json
from bertdata.tokenizers.json_tokenizer import JsonTokenizer

TEXTS = ["the calm sea", " the  calm\n sea ", "salt", "  ", "Æther, it's 10 °C!", "a\tb  c"]


@pytest.fixture(scope="module")
def pieces() -> JsonTokenizer:
    tokenizer = load_tokenizer("bertdata-32k-bpe")
    assert isinstance(tokenizer, JsonTokenizer)
    return tokenizer


def test_offsets_are_those_that_the_processor_of_roberta_makes(pieces: JsonTokenizer) -> None:
    data = tokenizer_json(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], [], SpecialTokens())
    assert [part["type"] for part in data["post_processor"]["processors"]] == ["ByteLevel", "TemplateProcessing"]
    roberta = Tokenizer.from_str(pieces.reference.to_str())
    roberta.post_processor = processors.RobertaProcessing(
        ("[SEP]", 3), ("[CLS]", 2), trim_offsets=True, add_prefix_space=False
    )
    for text in TEXTS:
        expected = roberta.encode(text, add_special_tokens=False)
        row = pieces.encode_batch_with_offsets([text]).to_pylist()[0]
        assert row["input_ids"] == expected.ids
        assert [
            tuple(offsets.values()) if isinstance(offsets, dict) else tuple(offsets)
            for offsets in row["offset_mapping"]
        ] == [*expected.offsets]


def test_the_collator_of_transformers_tells_words_apart(pieces: JsonTokenizer, tmp_path: object) -> None:
    torch = pytest.importorskip("torch")
    pieces.save_pretrained(str(tmp_path))
    theirs = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    collate = transformers.DataCollatorForLanguageModeling(
        theirs, mlm_probability=0.3, mask_replace_prob=1.0, random_replace_prob=0.0, whole_word_mask=True
    )
    row = theirs("the calm sea and the old salt water", return_offsets_mapping=True)
    patterns = set()
    for seed in range(20):
        torch.manual_seed(seed)
        random.seed(seed)
        batch = collate([{name: list(values) for name, values in row.items()}])
        patterns.add(tuple((batch["labels"][0] != -100).tolist()))
    assert len(patterns) > 5
