"""ESM's `vocab.txt` gives the ids and rows of `EsmTokenizer` of transformers; damaged ones are refused."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path

import pytest

from bertdata import load_tokenizer
from bertdata.errors import ConfigError, InputError
from tests.tokenizers.encode.test_composed import hostile

NAMES = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "LA", "<mask>"]
LETTERS = [*NAMES[4:-1], "a", "b", "1", " ", "\t", "\x1c", "\x85", "\xa0", "<", ">", "\xe9"]


def folder(path: Path, names: list[str] = NAMES) -> Path:
    """Write ESM's files."""
    (path / "vocab.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "EsmTokenizer", "model_max_length": 99}))
    return path


def texts() -> list[str]:
    draw = random.Random(1)
    made = ["".join(draw.choices(LETTERS, k=draw.randrange(30))) for _ in range(300)]
    return ["", *made, *(text for text in hostile(100) if "<mask>" not in text)]


def test_tokens_are_found_anywhere_and_the_rest_is_unknown(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(folder(tmp_path))
    assert tokenizer.slow_because is None
    assert tokenizer.tokenize("MLAx1 b\x1cG") == ["M", "LA", "<unk>", "<unk>", "G"]
    assert tokenizer("M", "L")["input_ids"] == [0, NAMES.index("M"), 2, 4, 2]
    assert (tokenizer.mask_token, tokenizer.pad_token_id, tokenizer.model_max_length) == ("<mask>", 1, 99)


def test_ids_and_rows_are_those_of_transformers_also_when_saved(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    theirs, ours = transformers.AutoTokenizer.from_pretrained(folder(tmp_path)), load_tokenizer(tmp_path)
    assert ours.get_vocab() == theirs.get_vocab()
    expected = [theirs.encode(text, add_special_tokens=False) for text in texts()]
    assert ours.encode_batch(texts()).to_pylist() == expected
    rows = ours(["MKV", "A"], ["L", "LL"], padding=True), theirs(["MKV", "A"], ["L", "LL"], padding=True)
    assert dict(rows[0]) == dict(rows[1])
    ours.save_pretrained(tmp_path / "saved")
    saved = transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert [saved.encode(text, add_special_tokens=False) for text in texts()] == expected


def test_rows_end_with_the_text_where_settings_have_no_end(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    folder(tmp_path)
    settings = {"tokenizer_class": "EsmTokenizer", "eos_token": None}  # as of Nucleotide Transformer
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    theirs, ours = transformers.AutoTokenizer.from_pretrained(tmp_path), load_tokenizer(tmp_path)
    assert ours(["MKV", ""], padding=True)["input_ids"] == theirs(["MKV", ""], padding=True)["input_ids"]
    assert ours("M")["input_ids"] == [0, NAMES.index("M")]
    assert ours.encode_pair("M")["input_ids"] == [0, NAMES.index("M")]
    assert ours.encode("<eos>") == theirs.encode("<eos>", add_special_tokens=False)
    for call in (ours, ours.encode_pair, pickle.loads(pickle.dumps(ours))):
        with pytest.raises(ConfigError, match="no rows of two texts"):
            call("M", "K")
    ours.save_pretrained(tmp_path / "saved")
    assert load_tokenizer(tmp_path / "saved")("M")["input_ids"] == [0, NAMES.index("M")]


@pytest.mark.parametrize(
    ("names", "message"),
    [(NAMES[:-1], "has no <mask>"), ([*NAMES, "L"], "a token twice"), ([*NAMES, "a b"], "holds white space")],
)
def test_a_damaged_vocabulary_is_refused(names: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        load_tokenizer(folder(tmp_path, names))
