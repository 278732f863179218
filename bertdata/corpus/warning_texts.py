"""What each warning of a corpus says, and what to do."""

from __future__ import annotations

TEXTS = {
    "dropped documents": (
        "{figure:.1%} of the source {source} was dropped, most of it as: {reason}",
        "look at the files that the manifest names under `broken`, and at --text-column",
    ),
    "empty source": (
        "no document is left of the source {source}; most of it was dropped as: {reason}",
        "change the rule that drops it, or leave the source out",
    ),
    "text without prose": (
        "{figure:.0%} of the text of the source {source} is in no document: {reasons}",
        "look at these files, and at --text-column; tables, verse and scanned pages are not prose; --documents reads "
        "text as it is",
    ),
    "removed text": (
        "{figure:.0%} of the text of the documents of the source {source} was taken out of them: {reasons}",
        "look at some of it (bertdata show DIR --dropped); a higher --dedup-threshold takes less, "
        "and test data must not be text of this source",
    ),
    "encoding of books": (
        "{figure:.0f} of the books of the source {source} may be in another encoding than they were read in: {books}",
        "look at them, and name the encoding where it is wrong, as --encoding {source}=ENCODING",
    ),
    "filtered documents": (
        "the filter {filter} dropped {figure:.1%} of the {what} of the source {source} that it saw, most of it as: "
        "{reason}",
        "look at them (bertdata show DIR --dropped '{reason}'), and change the threshold or leave the rule out",
    ),
    "idle filter": (
        "the filter {filter} dropped none of the {seen:,} documents of the source {source} that it saw",
        "see whether its thresholds fit these texts, or leave it out",
    ),
    "small vocabulary": (
        "the vocabulary has {size:,} of the {asked:,} tokens asked for",
        "add text, ask for fewer with --vocab-size, or use --vocab bertdata-30k-uncased for English",
    ),
    "[UNK]": (
        "{figure:.1%} of the tokens are [UNK]",
        "",
    ),
    "language": (
        "only {figure:.1%} of the tokens are English function words (the, of, and ...), and sentences are cut by "
        "English parameters",
        "",
    ),
    "language of documents": (
        "{figure:.1%} of the documents are of another language ({others}) than the sentence parameters ({language})",
        "",
    ),
    "sentence parameters": (
        "{figure:.1%} of the documents are in languages without sentence parameters ({others}): the default ones cut "
        "them",
        "",
    ),
    "markup": (
        "there are {per_thousand:.1f} closing tags (</...>) for 1,000 tokens: this is HTML or XML, not text",
        "take the text out of the markup first",
    ),
    "broken characters": (
        "there are {per_thousand:.1f} characters for 1,000 tokens that were decoded wrongly (U+FFFD, Ã©, â€)",
        "decode the files by the encoding they have, and write them as UTF-8",
    ),
    "lost marks": (
        "the vocabulary strips accents, and {figure:.1%} of the characters{of} become other letters by it, as が "
        "becomes か, or lose their vowel, as कु does",
        "keep them with --no-do-lower-case",
    ),
    "line breaks": (
        "{figure:.0%} of the sentences end without a period or the like: lines seem to be broken inside them",
        "",
    ),
    "length of sentences": (
        "a sentence has {figure:.1f} tokens in the mean",
        "",
    ),
    "length of documents": (
        "a document has {figure:.1f} tokens in the mean",
        "",
    ),
    "one document": (
        "one document has {figure:.0%} of all tokens",
        "",
    ),
    "copies": (
        "about {figure:.0%} of the documents are copies of others",
        "",
    ),
}
"""What each warning says was found, and what to do."""
