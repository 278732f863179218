"""Files of somebody else run nothing: every command and public reader opens hostile ones under an audit hook.

They name a module that lies beside them and one that is installed, in every place where bertdata or a library under it
looks up a name: nothing of these is imported, no process is started, nothing is unpickled, no connection is made, and
nothing is written but into the output.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bertdata.cli import COMMANDS
from bertdata.engine.fingerprints import sealed
from bertdata.finetune.task_shards import encode_task
from bertdata.io import files
from bertdata.plugins import ENTRY_POINTS
from bertdata.shards.checked import cache_directory
from tests.outside import ROOT
from tests.shards.damage import edit, put
from tests.small_build import tokenizer, write_build

BESIDE, INSTALLED = "module_beside_the_files", "this"
"""A module in the current folder and in each of theirs, and one of Python's own that nothing else imports."""
NAMED = [f"{BESIDE}:OBJECT", f"{INSTALLED}:d"]
TORCH = importlib.util.find_spec("torch") is not None
CODE = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\nOBJECT = print\n"
TEXTS = "".join(
    json.dumps({"id": str(n), "text": f"Number {n}. It rained all day in the town."}) + "\n" for n in range(9)
)
Audited = dict[str, list[tuple[Any, int, str, list[str]]]]
"""Of each command its steps on files of somebody else: exit code, last line said, and what is not allowed."""


def name_in_shards(build: Path, place: Sequence[str], name: str) -> None:
    """Put a name where the manifest and the shards of a build say what they are, checksums too."""
    change = put("info", *place, value=name)
    of_shard = put(*place, value=name)
    edit(build / "manifest.json", change)

    def renamed(table: pa.Table) -> pa.Table:
        metadata = dict(table.schema.metadata)
        info = json.loads(metadata[b"bertdata"])
        of_shard(info)
        return table.replace_schema_metadata(metadata | {b"bertdata": json.dumps(info, sort_keys=True).encode()})

    for shard in sorted(build.glob("train/*.arrow")):
        name = f"train/{shard.name}"
        path = build / name
        table = renamed(pa.ipc.open_stream(path.read_bytes()).read_all())
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)

        def claimed(manifest: Any, name: str = name, path: Path = path) -> None:
            [entry] = [shard for shard in manifest["splits"]["train"]["shards"] if shard["file"] == name]
            entry.update(bytes=path.stat().st_size, sha256=files.sha256(str(path)))

        edit(build / "manifest.json", claimed)


