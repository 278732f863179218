"""Duplicates: exact and near ones found over the whole corpus by MinHash, and left out by reference.

`minhash` makes a document's signature, `store` and `buckets` bring those that may be alike together, `decide` says
which of them stays, and `parts` makes stages of it. No text is rewritten: a part of documents keeps a list of dropped
rows.
"""

from bertdata.curation.dedup.minhash import estimate, signature, signatures

__all__ = ["estimate", "signature", "signatures"]
