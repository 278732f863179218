"""`BuiltCorpus`: a finished build in Python, what `bertdata.build` returns; in a notebook it shows its summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bertdata.corpus.summary import build_rows
from bertdata.corpus.warning_lines import warnings_in
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.io.console import counted
from bertdata.io.notebook import escaped, html_table
from bertdata.shards.reader import Shards, open_shards


class BuiltCorpus(Mapping[str, Any]):
    """A finished build: its folder, its shards, and its manifest, whose keys it has too.

    corpus = bertdata.build("corpus", documents="texts/*.jsonl")
    corpus                              # BuiltCorpus('corpus'): 615 examples in train, 12 in validation
    corpus.train[0]["input_ids"]        # open shards, as of bertdata.open_shards
    corpus["splits"]["train"]["counts"]
    both = bertdata.build("both", documents="texts/*.jsonl", max_seq_length=(128, 512))
    both.phases["512"].train
    """

    def __init__(self, path: str, manifest: Mapping[str, Any]) -> None:
        self.path, self.manifest = path, dict(manifest)

    @property
    def phases(self) -> dict[str, BuiltCorpus]:
        """The phases by name, in their order; none of a build of one phase."""
        return {
            name: BuiltCorpus(files.join(self.path, name), manifest)
            for name, manifest in self.manifest.get("phases", {}).items()
        }

    @property
    def train(self) -> Shards:
        """The train split; raises ConfigError where there are several phases."""
        return self._open("train")

    @property
    def validation(self) -> Shards | None:
        """The validation split, None without one; raises ConfigError where there are several phases."""
        return self._open("validation") if "validation" in self._splits() else None

    def _splits(self) -> Mapping[str, Any]:
        if names := list(self.phases):
            raise ConfigError(
                f"has the phases {', '.join(names)}, each with its own splits; take one, as "
                f"corpus.phases[{names[0]!r}].train",
                path=self.path,
            )
        splits: Mapping[str, Any] = self.manifest["splits"]
        return splits

    def _open(self, split: str) -> Shards:
        if split not in self._splits():
            raise ConfigError(f"has no split {split!r}; it has {', '.join(self._splits())}", path=self.path)
        return open_shards(self.path, split)

    def __getitem__(self, key: str) -> Any:
        return self.manifest[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.manifest)

    def __len__(self) -> int:
        return len(self.manifest)

    def __repr__(self) -> str:
        if names := list(self.phases):
            return f"BuiltCorpus({self.path!r}): phases {', '.join(names)}"
        counts = {name: split["counts"]["examples"] for name, split in self.manifest["splits"].items()}
        splits = ", ".join(f"{counted(number, 'example')} in {name}" for name, number in counts.items())
        return f"BuiltCorpus({self.path!r}): {splits}"

    def _repr_html_(self) -> str:
        """Return what the command prints of a build: its summary, and its warnings with what to do."""
        parts = [escaped(repr(self)), html_table(build_rows(self.manifest))]
        for name, warning in warnings_in(self.manifest):
            phase = f"phase {name}, " if name else ""
            about, figure_text, remedy = (escaped(str(warning[key])) for key in ("about", "found", "remedy"))
            parts.append(f"{escaped(phase)}<b>{about}</b>: {figure_text}; {remedy}")
        return "".join(f"<div>{part}</div>" for part in parts)
