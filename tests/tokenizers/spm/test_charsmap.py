"""Rules of SentencePiece as normalizers of `tokenizers`, of sequences that they know and of others."""

from __future__ import annotations

import io
import random
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from bertdata.errors import InputError
from bertdata.tokenizers.spm.charsmap import MARKS, Charsmap, charsmap_of, composition, steps
from bertdata.tokenizers.spm.proto import read_model
from bertdata.tokenizers.spm.tokenizer import SentencePieceTokenizer

AFTER = "\u0301\u0308\u0323\u0304\u0331\u0341\uff9e\u3099\u200d\u0e33\U0001f3fb\U000e0061\n\r\u1161\u314f\u11a8\u3133"
"""What makes something with a character before it."""


@pytest.fixture(scope="module")
def sentencepiece() -> Any:
    return pytest.importorskip("sentencepiece")


def rules_of(sentencepiece: Any, name: str) -> bytes:
    out = io.BytesIO()
    lines = {
        "sentence_iterator": iter(["a b c d e"] * 3),
        "vocab_size": 12,
        "hard_vocab_limit": False,
        "minloglevel": 2,
    }
    sentencepiece.SentencePieceTrainer.train(model_writer=out, normalization_rule_name=name, **lines)
    return bytes(read_model(out.getvalue()).normalizer.precompiled_charsmap)


def differing(sentencepiece: Any, name: str, rules: bytes, texts: Iterable[str]) -> list[str]:
    """Return the texts of which the steps make something else than SentencePiece."""
    from tokenizers import normalizers

    ours = normalizers.Sequence(steps(rules))
    kept = {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "escape_whitespaces": False}
    theirs = sentencepiece.SentencePieceNormalizer(rule_name=name, **kept)
    return [text for text in texts if ours.normalize_str(f"x{text}y") != theirs.normalize(f"x{text}y")]


@pytest.mark.costly
@pytest.mark.parametrize("name", ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"])
def test_rules_are_those_of_sentencepiece(sentencepiece: Any, name: str) -> None:
    rules, drawn = rules_of(sentencepiece, name), random.Random(0)
    known = Charsmap(rules)
    characters = known.characters()
    sequences = [
        rule
        for character, goes_on in characters.items()
        if goes_on and "HANGUL" not in unicodedata.name(character, "")
        for rule, _ in known.longer(character)
    ]
    jamo = [c for c in characters if "HANGUL" in unicodedata.name(c, "")] + [chr(c) for c in range(0x1100, 0x1200)]
    texts = [*characters, *drawn.sample(sequences, 2000)]
    texts += [drawn.choice([*characters]) + drawn.choice(AFTER) for _ in range(2000)]
    texts += [drawn.choice(sequences) + drawn.choice(AFTER) for _ in range(2000)]
    texts += ["".join(drawn.choices(jamo, k=3)) for _ in range(2000)]
    texts += ["".join(drawn.choices([*"aoeTtHsAO\u0391\u30ab\uff76\U0001d413", *AFTER], k=4)) for _ in range(2000)]
    assert differing(sentencepiece, name, rules, texts) == []


def test_few_steps_are_needed(sentencepiece: Any) -> None:
    rules = composition(rules_of(sentencepiece, "nmt_nfkc"))
    assert (len(rules.pairs), len(rules.strings), rules.of_jamo) == (571, 378, True)
    assert rules.alike["\U0001d400"] == "A"
    assert rules.alike["\u0341"] == "\u0301"


def test_a_trie_holds_the_rules_it_is_made_of() -> None:
    drawn = random.Random(1)
    rules = {"".join(drawn.choices("ab\u00e9\u3042\U0001d400", k=drawn.randint(1, 6))): str(n) for n in range(400)}
    whole = Charsmap(charsmap_of(rules))
    assert dict(whole.longer("")) == rules
    assert {character: whole.get(character) for character in whole.characters()} == {
        rule[0]: rules.get(rule[0]) for rule in rules
    }
    assert whole.get("b" * 9) is None


def test_rules_of_ones_own_are_applied_or_refused(sentencepiece: Any, tmp_path: Path) -> None:
    def model(*rules: tuple[str, str]) -> bytes:
        points = ["\t".join(" ".join(f"{ord(c):X}" for c in side) for side in rule) for rule in rules]
        (tmp_path / "rules.tsv").write_text("\n".join(points) + "\n")
        out = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            model_writer=out, sentence_iterator=iter(["the ship ffi o\u0301"] * 3), vocab_size=25,
            hard_vocab_limit=False, minloglevel=2, normalization_rule_tsv=str(tmp_path / "rules.tsv"),
        )  # fmt: skip
        return out.getvalue()

    data = model(("sh", "j"), ("shi", "p"), ("o\u0301", "e"), ("\u00f3", "e"), ("T", "t"), ("i\u0301", "hh"))
    processor, tokenizer = sentencepiece.SentencePieceProcessor(model_proto=data), SentencePieceTokenizer(data)
    for text in ("the ship", "shs hi", "o\u0301\u0301 T\u0301", "i\u0301\u0301shi\u0301"):
        assert tokenizer.encode(text) == processor.EncodeAsIds(text), text
        assert tokenizer.encode_batch([text]).to_pylist() == [processor.EncodeAsIds(text)]
    with pytest.raises(InputError, match="has rules for 'th' and 'he', which may overlap in a text, which no"):
        SentencePieceTokenizer(model(("th", "j"), ("he", "p")))
    with pytest.raises(InputError, match="has rules that make 'T' of 'th', and another one that changes it"):
        SentencePieceTokenizer(model(("th", "T"), ("T", "t")))


def test_marks_are_a_class_of_a_pattern() -> None:
    assert "[" not in MARKS
    assert "\u0e33" in MARKS
