"""Duplicates: exact and near ones found over the whole corpus by MinHash, and left out by reference.

`minhash` makes a document's signature, `signature_store` brings those together that may be alike, `decide` says which
of them stays, and `stage` makes a stage of it. No text is rewritten: a part of documents keeps a list of
dropped rows.
"""

from bertdata.curation.dedup.minhash import estimate, signature
from bertdata.curation.dedup.signature_store import signatures

__all__ = ["estimate", "signature", "signatures"]
