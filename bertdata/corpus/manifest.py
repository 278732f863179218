"""The files beside the shards: the manifest, the dataset card, and those that `datasets.load_from_disk` needs.

They are functions of the records, without times, machines or paths, so the same corpus gives the same files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bertdata import __version__
from bertdata.characters.newer import UNICODE
from bertdata.corpus.advice import Choices
from bertdata.corpus.compared_values import notes_of_compared, warnings_of_compared
from bertdata.corpus.left_out import account_of, warnings_of_selection, warnings_of_train
from bertdata.corpus.plan import ShardPlan
from bertdata.corpus.warnings import warnings_of
from bertdata.curation.languages import UNKNOWN
from bertdata.documents import DOCUMENT_LANGUAGES, DROPPED_TEXTS, dropped_texts
from bertdata.engine.fingerprints import fingerprint, sealed
from bertdata.engine.parts import Counts, PartMetadata, add_counts
from bertdata.engine.versions import versions
from bertdata.io import files, remote
from bertdata.shards.accounts import DOCUMENTS_IN
from bertdata.shards.contents import file_digests
from bertdata.shards.pieces import PIECES
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import FORMAT, SPLITS, ShardInfo, features, shard_schema
from bertdata.sources.text_encodings import DOUBTFUL, ENCODINGS


def source_entry(
    inputs: Sequence[tuple[str, int]], records: Sequence[PartMetadata], taken: int | None = None
) -> dict[str, Any]:
    """Return what the manifest says of one source: its files, counts, drops by reason, broken parts, languages.

    languages: articles by the language of their wiki, where any has one; all documents where a build keeps languages.
    encodings: the files that were not UTF-8, by the encoding they were read in, if any; doubtful encodings:
    the books that may be in another one, with the doubt.
    dropped_texts: samples of the documents that rules dropped, by reason, where there are any.

    taken: the bytes of the ranges that were read; default: those of the files.
    """
    dropped = dropped_texts(records)
    languages = add_counts(languages_of(record) for record in records)
    encodings: dict[str, list[str]] = {}
    for name, encoding in (pair for record in records for pair in record.details.get(ENCODINGS, [])):
        encodings.setdefault(encoding, []).append(name)
    return {
        "inputs": [{"name": name, "bytes": size} for name, size in inputs],
        "bytes": sum(size for _, size in inputs) if taken is None else taken,
        "counts": add_counts(record.counts for record in records),
        "drops": add_counts(record.drops for record in records),
        "broken": [
            entry | {"path": files.name(entry["path"])}
            for record in records
            for entry in record.details.get("broken", [])
        ],
        **({"languages": languages} if languages else {}),
        **({ENCODINGS: encodings} if encodings else {}),
        **({DOUBTFUL: doubtful} if (doubtful := doubtful_of(records)) else {}),
        **({DROPPED_TEXTS: dropped} if dropped else {}),
    }


def doubtful_of(records: Sequence[PartMetadata]) -> list[list[str]]:
    """Return the name, the encoding and the doubt of each book that may be in another encoding."""
    return [entry for record in records for entry in record.details.get(DOUBTFUL, [])]


def languages_of(record: PartMetadata) -> dict[str, int]:
    """Return the documents of a part by language, as far as it is known: of wikis, or of all documents."""
    of_documents: dict[str, list[int]] = record.details.get(DOCUMENT_LANGUAGES, {})
    of_wikis: dict[str, int] = record.details.get("languages", {})
    return {code: documents for code, (documents, _) in of_documents.items() if code != UNKNOWN} or of_wikis


def build_manifest(
    origins: dict[str, dict[str, Any]],
    tokens: Sequence[PartMetadata],
    plan: ShardPlan,
    info: PretrainingInfo,
    shards: Sequence[PartMetadata],
    mix: Mapping[str, Mapping[str, float]] | None = None,
    choices: Choices | None = None,
    sources_of_tokens: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the manifest: how the build was made and what is in it, from the sources to each shard.

    `origins` describes the sources, the vocabulary and the sentence parameters; choices: what advice goes by;
    sources_of_tokens: the name of the source of each of `tokens`.
    """
    bins = info.examples.bins
    chosen: dict[str, list[dict[str, Any]]] = {split: [] for split in SPLITS}
    for place, part in enumerate(shards):
        shard, number = divmod(place, len(bins))
        entry = {"file": plan.file(shard, number, len(bins)), "bytes": part.bytes, "sha256": part.sha256}
        binned = {"longest": bins[number]} if len(bins) > 1 else {}
        chosen[plan.split(shard)].append(entry | binned | {"counts": part.counts})
    splits: dict[str, Any] = {
        split: {"counts": add_counts(entry["counts"] for entry in entries), "shards": entries}
        for split, entries in chosen.items()
        if entries
    }
    left_out = account_of(splits)
    return {
        "format": FORMAT,
        "bertdata": __version__,
        "versions": {name: version for name, version in versions().items() if name != "bertdata"}
        | {"Unicode tables of tokens": UNICODE},
        "info": info.values(),
        **origins,
        "tokens": {
            "counts": add_counts(record.counts for record in tokens),
            "drops": add_counts(record.drops for record in tokens),
        },
        "notes": [*plan.notes, *notes_of_compared(info.selection.where)],
        **({"left_out": left_out} if left_out else {}),
        "warnings": [
            *warnings_of_selection(left_out, info.selection),
            *warnings_of_compared(info.selection.where, add_counts(split["counts"] for split in splits.values())),
            *warnings_of_train(info, splits),
            *warnings_of(
                origins["sources"],
                origins["vocabulary"],
                tokens,
                sentences=origins.get("sentences"),
                deduplicated=any(
                    "duplicate" in reason for source in origins["sources"].values() for reason in source["drops"]
                ),
                choices=replace(choices or Choices(), objective=info.examples.objective),
                sources_of_tokens=sources_of_tokens,
                selected=_languages_in(splits) if left_out else None,
            ),
        ],
        "mix": mixture(info, splits["train"]["counts"], mix or {}) if "train" in splits else {},
        "splits": splits,
    }


