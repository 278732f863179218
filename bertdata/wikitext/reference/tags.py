"""The first pass over wikitext: comments, references and extension tags, whose content is not wikitext of the page.

What is left holds braces, brackets, tables, plain HTML tags and text. `kernels/tags` does the same, compiled.
"""

from __future__ import annotations

import re

from bertdata.wikitext import rules
from bertdata.wikitext.character_references import undo_character_references
from bertdata.wikitext.rules import LINE_BREAK, PARAGRAPH_BREAK, PLACEHOLDER

_PLAIN = r"""[^<>="']++|=\s*+(?:"[^"<]*+"|'[^'<]*+')|["']"""
_QUOTED = r"=\s*+(?:{})".format(
    "|".join(rf"{q}[^{q}<]*+(?:<(?!/|!--|ref)[^{q}<]*+){{1,{rules.MARKUP_IN_A_VALUE}}}{q}" for q in "\"'")
)
_ATTRIBUTES = rf"(?P<attributes>(?:{_PLAIN}|(?!{_QUOTED})=)*+(?:{_QUOTED}(?:{_PLAIN}|=)*+)?+>|[^<>]*+>)"
_VALUE = r"""(?:"[^"<>\n]*+"|'[^'<>\n]*+'|[^\s"'<>/=]++)"""
_OPENING = re.compile(
    r"(?P<lines>(?<=\n)[ \t]*+(?:<!--(?:[^-]++|-(?!->))*+-->[ \t]*+)++\n)|"
    rf"<(?:(?P<comment>!--)|(?P<name>{'|'.join(rules.TAGS)})(?=[\s/>])"
    rf"{_ATTRIBUTES}|ref(?=[\s/<]|\Z)(?P<cut>(?:\s++[a-z]++\s*+=\s*+{_VALUE})*+/?+))",
    re.IGNORECASE | re.ASCII,
)
_CLOSING_REFERENCE = re.compile(r"</ref(?=[\s/><]|\Z)", re.IGNORECASE | re.ASCII)
_REFERENCE = re.compile(r"<(/?)ref(?=[\s/><]|\Z)(?:\s*+>|[^<>\n]*+>)?", re.IGNORECASE | re.ASCII)
_CLOSING = {name: re.compile(rf"</{name}\s*+>", re.IGNORECASE | re.ASCII) for name in rules.TAGS}
_LITERALLY = str.maketrans({character: f"&#{ord(character)};" for character in rules.LITERAL})
_REFERENCE_OR_MARKUP = re.compile(rf"(&\#?[0-9a-zA-Z]++;)|([{re.escape(rules.LITERAL)}])")
_PLAIN_FORMULA = re.compile(f"[^{re.escape(rules.NOT_IN_FORMULAS)}&]{{1,{rules.FORMULA_LENGTH}}}")
_PLAIN_CHEMISTRY = re.compile(r"[^\\$&\[\]|]*")
_ARROWS = {"<=>": "⇌", "<->": "↔", "->": "→", "<-": "←"}
_ARROW = re.compile("<=>|<->|->|<-")
_CHARGE = re.compile(r"(\^\{?\d*|(?<=\w)|(?<=[)\]]))-(?=[\s})]|\Z)")
_SCRIPT = re.compile(r"[\^_{}]")
_POEM_LINE, _POEM_RULE = re.compile(r"\n[:\s]*"), re.compile("^----+", re.MULTILINE)


def take_out_tags(source: str) -> str:
    """Return the wikitext without comments, references and extension tags.

    `<nowiki>` text comes back as character entities, a `<poem>` keeps its lines, `<chem>` and a `<math>` formula
    that is plain text keep their text, and so does code that is shown within a line; all else leaves nothing, a line
    of comments not even its end. A tag that is never closed hides its line, a `<ref>` after which no reference is
    closed hides nothing, as on a wiki, and one without its ">" hides what is before a `</ref>` on its line.

    >>> take_out_tags('It rained.<ref name="a>b">Smith, p. 5.</ref> Then<!-- no --> it <nowiki>[[stopped]]</nowiki>.')
    'It rained. Then it &#91;&#91;stopped&#93;&#93;.'
    """
    out = [""]
    position = 0
    unclosed: set[str] = set()
    closed_at = -1
    while (opening := _OPENING.search(source, position)) is not None:
        start, end = opening.span()
        placeholder = placeholder_after(source[position:start]) if start > position or len(out) == 1 else ""
        out.append(source[position:start])
        if opening["lines"]:
            position = end
            continue
        if opening["comment"]:
            close = source.find("-->", end)
            if close < 0:
                position = len(source)
                break
            position = close + 3
            continue
        if opening["cut"] is not None:
            out.append(placeholder)
            position = _end_of_cut_reference(source, end, opening["cut"])
            continue
        name, attributes = opening["name"].lower(), opening["attributes"]
        position = end
        gap = placeholder
        if not placeholder and name in rules.BLOCK_EXTENSION_TAGS and source[start - 1 : start].strip():
            gap = " " + PLACEHOLDER
        if attributes.endswith("/>"):
            out.append(gap)
            continue
        if name == "ref":
            if closed_at < end:
                following = _CLOSING_REFERENCE.search(source, end)
                closed_at = following.start() if following is not None else len(source)
            if closed_at < len(source):
                out.append(placeholder)
                position = _end_of_reference(source, end, attributes)
            elif source[start - 1 : start].strip():
                out.append(" ")
            continue
        closing = None if name in unclosed else _CLOSING[name].search(source, end)
        if closing is not None:
            position = closing.end()
            if name in rules.EXTENSION_TAGS and not (name in rules.CODE_TAGS and is_inline(attributes)):
                out.append(gap)
            else:
                out.append(content_of(name, source[end : closing.start()]) or placeholder)
        else:
            unclosed.add(name)
            if name in rules.EXTENSION_TAGS:
                line_end = source.find("\n", end)
                position = len(source) if line_end < 0 else line_end
            elif name == rules.INCLUDE_ONLY:
                position = len(source)
    out.append(source[position:])
    return "".join(out)


