"""What differs in the templates of wikis by their language: one module for each language, `locale` has what they share.

A wiki of a language without a module gets `locale.NEUTRAL`: its foreign words without the name of their language.
"""
