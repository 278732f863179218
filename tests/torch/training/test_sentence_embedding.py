"""Sentence embeddings: what is learnt from pairs, triplets and scores, and that sentence-transformers opens the model.

Tests against sentence-transformers skip where it is not installed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertdata.errors import BertDataError, ConfigError, InputError
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.io import files
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.torch import PretrainingCollator, SentenceEncoder, ShardDataset
from bertdata.torch.training import SENTENCE_LOSSES
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.seeds import finetune_seeds
from bertdata.torch.training.sentence_embedding import recall_at_1, triplet_accuracy
from bertdata.torch.training.sentence_losses import cosine_similarity_loss, multiple_negatives_ranking, triplet_loss
from tests.torch.training.small_models import FAMILIES, saved

SETTINGS = FinetuneSettings(epochs=4, batch_size=16, learning_rate=3e-3, device="cpu")
TEXTS = ["w1 w2", "w3", "w7 w8 w9 w10 w11 w12 w13 w14 w15 w16 w17 w18 w19 w20 w21", "w4 w4 w90", "w50 w51 w52"]


def groups(number: int, seed: int, texts: int) -> list[list[str]]:
    """Texts of four words of one of ten topics; the second is of the same topic, the third of another."""
    generator = np.random.default_rng(seed)

    def text(topic: int) -> str:
        return " ".join(f"w{8 * topic + word}" for word in generator.integers(0, 8, 4))

    seen = []
    for _ in range(number):
        topic, other = generator.permutation(10)[:2].tolist()
        seen.append([text(topic), text(topic), text(other)][:texts])
    return seen


def pairs(number: int, seed: int) -> list[dict[str, Any]]:
    """Pairs, each of a word of its own: the second text has it twice."""
    generator = np.random.default_rng(seed)
    words = [int(word) for _ in range(-(-number // 90)) for word in generator.permutation(90)][:number]
    return [{"anchor": f"w{word} w91", "positive": f"w92 w{word} w{word}"} for word in words]


def triplets(number: int, seed: int) -> list[dict[str, Any]]:
    return [dict(zip(("anchor", "positive", "negative"), group, strict=True)) for group in groups(number, seed, 3)]


def scored(number: int, seed: int) -> list[dict[str, Any]]:
    """Pairs with a score of 5 for the same topic, of 0 for others."""
    rows = []
    for place, (first, alike, other) in enumerate(groups(number, seed, 3)):
        same = place % 2 == 0
        rows.append({"sentence1": first, "sentence2": alike if same else other, "score": 5.0 if same else 0.0})
    return rows


Make = Callable[[int, int], list[dict[str, Any]]]
TASKS: dict[str, tuple[Make, str, float]] = {
    "sentence-pairs": (pairs, "cosine_recall@1", 0.9),
    "sentence-triplets": (triplets, "cosine_accuracy", 0.9),
    "sentence-similarity": (scored, "spearman_cosine", 0.8),
}


def encoded(folder: Path, task: str, model: Path, sizes: tuple[int, int] = (300, 60)) -> Path:
    folder.mkdir(exist_ok=True)
    paths = {}
    for seed, (split, size) in enumerate(zip(("train", "validation"), sizes, strict=True)):
        paths[split] = str(folder / f"{split}.jsonl")
        rows = TASKS[task][0](size, seed)
        Path(paths[split]).write_text("".join(json.dumps(row) + "\n" for row in rows))
    score_range = ("0", "5") if task == "sentence-similarity" else ()
    config = TaskConfig(task=task, max_seq_length=12, score_range=score_range)
    encode_task(folder / "shards", str(model), paths, config)
    return folder / "shards"


@pytest.mark.costly
@pytest.mark.parametrize("task", TASKS)
def test_embeddings_learn_what_can_be_learned(tmp_path: Path, task: str) -> None:
    model, (_, metric, least) = saved(tmp_path / "model", "bert"), TASKS[task]
    summary = finetune(encoded(tmp_path, task, model), model, tmp_path / "out", SETTINGS)
    assert summary[metric] > least
    assert files.read_json(str(tmp_path / "out" / "scores.json"))[metric] == summary[metric]
    untrained = finetune(
        tmp_path / "shards", model, tmp_path / "untrained", replace(SETTINGS, learning_rate=1e-12, epochs=1)
    )
    assert untrained[metric] < summary[metric]
    repeated = finetune_seeds(tmp_path / "shards", model, tmp_path / "seeds", [0], SETTINGS)
    assert repeated["chosen_by"] == metric
    assert repeated["mean"][metric] == summary[metric]
    assert (tmp_path / "seeds" / "1_Pooling" / "config.json").exists()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_of_every_family_opens_in_transformers(tmp_path: Path, family: str) -> None:
    model = saved(tmp_path / "model", family)
    settings = replace(SETTINGS, epochs=1)
    summary = finetune(encoded(tmp_path, "sentence-triplets", model, (60, 20)), model, tmp_path / "out", settings)
    assert 0 <= summary["cosine_accuracy"] <= 1
    theirs, notes = transformers.AutoModel.from_pretrained(tmp_path / "out", output_loading_info=True)
    assert not notes["missing_keys"]
    assert not notes["unexpected_keys"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(tmp_path / "out"))
    ours = SentenceEncoder.from_pretrained(tmp_path / "out")
    vectors = ours.encode(TEXTS, WordPieceTokenizer.from_pretrained(tmp_path / "out"), batch_size=2)
    for text, vector in zip(TEXTS, vectors, strict=True):
        inputs = tokenizer(text, truncation=True, max_length=12, return_tensors="pt")
        if family == "modernbert":
            inputs.pop("token_type_ids", None)
        with torch.no_grad():
            states = theirs.eval()(**inputs).last_hidden_state[0]
        assert np.abs(states.mean(0).numpy() - vector).max() < 1e-5


@pytest.mark.parametrize("family", FAMILIES)
def test_sentence_transformers_gives_the_same_embeddings(tmp_path: Path, family: str) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    model = saved(tmp_path / "model", family)
    settings = replace(SETTINGS, epochs=1)
    finetune(encoded(tmp_path, "sentence-pairs", model, (60, 20)), model, tmp_path / "out", settings)
    theirs = sentence_transformers.SentenceTransformer(str(tmp_path / "out"), device="cpu")
    assert theirs.max_seq_length == 12
    ours = SentenceEncoder.from_pretrained(tmp_path / "out")
    vectors = ours.encode(TEXTS, WordPieceTokenizer.from_pretrained(tmp_path / "out"))
    assert np.abs(theirs.encode(TEXTS) - vectors).max() < 1e-5
    theirs.save(str(tmp_path / "theirs"))
    again = SentenceEncoder.from_pretrained(tmp_path / "theirs")
    assert np.array_equal(again.encode(TEXTS, WordPieceTokenizer.from_pretrained(tmp_path / "out")), vectors)


SAVED_BY_THEM: dict[str, Callable[[Any], None]] = {
    "a default prompt": lambda model: _prompts(model, "query"),
    "a prompt by name": lambda model: _prompts(model, None),
    "a prompt that is not pooled": lambda model: _prompts(model, "document", pooled=False),
    "one pooling in a list": lambda model: setattr(model[1], "pooling_mode", ["mean"]),
    "a shorter length": lambda model: setattr(model, "max_seq_length", 7),
}


def _prompts(model: Any, default: str | None, *, pooled: bool = True) -> None:
    model.set_pooling_include_prompt(pooled)
    model.prompts, model.default_prompt_name = {"query": "w3 w4 ", "document": "w5", "w": ""}, default


@pytest.mark.parametrize("name", SAVED_BY_THEM)
def test_what_sentence_transformers_saves_of_prompts_and_pooling_is_honoured(tmp_path: Path, name: str) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    model = saved(tmp_path / "model", "bert")
    SentenceEncoder.from_pretrained(model, max_seq_length=12).save_pretrained(tmp_path / "out")
    tokenizer = WordPieceTokenizer.from_pretrained(model)
    tokenizer.save_pretrained(tmp_path / "out")
    theirs = sentence_transformers.SentenceTransformer(str(tmp_path / "out"), device="cpu")
    SAVED_BY_THEM[name](theirs)
    theirs.save(str(tmp_path / "theirs"))
    theirs = sentence_transformers.SentenceTransformer(str(tmp_path / "theirs"), device="cpu")
    ours = SentenceEncoder.from_pretrained(tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "again")
    given: list[dict[str, str]] = [{}, {"prompt": "w7 w8"}, {"prompt": ""}]
    given += [{"prompt_name": prompt} for prompt in theirs.prompts if prompt in ours.settings.prompts]
    plain = ours.encode(TEXTS, tokenizer, prompt="")
    for keywords in given:
        expected = theirs.encode(TEXTS, **keywords)
        for model_of_ours in (ours, SentenceEncoder.from_pretrained(tmp_path / "again")):
            vectors = model_of_ours.encode(TEXTS, tokenizer, **keywords)  # type: ignore[arg-type]
            assert np.abs(expected - vectors).max() < 1e-5, keywords
    assert (np.abs(theirs.encode(TEXTS) - plain).max() > 1e-3) == name.startswith(("a default", "a prompt that"))


def test_texts_are_lower_cased_where_a_folder_says_so(tmp_path: Path) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    model = saved(tmp_path / "model", "bert")
    SentenceEncoder.from_pretrained(model, max_seq_length=12).save_pretrained(tmp_path / "out")
    words = [*WordPieceTokenizer.from_pretrained(model).tokens[:-2], "ως", "ωσ"]
    tokenizer = WordPieceTokenizer.from_tokens(words, do_lower_case=False)
    tokenizer.save_pretrained(tmp_path / "out")
    path = tmp_path / "out" / "sentence_bert_config.json"
    texts, vectors = ["W3 w4", "w3 W9 ΩΣ", "İ w5"], []
    for lower in (False, True):
        path.write_text(json.dumps({"max_seq_length": 12, "do_lower_case": lower}))
        theirs = sentence_transformers.SentenceTransformer(str(tmp_path / "out"), device="cpu").encode(texts)
        vectors.append(SentenceEncoder.from_pretrained(tmp_path / "out").encode(texts, tokenizer))
        assert np.abs(theirs - vectors[-1]).max() < 1e-5
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-3


def test_a_prompt_that_there_is_not_or_that_spells_a_special_token_is_refused(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "bert")
    encoder, tokenizer = (
        SentenceEncoder.from_pretrained(model, max_seq_length=12),
        WordPieceTokenizer.from_pretrained(model),
    )
    with pytest.raises(ConfigError, match="prompt_name is 'query'"):
        encoder.encode(TEXTS, tokenizer, prompt_name="query")
    with pytest.raises(ConfigError, match=r"the prompt 'w3 \[SEP\]' spells \[SEP\], a special token"):
        encoder.encode(TEXTS, tokenizer, prompt="w3 [SEP]")


@pytest.mark.parametrize(
    ("file", "values", "message"),
    [
        ("1_Pooling/config.json", {"pooling_mode": ["mean", "max"]}, "pools by mean, max"),
        ("1_Pooling/config.json", {"pooling_mode": 7}, "pools by 7"),
        ("1_Pooling/config.json", {"pooling_mode": "mean", "scale": 2}, "scale is 2, which this encoder does not have"),
        ("1_Pooling/config.json", {"pooling_mode": "mean", "include_prompt": "no"}, "include_prompt is 'no'"),
        ("sentence_bert_config.json", {"transformer_task": "fill-mask"}, "transformer_task is 'fill-mask'"),
        ("sentence_bert_config.json", {"module_output_name": "scores"}, "module_output_name is 'scores'"),
        ("sentence_bert_config.json", {"modality_config": {"text": {"method": "x"}}}, "modality_config is {'method'"),
        ("sentence_bert_config.json", {"model_args": {"dtype": "float16"}}, "model_args is {'dtype'"),
        ("sentence_bert_config.json", {"do_lower_case": 7}, "do_lower_case is 7"),
        ("sentence_bert_config.json", {"query_expansion": {"length": 3}}, "query_expansion is"),
        ("config_sentence_transformers.json", {"model_type": "SparseEncoder"}, "model of the type 'SparseEncoder'"),
        ("config_sentence_transformers.json", {"prompts": {"a": 7}}, "has the prompts {'a': 7}"),
        ("config_sentence_transformers.json", {"default_prompt_name": "a"}, "names the prompt 'a', which is not among"),
        ("adapter_config.json", {}, "has an adapter of peft"),
    ],
)
def test_a_setting_that_changes_vectors_in_a_way_that_is_not_here_is_refused(
    tmp_path: Path, file: str, values: dict[str, Any], message: str
) -> None:
    SentenceEncoder.from_pretrained(saved(tmp_path / "model", "bert"), max_seq_length=12).save_pretrained(
        tmp_path / "out"
    )
    SentenceEncoder.from_pretrained(tmp_path / "out")
    (tmp_path / "out" / file).write_text(json.dumps(values))
    with pytest.raises(BertDataError, match=message):
        SentenceEncoder.from_pretrained(tmp_path / "out")


def test_the_settings_of_an_older_folder_are_read_and_those_without_effect_pass(tmp_path: Path) -> None:
    SentenceEncoder.from_pretrained(saved(tmp_path / "model", "bert"), max_seq_length=12).save_pretrained(
        tmp_path / "out"
    )
    (tmp_path / "out" / "sentence_bert_config.json").unlink()
    older = {"max_seq_length": 9, "model_args": {"trust_remote_code": True}, "unpad_inputs": True, "query_length": None}
    (tmp_path / "out" / "sentence_albert_config.json").write_text(json.dumps(older))
    assert SentenceEncoder.from_pretrained(tmp_path / "out").max_seq_length == 9


def test_a_model_with_a_default_prompt_is_not_trained_on_texts_without_it(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "bert")
    shards = encoded(tmp_path, "sentence-pairs", model, (8, 4))
    SentenceEncoder.from_pretrained(model, max_seq_length=12).save_pretrained(model)
    path = model / "config_sentence_transformers.json"
    path.write_text(json.dumps({"prompts": {"query": "w3 "}, "default_prompt_name": "query"}))
    with pytest.raises(ConfigError, match="names 'query' as the default prompt, which encode puts in front"):
        finetune(shards, model, tmp_path / "out", SETTINGS)


def test_losses_and_scores_are_those_of_sentence_transformers(tmp_path: Path) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    losses = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    evaluation = pytest.importorskip("sentence_transformers.sentence_transformer.evaluation")

    model = saved(tmp_path / "model", "bert")
    shards = {task: ShardDataset(encoded(tmp_path / task, task, model), "validation") for task in TASKS}
    finetune(tmp_path / "sentence-pairs/shards", model, tmp_path / "out", replace(SETTINGS, epochs=1))
    theirs = sentence_transformers.SentenceTransformer(str(tmp_path / "out"), device="cpu")
    ours = SentenceEncoder.from_pretrained(tmp_path / "out").eval()
    generator = torch.Generator().manual_seed(0)
    vectors = [torch.randn(6, 32, generator=generator) for _ in range(3)]
    scores = torch.rand(6, generator=generator)
    ranking = losses.MultipleNegativesRankingLoss
    for our_loss, loss, given in (
        (multiple_negatives_ranking(vectors[:2], 0.05), ranking(theirs), vectors[:2]),
        (multiple_negatives_ranking(vectors, 0.1), ranking(theirs, scale=10), vectors),
        (cosine_similarity_loss(vectors[:2], scores), losses.CosineSimilarityLoss(theirs), vectors[:2]),
        (triplet_loss(vectors, 2.0), losses.TripletLoss(theirs, triplet_margin=2), vectors),
    ):
        assert our_loss.item() == pytest.approx(loss.compute_loss_from_embeddings(given, scores).item(), rel=1e-5)

    from bertdata.torch.training.tasks import evaluate

    rows = scored(60, 1)
    columns = [[row[name] for row in rows] for name in ("sentence1", "sentence2", "score")]
    expected = evaluation.EmbeddingSimilarityEvaluator(*columns)(theirs)
    found_scores = evaluate(ours, shards["sentence-similarity"], 16, torch.device("cpu"))
    for name in ("spearman_cosine", "pearson_cosine"):
        assert found_scores[name] == pytest.approx(expected[name], abs=1e-4)
    rows = triplets(60, 1)
    texts = [[row[name] for row in rows] for name in ("anchor", "positive", "negative")]
    expected = evaluation.TripletEvaluator(*texts)(theirs)
    assert evaluate(ours, shards["sentence-triplets"], 16, torch.device("cpu")) == {
        "cosine_accuracy": pytest.approx(expected["cosine_accuracy"])
    }
    rows = pairs(60, 1)
    queries = {str(place): row["anchor"] for place, row in enumerate(rows)}
    corpus = {str(place): row["positive"] for place, row in enumerate(rows)}
    expected = evaluation.InformationRetrievalEvaluator(queries, corpus, {key: {key} for key in queries})(theirs)
    assert evaluate(ours, shards["sentence-pairs"], 16, torch.device("cpu")) == {
        "cosine_recall@1": pytest.approx(expected["cosine_recall@1"])
    }


def test_losses_are_those_of_their_definitions() -> None:
    generator = np.random.default_rng(0)
    first, second, third = (generator.normal(size=(5, 8)) for _ in range(3))
    tensors = [torch.tensor(vectors) for vectors in (first, second, third)]

    def cosine(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
        return float(one @ other / np.sqrt((one @ one) * (other @ other)))

    for others in ([*second], [*second, *third]):
        expected = 0.0
        for place, anchor in enumerate(first):
            scores = np.exp([cosine(anchor, other) / 0.05 for other in others])
            expected -= np.log(scores[place] / scores.sum()) / 5
        given = tensors[: 1 + len(others) // 5]
        assert multiple_negatives_ranking(given, 0.05).item() == pytest.approx(expected)
    labels = generator.random(5)
    errors = [(cosine(*pair) - label) ** 2 for *pair, label in zip(first, second, labels, strict=True)]
    assert cosine_similarity_loss(tensors[:2], torch.tensor(labels)).item() == pytest.approx(sum(errors) / 5)
    near, far = (np.sqrt(((first - others) ** 2).sum(1)) for others in (second, third))
    expected = np.maximum(near - far + 0.5, 0).mean()
    assert triplet_loss(tensors, 0.5).item() == pytest.approx(expected, rel=1e-4)


def test_settings_reach_the_losses() -> None:
    vectors, scores = [torch.randn(4, 8) for _ in range(3)], torch.rand(4)
    settings = replace(SETTINGS, temperature=0.5, triplet_margin=3.0)
    for name, given, expected in (
        ("multiple-negatives-ranking", vectors, multiple_negatives_ranking(vectors, 0.5)),
        ("triplet", vectors, triplet_loss(vectors, 3.0)),
        ("cosine-similarity", vectors[:2], cosine_similarity_loss(vectors[:2], scores)),
    ):
        assert SENTENCE_LOSSES[name].compute(given, scores, settings) == expected


def test_a_batch_has_the_ids_of_each_text_and_padding_changes_no_embedding(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "bert")
    dataset = ShardDataset(encoded(tmp_path, "sentence-pairs", model, (8, 4)))
    rows = [dataset[place] for place in range(8)]
    batch = PretrainingCollator(dataset)(rows)
    assert set(batch) == {"input_ids", "token_type_ids", "attention_mask", "input_ids_2"}
    wide = PretrainingCollator(dataset, pad_to_multiple_of=16)(rows)
    assert (batch["input_ids_2"].shape, wide["input_ids_2"].shape) == ((8, 8), (8, 16))
    encoder = SentenceEncoder.from_pretrained(model, max_seq_length=12).eval()
    for one, other in zip(encoder(**batch).embeddings, encoder(**wide).embeddings, strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    with pytest.raises(ConfigError, match="packing is for rows of one text, and these have 2"):
        PretrainingCollator(dataset, packing=True)


def test_a_model_for_which_all_texts_are_alike_scores_as_chance_does() -> None:
    unit = np.eye(4, dtype=np.float32)
    assert recall_at_1(unit, unit) == 1
    assert recall_at_1(unit, unit[[1, 2, 3, 0]]) == 0
    assert recall_at_1(unit[[0, 0, 0, 0]], unit[[0, 0, 0, 0]]) == 0.25
    assert recall_at_1(unit[[0, 0]], unit[[0, 1]]) == 0.5
    assert triplet_accuracy(unit[[0, 0]], unit[[0, 1]], unit[[1, 1]]) == 0.5


def test_settings_that_do_not_suit_the_texts_are_refused(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "bert")
    shards = {task: encoded(tmp_path / task, task, model, (8, 4)) for task in TASKS}

    def refused(task: str, message: str, **changes: Any) -> None:
        with pytest.raises(ConfigError, match=message):
            finetune(shards[task], model, tmp_path / "out", replace(SETTINGS, **changes))

    ranking, cosine = "multiple-negatives-ranking", "cosine-similarity"
    refused("sentence-pairs", f"triplet is not for sentence-pairs; expected one of {ranking}", sentence_loss="triplet")
    refused("sentence-similarity", f"expected one of {cosine}$", sentence_loss=ranking)
    refused("sentence-triplets", f"expected one of {ranking}, triplet", sentence_loss=cosine)
    refused("sentence-pairs", "no sentence loss 'triplets'.*did you mean 'triplet'", sentence_loss="triplets")
    refused("sentence-pairs", "`batch_size` is 1, and the negatives of a text are the other texts", batch_size=1)
    (tmp_path / "a.jsonl").write_text('{"text": "w1", "label": "a"}\n{"text": "w2", "label": "b"}\n')
    encode_task(tmp_path / "classes", str(model), {"train": str(tmp_path / "a.jsonl")}, TaskConfig(max_seq_length=8))
    with pytest.raises(ConfigError, match="`sentence_loss` is for sentence embeddings, and this is classification"):
        finetune(tmp_path / "classes", model, tmp_path / "out", replace(SETTINGS, sentence_loss="triplet"))
    assert set(SENTENCE_LOSSES) == {"multiple-negatives-ranking", "cosine-similarity", "triplet"}


@pytest.mark.costly
def test_a_triplet_is_trained_by_each_of_its_losses(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "bert")
    shards = encoded(tmp_path, "sentence-triplets", model, (120, 60))
    for loss, bf16 in (("triplet", False), ("multiple-negatives-ranking", True)):
        summary = finetune(shards, model, tmp_path / loss, replace(SETTINGS, sentence_loss=loss, bf16=bf16))
        assert summary["cosine_accuracy"] > 0.8


def test_a_model_that_does_not_say_how_it_pools_or_pools_otherwise_is_refused(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "bert")
    with pytest.raises(InputError, match=r"has no modules\.json, which says how states become an embedding"):
        SentenceEncoder.from_pretrained(model)
    encoder = SentenceEncoder.from_pretrained(model, max_seq_length=12)
    encoder.save_pretrained(tmp_path / "out")
    path = tmp_path / "out" / "1_Pooling" / "config.json"
    wrongs: list[tuple[dict[str, Any], str]] = [
        ({"pooling_mode_cls_token": True}, "cls_token"),
        ({"pooling_mode": "max"}, "max"),
        ({}, "nothing"),
    ]
    for values, message in wrongs:
        path.write_text(json.dumps(values))
        with pytest.raises(ConfigError, match=f"pools by {message}"):
            SentenceEncoder.from_pretrained(tmp_path / "out")
    shards = encoded(tmp_path, "sentence-pairs", model, (8, 4))
    for name in ("tokenizer.json", "vocab.txt"):
        if (model / name).exists():
            (tmp_path / "out" / name).write_bytes((model / name).read_bytes())
    with pytest.raises(ConfigError, match="pools by nothing"):
        finetune(shards, tmp_path / "out", tmp_path / "again", SETTINGS)
    modules = files.read_json(str(tmp_path / "out" / "modules.json"))
    for wrong in ([*modules, {"idx": 2, "path": "2_Normalize", "type": "x.Normalize"}], modules[:1]):
        files.write_json(str(tmp_path / "out" / "modules.json"), wrong)
        with pytest.raises(ConfigError, match=r"has the modules Transformer.*; this encoder has only Transf"):
            SentenceEncoder.from_pretrained(tmp_path / "out")
    files.write_json(str(tmp_path / "out" / "modules.json"), {"a": 1})
    with pytest.raises(InputError, match="is not a list of modules"):
        SentenceEncoder.from_pretrained(tmp_path / "out")
    for training in (True, False):
        encoder.train(training).encode(TEXTS[:1], WordPieceTokenizer.from_pretrained(model))
        assert encoder.training is training
    with pytest.raises(ConfigError, match="there are no texts to encode"):
        encoder.encode([], WordPieceTokenizer.from_pretrained(model))
