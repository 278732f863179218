#!/usr/bin/env bash
# Claim: two libraries that turn wikitext into text leave other things of it than a reader sees. A footnote is glued to the word
#   before it by both; the caption of a picture is dropped by wikitextparser, and kept with the word "thumb" by mwparserfromhell;
#   the equals signs of a heading are kept by wikitextparser.
# Packages: mwparserfromhell 0.7.2, wikitextparser 3.0.0.
# Guess: a footnote is dropped by both, a caption is kept by both ("thumb|" before it by mwparserfromhell), a heading is its words.
# It matters to whoever takes one of them for "the text of Wikipedia": footnotes run into sentences, or captions are missing.
# Date: 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check mwparserfromhell==0.7.2 wikitextparser==3.0.0
cat >strip.py <<'PYTHON'
"""Print what each library makes of some wikitext."""

import mwparserfromhell
import wikitextparser

for wikitext in ("sea<ref>Smith 2001</ref> air", "[[File:a.jpg|thumb|A cold sea]]air", "== Sea ==\nair"):
    print(wikitext)
    print("  mwparserfromhell", ascii(mwparserfromhell.parse(wikitext).strip_code()))
    print("  wikitextparser", ascii(wikitextparser.parse(wikitext).plain_text()))
PYTHON
environment/bin/python -W ignore strip.py | tee seen
cat >expected <<'TEXT'
sea<ref>Smith 2001</ref> air
  mwparserfromhell 'seaSmith 2001 air'
  wikitextparser 'seaSmith 2001 air'
[[File:a.jpg|thumb|A cold sea]]air
  mwparserfromhell 'thumb|A cold seaair'
  wikitextparser 'air'
== Sea ==
air
  mwparserfromhell ' Sea \nair'
  wikitextparser '== Sea ==\nair'
TEXT
diff expected seen
