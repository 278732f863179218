"""Tasks in, parts on disk out: how a stage is planned, run once, recorded, and kept for the next run."""
