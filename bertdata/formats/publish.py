"""`bertdata publish`: a folder of a build's rows for a hub of data sets: rows, tokenizer, card and Croissant.

    TO/train/data-00000-of-00004.parquet    and validation; of several phases below a folder each
    TO/tokenizer/                           and of several phases TO/PHASE/tokenizer
    TO/README.md                            the card, by which `datasets.load_dataset` finds the rows
    TO/croissant.json                       the same for machines, with the SHA-256 of each file; written last

What stays at home: `stages/` with the texts; the manifest, which has the names of the source files and the beginnings
of documents that were dropped; the sentence parameters; the account of columns but for what the card shows; and the
files in which bertdata notes what the output was made from, with its paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from bertdata import __version__
from bertdata.errors import ConfigError, OutputError, printable
from bertdata.formats import EXPORT_FORMATS
from bertdata.formats.croissant import PublishedFile, croissant
from bertdata.formats.shard import ExportedShard
from bertdata.io import files, listing
from bertdata.io.console import counted
from bertdata.shards.accounts import read_accounts
from bertdata.shards.card_metadata import language_codes, license_id, licenses_in, metadata_lines
from bertdata.shards.phases import index_card, phase_names
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.reader import open_splits
from bertdata.shards.schema import SPLITS

FORMATS = {"parquet": "parquet", "arrow": "hf"}
"""The formats of published rows, and the export formats that write them."""
CROISSANT, CARD = "croissant.json", "README.md"
_ROWS = re.compile(rf"(?:[^/]+/)?(?:{'|'.join(SPLITS)})/data-[^/]*\.(?:parquet|arrow)")


def publish(
    build: str,
    to: str,
    file_format: str = "parquet",
    *,
    name: str = "",
    force: bool = False,
    report: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Write a folder for a hub from a finished build; returns its rows, files and bytes.

    name: that of the data set, by default that of the folder. `report` is called with (files done, files in all).
    Raises ConfigError for another format and for shards that are no pretraining data; InputError where there is no
    finished build; OutputError where the folder is not empty, or, with `force`, holds something that this function did
    not write.
    """
    if file_format not in FORMATS:
        raise ConfigError(f"--format is {file_format!r}; expected {' or '.join(FORMATS)}")
    _require_room(build, to, force=force)
    manifest = files.read_json_if_there(files.join(build, "manifest.json"))
    names = phase_names(manifest) or [""]
    kind, suffix = EXPORT_FORMATS[FORMATS[file_format]], "parquet" if file_format == "parquet" else "arrow"
    opened = {phase: open_splits(files.join(build, phase) if phase else build) for phase in names}
    total, done, rows = sum(len(shards.paths) for splits in opened.values() for shards in splits), 0, 0
    published: list[PublishedFile] = []
    schemas: dict[str, pa.Schema] = {}
    cards: dict[str, str] = {}
    heads: dict[str, list[str]] = {}
    licences: set[str] = set()
    languages: dict[str, None] = {}
    for phase, splits in opened.items():
        info, first_manifest = splits[0].info, splits[0].manifest
        if not isinstance(info, PretrainingInfo):
            raise ConfigError(
                f"{build} holds {info.purpose} data; bertdata publish is for the output of `bertdata build`"
            )
        for shards in splits:
            schemas[f"{phase}/{shards.split}" if phase else shards.split] = shards.table.schema
            for shard, local in zip(shards.paths, shards.local_paths, strict=True):
                path = "/".join([*([phase] if phase else []), shards.split, f"{files.name(shard)[:-6]}.{suffix}"])
                exported, target = ExportedShard(local, shards.table.schema), files.join(to, *path.split("/"))
                with files.atomic_write(target) as file:
                    kind.write(exported, file)
                published.append(PublishedFile(path, files.size(target), files.sha256(target), phase, shards.split))
                rows, done = rows + exported.rows, done + 1
                if report:
                    report(done, total)
        splits[0].tokenizer().save_pretrained(files.join(to, *([phase] if phase else []), "tokenizer"))
        account = read_accounts(splits[0].build, first_manifest)
        licenses, of_all = licenses_in(first_manifest, account)
        licences |= (
            {license_id(licenses[0]) or "other"}
            if len(licenses) == 1 and of_all
            else {"other" if licenses else "unknown"}
        )
        languages |= dict.fromkeys(language_codes(first_manifest))
        cards[phase] = info.card(_with_sizes(first_manifest, phase, published), account, f"data-*.{suffix}")
        heads[phase] = metadata_lines(first_manifest, account)
    for phase, card in cards.items():
        files.write_bytes(files.join(to, *([phase] if phase else []), CARD), card.encode())
    if names != [""]:
        of_phases = {phase: [split.split for split in splits] for phase, splits in opened.items()}
        lengths = {phase: splits[0].info.max_seq_length for phase, splits in opened.items()}
        text = index_card(of_phases, lengths, heads[names[0]], f"data-*.{suffix}")
        files.write_bytes(files.join(to, CARD), text.encode())
    title = name or files.name(to.rstrip("/"))
    described = croissant(
        title,
        f"Rows of token ids for pretraining encoders, made by bertdata {__version__}.",
        licences.pop() if len(licences) == 1 else "other",
        list(languages),
        published,
        schemas,
        f"bertdata {__version__}",
    )
    files.write_json(files.join(to, CROISSANT), described)
    size = sum(published_file.bytes for published_file in published)
    return {"rows": rows, "files": len(published), "bytes": size, "license": described["license"]}


