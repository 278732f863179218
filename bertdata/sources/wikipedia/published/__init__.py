"""Wikipedia as others publish it: rows of Parquet or JSON lines in, articles of prose out.

`forms` has the forms by the columns of a file: sections as JSON, pages as wikitext or HTML, and text with Markdown.
What the wikitext cleaner leaves out is left out of each: headings, lists, tables, and sections without prose.
"""
