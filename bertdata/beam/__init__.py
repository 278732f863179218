"""Stages in, their parts on disk: runs stages on Apache Beam, on this machine or on a cluster."""
