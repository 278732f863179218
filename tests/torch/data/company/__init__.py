"""The loader under other people's loops: the same rows and masks after any stop, or an error that says why not.

`python -m tests.torch.data.company` writes the table of docs/loader.md.
"""
