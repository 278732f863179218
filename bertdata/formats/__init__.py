"""`bertdata export` and `bertdata import`: shards in the formats of others, and back.

command     the command: every shard becomes one file, written whole or not at all
arrow       Parquet, JSON lines, a folder for datasets
mds         MosaicML Streaming
static      rows with static masks, padded, as Google's code writes them; what the next two hold
tfrecord    Google's create_pretraining_data: TFRecord without TensorFlow (`example`: protobuf, `crc32c`)
hdf5        NVIDIA's BERT
importing   TFRecord and HDF5 to shards
"""

from bertdata.formats.command import EXPORTERS, Exporter, ExportOptions, add_arguments, export, run

__all__ = ["EXPORTERS", "ExportOptions", "Exporter", "add_arguments", "export", "run"]