def leaves(value: Any, keys: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the keys that lead to each text in nested objects."""
    if isinstance(value, dict):
        return [place for key, item in value.items() for place in leaves(item, (*keys, key))]
    return [keys] if isinstance(value, str) else []


def write_corpora(theirs: Path) -> tuple[list[str], list[str], list[str]]:
    """Write builds that name code as their objective, masking unit, or task, in turn in each place that has a text.

    Also outputs that a build is to read by code. Returns the folders of builds, of tasks, and of these outputs.
    """
    whole = write_build(theirs / "whole", documents=20, shards=1)
    info = json.loads((whole / "manifest.json").read_text())["info"]
    builds, begun, tasks = [], [], []
    for number, name in enumerate(NAMED):
        for place in leaves(info) if not number else [("examples", "objective"), ("masking", "mask_unit")]:
            build = theirs / f"corpus-{number}-{'-'.join(place)}"
            shutil.copytree(whole, build, ignore=shutil.ignore_patterns("stages"))
            name_in_shards(build, place, name)
            builds.append(str(build))
        given: dict[str, Any] = {"wikipedia": [], "books": [], "documents": [str(theirs / "texts.jsonl")]}
        given |= {"text_column": "text", "formats": [name]}
        origin = {"command": "build", "files": {}, "given": given, "settings": {}}
        begun.append(str(theirs / f"begun-{number}"))
        files.write_json(f"{begun[-1]}/.bertdata-origin.json", sealed({"finished": None, "begun": origin}))
        task = theirs / f"task-{number}"
        (theirs / "labels.csv").write_text("text,label\nsalt,good\nwater,bad\n")
        tokenizer().save_pretrained(str(theirs / "whole" / "tokenizer"))
        encode_task(task, str(theirs / "whole" / "tokenizer"), {"train": str(theirs / "labels.csv")})
        name_in_shards(task, ("task",), name)
        tasks.append(str(task))
    return builds, tasks, begun


def write_models(theirs: Path) -> tuple[list[str], list[str]]:
    """Write tokenizers and checkpoints that name code; returns the folders of each."""
    whole = theirs / "whole" / "tokenizer"
    code: dict[str, Any] = {
        "tokenizer_class": NAMED[0].replace(":", "."),
        "processor_class": NAMED[1],
        "model_max_length": 512,
    }
    code |= {"auto_map": {"AutoTokenizer": [f"{BESIDE}.OBJECT", None]}, "vocab_file": f"../{BESIDE}.py"}
    tokenizers, models = [], []
    for number, name in enumerate(NAMED):
        place = theirs / f"tokenizer-{number}"
        shutil.copytree(whole, place)
        files.write_json(str(place / "tokenizer_config.json"), code | {"tokenizer_type": name})
        tokenizers.append(str(place))
        for model_type in (name, "bert"):
            model = theirs / f"model-{number}-{model_type.partition(':')[0]}"
            shutil.copytree(place, model)
            config = {"model_type": model_type, "architectures": [name], "hidden_act": name, "vocab_size": 40}
            config |= {"auto_map": {"AutoConfig": f"{BESIDE}.OBJECT", "AutoModel": f"{BESIDE}.OBJECT"}}
            files.write_json(str(model / "config.json"), config)
            module = {"idx": 0, "name": "0", "path": "", "type": name.replace(":", ".")}
            files.write_json(str(model / "modules.json"), [module])
            (model / "pytorch_model.bin").write_bytes(f"c{INSTALLED}\nd\n.".encode())
            models.append(str(model))
    return tokenizers, models


def write_recipes(theirs: Path) -> list[str]:
    """Write recipes that name code in each setting which may, at the top and in a phase."""
    settings = [f'{key} = "{NAMED[0]}"' for key in ("objective", "mask_unit", "language_model", "dedup", "sentences")]
    settings += [f'{key} = ["{name}"]' for key in ("clean", "filter", "source_format", "mix") for name in NAMED]
    settings += [f'[[phase]]\nname = "a"\nobjective = "{NAMED[1]}"', "where = \"__import__('this')\""]
    recipes = []
    for number, text in enumerate(settings):
        recipes.append(str(theirs / f"recipe-{number}.toml"))
        Path(recipes[-1]).write_text(f'title = "a recipe"\nvocab = "bertdata-30k-uncased"\n{text}\n')
    return recipes


def steps_of_commands(theirs: Path, out: Path) -> dict[str, Sequence[list[str] | str]]:
    """Return for each command how it is run on files of somebody else, and what opens them in Python."""
    builds, tasks, begun = write_corpora(theirs)
    tokenizers, models = write_models(theirs)
    recipes = write_recipes(theirs)
    texts, whole, to = str(theirs / "texts.jsonl"), str(theirs / "whole"), str(out)
    (theirs / "texts.jsonl").write_text(TEXTS)
    (theirs / "words.conll").write_text("salt B\n\nwater O\n")
    opened = [*builds[:2], *builds[-2:], *tasks]
    every = [*builds, *tasks]
    build = ["build", "--documents", texts, "--workers", "1", "--quiet"]
    steps: dict[str, Sequence[list[str] | str]] = {
        "build": [
            *(
                [*build, "--recipe", recipe, "--output", f"{to}/recipe", *dry]
                for recipe in recipes
                for dry in ([], ["--dry-run"])
            ),
            *(["build", "--output", folder, "--workers", "1"] for folder in begun),
            *([*build, "--vocab", tokenizer, "--output", f"{to}/vocab", "--dry-run"] for tokenizer in tokenizers),
        ],
        "recipes": [["recipes", "show", recipe] for recipe in recipes[:2]],
        "show": [["show", build] for build in opened],
        "stats": [["stats", tokenizer] for tokenizer in opened]
        + [["stats", texts, "--vocab", chosen] for chosen in tokenizers],
        "report": [["report", build, "--output", f"{to}/report.html"] for build in opened],
        "diff": [["diff", build, whole] for build in opened],
        "verify": [["verify", build] for build in opened]
        + [["verify", chosen, "--duplicates"] for chosen in opened[:2]],
        "clean-up": [["clean-up", folder] for folder in [*opened, *begun]],
        "export": [["export", build, "--to", "jsonl", "--output", f"{to}/export"] for build in opened],
        "publish": [["publish", build, f"{to}/published"] for build in opened],
        "import": [["import", texts, "--vocab", tokenizer, "--output", f"{to}/import"] for tokenizer in tokenizers],
        "tokenize": [["tokenize", texts, "--vocab", tokenizer] for tokenizer in tokenizers],
        "clean": [["clean", str(theirs / f"{BESIDE}.py")]],
        "bench": [["bench", build, "--seconds", "0.01"] for build in opened],
        "encode-task": [
            [
                "encode-task",
                "--train",
                str(theirs / "labels.csv"),
                "--vocab",
                tokenizer,
                "--output",
                f"{to}/task-{number}",
            ]
            for number, tokenizer in enumerate(tokenizers)
        ],
        "clean-wikipedia": [["clean-wikipedia", texts, "--output", f"{to}/wikipedia", "--workers", "1"]],
        "clean-books": [["clean-books", texts, "--output", f"{to}/books", "--workers", "1"]],
        "train-vocab": [
            ["train-vocab", "--documents", folder, "--output", f"{to}/words", "--workers", "1"] for folder in begun
        ],
        "train-sentences": [
            ["train-sentences", "--documents", folder, "--output", f"{to}/dots", "--workers", "1"] for folder in begun
        ],
        "build-shards": [
            ["build-shards", "--documents", folder, "--vocab", whole, "--output", f"{to}/shards"] for folder in begun
        ],
        "pretrain": [
            *(["pretrain", build, "--output", f"{to}/run"] for build in opened),
            *(
                ["pretrain", whole, "--config", model, "--output", f"{to}/run", "--max-steps", "1", *library]
                for model in models
                for library in ([], ["--library", "transformers"])
            ),
            *(["pretrain", whole, "--config", "tiny", "--teacher", model, "--output", f"{to}/run"] for model in models),
        ],
        "finetune": [
            *(["finetune", build, "--model", models[-1], "--output", f"{to}/fine"] for build in opened),
            *(["finetune", str(out / "task-0"), "--model", model, "--output", f"{to}/fine"] for model in models),
        ],
        "score": [
            *(
                ["score", model, texts, "--text-column", "text", *library]
                for model in models
                for library in ([], ["--library", "transformers"])
            ),
        ],
        "transfer": [
            ["transfer", "--model", model, "--vocab", whole, "--output", f"{to}/transferred"] for model in models
        ],
        "average": [["average", model, models[-1], "--output", f"{to}/averaged"] for model in models],
        "python": [
            *(f"import bertdata; bertdata.open_shards({folder!r})" for folder in every),
            *(f"import bertdata.loader; bertdata.loader.ShardExamples({folder!r})" for folder in every),
            *(f"import bertdata; bertdata.load_tokenizer({tokenizer!r})('a text')" for tokenizer in tokenizers),
            *(
                f"import bertdata; bertdata.build({to!r}, recipe={recipe!r}, documents={texts!r})"
                for recipe in recipes[:3]
            ),
            *(
                f"import bertdata; bertdata.{name}.from_pretrained({chosen!r})"
                for name in ("SentenceSegmenter", "WordPieceTokenizer")
                for chosen in [*tokenizers, *builds[:1]]
            ),
            *(f"from bertdata.formats import export; export({build!r}, 'jsonl', {to + '/made'!r})" for build in opened),
            *(
                f"from bertdata.formats import import_shards\n"
                f"import_shards({{'train': [{build + '/train'!r}]}}, {vocab!r}, {to + '/imported'!r}, force=True)"
                for build in opened
                for vocab in tokenizers
            ),
        ],
        "torch": [
            *(f"import bertdata.torch; bertdata.torch.ShardDataset({build!r})" for build in opened),
            *(
                f"from bertdata.torch import {kind}; {kind}.from_pretrained({model!r})"
                for kind in ("BertForMaskedLM", "SentenceEncoder")
                for model in models
            ),
            *(f"from bertdata.torch import {kind}; {kind}.from_pretrained({models[1]!r})" for kind in OTHER_MODELS),
            *(f"from bertdata.torch import {kind}; {kind}.load({models[1]!r})" for kind in CONFIGS),
            *(f"from bertdata.torch import PseudoLikelihood; PseudoLikelihood({model!r})" for model in models),
            *(
                f"from bertdata.torch import pretrain; pretrain({build!r}, {models[0]!r}, {to!r} + '/run')"
                for build in opened
            ),
            *(
                f"from bertdata.torch import finetune; finetune({tasks[0]!r}, {model!r}, {to!r} + '/fine')"
                for model in models
            ),
        ],
    }
    return steps


OTHER_MODELS = [
    "AlbertForPreTraining", "BertForPreTraining", "BertForQuestionAnswering", "BertForSequenceClassification",
    "BertForTokenClassification", "ElectraForMaskedLM", "ElectraForPreTraining", "ElectraForReplacedTokenDetection",
    "ModernBertForMaskedLM",
]  # fmt: skip
CONFIGS = ["AlbertConfig", "BertConfig", "ElectraConfig", "ModernBertConfig"]
GIVEN_OBJECTS = {
    "bertdata": {"clean_book", "clean_wikitext", "train_wordpiece"},
    "bertdata.finetune": {
        "TASKS", "Answer", "Question", "answers_from_logits", "encode_classification", "encode_multi_label",
        "encode_multiple_choice", "encode_question_answering", "encode_sentences", "encode_token_classification",
    },
    "bertdata.formats": {"EXPORT_FORMATS", "IMPORT_FORMATS", "ExportFormat", "ExportedShard", "ImportFormat"},
    "bertdata.loader": {
        "BatchCollator", "EpochBatchSampler", "NumpyBatches", "PermutationCollator", "causal_ranks", "numpy_batches",
        "text_numbers",
    },
    "bertdata.torch": {
        "DeviceCollator", "FinetuneSettings", "PermutationLMCollator", "PretrainSettings", "PretrainingCollator",
        "ResumableBatchSampler", "ResumableLoader", "ScoreSettings",
    },
}  # fmt: skip
"""Public names that open no file: they take texts, ids and what the others have opened."""
NOT_READING = {
    "download": "gets files by names and numbers that are typed",
    "completion": "prints a script",
    "compile": "reads the vocabulary that is typed, as build does",
}
"""Commands that read no files of others, and why."""


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """Return what came of each step."""
    folder = tmp_path_factory.mktemp("audit")
    theirs, out, temporary = folder / "theirs", folder / "out", folder / "temporary"
    for place in (theirs, out, temporary):
        place.mkdir()
    steps = steps_of_commands(theirs, out)
    if not TORCH:
        for name in ("pretrain", "finetune", "score", "torch"):
            del steps[name]
    for place in [theirs, *(path for path in theirs.iterdir() if path.is_dir())]:
        (place / f"{BESIDE}.py").write_text(CODE)
    metadata = theirs / "plugin-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\nplugin = {BESIDE}\n")
    outputs = [str(theirs / name) for name in ("begun-0", "begun-1")]
    spec = {
        "steps": [step for some in steps.values() for step in some],
        "named": [BESIDE, INSTALLED],
        "watched": [str(theirs)],
        "writable": [str(out), str(temporary), str(Path("~/.cache").expanduser()), cache_directory(), *outputs],
        "results": str(folder / "results.json"),
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    variables = {
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(temporary),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HF_HUB_OFFLINE": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(temporary),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from tests.audited import main; main()", str(folder / "spec.json")],
        cwd=theirs,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not list(theirs.rglob(f"{BESIDE}.ran"))
    results = iter(json.loads((folder / "results.json").read_text()))
    return {name: [(step, *next(results)) for step in some] for name, some in steps.items()}


def test_each_command_is_run_on_files_of_others() -> None:
    assert not NOT_READING.keys() - COMMANDS.keys()


@pytest.mark.parametrize("package", GIVEN_OBJECTS)
def test_each_public_name_is_run_on_files_of_others(package: str, audited: Audited) -> None:
    if package == "bertdata.torch" and not TORCH:
        pytest.skip("torch is not installed")
    module = importlib.import_module(package)
    public = {name for name in module.__all__ if not name.endswith("Error")}
    steps = "\n".join(str(step) for name in ("python", "torch") for step, *_ in audited.get(name, []))
    assert {name for name in public if re.search(rf"\b{name}\b", steps)} == public - GIVEN_OBJECTS[package]


READERS = [*(name for name in COMMANDS if name not in NOT_READING), "python", "torch"]


@pytest.mark.parametrize("name", READERS)
def test_nothing_is_run_or_written(name: str, audited: Audited) -> None:
    if name not in audited and not TORCH:
        pytest.skip("torch is not installed")
    assert audited[name]
    assert [(step, lines) for step, _, _, lines in audited[name] if lines] == []
    assert [(step, said) for step, code, said, _ in audited[name] if code not in (0, 1)] == []


@pytest.mark.parametrize("name", ["show", "stats", "report", "verify", "export", "bench", "python"])
def test_a_name_of_code_is_refused_with_its_file(name: str, audited: Audited) -> None:
    steps = [(str(step), line) for step, _, line, _ in audited[name] if "corpus-0-examples-objective" in str(step)]
    said = [line for step, line in steps if "import_shards" not in step]  # which reads rows alone
    assert said
    for line in said:
        assert f"'{NAMED[0]}' is code, of the module '{BESIDE}'" in line
        assert "manifest.json" in line or ".arrow" in line


def test_a_recipe_that_names_code_is_shown_and_refused(
    audited: Audited,
) -> None:
    said = [said for step, _, said, _ in audited["build"] if "recipe-0.toml" in str(step)]
    assert len(said) == 2
    for line in said:
        assert "recipe-0.toml: names code that a build runs" in line
        assert f"objective = {NAMED[0]} (line 3)" in line
        assert f"add --plugin {BESIDE}" in line
