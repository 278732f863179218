"""SentencePiece models are read: ids of the tokenizer.json of their family, or of SentencePiece itself."""

from __future__ import annotations

import io
import json
import pickle
import struct
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers import load_tokenizer
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.tokenizers.spm.charsmap import Charsmap
from bertdata.tokenizers.spm.proto import PieceType, read_model
from bertdata.tokenizers.spm.tokenizer import SentencePieceTokenizer
from tests.data import data_path
from tests.generated import examples

FABLE = "The fox saw the grapes hanging from a vine, and jumped for 2,315 grapes; a naïve fox <[CLSN]>. "
TEXTS = [
    FABLE,
    "",
    " ",
    "  two  spaces\t\n ",
    "a\u0301 ﬁ １２ \u00a0x\u2003y\u200b",
    "``x'' [CLS] <s>",
    "中文 2,315, 1,",
]


@pytest.fixture(scope="module")
def sentencepiece() -> Any:
    return pytest.importorskip("sentencepiece")


def model_of(sentencepiece: Any, **more: Any) -> bytes:
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        model_writer=out,
        **(
            {"sentence_iterator": iter([FABLE] * 3), "vocab_size": 80, "hard_vocab_limit": False, "minloglevel": 2}
            | more
        ),
    )
    return out.getvalue()


def saved(folder: Path, data: bytes, name: str = "spiece.model") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


NORMALIZATIONS: list[dict[str, Any]] = [
    {},
    {"normalization_rule_name": "nfkc_cf"},
    {"add_dummy_prefix": False},
    {"remove_extra_whitespaces": False},
    {"byte_fallback": True, "vocab_size": 330},
]


@pytest.mark.costly
@pytest.mark.parametrize("more", NORMALIZATIONS)
def test_ids_are_those_of_sentencepiece(sentencepiece: Any, more: dict[str, Any], tmp_path: Path) -> None:
    data = model_of(sentencepiece, **more)
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    tokenizer = load_tokenizer(saved(tmp_path, data))
    expected = [processor.EncodeAsIds(text) for text in TEXTS]
    assert tokenizer.encode_batch(TEXTS).to_pylist() == expected
    assert list(tokenizer.tokens) == [processor.IdToPiece(number) for number in range(len(processor))]


@pytest.mark.costly
@pytest.mark.parametrize("more", NORMALIZATIONS)
def test_ids_of_a_bpe_model_are_those_of_sentencepiece(sentencepiece: Any, more: dict[str, Any]) -> None:
    data = model_of(sentencepiece, model_type="bpe", **more)
    processor, tokenizer = sentencepiece.SentencePieceProcessor(model_proto=data), SentencePieceTokenizer(data)
    assert list(tokenizer.tokens) == [processor.IdToPiece(number) for number in range(len(processor))]
    assert tokenizer.slow_because is None

    @settings(deadline=None)
    @given(st.one_of(st.sampled_from(TEXTS), st.text(st.sampled_from("fox thegrap\n\u00a0é中,20"), max_size=30)))
    def same(text: str) -> None:
        assert tokenizer.encode(text) == processor.EncodeAsIds(text)

    same()
    assert tokenizer.decode(tokenizer.encode(FABLE)) == processor.DecodeIds(processor.EncodeAsIds(FABLE))


