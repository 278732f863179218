"""Shards in the formats of others, and back: a build in, one file for each shard out; files in, shards out.

registry        ExportFormat, ImportFormat and the formats by name
exporting       every shard becomes one file, written whole or not at all
importing       every file becomes one shard, its rows checked
shard           a shard as an export format gets it
static          rows with static masks, padded, in the fields of Google's create_pretraining_data
parquet, jsonl, hf, mds, tfrecord, hdf5
                one format each (`tfrecord` with `example`, its protobuf, and `crc32c`; `mds` with `mds_dialects`)
"""

from bertdata.formats.base import EXPORT_FORMATS, IMPORT_FORMATS, ExportFormat, ImportFormat
from bertdata.formats.exporting import export
from bertdata.formats.importing import import_shards
from bertdata.formats.shard import ExportedShard

__all__ = [
    "EXPORT_FORMATS",
    "IMPORT_FORMATS",
    "ExportFormat",
    "ExportedShard",
    "ImportFormat",
    "export",
    "import_shards",
]
