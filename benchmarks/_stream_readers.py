"""One reader of a streamed data set, run by the Python of its own environment: `python _stream_readers.py JOB`.

JOB is JSON: peer, url or folder, cache, cache_bytes, window (rows), rows (of a batch), masked, steps, state (a file to
go on from), save (a file to save to), row (one to read by its number). It prints JSON: the example ids of each batch
and a digest of each, seconds to the first batch, processor seconds and tokens of those after it, and its memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Job = dict[str, Any]
_WHOLE = (1 << 64) - 1
"""Takes example ids of int64 for those of uint64."""


class Stream:
    """A reader: batches from where it is, its state after those that were taken, and a row by its number."""

    batches: Iterator[Any]

    def state(self) -> Any:
        """Return what a process goes on from."""
        raise NotImplementedError("keeps no state inside an epoch")

    def row(self, number: int) -> int:
        """Return the example id of a row."""
        raise NotImplementedError("has no row by its number")


def _collate(job: Job) -> Callable[[Sequence[Any]], Any]:
    """Return what makes a batch of rows: padded and masked by transformers, or the rows as they are."""
    if not job["masked"]:
        return lambda rows: {"rows": list(rows)}
    from transformers import AutoTokenizer, DataCollatorForLanguageModeling

    tokenizer = AutoTokenizer.from_pretrained(job["tokenizer"])
    collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15, pad_to_multiple_of=8)

    def collate(rows: Sequence[Any]) -> Any:
        names = ("input_ids", "token_type_ids")
        return collator([{name: row[name] for name in names} for row in rows]) | {
            "ids": [int(row["example_id"]) for row in rows]
        }

    return collate


class Ours(Stream):
    """bertdata."""

    def __init__(self, job: Job) -> None:
        from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ResumableLoader, ShardDataset

        place = {"cache": job["cache"], "cache_bytes": job["cache_bytes"]} if job["cache"] else {}
        self.dataset = ShardDataset(job["url"] + "/train", **place)
        sampler = ResumableBatchSampler(self.dataset, job["rows"], seed=1, shuffle_window=job["window_shards"])
        masked = PretrainingCollator(self.dataset)

        def collate(rows: Any) -> Any:
            ids = rows.numbers("example_id").view(np.uint64).tolist()
            if not job["masked"]:
                return {"lists": [rows.lists("input_ids"), rows.lists("token_type_ids")], "ids": ids}
            return masked(rows) | {"ids": ids}

        self.loader = ResumableLoader(self.dataset, sampler, collate)  # type: ignore[arg-type]
        if job["loaded"] is not None:
            self.loader.load_state_dict(job["loaded"])
        self.batches = iter(self.loader)

    def state(self) -> Any:
        return self.loader.state_dict()

    def row(self, number: int) -> int:
        return int(self.dataset[number]["example_id"]) & _WHOLE


class Mosaicml(Stream):
    """mosaicml-streaming, on MDS."""

    def __init__(self, job: Job) -> None:
        from streaming import StreamingDataLoader, StreamingDataset

        self.dataset = StreamingDataset(
            remote=job["url"] + "/train",
            local=job["cache"],
            shuffle=True,
            shuffle_seed=1,
            batch_size=job["rows"],
            cache_limit=job["cache_bytes"],
            num_canonical_nodes=1,
            **({"shuffle_block_size": job["window"]} if job["window"] else {}),
        )
        self.loader = StreamingDataLoader(self.dataset, batch_size=job["rows"], collate_fn=_collate(job))
        if job["loaded"] is not None:
            self.loader.load_state_dict(job["loaded"])
        self.batches = iter(self.loader)

    def state(self) -> Any:
        return self.loader.state_dict()

    def row(self, number: int) -> int:
        return int(self.dataset[number]["example_id"]) & _WHOLE


class Litdata(Stream):
    """litdata, on its own chunks."""

    def __init__(self, job: Job) -> None:
        from litdata import StreamingDataLoader, StreamingDataset
        from litdata.streaming import downloader

        downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = "true"  # it has no setting for it
        options = {"endpoint_url": os.environ["S3_ENDPOINT_URL"]}
        self.dataset = StreamingDataset(
            job["url"],
            cache_dir=job["cache"],
            shuffle=True,
            seed=1,
            max_cache_size=job["cache_bytes"],
            storage_options=options,
            drop_last=False,
        )
        collate = _collate(job)
        self.loader = StreamingDataLoader(
            self.dataset, batch_size=job["rows"], collate_fn=lambda rows: collate([_unpacked(row) for row in rows])
        )
        if job["loaded"] is not None:
            self.loader.load_state_dict(job["loaded"])
        self.batches = iter(self.loader)

    def state(self) -> Any:
        return self.loader.state_dict()

    def row(self, number: int) -> int:
        return int(_unpacked(self.dataset[number])["example_id"])


class Webdataset(Stream):
    """webdataset, on tar files."""

    def __init__(self, job: Job) -> None:
        import webdataset

        urls = [f"{job['url']}/{name}" for name in job["names"]]
        self.dataset = webdataset.WebDataset(
            urls, shardshuffle=len(urls), seed=1, cache_dir=job["cache"], cache_size=job["cache_bytes"]
        ).shuffle(job["window"] or 1000)
        collate = _collate(job)
        self.batches = map(collate, _batched((_unpacked(sample["row"]) for sample in iter(self.dataset)), job["rows"]))


class Grain(Stream):
    """grain, on ArrayRecord files of this machine: it reads no S3."""

    def __init__(self, job: Job) -> None:
        import grain

        source = grain.sources.ArrayRecordDataSource([f"{job['folder']}/{name}" for name in job["names"]])
        self.rows = grain.MapDataset.source(source).map(_unpacked)
        self.dataset = self.rows.seed(1).shuffle()
        rank, ranks = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        mine = self.dataset[rank::ranks].to_iter_dataset().batch(job["rows"], drop_remainder=False, batch_fn=list)
        self._rows = iter(mine)
        if job["loaded"] is not None:
            self._rows.set_state(job["loaded"])
        self.batches = map(_collate(job), self._rows)

    def state(self) -> Any:
        return self._rows.get_state()

    def row(self, number: int) -> int:
        return int(self.rows[number]["example_id"])


PEERS: dict[str, Callable[[Job], Stream]] = {
    "bertdata": Ours,
    "mosaicml-streaming": Mosaicml,
    "litdata": Litdata,
    "webdataset": Webdataset,
    "grain": Grain,
}


def packed(ids: Any, types: Any, example_id: int) -> bytes:
    """Return a row as bytes, for formats that hold bytes."""
    parts: list[bytes] = [array.tobytes() for array in (np.uint64(example_id), ids.astype("<u2"), types.astype("u1"))]
    return b"".join(parts)


def _unpacked(data: bytes) -> dict[str, Any]:
    length = (len(data) - 8) // 3
    return {
        "example_id": int(np.frombuffer(data, "<u8", 1)[0]),
        "input_ids": np.frombuffer(data, "<u2", length, 8),
        "token_type_ids": np.frombuffer(data, np.uint8, length, 8 + 2 * length),
    }


def _batched(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    held: list[Any] = []
    for row in rows:
        held.append(row)
        if len(held) == size:
            yield held
            held = []
    if held:
        yield held


def write(peer: str, rows: str, output: str) -> None:
    """Write rows, NumPy files of one shard each, in the format of a peer, a file for each shard."""
    places = sorted(Path(rows).glob("*.npz"))
    Path(output).mkdir(parents=True, exist_ok=True)

    def rows_of(place: Path) -> Iterator[bytes]:
        data = np.load(place)
        ends, ids, types = data["ends"], data["ids"], data["types"]
        begin = 0
        for end, example_id in zip(ends.tolist(), data["example_ids"].tolist(), strict=True):
            yield packed(ids[begin:end], types[begin:end], example_id)
            begin = end

    if peer == "litdata":
        from litdata.streaming.writer import BinaryWriter

        writer = BinaryWriter(output, chunk_size=len(np.load(places[0])["ends"]))
        number = 0
        for place in places:
            for row in rows_of(place):
                writer.add_item(number, row)
                number += 1
        writer.done()
        writer.merge(1)
    for number, place in enumerate(places):
        if peer == "webdataset":
            import webdataset

            with webdataset.TarWriter(f"{output}/{number:05d}.tar") as tar:
                for key, row in enumerate(rows_of(place)):
                    tar.write({"__key__": f"{number:05d}-{key:06d}", "row": row})
        elif peer == "grain":
            from array_record.python.array_record_module import ArrayRecordWriter

            records = ArrayRecordWriter(f"{output}/{number:05d}.array_record", "group_size:1")
            for row in rows_of(place):
                records.write(row)
            records.close()


def _described(batch: Any) -> tuple[list[int], int, str]:
    """Return the example ids of a batch, its tokens, and a digest of its rows and masks."""
    if "lists" in batch:
        return batch["ids"], sum(map(len, batch["lists"][0])), ""
    if "rows" in batch:
        rows = batch["rows"]
        return [int(row["example_id"]) & _WHOLE for row in rows], sum(len(row["input_ids"]) for row in rows), ""
    arrays = [np.asarray(batch[name]) for name in ("input_ids", "labels")]
    digest = hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:12]
    return [number & _WHOLE for number in batch["ids"]], int(np.asarray(batch["attention_mask"]).sum()), digest


def _anonymous_bytes() -> int:
    """Return the memory of this process that is not a file's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def _most_bytes(folder: str, most: list[int]) -> None:
    """Note the most bytes in a folder, again and again."""
    while True:
        total = 0
        for place, _, names in os.walk(folder):
            for name in names:
                try:
                    total += os.stat(os.path.join(place, name)).st_blocks * 512
                except OSError:
                    continue
        most[0] = max(most[0], total)
        time.sleep(0.02)