OVER_SPACES = ["New York City is in New York", "he lives in New York", "of the world", "end of the day"] * 10
SPACES: list[dict[str, Any]] = [
    {"normalization_rule_name": "identity"},
    {"normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    {"normalization_rule_name": "identity", "remove_extra_whitespaces": False, "byte_fallback": True}
    | {"vocab_size": 330},
    {"normalization_rule_name": "identity", "add_dummy_prefix": False},
    {"treat_whitespace_as_suffix": True},
    {"treat_whitespace_as_suffix": True, "remove_extra_whitespaces": False},
    {"treat_whitespace_as_suffix": True, "add_dummy_prefix": False},
    {"treat_whitespace_as_suffix": True, "model_type": "bpe"},
    {"sentence_iterator": OVER_SPACES, "split_by_whitespace": False},
    {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True}
    | {"sentence_iterator": ["a    b    c "] * 9},
    {"user_defined_symbols": ["New York", "e.g.", "<ent>"]},
    {"normalization_rule_name": "nfkc"},
    {"normalization_rule_name": "nfkc_cf", "treat_whitespace_as_suffix": True},
    {"normalization_rule_name": "nfkc", "model_type": "bpe", "add_dummy_prefix": False},
    {"model_type": "bpe", "user_defined_symbols": ["<2>", "\u2581\u2581", "he"], "normalization_rule_name": "identity"}
    | {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
]  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("more", SPACES)
def test_spaces_are_where_sentencepiece_has_them(sentencepiece: Any, more: dict[str, Any]) -> None:
    lines = more.get("sentence_iterator", [FABLE] * 3)
    data = model_of(sentencepiece, **more | {"sentence_iterator": iter(lines)})
    processor, tokenizer = sentencepiece.SentencePieceProcessor(model_proto=data), SentencePieceTokenizer(data)

    @settings(deadline=None, max_examples=examples(60))
    @given(
        st.one_of(
            st.sampled_from([*lines, *TEXTS]),
            st.text(st.sampled_from("fox thegNYrk \n\t\u00a0\u2581é中,20<>"), max_size=25),
        )
    )
    def same(text: str) -> None:
        assert tokenizer.encode(text) == processor.EncodeAsIds(text)
        assert tokenizer.encode_batch([text]).to_pylist() == [tokenizer.encode(text)]

    same()


KEPT = ["\n", "\u2026", "<SEP>", "\uff21\uff22", "-", "--", "\u00bd", "e"]
"""Symbols of which rules would make others, or that they would join to an accent."""


@pytest.mark.costly
@pytest.mark.parametrize("rules", ["nmt_nfkc", "nmt_nfkc_cf", "nfkc", "identity"])
@pytest.mark.parametrize("fallback", [False, True])
def test_user_defined_symbols_are_left_out_of_the_rules(sentencepiece: Any, rules: str, fallback: bool) -> None:
    more = {"normalization_rule_name": rules, "byte_fallback": fallback, "vocab_size": 340 if fallback else 70}
    data = model_of(sentencepiece, user_defined_symbols=KEPT, **more)
    processor, tokenizer = sentencepiece.SentencePieceProcessor(model_proto=data), SentencePieceTokenizer(data)
    pieces = [*KEPT, *KEPT, *"fox the", " ", "  ", "<sep>", "SEP>", "\uff21", "AB", "...", "1\u20442", "\u0301", "\t"]

    @settings(deadline=None, max_examples=examples(60))
    @given(st.lists(st.sampled_from(pieces), max_size=9).map("".join))
    def same(text: str) -> None:
        text = text.replace("\u0301\u0301", "").replace("\u00bd\u0301", "").replace("\u2044", "")
        assert tokenizer.encode(text) == processor.EncodeAsIds(text)
        assert tokenizer.encode_batch([text]).to_pylist() == [tokenizer.encode(text)]

    same()
    assert processor.EncodeAsIds("a\u2026\n") == tokenizer.encode("a\u2026\n")
    assert "\n" in tokenizer.convert_ids_to_tokens(tokenizer.encode("the\nfox"))


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        (["\u0301"], "'\u0301', which begins with a mark on the letter before it, which no tokenizer.json does; take"),
        (["a  b"], "'a  b', in which SentencePiece keeps spaces as they are, which no tokenizer.json does"),
        (["\u2026x", "x\u2026"], "'\u2026x', which rules of normalisation would change, and which may overlap"),
        (["\u2026" * 1001], "of 1,001 characters, over 1,000, which no tokenizer.json does"),
    ],
)
def test_symbols_that_no_tokenizer_json_finds_as_sentencepiece_are_refused(
    sentencepiece: Any, symbols: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        SentencePieceTokenizer(model_of(sentencepiece, user_defined_symbols=symbols))
    if symbols == ["a  b"]:
        with pytest.raises(InputError, match=message):
            SentencePieceTokenizer(
                model_of(sentencepiece, user_defined_symbols=symbols, normalization_rule_name="identity")
            )


def test_words_that_may_overlap_are_read_as_symbols(sentencepiece: Any) -> None:
    data = model_of(sentencepiece, user_defined_symbols=["salt", "table", "\n", "tea"], vocab_size=70)
    processor, tokenizer = sentencepiece.SentencePieceProcessor(model_proto=data), SentencePieceTokenizer(data)
    for text in ("saltable", "a\nsalt table\n", "teatable salt"):
        assert tokenizer.encode(text) == processor.EncodeAsIds(text), text


def test_a_vocabulary_of_words_between_white_space_is_cut_at_all_of_it(sentencepiece: Any) -> None:
    data = model_of(sentencepiece, normalization_rule_name="identity")
    cut, as_it_is = SentencePieceTokenizer(data, at_white_space=True), SentencePieceTokenizer(data)
    text = "the\tfox\u00a0saw\nthe grapes"
    assert cut.encode(text) == cut.encode(text.replace("\t", " ").replace("\u00a0", " ").replace("\n", " "))
    assert cut.encode(text) != as_it_is.encode(text)
    assert pickle.loads(pickle.dumps(cut)) == cut != as_it_is


@pytest.mark.costly
@pytest.mark.parametrize("rules", ["nmt_nfkc", "nmt_nfkc_cf", "nfkc"])
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_rules_of_several_characters_are_applied(sentencepiece: Any, kind: str, rules: str) -> None:
    lines = ["hello world this is a test", "スナップ ガラス カメラ パン", "Ábc ábc café tiếng Việt", "Йод"] * 5
    data = model_of(
        sentencepiece, sentence_iterator=iter(lines), normalization_rule_name=rules, model_type=kind, vocab_size=90
    )
    processor, tokenizer = sentencepiece.SentencePieceProcessor(model_proto=data), SentencePieceTokenizer(data)
    texts = [*lines, *(unicodedata.normalize("NFD", line) for line in lines)]
    texts += [
        unicodedata.normalize("NFD", "Ọ̀rọ̀ Yorùbá, ẹ̀kọ́ ìṣẹ́gun"),
        "Ọ\u0300rọ\u0300",
        "i\u0330\u0301 o\u0323\u0327\u0301",
    ]
    texts += [
        "ﬁ\u0301x ﬂ\u0300\u0323",
        "½\u0300",
        "ª\u0301",
        "a\xa0\u0301b",
        "שּׁ\u05b8",
        "ﻻ\u064e",
        "…\u0338",
        "T\u0308 ㄱ\u0323",
    ]
    texts += ["T\u0308 ㄱ\u0323", "ﬁ\U0010efff\u0301", "¨\u0301", "①\u20d2Ⅷ\ufe0f", "²\u200d"]
    texts += ["ｽﾅｯﾌﾟ", "ｶﾞﾗｽ", "Ａ\u0301bc", "ｔｉｅ\u0302\u0301ng", "は\u3099", "ウ\uff9e～", "a\u0332\u0301"]
    assert [tokenizer.encode(text) for text in texts] == [processor.EncodeAsIds(text) for text in texts]
    assert tokenizer.encode_batch(texts).to_pylist() == [processor.EncodeAsIds(text) for text in texts]
    assert tokenizer.slow_because is None


def test_a_trie_that_is_no_tree_is_refused() -> None:
    place = 0x61 << 10 | 0x61  # the byte 61 leads from each place to itself
    data = struct.pack("<I512I", 2048, *[place] * 512) + b"x\0"
    with pytest.raises(ValueError, match="is no tree"):
        Charsmap(data).longer("a")


def test_rules_that_are_damaged_are_refused(sentencepiece: Any) -> None:
    model = read_model(model_of(sentencepiece, sentence_iterator=iter(["スナップ"] * 9)))
    model.normalizer.precompiled_charsmap = b"\xff\xff\xff\x7f1234"
    with pytest.raises(InputError, match=r"cannot make a tokenizer of this model|rules of its normalizer are damaged"):
        SentencePieceTokenizer(model.SerializeToString())


def test_settings_that_ask_for_another_tokenizer_than_the_model_are_refused(sentencepiece: Any, tmp_path: Path) -> None:
    place = saved(tmp_path, model_of(sentencepiece))
    refused = {
        "name T5Tokenizer, which may number the pieces anew": {"tokenizer_class": "T5TokenizerFast"},
        "name SiglipTokenizer, which may .* change texts": {"tokenizer_class": "SiglipTokenizer"},
        "says sp_model_kwargs": {"sp_model_kwargs": {"enable_sampling": True}},
        "says split_by_punct = True": {"split_by_punct": True},
        "says do_lower_case = true": {"tokenizer_class": "DebertaV2Tokenizer", "do_lower_case": True},
        "says extra_ids = 100": {"extra_ids": 100},
        "says joiner": {"joiner": 1},
    }
    for message, config in refused.items():
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
        with pytest.raises(InputError, match=message):
            load_tokenizer(place)


def test_fields_that_sentencepiece_does_not_have_and_spaces_without_marks_are_refused(sentencepiece: Any) -> None:
    data = model_of(sentencepiece)
    with pytest.raises(InputError, match="its ModelProto has the field 99, which is not known"):
        read_model(data + bytes([0x98, 0x06, 1]))  # the key of a number in field 99
    model = read_model(data)
    model.normalizer.escape_whitespaces = False
    with pytest.raises(InputError, match="escape_whitespaces = false"):
        read_model(model.SerializeToString())


def test_hostile_text_has_the_ids_of_sentencepiece(sentencepiece: Any) -> None:
    data = model_of(sentencepiece)
    processor, tokenizer = sentencepiece.SentencePieceProcessor(model_proto=data), SentencePieceTokenizer(data)

    @settings(deadline=None)
    @given(st.text(st.sampled_from("fox thegrap\n\t\u00a0\u3000\u2581é中,20"), max_size=30))
    def same(text: str) -> None:
        assert tokenizer.encode(text) == processor.EncodeAsIds(text)

    same()


def test_a_folder_with_a_model_alone_is_read_and_saved_as_a_tokenizer_json(sentencepiece: Any, tmp_path: Path) -> None:
    data = model_of(sentencepiece, control_symbols=["[CLS]", "[SEP]", "[MASK]"], pad_id=3, bos_id=-1, eos_id=-1)
    tokenizer = load_tokenizer(saved(tmp_path, data).parent)
    assert isinstance(tokenizer, SentencePieceTokenizer)
    tokenizer.save_pretrained(tmp_path / "saved")
    loaded = load_tokenizer(tmp_path / "saved")
    assert type(loaded) is JsonTokenizer
    assert loaded == tokenizer == pickle.loads(pickle.dumps(tokenizer))
    assert loaded.encode_pair("a fox", "grapes") == tokenizer.encode_pair("a fox", "grapes")
    assert (tmp_path / "saved" / "spiece.model").read_bytes() == data


def test_albert_is_told_by_its_pieces(sentencepiece: Any, tmp_path: Path) -> None:
    more = {"control_symbols": ["[CLS]", "[SEP]", "[MASK]"], "normalization_rule_name": "nmt_nfkc_cf"}
    data = model_of(sentencepiece, pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, **more)
    model = read_model(data)
    for piece in model.pieces:  # pieces of ALBERT have no accents
        piece.piece = piece.piece.replace("ï", "q")
    model.pieces.add(piece="2,315,", score=-1.0)
    tokenizer = load_tokenizer(saved(tmp_path, model.SerializeToString(), "any.model"))
    assert tokenizer.special_tokens == ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    assert tokenizer.encode("The FÓX") == tokenizer.encode("the fox")
    assert tokenizer.encode("``") == tokenizer.encode('"')
    assert "2,315," not in tokenizer.tokenize("2,315,")
    assert tokenizer.row_template.second_type == 1


@pytest.mark.parametrize(
    ("settings", "same"),
    [
        ({"tokenizer_class": "XLNetTokenizer"}, [("é", "e")]),
        ({"tokenizer_class": "XLNetTokenizer", "do_lower_case": True}, [("é", "e"), ("T", "t")]),
        ({"tokenizer_class": "XLNetTokenizer", "keep_accents": True}, []),
        ({}, []),
    ],
)
def test_case_and_accents_are_dropped_as_the_class_of_the_settings_says(
    settings: dict[str, Any], same: list[tuple[str, str]], sentencepiece: Any, tmp_path: Path
) -> None:
    names = ["<cls>", "<sep>", "<pad>", "<mask>", "<eod>"]
    text = "The café, the elf, The café"  # a vocabulary with capitals and accents
    place = saved(tmp_path, model_of(sentencepiece, control_symbols=names, sentence_iterator=iter([text] * 9)))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    tokenizer = load_tokenizer(place)
    pairs = [("é", "e"), ("T", "t")]
    assert [pair for pair in pairs if tokenizer.encode(pair[0]) == tokenizer.encode(pair[1])] == same


@pytest.mark.parametrize("flag", [True, False])
def test_tokens_around_texts_that_one_version_adds_to_a_model_alone_are_refused(
    flag: bool, sentencepiece: Any, tmp_path: Path
) -> None:
    more = {"control_symbols": ["[CLS]", "[SEP]", "[MASK]"], "pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1}
    place = saved(tmp_path, model_of(sentencepiece, **more))
    settings = {"tokenizer_class": "AlbertTokenizer", "add_bos_token": flag}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    tokenizer = load_tokenizer(place)
    assert tokenizer.encode("the")
    with pytest.raises(ConfigError, match=r"says add_bos_token = (true|false), .*: AlbertTokenizer of"):
        tokenizer("the")


def test_xlnet_has_its_rows(sentencepiece: Any, tmp_path: Path) -> None:
    names = ["<cls>", "<sep>", "<pad>", "<mask>", "<eod>"]
    tokenizer = load_tokenizer(saved(tmp_path, model_of(sentencepiece, control_symbols=names)))
    row = tokenizer.encode_pair("a", "b")
    assert [tokenizer.tokens[token_id] for token_id in row["input_ids"]][-2:] == ["<sep>", "<cls>"]
    assert row["token_type_ids"][-1] == 2
    tokenizer.save_pretrained(tmp_path / "saved")
    assert '"padding_side": "left"' in (tmp_path / "saved" / "tokenizer_config.json").read_text()


def test_deberta_gets_the_mask_that_its_model_lacks(sentencepiece: Any, tmp_path: Path) -> None:
    more = {"control_symbols": ["[CLS]", "[SEP]"], "pad_piece": "[PAD]", "unk_piece": "[UNK]"}
    data = model_of(sentencepiece, pad_id=0, unk_id=3, bos_id=-1, eos_id=-1, **more)
    tokenizer = load_tokenizer(saved(tmp_path, data, "spm.model"))
    assert tokenizer.mask_token_id == tokenizer.vocab_size - 1 == len(read_model(data).pieces)
    assert tokenizer.tokenize("the\u200b")[-1] == "▁"  # spaces are cut off before it becomes one


def test_a_model_whose_family_numbers_its_pieces_anew_is_read_where_the_settings_name_it(
    sentencepiece: Any, tmp_path: Path
) -> None:
    data = model_of(sentencepiece)
    path = saved(tmp_path, data, "sentencepiece.bpe.model")
    with pytest.raises(InputError, match="beside it name None; expected a tokenizer_class in tokenizer_config"):
        load_tokenizer(path)
    (tmp_path / "config.json").write_text('{"model_type": "mbart"}')
    with pytest.raises(InputError, match="settings beside it name MBartTokenizer, which may number the pieces anew"):
        load_tokenizer(path)
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "XLMRobertaTokenizer"}')
    tokenizer = load_tokenizer(tmp_path)
    assert tokenizer == load_tokenizer(path)
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    ids = [[piece_id + 1 if piece_id else 3 for piece_id in processor.EncodeAsIds(text)] for text in TEXTS]
    assert tokenizer.encode_batch(TEXTS).to_pylist() == ids
    assert tokenizer.tokens[:4] == ("<s>", "<pad>", "</s>", "<unk>")
    assert tokenizer.mask_token_id == tokenizer.vocab_size - 1
    row = tokenizer.encode_pair("", "")["input_ids"]
    assert row == [0, 2, 2, 2]
    with pytest.raises(InputError, match=r"first pieces are <unk>, a, </s>; expected <unk>, <s>, </s>"):
        load_tokenizer(saved(tmp_path, model_of(sentencepiece, bos_piece="a"), "sentencepiece.bpe.model"))


def test_camembert_has_the_ids_of_transformers(sentencepiece: Any, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    data = model_of(sentencepiece)
    saved(tmp_path, data, "sentencepiece.bpe.model")
    (tmp_path / "config.json").write_text('{"model_type": "camembert"}')
    tokenizer = load_tokenizer(tmp_path)
    pieces = [(piece.piece, piece.score) for piece in read_model(data).pieces]
    names = ("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED")
    peer = transformers.CamembertTokenizer(
        vocab=[*((name, 0.0) for name in names), *pieces[1:], ("<mask>", 0.0)],
        _spm_precompiled_charsmap=read_model(data).normalizer.precompiled_charsmap,
    )
    texts = [text for text in TEXTS if "<" not in text]  # where transformers takes what a text spells for a token
    assert tokenizer.encode_batch(texts).to_pylist() == peer(texts, add_special_tokens=False)["input_ids"]
    assert list(tokenizer.tokens) == peer.convert_ids_to_tokens(range(len(peer)))
    assert tokenizer.encode_pair("a fox", "grapes")["input_ids"] == peer("a fox", "grapes")["input_ids"]
    assert tokenizer.mask_token_id == peer.mask_token_id == len(peer) - 1
    tokenizer.save_pretrained(tmp_path / "saved")
    assert load_tokenizer(tmp_path / "saved") == tokenizer


def test_a_class_beside_a_model_says_the_roles_and_the_rows(sentencepiece: Any, tmp_path: Path) -> None:
    symbols = {"control_symbols": ["<pad>"], "user_defined_symbols": ["[CLS]", "[SEP]", "[MASK]"]}
    place = saved(tmp_path, model_of(sentencepiece, **symbols))
    assert load_tokenizer(place).cls_token == "<s>"
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BigBirdTokenizer"}')
    tokenizer = load_tokenizer(place)
    names = [tokenizer.pad_token, tokenizer.unk_token, tokenizer.cls_token, tokenizer.sep_token, tokenizer.mask_token]
    assert names == ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    row = tokenizer("the", truncation=True)
    assert [tokenizer.tokens[row["input_ids"][place]] for place in (0, -1)] == ["[CLS]", "[SEP]"]
    assert tokenizer.model_input_names == ["input_ids", "attention_mask"]
    assert {"<s>", "</s>"} < {*tokenizer.special_tokens}


def test_a_model_has_no_longest_row_unless_settings_name_one(sentencepiece: Any, tmp_path: Path) -> None:
    place = saved(tmp_path, model_of(sentencepiece))
    text = "the lower " * 400
    assert len(load_tokenizer(place)(text, truncation=True)["input_ids"]) > 700
    (tmp_path / "tokenizer_config.json").write_text('{"max_len": 20}')
    assert len(load_tokenizer(place)(text, truncation=True)["input_ids"]) == 20


def test_rows_of_a_class_that_are_not_known_are_refused(sentencepiece: Any, tmp_path: Path) -> None:
    place = saved(tmp_path, model_of(sentencepiece))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "LlamaTokenizer"}')
    tokenizer = load_tokenizer(place)
    assert tokenizer.encode("the")
    with pytest.raises(ConfigError, match="beside the model name LlamaTokenizer, and what that puts around texts"):
        tokenizer("the")


def test_settings_beside_a_model_name_the_roles(sentencepiece: Any, tmp_path: Path) -> None:
    saved(tmp_path, model_of(sentencepiece, user_defined_symbols=["<blank>"]))
    (tmp_path / "tokenizer_config.json").write_text('{"mask_token": "<blank>"}')
    assert load_tokenizer(tmp_path).mask_token_id == 3


def test_a_vocabulary_beside_a_model_is_refused_unless_a_class_is_named(sentencepiece: Any, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(model_of(sentencepiece))
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the"]))
    with pytest.raises(InputError, match=r"has tokenizer\.model and vocab\.txt, which are two tokenizers"):
        load_tokenizer(tmp_path)
    assert load_tokenizer(tmp_path / "vocab.txt").vocab_size == 6
    assert load_tokenizer(tmp_path / "tokenizer.model").vocab_size > 6
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    assert load_tokenizer(tmp_path).vocab_size == 6


def test_a_tokenizer_json_beside_a_model_comes_first(sentencepiece: Any, tmp_path: Path) -> None:
    load_tokenizer(saved(tmp_path, model_of(sentencepiece))).save_pretrained(tmp_path)
    assert type(load_tokenizer(tmp_path)) is JsonTokenizer


def test_what_cannot_be_read_is_refused_with_its_place(sentencepiece: Any, tmp_path: Path) -> None:
    whole = model_of(sentencepiece)
    for data, message in (
        (whole[:-9], r"cut.model: is not a whole model of SentencePiece"),
        (b"", r"cut.model: this file is empty"),
        (b"\x12\x02\x18\x01", r"of its 0 pieces 0 are for unknown text"),
        (
            model_of(sentencepiece, model_type="word"),
            r"is a model of SentencePiece, but neither Unigram nor BPE; take the tokenizer.json",
        ),
        (
            model_of(sentencepiece, model_type="bpe", user_defined_symbols=["<x>"]),
            r"with user-defined symbols, and changes texts before it looks for them, which no tokenizer.json does",
        ),
    ):
        with pytest.raises(InputError, match=message):
            load_tokenizer(saved(tmp_path, data, "cut.model"))
    with pytest.raises(InputError, match="there is no such tokenizer"):
        load_tokenizer(tmp_path / "none.model")


def test_a_model_keeps_what_is_not_read(sentencepiece: Any) -> None:
    data = model_of(sentencepiece)
    model = read_model(data)
    assert [piece.type for piece in model.pieces[:3]] == [PieceType.UNKNOWN, PieceType.CONTROL, PieceType.CONTROL]
    again = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    assert again.EncodeAsIds(FABLE) == sentencepiece.SentencePieceProcessor(model_proto=data).EncodeAsIds(FABLE)


@pytest.mark.costly
@pytest.mark.parametrize(
    "name",
    [
        "albert_v2/spiece.model",
        pytest.param("xlnet_cased/spiece.model", marks=pytest.mark.slow),
        pytest.param("deberta_v3/spm.model", marks=pytest.mark.slow),
    ],
)
def test_published_models_have_the_ids_of_the_tokenizer_json_beside_them(name: str) -> None:
    path = data_path("tokenizers", name)
    tokenizer, expected = load_tokenizer(path), load_tokenizer(path.parent)
    assert isinstance(tokenizer, SentencePieceTokenizer)
    texts = data_path("books", "1184-0.txt").read_text()[:200_000].split("\n\n") + TEXTS
    assert tokenizer.encode_batch(texts) == expected.encode_batch(texts)
    assert (tokenizer.tokens, tokenizer.special_tokens) == (expected.tokens, expected.special_tokens)
    assert tokenizer.row_template == expected.row_template
