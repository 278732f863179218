"""Calls give what `AutoTokenizer` gives for the same file, argument by argument."""

from __future__ import annotations

import json
import pickle
import warnings
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata import WordPieceTokenizer, load_tokenizer
from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers import Tokenizer
from bertdata.tokenizers.call_settings import PADS_LEFT, WITH_TYPES
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.data import ROOT, data_path
from tests.generated import examples
from tests.tokenizers.of_models import MODELS, tokenizer_of
from tests.tokenizers.small import SMALL, SPECIAL, byte_level, byte_pair_model, json_tokenizer

REAL = sorted(path.parent.name for path in ROOT.glob("tokenizers/*/tokenizer.json")) or ["roberta"]
QUICK_REAL = [name if name == "roberta" else pytest.param(name, marks=pytest.mark.slow) for name in REAL]
WORDS = ["the", "lower", "hello", "low", "ab", "can't", "2024", "café"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


def template(single: str, pair: str) -> dict[str, Any]:
    """Return a `post_processor` of [CLS] and [SEP] as `tokenizers` writes it."""
    from tokenizers import Tokenizer as Reference
    from tokenizers import models, processors

    reference = Reference(models.WordLevel({"a": 0}, "a"))
    reference.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[("[CLS]", 2), ("[SEP]", 3), ("[MASK]", 4)]
    )
    part: dict[str, Any] = json.loads(reference.to_str())["post_processor"]
    return part


def small(post_processor: Any, **config: Any) -> JsonTokenizer:
    """Return a small byte-level BPE with a template of its own."""
    data = dict(json_tokenizer(byte_pair_model(), byte_level())._data) | {"post_processor": post_processor}
    return JsonTokenizer(data, {"tokenizer_class": "PreTrainedTokenizerFast", **config})


MADE: dict[str, Tokenizer] = {
    **{f"of {name}": tokenizer_of(name) for name in MODELS},
    "wordpiece": WordPieceTokenizer.from_tokens([*SPECIAL, "the", "hello", "##s", "low", "##er", "a", "b"]),
    "unigram": SMALL["albert"],
    "gemma": small(template("[CLS] $A", "[CLS] $A [CLS]:1 $B:1")),
    "first with a type": small(template("[CLS]:1 $A:1 [SEP]", "[CLS]:1 $B:2 [SEP] $A:0")),
    "a space before words": JsonTokenizer(
        dict(json_tokenizer(byte_pair_model(), byte_level(add_prefix_space=True))._data)
        | {"post_processor": {"type": "RobertaProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2],
                              "trim_offsets": True, "add_prefix_space": True}},
        {},
    ),
    "nothing around": small(None),
    "bytes around": small(byte_level()),
    "left, with types": small(
        template("$A [SEP] [CLS]:2", "$A [SEP] $B:1 [SEP]:1 [CLS]:2"),
        padding_side="left", truncation_side="left", model_max_length=9,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    ),
    "no mask": small(template("[CLS] $A", "[CLS] $A [SEP] $B"), model_input_names=["input_ids"], model_max_length=6),
}  # fmt: skip

ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "add_special_tokens": st.booleans(),
        "padding": st.sampled_from([True, False, "longest", "max_length", "do_not_pad"]),
        "truncation": st.sampled_from(
            [True, False, None, "longest_first", "only_first", "only_second", "do_not_truncate"]
        ),
        "max_length": st.sampled_from([None, 4, 6, 8, 12]),
        "stride": st.sampled_from([0, 1, 2]),
        "return_overflowing_tokens": st.booleans(),
        "pad_to_multiple_of": st.sampled_from([None, 4]),
        "padding_side": st.sampled_from([None, "left", "right"]),
        "return_token_type_ids": st.sampled_from([None, True, False]),
        "return_attention_mask": st.sampled_from([None, True, False]),
        "return_special_tokens_mask": st.booleans(),
        "return_offsets_mapping": st.booleans(),
        "return_length": st.booleans(),
        "return_tensors": st.sampled_from([None, "np"]),
    },
)
INPUTS = st.one_of(
    st.tuples(TEXTS, st.none()),
    st.tuples(TEXTS, TEXTS),
    st.tuples(st.lists(TEXTS, min_size=1, max_size=3), st.none()),
    st.integers(1, 3).flatmap(
        lambda n: st.tuples(st.lists(TEXTS, min_size=n, max_size=n), st.lists(TEXTS, min_size=n, max_size=n))
    ),
    st.tuples(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3), st.none()),
    st.tuples(st.tuples(TEXTS, TEXTS), st.none()),
)


