"""Hostile input: the cases of files that settings name, and of what filters and duplicates are looked for in."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from hostile_cases import GOOD, PROSE, Case, build, case, counted, dump, lines, put, texts, zipped


def build_with(folder: Path, *flags: str, rows: int | None = None) -> Case:
    """Return a case that builds good documents with flags; without `rows` it has to be refused."""
    put(folder, "good.jsonl", lines(*GOOD))
    made = build(folder, "good.jsonl", None if rows is None else counted(rows, 0))
    return Case([*made.command, *flags], made.right)


@case
def test_data_of_random_bytes(folder: Path) -> Case:
    return build_with(folder, "--decontaminate", str(put(folder, "test.jsonl", os.urandom(50_000))))


@case
def test_data_that_is_empty(folder: Path) -> Case:
    return build_with(folder, "--decontaminate", str(put(folder, "test.txt", b"")))


@case
def test_data_of_one_word_without_end(folder: Path) -> Case:
    return build_with(folder, "--decontaminate", str(put(folder, "test.txt", b"x" * (20 << 20))), rows=8)


@case
def test_data_that_is_a_folder(folder: Path) -> Case:
    return build_with(folder, "--decontaminate", str(folder))


@case
def a_sentencepiece_model_of_random_bytes(folder: Path) -> Case:
    return build_with(folder, "--vocab", str(put(folder, "tokenizer.model", os.urandom(50_000))))


@case
def a_sentencepiece_model_that_is_a_zip(folder: Path) -> Case:
    return build_with(folder, "--vocab", str(put(folder, "tokenizer.model", zipped({"a": PROSE.encode()}))))


@case
def a_tokenizer_json_that_is_a_list(folder: Path) -> Case:
    return build_with(folder, "--vocab", str(put(folder, "tokenizer.json", b"[1, 2]")))


@case
def a_tokenizer_json_whose_ids_are_texts(folder: Path) -> Case:
    model = {"type": "WordPiece", "vocab": {"[UNK]": "many", "a": -1}, "unk_token": "[UNK]"}
    data = json.dumps({"version": "1.0", "model": model, "added_tokens": [{"id": "x"}]}).encode()
    return build_with(folder, "--vocab", str(put(folder, "tokenizer.json", data)))


@case
def sentence_parameters_of_random_bytes(folder: Path) -> Case:
    place = folder / "in" / "punkt"
    place.mkdir()
    for name in ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt", "card.json"):
        (place / name).write_bytes(os.urandom(500))
    return build_with(folder, "--sentences", str(place))


@case
def similar_words_without_tabs(folder: Path) -> Case:
    return build_with(folder, "--similar-words", str(put(folder, "words.txt", PROSE.encode() + b"\xff\xfe\n" * 9)))


@case
def a_recipe_of_random_bytes(folder: Path) -> Case:
    return build_with(folder, "--recipe", str(put(folder, "mine.toml", os.urandom(5000))))


@case
def a_recipe_with_tables_for_numbers(folder: Path) -> Case:
    data = b'seed = {a = 1}\nmax_seq_length = "many"\n[[phases]]\nphases = [[]]\n'
    return build_with(folder, "--recipe", str(put(folder, "mine.toml", data)))


@case
def a_condition_of_great_depth(folder: Path) -> Case:
    return build_with(folder, "--where", "(" * 5000 + "words > 1" + ")" * 5000)


@case
def a_filter_with_a_number_that_is_none(folder: Path) -> Case:
    return build_with(folder, "--filter", "min-characters=nan")


@case
def one_sentence_a_million_times(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD, {"id": "long", "text": "It rained all day in the town again. " * 500_000}))
    made = build(folder, "a.jsonl", counted(9, 0))
    flags = ["--dedup", "near", "--dedup-spans", "sentences", "--filter", "gopher-repetition"]
    return Case([*made.command, *flags], lambda out: (out / "manifest.json").is_file())


def dump_with_templates(**templates: str) -> bytes:
    """Return a dump of one page, and of template pages by their names."""
    pages = "".join(
        f"<page><title>Template:{name}</title><ns>10</ns><id>{number}</id><revision><id>1</id><model>wikitext</model>"
        f'<text xml:space="preserve">{text}</text></revision></page>\n'
        for number, (name, text) in enumerate(templates.items(), 100)
    )
    calls = " ".join(f"{{{{{name}|x}}}}" for name in templates)
    return dump(f"{PROSE} {calls}").replace(b"</mediawiki>", pages.encode() + b"</mediawiki>")


def with_template_pages(folder: Path, **templates: str) -> Case:
    """Return a case that cleans a dump with its template pages: its text is kept, and does not grow."""
    put(folder, "wiki.xml", dump_with_templates(**templates))
    command = ["clean-wikipedia", str(folder / "in" / "wiki.xml"), "--output", str(folder / "out"), "--template-pages"]
    return Case(command, lambda out: texts(out)[0].startswith("It rained") and len(texts(out)[0]) < 100_000, False)


@case
def templates_that_call_each_other_in_a_circle(folder: Path) -> Case:
    return with_template_pages(folder, A="a {{B|{{{1}}}}}", B="b {{A|{{{1}}}}}", C="c {{C}} {{C}}")


@case
def templates_that_grow(folder: Path) -> Case:
    grown = {f"L{number}": f"{{{{L{number - 1}|{{{{{{1}}}}}}}}}}" * 10 for number in range(1, 12)}
    return with_template_pages(folder, L0="{{{1}}}" * 10, **grown)


@case
def a_template_of_defaults_of_great_depth(folder: Path) -> Case:
    return with_template_pages(folder, Deep="{{{1|" * 20_000 + "x" + "}}}" * 20_000, Open="{{{1|" * 20_000)


def with_plugin(folder: Path, entry_points: str, module: str, metadata: str = "Name: odd\nVersion: 1\n") -> Case:
    """Return a case that plans a build where a package is installed that names plugins by entry points."""
    packages = folder / "packages"
    (packages / "odd-1.dist-info").mkdir(parents=True)
    (packages / "odd-1.dist-info" / "METADATA").write_bytes(metadata.encode("utf-8", "surrogateescape"))
    (packages / "odd-1.dist-info" / "entry_points.txt").write_text(f"[bertdata.plugins]\n{entry_points}\n")
    (packages / "odd_plugin.py").write_text(module)
    return Case(["build", "--dry-run", "--output", str(folder / "out")], packages=str(packages))


@case
def a_plugin_that_ends_the_process(folder: Path) -> Case:
    return with_plugin(folder, "odd = odd_plugin", "raise SystemExit(0)\n")


@case
def a_plugin_whose_error_takes_over_the_terminal(folder: Path) -> Case:
    return with_plugin(folder, "odd = odd_plugin", "raise RuntimeError('\\x1b[2J')\n")


@case
def a_plugin_that_calls_itself_without_end(folder: Path) -> Case:
    return with_plugin(folder, "odd = odd_plugin", "def call():\n    call()\ncall()\n")


@case
def a_plugin_that_is_not_there(folder: Path) -> Case:
    return with_plugin(folder, "odd = no_such_module:\x1b[31m", "")


@case
def a_plugin_of_a_package_with_half_a_line_for_an_entry_point(folder: Path) -> Case:
    return with_plugin(folder, "odd = no_such_module:\n\x1b[31m", "")


@case
def a_plugin_that_registers_a_number_under_a_name_that_is_taken(folder: Path) -> Case:
    module = "from bertdata.curation import FILTERS\nFILTERS.add('gopher-quality', 3)\n"
    return with_plugin(folder, "odd = odd_plugin", module)


@case
def a_plugin_of_a_package_whose_metadata_are_random_bytes(folder: Path) -> Case:
    made = with_plugin(folder, "odd = odd_plugin", "", os.urandom(500).decode("utf-8", "surrogateescape"))
    return replace(made, right=lambda out: True)
