"""Text that occurs more than once in a corpus: paragraphs, or runs of three sentences, left in one document only.

`text_units` finds paragraphs and sentences, and takes some out of a text; `folded` brings them into the form in which
they are compared; `store` signs the spans of a range of documents; `decide` finds in one partition which of them
repeat; `rewrite` writes documents without these; and `stage` makes a stage of it.
"""
