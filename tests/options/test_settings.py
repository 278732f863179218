from __future__ import annotations

import argparse
import json
from dataclasses import FrozenInstanceError, asdict, dataclass, fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.curation.settings import DecontaminationConfig, DedupConfig, DedupSpansConfig
from bertdata.errors import ConfigError, naming_flags
from bertdata.finetune.settings import TaskConfig
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.settings import ExamplesConfig
from bertdata.options.flags import add_flags
from bertdata.options.option import Settings, option
from bertdata.options.request import each_settings_from, settings_from
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.settings import ShardsConfig
from bertdata.sources.settings import CleaningConfig
from bertdata.tokenizers.settings import VocabularyConfig

CONFIGS: list[type[Any]] = [
    CleaningConfig,
    DedupConfig,
    DecontaminationConfig,
    DedupSpansConfig,
    VocabularyConfig,
    SentencesConfig,
    ShardsConfig,
    MaskingConfig,
    ExamplesConfig,
]
NAN = float("nan")


@dataclass(frozen=True)
class Own(Settings):
    """A setting without limits."""

    rate: float = option(0.5, "any finite number")


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser()
    for config in CONFIGS:
        add_flags(result, config)
    return result


def test_the_defaults_are_those_of_the_bert_paper() -> None:
    masking, examples = MaskingConfig(), ExamplesConfig()
    assert (masking.masked_lm_prob, masking.mask_token_prob, masking.random_token_prob) == (0.15, 0.8, 0.1)
    assert (examples.objective, examples.max_seq_length, examples.short_seq_prob) == ("nsp", 128, 0.1)
    assert VocabularyConfig().vocab_size == 30_000


DEFAULTS: dict[type[Any], dict[str, Any]] = {
    CleaningConfig: {
        "range_bytes": 0,
        "split_chapters": False,
        "min_words": 0,
        "templates": "",
        "filter": (),
        "clean": (),
        "rejects": "",
    },
    DedupConfig: {"dedup": "none", "dedup_threshold": 0.8},
    DedupSpansConfig: {
        "dedup_spans": "none",
        "dedup_spans_min_words": 10,
        "dedup_spans_words_left": 50,
        "dedup_spans_sentences_left": 3,
    },
    DecontaminationConfig: {
        "decontaminate": (),
        "decontaminate_ngram": 13,
        "decontaminate_action": "drop",
    },
    VocabularyConfig: {
        "vocab_size": 30_000,
        "do_lower_case": True,
        "criterion": "likelihood",
        "min_frequency": 2,
        "limit_alphabet": 1000,
        "unused_tokens": 0,
        "max_words": 5_000_000,
    },
    SentencesConfig: {"sentences": "english", "attach_citations": False},
    ShardsConfig: {"shard_bytes": 64 << 20, "validation_fraction": 0.01},
    MaskingConfig: {
        "masked_lm_prob": 0.15,
        "mask_token_prob": 0.8,
        "random_token_prob": 0.1,
        "max_predictions_per_seq": 0,
        "mask_unit": "token",
        "replace_unit": "token",
        "max_ngram": 3,
        "span_prob": 0.2,
        "max_span": 10,
        "random_tokens": "ordinary",
    },
    ExamplesConfig: {
        "objective": "nsp",
        "masking": "dynamic",
        "max_seq_length": 128,
        "short_seq_prob": 0.1,
        "dupe_factor": 1,
        "seed": 0,
        "single_segment_prob": 0.1,
        "bin_size": 0,
        "pack": False,
        "pack_length": 0,
        "min_seq_length": 0,
    },
}


@pytest.mark.parametrize("config", CONFIGS)
def test_another_default_would_be_another_build(config: type[Any]) -> None:
    settings = asdict(config())
    assert {name: settings[name] for name in DEFAULTS[config]} == DEFAULTS[config]


CHOICES = {
    "criterion": ["likelihood", "frequency", "score"],
    "decontaminate_action": ["drop", "cut"],
    "dedup": ["none", "exact", "near"],
    "dedup_spans": ["none", "paragraphs", "sentences"],
    "mask_unit": ["token", "word", "ngram", "token-ngram", "span"],
    "masking": ["dynamic", "static"],
    "objective": [
        *("nsp", "sentence-pair-nsp", "sop", "doc-sentences", "full-sentences", "single-segment"),
        *("doc-chunks", "joined-chunks"),
    ],
    "random_tokens": ["ordinary", "vocabulary"],
    "replace_unit": ["token", "unit"],
}


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_is_taken_by_the_flag_and_the_setting(name: str) -> None:
    [config] = [config for config in CONFIGS if name in {each.name for each in fields(config)}]
    for choice in CHOICES[name]:
        flags = parser().parse_args([f"--{name.replace('_', '-')}", choice])
        assert getattr(settings_from(flags, config), name) == choice
    with pytest.raises(ConfigError, match="is 'other'") as raised:
        config(**{name: "other"})
    assert {*CHOICES[name]} <= {*str(raised.value).partition("expected one of ")[2].split(", ")}