def _with_sizes(manifest: dict[str, Any], phase: str, published: list[PublishedFile]) -> dict[str, Any]:
    """Return a manifest with the bytes of the published files in place of those of the shards, for the card."""
    splits = {}
    for split, entry in manifest["splits"].items():
        sizes = [file.bytes for file in published if (file.config, file.split) == (phase, split)]
        shards = [shard | {"bytes": size} for shard, size in zip(entry["shards"], sizes, strict=True)]
        splits[split] = entry | {"shards": shards}
    return manifest | {"splits": splits}


def _require_room(build: str, to: str, *, force: bool) -> None:
    """Raise OutputError where a folder holds anything; with `force` delete an earlier publication that is all of it."""
    if files.real_path(to) == files.real_path(build):
        raise ConfigError("TO is the build itself; choose another folder", path=to)
    there = listing.names(to)
    if not there:
        return
    written = _written(files.read_json_object(files.join(to, CROISSANT))) if CROISSANT in there else []
    if not (force and written):
        what = "an earlier publication: --force replaces it" if written else "something else; choose a new folder"
        raise OutputError(f"holds {what}", path=to)
    if others := _others(to, written):
        more = f" and {counted(len(others) - 1, 'other name')}" if others[1:] else ""
        raise OutputError(
            f"holds {printable(others[0])}{more} beside an earlier publication, and --force would delete all of it; "
            "move that elsewhere, or choose a new folder",
            path=to,
        )
    for name in there:
        files.remove(files.join(to, name))


def _written(described: dict[str, Any]) -> list[str]:
    """Return the paths that a publication wrote, by its description; none where a description is not of one.

    >>> rows, thesis = ({"@type": "cr:FileObject", "@id": path} for path in ("train/data-0.parquet", "thesis.txt"))
    >>> _written({"keywords": ["bertdata"], "distribution": [rows]})
    ['train/data-0.parquet', 'README.md', 'croissant.json', 'tokenizer']
    >>> _written({"keywords": ["bertdata"], "distribution": [rows, thesis]})
    []
    """
    keywords, distribution = described.get("keywords"), described.get("distribution")
    if not (isinstance(keywords, list) and "bertdata" in keywords and isinstance(distribution, list)):
        return []
    objects = [entry for entry in distribution if isinstance(entry, dict) and entry.get("@type") == "cr:FileObject"]
    paths: list[Any] = [entry.get("@id") for entry in objects]
    if not all(isinstance(path, str) and files.is_below(path) and _ROWS.fullmatch(path) for path in paths):
        return []
    phases = {path.split("/")[0] for path in paths if path.count("/") == 2}
    of_phases = [f"{phase}/{name}" for phase in sorted(phases) for name in (CARD, "tokenizer")]
    return [*paths, *of_phases, CARD, CROISSANT, "tokenizer"] if paths else []


def _others(to: str, written: Sequence[str]) -> list[str]:
    """Return what lies in the folders of a publication, at most some levels down, that it did not write."""
    names: dict[str, set[str]] = {}
    for path in written:
        parts = path.split("/")
        for depth, name in enumerate(parts):
            names.setdefault("/".join(parts[:depth]), set()).add(name)
    folders = {folder: listing.names(files.join(to, *folder.split("/")) if folder else to) for folder in names}
    others = [(folder, name) for folder, there in folders.items() for name in there if name not in names[folder]]
    return sorted(f"{folder}/{name}" if folder else name for folder, name in others)
