"""`--library transformers` with any `--config` and `--config-overrides`: a model, or ConfigError."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bertdata.errors import BertDataError, ConfigError
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.base import Tokenizer
from bertdata.torch.models import from_transformers
from bertdata.torch.models.transformers_library import with_changes
from tests.torch.build import tokenizer_of, write_build

TYPES = (
    "albert", "bert", "big_bird", "camembert", "convbert", "deberta", "deberta-v2", "distilbert", "electra", "ernie",
    "esm", "eurobert", "fnet", "funnel", "longformer", "mobilebert", "modernbert", "mpnet", "nomic_bert", "rembert",
    "roberta", "roformer", "xlm", "xlm-roberta", "xlnet",
)  # fmt: skip
QUICK = ("deberta-v2", "modernbert", "roberta")
SIZES = {
    "num_hidden_layers": 2,
    "hidden_size": 16,
    "embedding_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "vocab_size": 100,
}
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(["-1", "0", "1", "2", "3", "7", "48", "1e12", "0.1", "nan", "true", "null", "[]", "[1, 2]", "{}"]),
    st.sampled_from(["text", "relu", "", '{"a": [1]}', "[" * 1500, '["full_attention"]', str(1 << 40), "-5000000000"]),
)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> PretrainingInfo:
    """What builds of single segments and of pairs say of their rows."""
    place = tmp_path_factory.mktemp("rows")
    return open_shards(
        write_build(place, ExamplesConfig(objective="full-sentences", max_seq_length=24))
    ).expect_pretraining()


def small_sizes(kind: str) -> dict[str, Any]:
    """Return small sizes for a type, by the names that its configs have."""
    peer = transformers.CONFIG_MAPPING[kind]()
    return {name: value for name, value in SIZES.items() if name in {*peer.to_dict(), *peer.attribute_map}}


def outcome(config: str, info: PretrainingInfo, tokenizer: Tokenizer, overrides: dict[str, Any]) -> str:
    """Return the class of the model that is made of a config, or what is said against it."""
    try:
        shape = from_transformers.resolve_config(config, info, overrides)
        kind = from_transformers.model_class(shape, info)
        return type(from_transformers.from_pretrained(config, info, tokenizer, shape, kind)).__name__
    except BertDataError as error:
        text = str(error)
    assert len(text) < 1200
    return text


def tried(info: PretrainingInfo, examples: int, types: Sequence[str]) -> None:
    tokenizer = tokenizer_of()

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def every_combination(data: st.DataObject) -> None:
        kind = data.draw(st.sampled_from(types))
        names = [*transformers.CONFIG_MAPPING[kind]().to_dict(), "to_dict", "no_such_key", "peer"]
        changes = data.draw(st.dictionaries(st.sampled_from(names), VALUES, max_size=3))
        outcome(kind, info, tokenizer, small_sizes(kind) | changes)

    every_combination()


def test_overrides_of_any_key_make_a_model_or_are_refused(rows: PretrainingInfo) -> None:
    tried(rows, 6, QUICK)


@pytest.mark.slow
def test_overrides_of_any_key_make_a_model_or_are_refused_many_times(rows: PretrainingInfo) -> None:
    tried(rows, 400, TYPES)


@pytest.mark.slow
def test_every_model_type_makes_a_model_or_is_refused(rows: PretrainingInfo) -> None:
    tokenizer = tokenizer_of()
    outcomes = {}
    for kind in transformers.CONFIG_MAPPING:
        try:
            sizes = small_sizes(kind)
        except Exception:  # configs that transformers makes of no values at all
            sizes = {}
        outcomes[kind] = outcome(kind, rows, tokenizer, sizes)
    made = [
        kind for kind, message in outcomes.items() if message.startswith("TransformersFor") or "Model" in message[:20]
    ]
    assert {"bert", "deberta-v2", "modernbert", "roberta", "xlnet"} <= {*made}


@settings(
    max_examples=25, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(data=st.data())
def test_a_config_json_of_any_values_makes_a_model_or_is_refused(
    rows: PretrainingInfo, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    kind, folder = data.draw(st.sampled_from(QUICK)), tmp_path_factory.mktemp("config")
    peer = transformers.CONFIG_MAPPING[kind]()
    values = json.loads(json.dumps(peer.to_dict())) | {
        peer.attribute_map.get(name, name): value for name, value in small_sizes(kind).items()
    }
    changes = data.draw(
        st.dictionaries(st.sampled_from([*values, "quantization_config", "auto_map"]), VALUES, max_size=3)
    )
    for name, text in changes.items():
        values[name] = _value(text)
    (folder / "config.json").write_text(json.dumps(values))
    outcome(str(folder), rows, tokenizer_of(), {})


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def test_fewer_layers_cut_what_has_an_item_for_each_and_more_are_made_anew() -> None:
    config = transformers.ModernBertConfig(num_hidden_layers=6, global_attn_every_n_layers=2)
    assert with_changes(config, {"num_hidden_layers": "3"}, "").layer_types == config.layer_types[:3]
    assert len(with_changes(config, {"num_hidden_layers": 9}, "").layer_types) == 9
    given = {"num_hidden_layers": 2, "layer_types": '["full_attention", "full_attention"]'}
    assert with_changes(config, given, "").layer_types == ["full_attention"] * 2
    with pytest.raises(ConfigError, match=r"makes no 'modernbert' config .*num_hidden_layers. \(2\) must be equal"):
        with_changes(config, {"num_hidden_layers": 2, "layer_types": '["full_attention"]'}, "")
    alias = with_changes(transformers.DistilBertConfig(), {"num_hidden_layers": 3, "hidden_size": 24}, "")
    assert (alias.n_layers, alias.dim) == (3, 24)


@pytest.mark.parametrize("kind", ["vit", "clip", "whisper", "llama", "t5"])
def test_types_that_are_no_encoders_of_text_are_refused(kind: str, rows: PretrainingInfo) -> None:
    with pytest.raises(ConfigError):
        from_transformers.model_class(from_transformers.resolve_config(kind, rows), rows)


def test_a_type_of_others_is_refused_with_those_of_bertdata(tmp_path: Path) -> None:
    transformers.RobertaConfig().save_pretrained(tmp_path)
    from bertdata.torch.models.configs import load_config

    with pytest.raises(ConfigError, match="model_type is 'roberta'"):
        load_config(tmp_path)