def main(job: Job) -> None:
    """Read as a job says, and print what was seen."""
    if "write" in job:
        write(job["peer"], job["write"], job["output"])
        return
    import torch

    torch.set_num_threads(1)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        torch.distributed.init_process_group("gloo")
    if job["peer"] != "bertdata":
        import transformers

        del transformers
    job["loaded"] = pickle.loads(Path(job["state"]).read_bytes()) if job.get("state") else None
    most = [0]
    if job["cache"] and job.get("watch"):
        threading.Thread(target=_most_bytes, args=(job["cache"], most), daemon=True).start()
    before, began = _anonymous_bytes(), time.perf_counter()
    stream = PEERS[job["peer"]](job)
    first = spent = 0.0
    batches, digests, tokens = [], [], 0
    wall = 0.0
    memory = before
    clock = os.times()
    for batch in stream.batches:
        if not first:
            first = time.perf_counter() - began
        ids, number, digest = _described(batch)
        batches.append(ids)
        digests.append(digest)
        if len(batches) == job["warm"]:
            clock, wall = os.times(), time.perf_counter()
        tokens += number if len(batches) > job["warm"] else 0
        memory = max(memory, _anonymous_bytes()) if not len(batches) % 20 else memory
        if len(batches) == job["steps"]:
            break
    now = os.times()
    spent = now.user + now.system - clock.user - clock.system
    said = {"batches": batches, "digests": digests, "first": first, "cpu": spent, "tokens": tokens}
    said |= {"wall": time.perf_counter() - wall, "memory": memory - before, "most": most[0]}
    with contextlib.suppress(Exception):  # that it cannot, whatever it raises
        if "row" in job:
            said["row"] = stream.row(job["row"])
        if "save" in job:
            Path(job["save"]).write_bytes(pickle.dumps(stream.state()))
            said["saved"] = True
    Path(job["said"]).write_text(json.dumps(said))
    os._exit(0)  # threads of some readers do not end


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