def placeholder_after(text: str) -> str:
    """Return what a dropped construct leaves after `text`: a placeholder, or "" where no cleanup is needed around it.

    >>> placeholder_after("word"), placeholder_after("word ") == PLACEHOLDER
    ('', True)
    """
    return PLACEHOLDER if not text or text[-1] in rules.BEFORE_PLACEHOLDER else ""


def poem(text: str) -> str:
    """Return verse as a paragraph of its own whose lines stay lines; a blank line or a rule parts it."""
    stanzas = _POEM_RULE.sub(PARAGRAPH_BREAK, text).split(PARAGRAPH_BREAK)
    stanzas = [_POEM_LINE.sub(LINE_BREAK, stanza.strip(" \n:")) for stanza in stanzas]
    return paragraph(PARAGRAPH_BREAK.join(stanzas))


def paragraph(text: str) -> str:
    """Return text as a paragraph of its own; after the placeholder a space does not indent what follows."""
    return PARAGRAPH_BREAK + text + PARAGRAPH_BREAK + PLACEHOLDER


def is_inline(attributes: str) -> bool:
    """Tell whether highlighted code is shown within a line: `inline`, formerly `enclose="none"`."""
    return "inline" in attributes or ("enclose" in attributes and "none" in attributes)


def content_of(name: str, text: str) -> str:
    """Return what the content of a tag shows, "" where that is nothing."""
    if name == "nowiki":
        indent = len(text) - len(text.lstrip(" "))
        literal = _REFERENCE_OR_MARKUP.sub(lambda match: match[1] or f"&#{ord(match[2])};", text[indent:])
        return "&#32;" * min(indent, 1) + literal
    if name in rules.CODE_TAGS:
        return text.strip().translate(_LITERALLY)
    if name == "poem":
        return poem(take_out_tags(text))
    if name in ("chem", "ce"):
        return _chemical(undo_character_references(text.strip()))
    if name == "math":
        formula = undo_character_references(text.strip())
        return formula.translate(_LITERALLY) if _PLAIN_FORMULA.fullmatch(formula) else ""
    return ""


def _chemical(formula: str) -> str:
    """Return a formula of mhchem as plain text, nothing where it needs TeX.

    >>> _chemical("SO4^{2-}"), _chemical("2 H2 + O2 -> 2 H2O"), _chemical("\\\\ce{X}")
    ('SO42−', '2 H2 + O2 → 2 H2O', '')
    """
    if len(formula) > rules.FORMULA_LENGTH or not _PLAIN_CHEMISTRY.fullmatch(formula):
        return ""
    formula = _CHARGE.sub(lambda match: match[1] + "−", _ARROW.sub(lambda match: _ARROWS[match[0]], formula))
    return _SCRIPT.sub("", formula).translate(_LITERALLY)


def _end_of_reference(source: str, start: int, attributes: str) -> int:
    """Find where the text of a reference ends: its closing tag or, where another reference comes first, its line.

    A named reference without a slash that is never closed is taken for a use of the name, and hides nothing, where
    another is on its line or a space or a sign follows it. A closing tag without its ">" ends where its name does.
    """
    following = _REFERENCE.search(source, start)
    if following is not None and following[1]:
        return following.end()
    limit = len(source) if following is None else following.start()
    line_end = source.find("\n", start, limit)
    if following is not None and "name" in attributes and (line_end < 0 or source[start] in rules.AFTER_USE):
        return start
    return limit if line_end < 0 else line_end


def _end_of_cut_reference(source: str, start: int, attributes: str) -> int:
    """Find where a reference ends whose opening tag has no ">": after its closing tag where one is on its line."""
    following = None if attributes.endswith("/") else _REFERENCE.search(source, start)
    if following is not None and following[1] and "\n" not in source[start : following.start()]:
        return following.end()
    return start
