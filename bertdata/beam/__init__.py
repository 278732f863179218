"""PTransforms: thin wrappers, one for each pure function that makes a part; and how they are run."""