@cache
def opened(name: str) -> tuple[Tokenizer, Any]:
    """Return a tokenizer of ours, and what `AutoTokenizer` makes of the folder that it writes."""
    transformers = pytest.importorskip("transformers")
    with TemporaryDirectory() as folder:
        MADE[name].save_pretrained(folder)
        ours = load_tokenizer(folder)
        assert ours == MADE[name]
        return ours, transformers.AutoTokenizer.from_pretrained(folder)


def result_of(tokenizer: Any, text: Any, pair: Any, arguments: dict[str, Any]) -> Any:
    """Return the columns of a call as lists, or None where it is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            output = tokenizer(text, pair, **arguments)
    except BaseException as error:
        if isinstance(error, AttributeError | KeyError | IndexError | AssertionError | KeyboardInterrupt):
            raise
        return None  # of a stride that is too large `tokenizers` panics
    columns = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in output.items()}
    if any(getattr(getattr(value, "dtype", None), "kind", "") == "O" for value in output.values()):
        return None  # rows of different lengths, which NumPy takes as objects
    return json.loads(json.dumps(columns))  # tuples are lists


@pytest.mark.parametrize("name", MADE)
@settings(max_examples=examples(15), deadline=None)
@given(inputs=INPUTS, arguments=ARGUMENTS)
def test_calls_equal_those_of_transformers(name: str, inputs: tuple[Any, Any], arguments: dict[str, Any]) -> None:
    ours, theirs = opened(name)
    assert result_of(ours, *inputs, arguments) == result_of(theirs, *inputs, arguments)


@pytest.mark.parametrize("name", QUICK_REAL)
def test_calls_of_published_tokenizers_equal_those_of_transformers(name: str) -> None:
    transformers = pytest.importorskip("transformers")
    path = data_path("tokenizers", name)
    ours, theirs = load_tokenizer(path), transformers.AutoTokenizer.from_pretrained(path)
    long = " ".join(WORDS) * 20
    inputs: list[tuple[Any, Any]] = [
        ("the low", None),
        ("the low", "hello"),
        (["the", "", long], None),
        ([long, "a"], ["", long]),
    ]
    every: list[dict[str, Any]] = [
        {}, {"padding": True}, {"padding": "max_length", "truncation": True}, {"truncation": True, "max_length": 16},
        {"padding": True, "padding_side": "left"}, {"add_special_tokens": False}, {"return_token_type_ids": True},
        {"return_special_tokens_mask": True, "return_offsets_mapping": True, "return_length": True},
        {"padding": "max_length", "max_length": 300, "return_tensors": "np"}, {"max_length": 12},
    ]  # fmt: skip
    for text, pair in inputs:
        for arguments in every:
            if theirs.pad_token is None and "padding" in arguments:
                continue  # the files name none; here the usual name is taken
            assert result_of(ours, text, pair, arguments) == result_of(theirs, text, pair, arguments), (text, arguments)


def asked(encoding: Any, rows: int) -> dict[str, Any]:
    """Return all that an encoding says of where the tokens of its rows stand."""
    answers: dict[str, Any] = {}
    for number in range(rows):
        words = answers[f"{number} words"] = encoding.word_ids(number)
        answers[f"{number} texts"] = encoding.sequence_ids(number)
        for place in range(len(words)):
            for name in ("token_to_word", "token_to_chars", "token_to_sequence"):
                answers[f"{number} {name} {place}"] = getattr(encoding, name)(number, place)
        for place in range(9):
            for text in (0, 1):
                for name in ("char_to_token", "char_to_word", "word_to_tokens"):
                    answers[f"{number} {name} {place} {text}"] = getattr(encoding, name)(number, place, text)
    return answers


@pytest.mark.parametrize("name", ["of RoBERTa", "unigram", "wordpiece", "left, with types", "first with a type"])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"padding": True, "padding_side": "left"},
        {"truncation": "only_first", "max_length": 14, "stride": 1, "return_overflowing_tokens": True, "padding": True},
        {"add_special_tokens": False, "return_offsets_mapping": True},
    ],
)
def test_encodings_tell_where_tokens_stand_as_those_of_transformers(name: str, arguments: dict[str, Any]) -> None:
    texts = ["the lower hello low", "ab can't", "low the hello the low ab the"], ["hello", "the low", "ab"]
    ours, theirs = (tokenizer(*texts, **arguments) for tokenizer in opened(name))
    assert asked(ours, len(ours["input_ids"])) == asked(theirs, len(theirs["input_ids"]))
    assert ours.tokens(1) == theirs.tokens(1)
    assert ours[0].offsets == theirs[0].offsets
    assert ours.n_sequences == theirs.n_sequences == 2


def test_a_call_with_a_short_text_makes_no_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = small(template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1"))
    many = tokenizer(["the lower", "café"], ["hello", "low"])
    monkeypatch.setattr(JsonTokenizer, "_by_kernels", None)
    for number, pair in enumerate((("the lower", "hello"), ("café", "low"))):
        assert dict(tokenizer(*pair)) == {name: values[number] for name, values in many.items()}


def test_texts_for_the_target_give_labels() -> None:
    for name in ("of RoBERTa", "wordpiece"):
        ours, theirs = opened(name)
        texts: list[dict[str, Any]] = [{"text": "the", "text_target": "low ab"}, {"text_target": ["the", "low"]}]
        for arguments in texts:
            arguments |= {"max_target_length": 3, "truncation": True, "max_length": 8}
            assert dict(ours(**arguments)) == dict(theirs(**arguments))
    with pytest.raises(ConfigError, match="neither text nor text_target is given"):
        ours()


def test_a_vocabulary_that_says_no_length_has_none(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    (tmp_path / "vocab.txt").write_text("\n".join([*SPECIAL, "the"]))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    ours = load_tokenizer(tmp_path)
    ours.save_pretrained(tmp_path / "saved")
    text = "the " * 600
    for folder in (tmp_path, tmp_path / "saved"):
        theirs = transformers.AutoTokenizer.from_pretrained(folder)
        ids = load_tokenizer(folder)(text, truncation=True)["input_ids"]
        assert ids == theirs(text, truncation=True, verbose=False)["input_ids"]
        assert len(ids) == 602


def test_texts_and_settings_that_calls_do_not_take_are_refused() -> None:
    tokenizer: Any = MADE["wordpiece"]
    calls: dict[str, dict[str, Any]] = {
        "padding is 'all'": {"text": "the", "padding": "all"},
        "stride is -1": {"text": "the", "stride": -1},
        "stride is 3, and max_length 5 leaves 3": {"text": "the", "stride": 3, "max_length": 5},
        "stride is 1, and 1 ids of a text stay": {"text": "the the", "text_pair": "a a", "stride": 1, "max_length": 5},
        "holds 3 texts": {"text": [("a", "b", "the")]},
        "expected a string, found int": {"text": [("a", 1)]},
        "expected a list of words": {"text": "the", "is_split_into_words": True},
        "no text becomes a special token here": {"text": "the", "split_special_tokens": False},
    }
    for match, arguments in calls.items():
        with pytest.raises(ConfigError, match=match):
            tokenizer(**arguments)
    copied = pickle.loads(pickle.dumps(tokenizer("the")))
    assert copied == tokenizer("the")
    with pytest.raises(ConfigError, match="these columns are a copy"):
        copied.word_ids()


def test_words_are_given_as_lists() -> None:
    for name in ("of RoBERTa", "of ModernBERT", "wordpiece", "unigram", "gemma"):
        ours, theirs = opened(name)
        if name.startswith("of RoBERTa"):
            continue  # transformers takes words of RoBERTa only with add_prefix_space
        for text in (["the", "lower", "hello"], [["the"], ["low", "ab"]]):
            expected = theirs(text, is_split_into_words=True)
            output = ours(text, is_split_into_words=True)
            assert output["input_ids"] == expected["input_ids"]
            assert output.word_ids(0) == expected.word_ids(0)


def test_a_space_before_a_word_that_is_given_alone_has_no_place_in_it() -> None:
    ours, theirs = opened("a space before words")
    arguments: dict[str, Any] = {"truncation": True, "max_length": 4, "return_overflowing_tokens": True}
    arguments |= {"is_split_into_words": True, "return_offsets_mapping": True}
    for text in (["the", "lower", "  low", "hello", " ab"], [["the", "the", "the"], ["low", "ab", "", " "]]):
        assert result_of(ours, text, None, arguments) == result_of(theirs, text, None, arguments)
        offsets = ours(text, **arguments)["offset_mapping"]
        assert min(start for row in offsets for start, _ in row) == 0


def test_rows_of_two_texts_are_refused_only_where_builds_ask_for_them() -> None:
    gemma = MADE["gemma"]
    assert gemma.encode_pair("the")["input_ids"] == [2, *gemma.encode("the")]
    assert gemma.row_template.special(pair=False) == 1
    with pytest.raises(
        ConfigError, match="gives no rows of two texts for training: its templates for one text and for two"
    ):
        gemma.encode_pair("the", "low")
    with pytest.raises(ConfigError, match="its template for pairs does not hold A and then B"):
        MADE["first with a type"].row_template  # noqa: B018


def test_settings_that_contradict_the_template_are_refused_where_rows_are_asked_for() -> None:
    around = template("[CLS] $A", "[CLS] $A $B:1")
    gpt2 = {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": False}
    tokenizer = small(around, add_bos_token=False, bos_token="[CLS]", tokenizer_class="LlamaTokenizer")
    assert tokenizer.encode("the")
    for call in (lambda: tokenizer("the"), lambda: tokenizer.encode_pair("the")):
        with pytest.raises(ConfigError, match="says add_bos_token = false, but the post_processor"):
            call()
    assert tokenizer("the", add_special_tokens=False)["input_ids"] == tokenizer.encode("the")
    assert small(around, add_bos_token=True, bos_token="[CLS]")("the")["input_ids"][0] == 2
    with pytest.raises(ConfigError, match=r"says add_eos_token = true, but .* does not put"):
        small(around, add_eos_token=True, eos_token="[SEP]", **gpt2)("the")
    with pytest.raises(ConfigError, match="says src_lang = 'en_XX'"):
        small(around, src_lang="en_XX")("the")


def test_the_classes_with_types_and_with_padding_on_the_left_are_those_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    if int(transformers.__version__.split(".")[0]) < 5:
        pytest.skip("the table is of transformers 5")
    base = transformers.PreTrainedTokenizerBase
    assert (base.model_input_names, base.padding_side) == (["input_ids", "attention_mask"], "right")
    for name in WITH_TYPES:
        assert "token_type_ids" in getattr(transformers, name).model_input_names, name
    for name in PADS_LEFT:
        assert getattr(transformers, name).padding_side == "left", name
    for name in ("RobertaTokenizer", "AlbertTokenizer", "T5Tokenizer", "GPT2Tokenizer", "XLMRobertaTokenizer"):
        kind = getattr(transformers, name)
        assert (kind.model_input_names, kind.padding_side) == (["input_ids", "attention_mask"], "right"), name


@pytest.mark.parametrize("with_vocabulary", [True, False])
@pytest.mark.parametrize(
    "class_name",
    [
        *("BertTokenizer", "ConvBertTokenizer", "DPRReaderTokenizer", "DistilBertTokenizer", "ElectraTokenizer"),
        *("FunnelTokenizer", "LayoutLMTokenizer", "LxmertTokenizer", "MPNetTokenizer", "MobileBertTokenizer"),
        *("RetriBertTokenizer", "SplinterTokenizer", "SqueezeBertTokenizer", "TokenizersBackend"),
    ],
)
def test_a_call_gives_what_the_class_of_the_settings_gives_in_transformers(
    class_name: str, with_vocabulary: bool, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    if int(transformers.__version__.split(".")[0]) < 5:
        pytest.skip("the classes are those of transformers 5")
    MADE["wordpiece"].save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**settings, "tokenizer_class": class_name}))
    if not with_vocabulary:
        (tmp_path / "vocab.txt").unlink()
    elif class_name in ("FunnelTokenizer", "MPNetTokenizer", "SplinterTokenizer"):
        pytest.skip("its vocabulary has other special tokens")
    names = list(transformers.AutoTokenizer.from_pretrained(tmp_path)("the").keys())
    tokenizer = load_tokenizer(tmp_path)
    assert sorted(tokenizer("the").keys()) == sorted(names)
    tokenizer.save_pretrained(tmp_path / "saved")
    assert sorted(load_tokenizer(tmp_path / "saved")("the").keys()) == sorted(names)
    assert sorted(transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")("the").keys()) == sorted(names)


@pytest.mark.parametrize("class_name", [None, "PreTrainedTokenizerFast", "BertTokenizer"])
def test_a_call_is_refused_where_transformers_would_put_nothing_around_texts(
    class_name: str | None, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    if int(transformers.__version__.split(".")[0]) < 5:
        pytest.skip("the classes are those of transformers 5")
    MADE["wordpiece"].save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").unlink()
    data = json.loads((tmp_path / "tokenizer.json").read_text())
    (tmp_path / "tokenizer.json").write_text(json.dumps({**data, "post_processor": None}))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": class_name} if class_name else {}))
    theirs, ours = transformers.AutoTokenizer.from_pretrained(tmp_path), load_tokenizer(tmp_path)
    alone = ours("the a", add_special_tokens=False)["input_ids"]
    assert alone == theirs("the a", add_special_tokens=False)["input_ids"]
    if class_name == "BertTokenizer":
        assert ours("the a")["input_ids"] == theirs("the a")["input_ids"]
        return
    assert theirs("the a")["input_ids"] == alone
    with pytest.raises(ConfigError, match="no post_processor, so that calls in transformers put nothing around texts"):
        ours("the a")
    ours.save_pretrained(tmp_path / "saved")
    saved = load_tokenizer(tmp_path / "saved")("the a")["input_ids"]
    assert saved == transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")("the a")["input_ids"]
    assert len(saved) == len(alone) + 2


def test_unknown_sides_and_texts_are_refused() -> None:
    tokenizer = MADE["wordpiece"]
    with pytest.raises(ConfigError, match="padding_side is 'top'"):
        tokenizer(["the", "a b"], padding=True, padding_side="top")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="expected a max_length that is one"):
        tokenizer("the", padding=True, truncation=True, max_length=7, pad_to_multiple_of=4)
    with pytest.raises(InputError, match="only_second"):
        tokenizer("the the the", "a", truncation="only_second", max_length=5)


def test_settings_of_calls_are_saved(tmp_path: Path) -> None:
    MADE["left, with types"].save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert (config["padding_side"], config["truncation_side"]) == ("left", "left")


@pytest.mark.parametrize("name", ["of RoBERTa", "wordpiece", "left, with types", "no mask"])
def test_rows_are_padded_as_by_transformers(name: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = opened(name)
    rows: Any = [{"input_ids": [5, 6, 7]}, {"input_ids": [8]}]
    masked = [{"input_ids": [5, 6], "attention_mask": [1, 0]}, {"input_ids": [8, 9, 5], "attention_mask": [1, 1, 1]}]
    arrays = [{"input_ids": np.array(row["input_ids"])} for row in rows]
    tensors = {"input_ids": [torch.tensor(row["input_ids"]) for row in rows]}
    for given_rows in (
        rows,
        *([] if name == "no mask" else [masked]),
        arrays,
        tensors,
        {"input_ids": [5, 6]},
        {"input_ids": [[5, 6], [7]]},
    ):
        for arguments in (
            {}, {"padding": "max_length", "max_length": 6}, {"pad_to_multiple_of": 4, "return_attention_mask": True},
            {"padding_side": "left"},
        ):  # fmt: skip
            padded = [tokenizer.pad(deepcopy(given_rows), **arguments) for tokenizer in (ours, theirs)]
            padded_rows, expected = ({n: np.asarray(column).tolist() for n, column in each.items()} for each in padded)
            assert padded_rows == expected, (given_rows, arguments)
            assert type(padded[0]["input_ids"]) is type(padded[1]["input_ids"])
    wrong_rows: list[Any] = [{}, [], {"labels": [1]}]
    for wrong in wrong_rows:
        with pytest.raises(ConfigError, match="there are no input_ids to pad"):
            ours.pad(wrong)


@pytest.mark.parametrize("name", ["wordpiece", "unigram"])
@pytest.mark.parametrize("said", [{}, {"padding_side": "right"}])
def test_sides_that_a_tokenizer_json_says_are_those_of_calls(name: str, said: dict[str, Any], tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    MADE[name].save_pretrained(tmp_path)
    data = json.loads((tmp_path / "tokenizer.json").read_text())
    data["truncation"] = {"direction": "Left", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    data["padding"] = {
        "strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
        "pad_token": "[PAD]",
    }  # fmt: skip
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    settings.pop("padding_side", None)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings | said))
    ours, theirs = load_tokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert (ours.padding_side, ours.truncation_side) == (said.get("padding_side", "left"), "left")
    arguments: dict[str, Any] = {"padding": True, "truncation": True, "max_length": 4}
    texts = ["the hello low a b", "a"]
    assert result_of(ours, texts, None, arguments) == result_of(theirs, texts, None, arguments)


@pytest.mark.parametrize(
    "model",
    [{"model_type": "bert"}, {"model_type": "mpnet"}, {"model_type": "x", "tokenizer_class": "DistilBertTokenizer"}],
)
def test_the_class_of_a_call_is_that_of_the_config_json_where_the_settings_name_none(
    model: dict[str, Any], tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    MADE["unigram"].save_pretrained(tmp_path)
    MADE["wordpiece"].save_pretrained(tmp_path / "wordpiece")
    for folder in (tmp_path, tmp_path / "wordpiece"):
        (folder / "vocab.txt").unlink(missing_ok=True)
        settings = json.loads((folder / "tokenizer_config.json").read_text())
        roles = {key: value for key, value in settings.items() if key.endswith("_token")}
        (folder / "tokenizer_config.json").write_text(json.dumps(roles))
        (folder / "config.json").write_text(json.dumps(model))
        names = sorted(load_tokenizer(folder)("the").keys())
        if folder != tmp_path:  # of a Unigram model AutoTokenizer makes none with these classes
            assert names == sorted(transformers.AutoTokenizer.from_pretrained(folder)("the").keys())
        assert ("token_type_ids" in names) == (model["model_type"] == "bert")


@pytest.mark.parametrize(
    ("around", "config", "message"),
    [
        (None, {}, "puts cls_token and sep_token around a text, but .* puts nothing there; save the folder"),
        (template("[MASK] [CLS] $A [SEP]", "[CLS] $A [SEP] $B:1"), {}, r"puts \[CLS\] and sep_token around"),
        (byte_level(), {"cls_token": "[CLS]"}, r"puts \[CLS\] and sep_token around a text"),
        (
            template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1"),
            {"sep_token": "[MASK]"},
            r"puts \[CLS\] and \[MASK\] around",
        ),
    ],
)
def test_rows_that_versions_of_transformers_make_otherwise_are_refused(
    around: Any, config: dict[str, Any], message: str
) -> None:
    roles = {} if around is None or "single" not in around else {"cls_token": "[CLS]"}
    tokenizer = small(around, tokenizer_class="RobertaTokenizerFast", **roles, **config)
    assert tokenizer.encode("the")
    for call in (lambda: tokenizer("the"), lambda: tokenizer.encode_pair("the")):
        with pytest.raises(ConfigError, match=message):
            call()
    as_the_file = small(around, **roles, **config)
    assert as_the_file("the", add_special_tokens=False)["input_ids"] == tokenizer.encode("the")