@pytest.mark.parametrize("config", CONFIGS)
def test_flags_left_out_give_the_defaults(config: type[Any]) -> None:
    assert settings_from(parser().parse_args([]), config) == config()


@pytest.mark.parametrize("config", CONFIGS)
def test_every_setting_has_a_flag_with_help(config: type[Any]) -> None:
    shown = parser().format_help()
    for field in fields(config):
        assert "--" + field.name.replace("_", "-") in shown
        assert field.metadata["help"]


def test_flags_reach_their_settings_with_their_types() -> None:
    given_flags = "--max-seq-length 512 --short-seq-prob 0.2 --objective sop --masked-lm-prob 0.4 --range-bytes 7"
    flags = parser().parse_args(given_flags.split())
    assert settings_from(flags, ExamplesConfig) == ExamplesConfig("sop", "dynamic", 512, 0.2)
    assert settings_from(flags, MaskingConfig) == MaskingConfig(0.4)
    assert settings_from(flags, CleaningConfig) == CleaningConfig(7)


def test_booleans_can_be_switched_off_and_on() -> None:
    for flag, value in (("--no-do-lower-case", False), ("--do-lower-case", True)):
        assert settings_from(parser().parse_args([flag]), VocabularyConfig).do_lower_case is value


def test_a_choice_that_is_none_is_refused_by_the_flag_too() -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["--objective", "mlm"])


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        (CleaningConfig, {"range_bytes": -1}),
        (CleaningConfig, {"min_words": -1}),
        (DedupConfig, {"dedup": "all"}),
        (DedupConfig, {"dedup_threshold": 0.29}),
        (DedupConfig, {"dedup_threshold": 1.01}),
        (DedupConfig, {"dedup_threshold": NAN}),
        (DedupConfig, {"dedup_minhash": "14"}),
        (DedupConfig, {"dedup_minhash": "40x8"}),
        (DedupSpansConfig, {"dedup_spans": "lines"}),
        (DedupSpansConfig, {"dedup_spans_min_words": 0}),
        (DedupSpansConfig, {"dedup_spans_words_left": -1}),
        (DecontaminationConfig, {"decontaminate_ngram": 2}),
        (DecontaminationConfig, {"decontaminate_action": "mark"}),
        (VocabularyConfig, {"vocab_size": 9}),
        (VocabularyConfig, {"max_words": 0}),
        (VocabularyConfig, {"min_frequency": 0}),
        (VocabularyConfig, {"limit_alphabet": 0}),
        (VocabularyConfig, {"unused_tokens": -1}),
        (VocabularyConfig, {"criterion": "best"}),
        (ShardsConfig, {"shard_bytes": 1023}),
        (ShardsConfig, {"validation_fraction": 1.0}),
        (ShardsConfig, {"validation_fraction": -0.01}),
        (ShardsConfig, {"validation_fraction": NAN}),
        (MaskingConfig, {"masked_lm_prob": 0.0}),
        (MaskingConfig, {"masked_lm_prob": 1.0}),
        (MaskingConfig, {"masked_lm_prob": 15}),
        (MaskingConfig, {"masked_lm_prob": NAN}),
        (MaskingConfig, {"mask_token_prob": 0.95}),
        (MaskingConfig, {"mask_token_prob": NAN}),
        (MaskingConfig, {"random_token_prob": -0.1}),
        (MaskingConfig, {"random_token_prob": NAN}),
        (MaskingConfig, {"max_predictions_per_seq": -1}),
        (MaskingConfig, {"mask_unit": "words"}),
        (MaskingConfig, {"replace_unit": "word"}),
        (MaskingConfig, {"random_tokens": "all"}),
        (MaskingConfig, {"max_ngram": 0}),
        (MaskingConfig, {"max_ngram": 101}),
        (MaskingConfig, {"span_prob": 0.0}),
        (MaskingConfig, {"span_prob": 1.0}),
        (MaskingConfig, {"span_prob": NAN}),
        (MaskingConfig, {"max_span": 0}),
        (MaskingConfig, {"max_span": 101}),
        (ExamplesConfig, {"objective": "NSP"}),
        (ExamplesConfig, {"single_segment_prob": -0.1}),
        (ExamplesConfig, {"single_segment_prob": NAN}),
        (ExamplesConfig, {"single_segment_prob": 1.1}),
        (ExamplesConfig, {"short_seq_prob": -0.1}),
        (ExamplesConfig, {"masking": ""}),
        (ExamplesConfig, {"max_seq_length": 7}),
        (ExamplesConfig, {"max_seq_length": 65_537}),
        (ExamplesConfig, {"short_seq_prob": 1.1}),
        (ExamplesConfig, {"short_seq_prob": NAN}),
        (ExamplesConfig, {"dupe_factor": 0}),
    ],
)
def test_a_wrong_setting_is_named_as_in_python_with_what_was_given(config: type[Any], wrong: dict[str, Any]) -> None:
    [(name, value)] = wrong.items()
    with pytest.raises(ConfigError) as caught:
        config(**wrong)
    assert f"`{name}`" in str(caught.value)
    assert str(value).removesuffix(".0") in str(caught.value)
    assert "expected" in str(caught.value) or "give" in str(caught.value)


