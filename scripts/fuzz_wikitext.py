"""Fuzz the wikitext kernels with atheris: guided by coverage of the reference, with which they must agree.

Run: pip install atheris; NUMBA_BOUNDSCHECK=1 python scripts/fuzz_wikitext.py -max_total_time=600 [CORPUS]
The arguments are libFuzzer's. Each byte of an input stands for a piece of markup or a character. It stops at the first
difference or error and prints the wikitext, which belongs into tests/wikitext/test_driver.py.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["bertdata.sources.wikipedia"]):
    from bertdata.wikitext.clean import extract_readable, without_reserved
    from bertdata.wikitext.template_calls import PageContext

from bertdata.wikitext.driver import extract_utf8

PAGE = PageContext("Title")
PIECES = """
{{ }} {{{ }}} [[ ]] [ ] | || |- ! {| |} <ref> </ref> <ref/> <!-- --> <nowiki> </nowiki> <math> </math> <table> </table>
<gallery> </gallery> <br> <div> </div> <pre> </pre> [[File:a.jpg|thumb| [[Category:x]] {{convert|5|km {{convert|5|km}}
{{lang|fr|mot}} {{nowrap| {{frac|1|2}} {{!}} {{Infobox '' ''' ''''' = == === * # : ; ---- ~~~~ __TOC__ -{ }- http://a.b
&lt; &nbsp; &#65; & ( ) () , . <blockquote> </blockquote> <p> </p> <td> <references> </references> {{!}} ]]] [[http://a
</source> <!--a--> [[//a %41 %7C __notoc__ [http://[::1]/ :{| "<b" name=
"""
ALPHABET = [
    *PIECES.split(),
    "\n",
    "\n\n",
    "\n== References ==\n",
    "\n== Notes ==\n",
    "<source inline>",
    "\n* ",
    " ",
    "\t",
    "\r\n",
    "\0",
    "é",
    "日",
    "\ud800",
    "a",
    "Text. ",
]


def check(data: bytes) -> None:
    """Raise where the kernels give other prose, or another reason to drop the page, than the reference."""
    source = "".join(ALPHABET[byte % len(ALPHABET)] for byte in data)
    page = without_reserved(source.encode("utf-8", "surrogatepass"))
    expected, actual = extract_readable(page, PAGE), extract_utf8(page, PAGE)
    if actual != expected:
        raise AssertionError(f"{source!r}: reference {expected}, kernels {actual}")


if __name__ == "__main__":
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()