def _languages_in(splits: Mapping[str, Any]) -> dict[str, int]:
    """Return the documents of all splits by language, as far as it is known."""
    counts = add_counts(split["counts"] for split in splits.values())
    named = {
        name.removeprefix(DOCUMENTS_IN): number for name, number in counts.items() if name.startswith(DOCUMENTS_IN)
    }
    return {code: number for code, number in named.items() if code != UNKNOWN}


def pieces_of(plan: ShardPlan, info: PretrainingInfo, shards: Sequence[PartMetadata]) -> dict[str, dict[str, Any]]:
    """Return what `save_pieces` writes of the shards of a build, by split."""
    bins, pieces = len(info.examples.bins), dict[str, dict[str, Any]]()
    for place, part in enumerate(shards):
        shard, number = divmod(place, bins)
        if digests := part.details.get(PIECES):
            entry = {"sha256": part.sha256, "pieces": digests}
            pieces.setdefault(plan.split(shard), {})[plan.file(shard, number, bins)] = entry
    return pieces


def mixture(info: PretrainingInfo, counts: Counts, shares: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Return what the manifest says of each source in train: its weight where one was given, and its epochs.

    planned: the epochs that the weights ask for; epochs: the tokens in all copies divided by those of the source.
    """
    result: dict[str, Any] = {}
    for number, name in enumerate(info.sources):
        available, taken = counts.get(f"tokens_of_{name}", 0), counts.get(f"tokens_in_copies_of_{name}", 0)
        entry = {"tokens": taken, "epochs": round(taken / available, 4) if available else 0.0}
        planned = {**shares[name], "planned": info.epochs[number]} if name in shares else {}
        result[name] = planned | entry
    return result


def write_dataset_files(
    output: str, manifest: dict[str, Any], info: ShardInfo, account: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Write the files for `datasets`, the card and, last, the manifest.

    account: what documents were counted by, if they were, for the card.

    Returns the manifest as it is written: with its checksum and the SHA-256 of the other files (see
    `bertdata.shards.contents`), except the card, which people edit.
    """
    others = dataset_files(manifest["splits"], info)
    remote.at_once(lambda item: files.write_json(files.join(output, item[0]), item[1]), others.items())
    files.write_bytes(files.join(output, "README.md"), info.card(manifest, account).encode())
    written = sealed(manifest | {"files": file_digests(output, others)})
    files.write_json(files.join(output, "manifest.json"), written)
    return written


def dataset_files(splits: dict[str, Any], info: ShardInfo) -> dict[str, Any]:
    """Return the files that `datasets.load_from_disk` reads beside the shards: JSON values by path."""
    result: dict[str, Any] = {"dataset_dict.json": {"splits": [split for split in info.splits if split in splits]}}
    for split, entry in splits.items():
        result[f"{split}/state.json"] = {
            "_data_files": [{"filename": files.name(shard["file"])} for shard in entry["shards"]],
            "_fingerprint": fingerprint([shard["sha256"] for shard in entry["shards"]])[:16],
            "_format_columns": None,
            "_format_kwargs": {},
            "_format_type": None,
            "_output_all_columns": False,
            "_split": split,
        }
        result[f"{split}/dataset_info.json"] = {
            "citation": "",
            "description": "",
            "features": features(shard_schema(info)),
            "homepage": "",
            "license": "",
        }
    return result
