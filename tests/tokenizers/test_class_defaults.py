"""Special tokens and rows of a class of transformers, where files do not say them, are those of the class."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from bertdata import load_tokenizer
from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers.class_checks import check_settings
from bertdata.tokenizers.class_defaults import (
    ADDED_BY_CLASS,
    AROUND,
    CLASS_EXTRA,
    CLASS_TOKENS,
    NAMED_ROLES,
    PREFIX_SPACE,
    SOURCE_LANGUAGE,
    SPACE_BY_VERSION,
    TEXT,
    expected_pair,
    expected_unknown,
    with_class_tokens,
)
from tests.tokenizers.small import byte_level, byte_pair_model

SENTENCE = "the lower café"
WITHOUT_PACKAGE = {"RoFormerTokenizer"}
"""Classes that cannot be made without a package that is not installed."""
ONE_NAME_ALONE = {"AlbertTokenizer", "FNetTokenizer", "T5Tokenizer", "UdopTokenizer"}
"""Classes that put tokens of their usual names around a text, whatever theirs are."""
NEEDS_A_VOCABULARY = {"MarkupLMTokenizer", "RemBertTokenizer"}
"""Classes that, made without a vocabulary, are not as they are with one."""


@pytest.fixture(scope="module")
def transformers() -> Any:
    module = pytest.importorskip("transformers")
    if not module.__version__.startswith("5.24."):
        pytest.skip("the tables are of transformers 5.24")
    return module


def defaults_of(a_class: Any) -> dict[str, str]:
    """Return the special tokens that the arguments of a class have by default."""
    for each in a_class.__mro__:
        if "__init__" in vars(each):
            arguments = inspect.signature(each.__init__).parameters
            defaults = {name: argument.default for name, argument in arguments.items() if name.endswith("_token")}
            if defaults:
                names = {f"{role}_token" for role in NAMED_ROLES}
                return {name: str(token) for name, token in defaults.items() if name in names and token is not None}
    return {}


def test_the_special_tokens_are_those_of_the_classes(transformers: Any) -> None:
    for name, tokens in CLASS_TOKENS.items():
        assert tokens == defaults_of(getattr(transformers, name)), name


def test_further_tokens_and_those_around_a_text_are_those_of_the_classes(transformers: Any) -> None:
    for name in CLASS_TOKENS.keys() - WITHOUT_PACKAGE - NEEDS_A_VOCABULARY:
        tokenizer = getattr(transformers, name)()
        extra = [str(token) for token in tokenizer._extra_special_tokens]
        if name in ADDED_BY_CLASS:
            assert ADDED_BY_CLASS[name] in tokenizer.get_vocab(), name
        elif name != "SplinterTokenizer":  # whose token for questions is an argument of its own
            assert tuple(extra) == CLASS_EXTRA.get(name, ()), name
        around = tokenizer.backend_tokenizer.encode("").tokens
        roles = AROUND.get(name, [])
        if name not in ONE_NAME_ALONE:  # told apart by other names
            other = getattr(transformers, name)(**{role: f"<{role}>" for role in CLASS_TOKENS[name]})
            tokens = other.backend_tokenizer.encode("").tokens
            assert [token for token in tokens if token[0] == "<"] == [
                f"<{role}_token>" for role in roles if role != "src_lang"
            ], name
        expected = [
            SOURCE_LANGUAGE[name] if role == "src_lang" else getattr(tokenizer, f"{role}_token") for role in roles
        ]
        assert around == expected, name
        config = with_class_tokens({"tokenizer_class": name})
        pair = expected_pair(config)
        if pair is not None:
            rows = tokenizer.backend_tokenizer.encode("", "")
            assert [part for part in pair if part[0] != TEXT] == [*zip(rows.tokens, rows.type_ids, strict=True)], name


def folder_with(tmp_path: Path, tokens: list[str], around: Any, added: list[str], **config: Any) -> Path:
    """Write a tokenizer.json of byte-level BPE whose vocabulary ends with some tokens, and settings beside it."""
    model = byte_pair_model()
    vocab = {token: token_id for token, token_id in model["vocab"].items() if not token.startswith("[")}
    vocab = {token: token_id for token_id, token in enumerate([*vocab, *tokens])}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    data = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": vocab[token], "content": token, "special": True} | flags for token in added],
        "normalizer": None,
        "pre_tokenizer": byte_level(),
        "post_processor": around
        and {part: [token, vocab[token]] for part, token in around.items() if part != "type"}
        | {"type": around["type"], "trim_offsets": True, "add_prefix_space": False},
        "decoder": None,
        "model": model | {"vocab": vocab},
    }
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    return tmp_path


ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
AS_ROBERTA = {"type": "RobertaProcessing", "cls": "<s>", "sep": "</s>"}
ROLES = [f"{role}_token" for role in ("pad", "unk", "cls", "sep", "mask")]


def assert_as_transformers(folder: Path, transformers: Any, saved: Path) -> Any:
    """Compare roles, special tokens, size and rows with those of `AutoTokenizer`, also for what is saved."""
    ours = load_tokenizer(folder)
    ours.save_pretrained(saved)
    for theirs in map(transformers.AutoTokenizer.from_pretrained, (folder, saved)):
        assert [getattr(ours, role) for role in ROLES] == [getattr(theirs, role) for role in ROLES]
        assert len(ours) == len(theirs)
        assert ours.get_vocab() == theirs.get_vocab()
        assert {*ours.all_special_ids} == {*theirs.all_special_ids}
        assert dict(ours(SENTENCE, "the")) == dict(theirs(SENTENCE, "the"))
        rows = ours([SENTENCE, "the"], padding=True)["input_ids"]
        assert rows == theirs([SENTENCE, "the"], padding=True)["input_ids"]
    assert load_tokenizer(saved) == ours
    return ours


@pytest.mark.parametrize("in_vocabulary", [ROBERTA, ROBERTA[:4], ROBERTA[:3]])
def test_tokens_that_no_file_names_are_those_of_the_class_and_are_added_where_the_vocabulary_lacks_them(
    in_vocabulary: list[str], transformers: Any, tmp_path: Path
) -> None:
    folder = folder_with(
        tmp_path / "f",
        [*in_vocabulary, "[PAD]", "[MASK]"],
        AS_ROBERTA,
        ["<s>", "</s>"],
        tokenizer_class="RobertaTokenizer",
    )
    ours = assert_as_transformers(folder, transformers, tmp_path / "saved")
    assert (ours.pad_token, ours.mask_token) == ("<pad>", "<mask>")
    assert ours.tokens[-1] == ("[MASK]" if in_vocabulary == ROBERTA else "<mask>")


@pytest.mark.parametrize("class_name", ["RobertaTokenizer", "PreTrainedTokenizerFast"])
def test_tokens_that_settings_name_are_added_in_the_order_of_transformers(
    class_name: str, transformers: Any, tmp_path: Path
) -> None:
    roles = {"bos_token": "<b>", "mask_token": "<m>", "pad_token": "<p>", "sep_token": "</s>", "cls_token": "<s>"}
    folder = folder_with(tmp_path / "f", ["<s>", "</s>"], AS_ROBERTA, [], tokenizer_class=class_name, **roles)
    ours = assert_as_transformers(folder, transformers, tmp_path / "saved")
    assert ours.tokens[-1] == "<m>"


def test_further_tokens_of_a_class_are_special_unless_settings_name_others(tmp_path: Path) -> None:
    config: dict[str, Any] = {"tokenizer_class": "LukeTokenizer"}
    tokens = [*ROBERTA, "<ent>", "<ent2>", "[MASK2]", "<other>"]
    ours = load_tokenizer(folder_with(tmp_path / "f", tokens, AS_ROBERTA, [], **config))
    assert {"<ent>", "<ent2>"} < {*ours.special_tokens}
    config |= {"additional_special_tokens": ["<other>"]}
    ours = load_tokenizer(folder_with(tmp_path / "g", tokens, AS_ROBERTA, [], **config))
    assert "<ent>" not in ours.special_tokens


@pytest.mark.parametrize("class_name", sorted(ADDED_BY_CLASS))
def test_a_class_that_adds_tokens_without_a_role_is_refused(class_name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"which {class_name}, the class .* adds to a vocabulary"):
        load_tokenizer(folder_with(tmp_path, ROBERTA, AS_ROBERTA, [], tokenizer_class=class_name))
    if class_name == "T5Tokenizer":
        load_tokenizer(folder_with(tmp_path, ROBERTA, AS_ROBERTA, [], tokenizer_class=class_name, extra_ids=0))


@pytest.mark.parametrize(
    ("class_name", "tokens", "puts"),
    [
        ("FunnelTokenizer", ["<cls>", "<sep>"], "<cls> and <sep>"),
        ("XLNetTokenizer", ["<cls>", "<sep>"], "<sep> and <cls>"),
        ("MBartTokenizer", ["ar_AR", "en_XX"], "</s> and en_XX"),
        ("NllbTokenizer", ["ace_Arab", "eng_Latn"], "eng_Latn and </s>"),
        ("CLIPTokenizer", ["<|startoftext|>", "<|endoftext|>"], r"<\|startoftext\|> and <\|endoftext\|>"),
    ],
)
def test_rows_of_a_file_that_are_not_those_of_its_class_are_refused(
    class_name: str, tokens: list[str], puts: str, tmp_path: Path
) -> None:
    folder = folder_with(tmp_path, [*ROBERTA, *tokens], None, [], tokenizer_class=class_name)
    tokenizer = load_tokenizer(folder)
    assert tokenizer.encode(TEXT)
    with pytest.raises(ConfigError, match=f"name {class_name}, which in transformers 5 puts {puts} around a text"):
        tokenizer(TEXT)


PAIR = {"TemplateProcessing": "[CLS] $A [SEP] [SEP] $B [SEP]", "BertProcessing": "[CLS] $A [SEP] $B:1 [SEP]:1"}


@pytest.mark.parametrize("name", ["DebertaTokenizer", "BertTokenizer", "SplinterTokenizer", "RobertaTokenizer"])
def test_pairs_of_a_class_that_its_file_does_not_have_are_refused(name: str, tmp_path: Path) -> None:
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocab = {token: place for place, token in enumerate([*specials, "[QUESTION]", "the", "low", "."])}
    for form in PAIR.values():
        tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
        tokenizer.add_special_tokens(specials)
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair=form, special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        tokenizer.save(str(tmp_path / "tokenizer.json"))
        roles = {f"{token.strip('[]').lower()}_token": token for token in specials}
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name} | roles))
        ours = load_tokenizer(tmp_path)
        assert ours("the low")["input_ids"] == [2, 6, 7, 3]
        assert ours(["the", "low"], ["low", "the"], add_special_tokens=False)["input_ids"] == [[6, 7], [7, 6]]
        same = (":1" in form) == (name == "BertTokenizer") and name != "SplinterTokenizer"
        if same:
            assert ours("the", "low")["input_ids"] == tokenizer.encode("the", "low").ids
            continue
        with pytest.raises(ConfigError, match=f"{name}, which .* beside it name, has the rows .* of two texts"):
            ours("the", "low")
        with pytest.raises(ConfigError, match="open the folder with the version whose rows you want, save it"):
            ours.num_special_tokens_to_add(pair=True)
        assert len(ours.encode_pair("the", "low")["input_ids"]) == len(tokenizer.encode("the", "low"))
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizer"} | roles))
        assert load_tokenizer(tmp_path)("the", "low")["input_ids"] == tokenizer.encode("the", "low").ids


def test_the_id_for_unknown_characters_is_that_of_the_class_or_refused(transformers: Any) -> None:
    names = [*(f"<{place}>" for place in range(5)), "\u2581", "[CLS]", "[SEP]", "<s>", "</s>", "<sep>", "<cls>"]
    pieces = [[name, 0.0] for name in names]
    for family in ("XLMRoberta", "XLNet", "DebertaV2", "Camembert"):
        name = f"{family}Tokenizer"
        for unknown in ("<unk>", "<2>"):
            config = with_class_tokens({"tokenizer_class": name, "unk_token": unknown})
            expected = expected_unknown(config, pieces)
            theirs = getattr(transformers, name)(vocab=[(piece, score) for piece, score in pieces], unk_token=unknown)
            model = json.loads(theirs.backend_tokenizer.to_str())["model"]
            assert model["unk_id"] == expected, (name, unknown)
            for unk_id in range(3):
                model = {"type": "Unigram", "unk_id": unk_id, "vocab": pieces, "byte_fallback": False}
                if unk_id != expected:
                    with pytest.raises(InputError, match=f"has the id {unk_id} for unknown .* takes {expected} in"):
                        check_settings({"model": model}, config)
                else:
                    check_settings({"model": model}, config)


def test_padding_whose_type_depends_on_the_version_is_refused(tmp_path: Path) -> None:
    tokens = ["<s>", "</s>", "<unk>", "<sep>", "<pad>", "<cls>", "<mask>"]
    tokenizer = load_tokenizer(folder_with(tmp_path, tokens, None, tokens, tokenizer_class="XLNetTokenizer"))
    row: Any = {"add_special_tokens": False, "padding": "max_length", "max_length": 9}
    assert tokenizer("the", **row)["attention_mask"][0] == 0
    with pytest.raises(ConfigError, match="padding has the token type 3 in XLNetTokenizer of transformers 4"):
        tokenizer("the", return_token_type_ids=True, **row)


def test_a_role_that_settings_give_to_none_has_none(tmp_path: Path) -> None:
    for config in ({"mask_token": None}, {"mask_token": None, "tokenizer_class": "RobertaTokenizer"}):
        folder = folder_with(tmp_path / "f", ROBERTA, AS_ROBERTA, ROBERTA, **config)
        tokenizer = load_tokenizer(folder)
        assert (tokenizer.mask_token, tokenizer.pad_token) == (None, "<pad>")
        tokenizer.save_pretrained(tmp_path / "saved")
        assert load_tokenizer(tmp_path / "saved").mask_token is None


@pytest.mark.parametrize("kind", ["WordPiece", "Unigram", "BPE"])
def test_spaces_are_cleaned_up_where_settings_say_so(kind: str, transformers: Any, tmp_path: Path) -> None:
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = ["it", "is", "n't", ",", ".", "'", "x", "'re", "?"]
    pieces = [*specials, *(f"\u2581{word}" if kind == "Unigram" else word for word in words)]
    made: dict[str, Any] = {
        "WordPiece": lambda: models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"),
        "Unigram": lambda: models.Unigram([(piece, -1.0) for piece in pieces], 1, False),
        "BPE": lambda: models.BPE({piece: at for at, piece in enumerate(pieces)}, []),
    }
    tokenizer = Tokenizer(made[kind]())
    if kind == "WordPiece":
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = {"WordPiece": decoders.WordPiece(), "Unigram": decoders.Metaspace()}.get(kind, decoders.Fuse())
    tokenizer.add_special_tokens(specials)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    roles = {f"{token.strip('[]').lower()}_token": token for token in specials}
    for cleans in (True, False, None):
        config = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": cleans} | roles
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
        ours, theirs = load_tokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(tmp_path)
        ids = [*range(5, 14), 10, 11, 10, 9, 5]
        assert ours.decode(ids) == theirs.decode(ids), cleans
        ours.save_pretrained(tmp_path / "saved")
        assert load_tokenizer(tmp_path / "saved").decode(ids) == ours.decode(ids)


@pytest.mark.parametrize("name", sorted({*PREFIX_SPACE, *SPACE_BY_VERSION, "TokenizersBackend"}))
def test_a_space_before_a_text_is_that_of_the_class_where_settings_do_not_say_it(
    name: str, transformers: Any, tmp_path: Path
) -> None:
    tokens = [*ROBERTA, "[PAD]", "[MASK]", "[MASK2]", "<|endoftext|>", "<|padding|>"]
    folder = folder_with(tmp_path, tokens, None, tokens, tokenizer_class=name)
    for says in (True, False):
        data = json.loads((folder / "tokenizer.json").read_text())
        data["pre_tokenizer"]["add_prefix_space"] = says
        (folder / "tokenizer.json").write_text(json.dumps(data))
        theirs = transformers.AutoTokenizer.from_pretrained(folder).tokenize("the")
        if name in SPACE_BY_VERSION and (says or name == "BlenderbotTokenizer"):
            with pytest.raises(InputError, match=f"where {name} of transformers 4 puts none .*; put the add_p"):
                load_tokenizer(folder)
        else:
            assert load_tokenizer(folder).tokenize("the") == theirs


@pytest.mark.parametrize("name", ["GemmaTokenizerFast", "LlamaTokenizer"])
def test_rows_that_transformers_4_makes_by_two_settings_are_those_of_the_file_or_refused(
    name: str, tmp_path: Path
) -> None:
    tokens = ["<s>", "</s>", "<unk>", "<pad>"]
    for eos, pair, flags, single_is_same, pair_is_same in (
        ("</s>", "<s> $A </s> <s>:1 $B:1 </s>:1", {}, False, False),
        ("</s>", "<s> $A </s> <s>:1 $B:1 </s>:1", {"add_eos_token": True}, True, True),
        ("</s>", "<s> $A </s> $B </s>", {"add_eos_token": True, "add_bos_token": True}, True, False),
        ("", "<s> $A <s>:1 $B:1", {}, True, True),
        ("", "<s> $A <s>:1 $B:1", {"add_bos_token": False}, False, False),
    ):
        config = {"tokenizer_class": name, "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", **flags}
        folder = folder_with(tmp_path, tokens, None, tokens, **config)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        ids = [(token, tokenizer.token_to_id(token)) for token in tokens[:2]]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"<s> $A {eos}".strip(), pair=pair, special_tokens=ids
        )
        tokenizer.save(str(folder / "tokenizer.json"))
        ours = load_tokenizer(folder)
        for texts, is_same in ((("the",), single_is_same), (("the", "low"), pair_is_same)):
            if is_same:
                assert ours(*texts)["input_ids"] == tokenizer.encode(*texts).ids
            else:
                with pytest.raises(
                    ConfigError, match=r"make the two say the same|in transformers 4, and its post_proc"
                ):
                    ours(*texts)
