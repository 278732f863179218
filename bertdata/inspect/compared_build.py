"""A build, or another folder with a manifest, as `diff` compares it: its kind, settings, inputs and counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from bertdata.engine.origin import Origin, read_origin
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.console import counted
from bertdata.shards.contents import check_manifest
from bertdata.shards.phases import phase_names

MANIFEST = "manifest.json"
_NOT_SETTINGS = {"tokenizer", "format", "sources"} | {
    f"{role}_token_id" for role in ("cls", "mask", "pad", "sep", "unk")
}


@dataclass(frozen=True)
class ComparedBuild:
    """What a build says of itself: its manifest, those of its phases by name, and where it comes from."""

    path: str
    manifest: dict[str, Any]
    phases: dict[str, dict[str, Any]]
    origin: Origin | None

    @staticmethod
    def read(path: str) -> ComparedBuild:
        """Read a build or a task from its folder; raises InputError where there is none."""
        place = files.join(path.rstrip("/"), MANIFEST)
        manifest = files.read_json_if_there(place)
        if not isinstance(manifest, dict):
            raise InputError(
                f"holds no finished build or task: there is no {MANIFEST} here; expected the --output of "
                "`bertdata build` or `bertdata encode-task`",
                path=path,
            )
        check_manifest(manifest, place)
        names = phase_names(manifest)
        phases = {}
        for name in names:
            phases[name] = files.read_json(of_phase := files.join(path, name, MANIFEST))
            check_manifest(phases[name], of_phase)
        return ComparedBuild(path.rstrip("/"), manifest, phases or {"": manifest}, read_origin(path)[0])

    @property
    def task(self) -> str:
        """The fine-tuning task, "" of a build."""
        return str(next(iter(self.phases.values())).get("info", {}).get("task", ""))

    def kind(self) -> str:
        """Return what it holds, as "nsp examples of up to 128 tokens"."""
        parts = []
        for phase in self.phases.values():
            info = phase.get("info", {})
            examples = info.get("examples", info)
            what = f"rows of the task {self.task}" if self.task else f"{examples.get('objective', 'imported')} examples"
            parts.append(f"{what} of up to {examples.get('max_seq_length', '?')} tokens")
        return "; ".join(parts)

    def settings(self) -> dict[str, Any]:
        """Return its settings, by their names."""
        settings = dict(self.manifest.get("settings", {})) | (
            flattened(self.origin.settings, "") if self.origin else {}
        )
        of_phases = [flattened(phase.get("info", {}), "", skip=_NOT_SETTINGS) for phase in self.phases.values()]
        for name in dict.fromkeys(name for phase in of_phases for name in phase):
            values = [phase.get(name) for phase in of_phases]
            settings[name] = values[0] if all(value == values[0] for value in values) else values
        return settings

    def inputs(self) -> dict[str, Any]:
        """Return the inputs by name and their bytes: those that the manifest has of each source."""
        described = {}
        for source, entry in next(iter(self.phases.values())).get("sources", {}).items():
            for source_input in entry.get("inputs", [entry] if "name" in entry else []):
                name = (
                    source_input.get("file") or source_input.get("name") or source_input.get("path")
                    if isinstance(source_input, dict)
                    else source_input
                )
                size = (
                    f"{source_input['bytes']:,} bytes"
                    if isinstance(source_input, dict) and "bytes" in source_input
                    else "there"
                )
                digest = (
                    f", SHA-256 {source_input['sha256'][:12]}"
                    if isinstance(source_input, dict) and "sha256" in source_input
                    else ""
                )
                described[f"{source}: {name}"] = f"{size}{digest}"
        return described

    def tokenizers(self) -> dict[str, Any]:
        """Return the fingerprint of its tokenizer, by what it is called."""
        first = next(iter(self.phases.values()))
        vocabulary = first.get("vocabulary", {}).get("pieces") or first.get("info", {}).get("vocab_size")
        digest = str(first.get("info", {}).get("tokenizer", ""))[:12]
        return {"tokenizer": f"{counted(vocabulary, 'token')}, {digest}" if vocabulary else digest}

    def counts(self) -> dict[str, Any]:
        """Return what was counted of sources, tokens and splits, by name."""
        counts: dict[str, Any] = {}
        first = next(iter(self.phases.values()))
        for source, entry in first.get("sources", {}).items():
            counts |= flattened(entry.get("counts", {}), f"{source}: ")
            counts |= flattened(entry.get("drops", {}), f"{source}: dropped, ")
        for group, start in (("counts", "tokens: "), ("drops", "tokens: dropped, ")):
            counts |= flattened(first.get("tokens", {}).get(group, {}), start)
        for name, phase in self.phases.items():
            for split, entry in phase["splits"].items():
                counts |= flattened(entry["counts"], f"{name + ' ' if name else ''}{split}: ")
        return counts

    def shards(self) -> dict[str, str]:
        """Return the SHA-256 of each shard, by its file."""
        return {
            files.join(name, shard["file"]) if name else str(shard["file"]): str(shard.get("sha256", ""))[:12]
            for name, phase in self.phases.items()
            for entry in phase["splits"].values()
            for shard in entry["shards"]
        }


def flattened(values: Mapping[str, Any], start: str, skip: Collection[str] = ()) -> dict[str, Any]:
    """Return the values of nested mappings by their last name: settings have names of their own."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if name in skip:
            continue
        if isinstance(value, Mapping):
            flat |= flattened(value, start)
        else:
            flat[f"{start}{name}"] = value
    return flat