@pytest.mark.parametrize(
    ("config", "wrong", "message"),
    [
        (MaskingConfig, {"max_ngram": 300}, "`max_ngram` is 300; expected 1 to 100, as 3"),
        (MaskingConfig, {"span_prob": 1}, "`span_prob` is 1; expected more than 0 and less than 1, as 0.2"),
        (ShardsConfig, {"validation_fraction": 1.0}, "is 1.0; expected 0 or more and less than 1, as 0.01"),
        (VocabularyConfig, {"max_words": 0}, "`max_words` is 0; expected 1 or more, as 5000000"),
        (ExamplesConfig, {"dupe_factor": 0}, "`dupe_factor` is 0; expected 1 or more"),
        (TaskConfig, {"max_seq_length": 7}, "`max_seq_length` is 7; expected 8 to 65536, or 0"),
        (Own, {"rate": float("inf")}, "`rate` is inf; expected a finite number"),
        (Own, {"rate": NAN}, "`rate` is nan; expected a finite number"),
    ],
)
def test_a_value_outside_its_limits_is_told_what_is_expected_and_the_default(
    config: type[Any], wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        config(**wrong)
    assert str(caught.value).endswith(message)


def test_the_help_shows_the_limits_before_the_default() -> None:
    shown = " ".join(parser().format_help().split())
    assert "(ALBERT: 3) (1 to 100; default: 3)" in shown
    assert "0: no limit (0 or more; default: 0)" in shown


def test_several_lengths_give_a_setting_each_in_ascending_order() -> None:
    flags = parser().parse_args(["--max-seq-length", "512", "128", "--objective", "sop"])
    expected = [ExamplesConfig("sop", max_seq_length=length) for length in (128, 512)]
    assert list(each_settings_from(flags, ExamplesConfig)) == expected
    assert each_settings_from(flags, MaskingConfig) == (MaskingConfig(),)
    assert each_settings_from(parser().parse_args([]), ExamplesConfig) == (ExamplesConfig(),)


def test_several_lengths_where_one_is_expected_or_one_given_twice_are_refused() -> None:
    with naming_flags(), pytest.raises(ConfigError, match="--max-seq-length 128 512 has 2 values"):
        settings_from(parser().parse_args(["--max-seq-length", "128", "512"]), ExamplesConfig)
    with naming_flags(), pytest.raises(ConfigError, match="--max-seq-length 128 128 has a value twice"):
        each_settings_from(parser().parse_args(["--max-seq-length", "128", "128"]), ExamplesConfig)
    with naming_flags(), pytest.raises(ConfigError, match="--max-seq-length is 7"):
        each_settings_from(parser().parse_args(["--max-seq-length", "128", "7"]), ExamplesConfig)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"bin_size": 7}, "`bin_size` is 7; expected 0"),
        ({"bin_size": -8}, "`bin_size` is -8; expected 0"),
        ({"bin_size": 128}, "8 to less than the 128 tokens of a row"),
        ({"bin_size": 8, "max_seq_length": 1024}, "at most 64 bins"),
        ({"bin_size": 32, "pack": True}, "but packed rows are all of about one length; give one of them"),
        ({"pack": True, "pack_length": (1 << 20) + 1}, "`pack_length` is 1048577; expected 0, or with `pack`"),
        ({"bin_size": 8, "max_seq_length": 513}, "at most 64 bins"),
        ({"min_seq_length": 7}, "`min_seq_length` is 7; expected 8 or more, or 0"),
        ({"min_seq_length": -12}, "`min_seq_length` is -12; expected 8 or more, or 0"),
        ({"min_seq_length": 129}, "`min_seq_length` is 129; expected 0 .no draw., or 8 to the 128 tokens of `max_"),
        ({"pack_length": 512}, "`pack_length` is 512; expected 0, or with `pack`"),
        ({"pack": True, "pack_length": 64}, "`pack_length` is 64; expected 0, or with `pack` a number from the 128"),
    ],
)
def test_rows_that_cannot_be_made_are_refused_with_the_reason(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        ExamplesConfig(**settings)


def test_the_ends_of_what_is_allowed_are_allowed() -> None:
    ExamplesConfig(bin_size=8, max_seq_length=512)
    ExamplesConfig(pack=True, pack_length=128)
    MaskingConfig(mask_token_prob=0.7, random_token_prob=0.3)
    MaskingConfig(mask_token_prob=1.0, random_token_prob=0.0)
    MaskingConfig(mask_token_prob=0.0, random_token_prob=0.0, max_predictions_per_seq=0)
    for length in (8, 65_536):
        ExamplesConfig(max_seq_length=length)
    for share in (0.0, 1.0):
        ExamplesConfig(short_seq_prob=share)
        ExamplesConfig(single_segment_prob=share)
    ShardsConfig(shard_bytes=1024, validation_fraction=0)
    VocabularyConfig(vocab_size=10, min_frequency=1, limit_alphabet=1, max_words=1)
    for most in (1, 100):
        MaskingConfig(max_ngram=most, max_span=most)
    for threshold in (0.3, 1.0):
        DedupConfig("near", threshold)
    ExamplesConfig(pack=True, pack_length=1 << 20)
    for length in (8, 128):
        ExamplesConfig(min_seq_length=length)
    for objective in OBJECTIVES:
        ExamplesConfig(objective=objective)


@pytest.mark.parametrize("config", CONFIGS)
def test_settings_cannot_be_changed_and_go_through_json(config: type[Any]) -> None:
    settings = config()
    with pytest.raises(FrozenInstanceError):
        setattr(settings, fields(config)[0].name, 1)
    assert config(**json.loads(json.dumps(asdict(settings)))) == settings


def test_a_row_is_as_long_as_an_example_or_as_what_is_packed_into_it() -> None:
    assert ExamplesConfig(max_seq_length=64).row_length == 64
    assert ExamplesConfig(max_seq_length=64, pack=True).row_length == 64
    assert ExamplesConfig(max_seq_length=64, pack=True, pack_length=256).row_length == 256


def test_length_bins_end_with_the_longest_row() -> None:
    assert ExamplesConfig(max_seq_length=64).bins == (64,)
    assert ExamplesConfig(max_seq_length=64, bin_size=16).bins == (16, 32, 48, 64)
    assert ExamplesConfig(max_seq_length=65, bin_size=16).bins == (16, 32, 48, 64, 65)
    assert len(ExamplesConfig(max_seq_length=512, bin_size=8).bins) == 64


@given(st.integers(0, 1 << 50), st.sampled_from([("wikipedia", 1 << 20), ("books", 1 << 20), ("documents", 4 << 20)]))
def test_the_range_is_a_64th_of_the_input_within_bounds(total: int, kind_and_least: tuple[str, int]) -> None:
    kind, least = kind_and_least
    target = CleaningConfig().target_bytes(total, kind)
    assert least <= target <= 16 << 20
    assert target == least or target * 64 <= total
    assert CleaningConfig(range_bytes=5).target_bytes(total, kind) == 5


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_seq_length", None, "`max_seq_length` is of the type NoneType; expected int"),
        ("max_seq_length", "128", "`max_seq_length` is of the type str; expected int"),
        ("max_seq_length", True, "`max_seq_length` is of the type bool; expected int"),
        ("short_seq_prob", b"1", "`short_seq_prob` is of the type bytes; expected float"),
        ("objective", object(), "`objective` is of the type object; expected str"),
        ("pack", 1, "`pack` is of the type int; expected bool"),
    ],
)
def test_a_setting_of_another_type_is_refused_without_its_repr(name: str, value: object, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ExamplesConfig(**{name: value})  # type: ignore[arg-type]
    assert str(caught.value) == message
    assert ExamplesConfig(short_seq_prob=1).short_seq_prob == 1
