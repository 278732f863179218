"""What differs in the templates of wikis by their language: a data file for each language, read by `read`.

`locale` has what they share, `special` the templates that take a function. A wiki of a language without a file gets
`locale.NEUTRAL`: its foreign words without the name of their language.
"""
