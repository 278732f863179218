"""Write `bertdata/wikitext/mediawiki/languages.bin`: what differs from language to language in MediaWiki.

    python scripts/mediawiki_facts.py NAMES.json MEDIAWIKI CONFIGURATION

NAMES.json holds what MediaWiki itself says of each language when asked (namespaces, magic words, numbers, plural rules,
variants, each with its fallbacks), MEDIAWIKI is a checkout of it, of whose files those with the names of months and
days are read, and CONFIGURATION one of Wikimedia's own settings (operations/mediawiki-config), which name further
aliases of namespaces and the codes of the wikis. Facts alone are taken, and of these the ones that cleaning uses.

A member of the archive is a language, so that one is read without the others: see `mediawiki/facts.py`.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1] / "bertdata/wikitext"
OUTPUT = PACKAGE / "mediawiki/languages.bin"
archive = runpy.run_path(str(PACKAGE / "mediawiki/facts.py"))["archive"]
folded_prefixes = runpy.run_path(str(PACKAGE / "mediawiki/folding.py"))["folded_prefixes"]
KINDS = {"function", "#function", "variable", "variable and function", "switch", "redirect"}
OPTIONS = {"default", "nocommafysuffix", "rawsuffix", "lossless", "subst", "safesubst", "msg", "msgnw", "raw"}
OPTIONS |= {"url_path", "url_query", "url_wiki"}
"""The magic words that are no calls of their own, and are read in calls."""
MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may_long",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
GENITIVE = [f"{name.removesuffix('_long')}-gen" for name in MONTHS]
SHORT_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
SHORT_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
HEBREW = [f"hebrew-calendar-m{month}" for month in (*range(1, 13), "6a", "6b")]
CALENDAR = {
    "months": MONTHS,
    "genitive": GENITIVE,
    "short": SHORT_MONTHS,
    "days": DAYS,
    "short_days": SHORT_DAYS,
    "iranian": [f"iranian-calendar-m{month}" for month in range(1, 13)],
    "hijri": [f"hijri-calendar-m{month}" for month in range(1, 13)],
    "hebrew": HEBREW,
    "hebrew_genitive": [f"{name}-gen" for name in HEBREW],
}
PLURALS = {"ksh": ["n = 1", "n != 0"]}
"""Rules of plural forms that are code in MediaWiki: one, others, none."""
AFFIXES = {"bs", "dsb", "hsb", "hu", "sl"}
"""The languages whose code for cases adds something to the word and does no more."""
_CONSONANT, _BACK = "[bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ]", "[aouAOU][^aouäöyAOUÄÖY]*"
_ENDINGS = {"elative": ("sta", "stä"), "partitive": ("a", "ä"), "inessive": ("ssa", "ssä")}
FINNISH = {
    "genitive": [[f"({_CONSONANT})$", "$1in"], ["$", "n"]],
    "illative": [[f"({_CONSONANT})$", "$1iin"], ["(.)$", "$1$1n"]],
    **{
        case: [
            ["([wW][iI][kK][iI])$", f"$1{front}"],
            [f"({_BACK})(?<={_CONSONANT})$", f"$1i{back}"],
            [f"({_BACK})$", f"$1{back}"],
            [f"({_CONSONANT})$", f"$1i{front}"],
            ["$", front],
        ]
        for case, (back, front) in _ENDINGS.items()
    },
}
"""Finnish cases: an i after a consonant, and endings with the back vowel after a, o and u, but not after "wiki"."""
NUMBERS = {"NS_FILE": 6, "NS_CATEGORY": 14, "NS_TEMPLATE": 10, "6": 6, "14": 14, "10": 10}


def words_of(kinds: dict[str, Any], own: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the magic words that cleaning reads, by their ids."""
    return {name: words for name, words in own.items() if kinds[name]["kind"] in KINDS or name in OPTIONS}


def numbers_of(code: str, numbers: dict[str, Any], untranslated: set[str]) -> dict[str, Any]:
    """Return how a wiki of this language writes numbers, by what MediaWiki prints of examples, and reads them.

    write: group, decimal sign, from how many digits on they are grouped, whether in pairs after the first three,
    the digits, and the digits without separators where they are others (ICU's own are not MediaWiki's). read: what each
    of the separators and digits of the language's own tables stands for.
    """
    printed = numbers["printed"]
    if code in untranslated:
        printed = numbers.get("printedUntranslated", printed)
    digits = numbers.get("digits", "")
    seen = [sign for sign in printed["-0.5"] if sign.isnumeric()][:1]
    seen += [sign for sign in printed["1234567"] if sign.isnumeric()]
    in_order = all(sign == chr(ord(seen[0]) + value) for value, sign in enumerate(seen))
    rest = "".join(chr(ord(seen[0]) + value) for value in (8, 9)) if in_order else digits[8:] or "89"
    shown = "".join(seen) + rest
    shown = "" if shown == "0123456789" else shown
    plain = {
        name: text.translate(str.maketrans(shown, "0123456789")) if shown else text for name, text in printed.items()
    }
    whole = re.fullmatch(r"1(\D*)234(\D*)567|12(\D*)34(\D*)567", plain["1234567"])
    assert whole, (code, plain)
    group = next((sign for sign in whole.groups() if sign), "")
    decimal = re.fullmatch(r"12\D*345(\D+)67", plain["12345.67"])
    assert decimal, (code, plain)
    pairs = bool(whole[3])
    grouped_from = 0 if not group else 3 + numbers["minimumGroupingDigits"]
    separators = numbers.get("separators", {})
    read = {sign: plain_sign for plain_sign, sign in separators.items() if sign}
    read.update({sign: str(value) for value, sign in enumerate(digits)})
    for number, text in printed.items():  # the rule gives what was printed
        assert written(number, group, decimal[1], grouped_from, shown, pairs=pairs) == text, (code, number, text)
    is_other = shown and digits and numbers["translates"] and code not in untranslated and shown != digits
    return {
        "write": [group, decimal[1], grouped_from, int(pairs), shown, *([digits] if is_other else [])],
        "read": read,
    }


def written(number: str, group: str, decimal: str, grouped_from: int, digits: str, *, pairs: bool) -> str:
    """Write a number, as `mediawiki/numbers.py` does."""
    sign, number = ("−", number[1:]) if number.startswith("-") else ("", number)
    whole, point, rest = number.partition(".")
    if group and len(whole) >= grouped_from:
        head, tail = whole[:-3], whole[-3:]
        size = 2 if pairs else 3
        parts = [head[max(0, end - size) : end] for end in range(len(head), 0, -size)]
        whole = group.join([*reversed(parts), tail])
    text = sign + whole + (decimal if point else "") + rest
    return text.translate(str.maketrans("0123456789", digits)) if digits else text


def calendar_of(codes: list[str], mediawiki: Path) -> dict[str, list[str]]:
    """Return the names of months and days, each of the first of these languages that has it, English last.

    A kind of which only English has names is left out, but where the language is English.
    """
    messages: dict[str, str] = {}
    own: set[str] = set()
    for code in reversed(codes):
        path = mediawiki / f"languages/i18n/datetime/{code}.json"
        added = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        messages |= added
        own |= added.keys() if code != "en" or codes[0] == "en" else set()
    return {kind: [messages[name] for name in names] for kind, names in CALENDAR.items() if own & set(names)}


def grammar_of(code: str, mediawiki: Path) -> dict[str, list[list[str]]]:
    """Return the rules for the cases of a word: expressions, and what is written for them.

    Most are in files. A few languages have code that adds something before or after the word; what other code does
    (declensions of Latin, Kazakh, Ossetic, Tuvan, articles of Ripuarian) is left out, but for Finnish.
    """
    path = mediawiki / f"languages/data/grammarTransformations/{code}.json"
    cases = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    cases.pop("@metadata", None)
    rules = {case: cases[form] if isinstance(form, str) else form for case, form in cases.items()}
    if code in AFFIXES:
        rules = affixes_of((mediawiki / f"includes/languages/Language{code.capitalize()}.php").read_text("utf-8"))
    if code == "fi":
        rules = FINNISH
    return {
        case: [[anchored(form[0]), re.sub(r"\$(\d)", r"\\\1", form[1])] for form in some if form[0] != "@metadata"]
        for case, some in rules.items()
    }


def anchored(expression: str) -> str:
    """Let an expression that begins with anything begin where the word does, so that it is tried once."""
    return "^" + expression if expression.startswith("(.+") else expression


def affixes_of(source: str) -> dict[str, list[list[str]]]:
    """Return the rules of a class whose cases each add something to the word; a case without an end goes on."""
    body = php_function(source, "convertGrammar")
    rules: dict[str, list[list[str]]] = {}
    running: list[str] = []
    for case, before, after, end in re.findall(
        r"case '(\w+)'|\$word = '([^']*)' \. \$word|return \$word \. '([^']*)'|\b(break|return '')", body
    ):
        if case:
            running = [*running, case]
            rules[case] = [["^", ""]]
        elif end == "return ''":
            rules["*"] = [["^.*$", ""]]
        elif end:
            running = []
        for name in running if before or after else ():
            added = rules[name][0][1]
            rules[name] = [["$", after]] if after else [["^", before + added]]
        running = [] if after else running
    return rules


def project_names(settings: str) -> dict[str, str]:
    """Return the names that Wikimedia's settings give the namespace of the project, by the name of the wiki."""
    block = settings[settings.index("'wgMetaNamespace' => [") :]
    pairs = re.findall(r"^\t'(\w+)' => '([^']+)',", block[: block.index("\n],")], re.MULTILINE)
    return {wiki: name.replace("_", " ") for wiki, name in pairs}


def languages_of_wikis(settings: str, known: set[str]) -> dict[str, str]:
    """Return the language of each wiki whose name says another, by the code that begins its name."""
    block = settings[settings.index("'wgLanguageCode' => [") :]
    pairs = re.findall(r"'(\w+)wiki' => '([\w-]+)'", block[: block.index("\n],")])
    codes = re.findall(
        r"'([\w-]+)' => '([\w-]+)'",
        settings[settings.index("'wgInterlanguageLinkCodeMap'") :].split("],", maxsplit=1)[0],
    )
    by_name = {**{name.replace("_", "-"): code for name, code in pairs}, **dict(codes)}
    return {name: code for name, code in by_name.items() if code in known and name != code}


def own_aliases(settings: str) -> dict[str, dict[int, list[str]]]:
    """Return the aliases of files, categories and templates that Wikimedia's settings add, by the name of the wiki."""
    block = settings[settings.index("'wgNamespaceAliases' => [") :]
    block = block[: block.index("\n],")]
    aliases: dict[str, dict[int, list[str]]] = {}
    wiki = ""
    for line in block.splitlines():
        if opened := re.match(r"\t'\+?(\w+)' => \[", line):
            wiki = opened[1]
        for alias, constant in re.findall(r"'([^']+)' => (NS_\w+|\d+),", line):
            number = NUMBERS.get(constant)
            if wiki and number:
                aliases.setdefault(wiki, {}).setdefault(number, []).append(alias.replace("_", " "))
    return aliases


def variants_of(code: str, mediawiki: Path, tried: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return the variants of a language: which is the wiki's, what is tried for each, how pages name them.

    without_manual: those in which a page that chooses none of them shows the first choice that is written.
    """
    folder = mediawiki / "includes/language"
    converter = (folder / f"converters/{code.capitalize()}Converter.php").read_text(encoding="utf-8")
    defaults = re.search(
        r"languagesWithStaticDefaultVariant = \[(.*?)\]", (folder / "LanguageConverter.php").read_text("utf-8"), re.S
    )
    assert defaults, "LanguageConverter.php has no variants that differ from their language"
    default = dict(re.findall(r"'([\w-]+)' => '([\w-]+)'", defaults[1])).get(code, code)
    own = dict(re.findall(r"^\t\t\t'([\w-]+)' => '([^']*)',", php_function(converter, "getVariantNames"), re.MULTILINE))
    levels = re.findall(r"'([\w-]+)' => '(\w+)'", php_function(converter, "getAdditionalManualLevel"))
    separators = [
        (re.findall(r"return '(.*?)'", php_function(converter, name)) or [usual])[0]
        for name, usual in (("getDescCodeSeparator", ":"), ("getDescVarSeparator", ";"))
    ]
    codes = list(dict.fromkeys([*re.findall(r"'([\w-]+)'", php_function(converter, "getLanguageVariants")), *tried]))
    return {
        "default": default,
        "codes": codes,
        "tried": {variant: [other] if isinstance(other, str) else other for variant, other in tried.items()},
        "names": {variant: own.get(variant, names.get(variant, variant)) for variant in codes},
        "without_manual": [variant for variant, level in levels if level == "disable"],
        "separators": separators,
    }


def php_function(source: str, name: str) -> str:
    """Return the text of a function of a class, "" where it has none."""
    match = re.search(rf"function {name}\(.*?\n\t}}", source, re.S)
    return match[0] if match else ""


def all_switches(members: dict[str, Any], kinds: dict[str, Any], case: int) -> list[str]:
    """Return the switches of all languages that are read as they are written (case 1), or in any case."""
    words = {
        word
        for member in members.values()
        for name, own in member.get("words", {}).items()
        if kinds[name]["kind"] == "switch" and kinds[name]["case"] == case
        for word in own
    }
    return sorted(words)


def prefixes_of_all(members: dict[str, Any]) -> set[str]:
    """Return the prefixes of links to files, categories and other wikis in all languages, as cleaning folds them."""
    spaces = [
        member["namespaces"][number] for member in members.values() if "namespaces" in member for number in ("6", "14")
    ]
    return {*folded_prefixes(name for names in spaces for name in names if name), *members["-wikis"]["codes"]}


def main() -> None:
    """Write the archive."""
    facts = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    mediawiki, configuration = map(Path, sys.argv[2:4])
    kinds, untranslated = facts["words"], set(facts["untranslatedOnWikipedia"])
    autonyms = dict(re.findall(r"^\t\t'([\w-]+)' => '((?:[^'\\]|\\.)*)'", names_php(mediawiki), re.MULTILINE))
    autonyms |= {code: facts_of_code["autonym"] for code, facts_of_code in facts["languages"].items()}
    codes_php = (mediawiki / "includes/language/LanguageCode.php").read_text(encoding="utf-8")
    autonyms |= {other: autonyms[code] for other, code in other_codes(codes_php).items() if code in autonyms}
    settings = (configuration / "wmf-config/InitialiseSettings.php").read_text(encoding="utf-8")
    namespaces = (configuration / "wmf-config/core-Namespaces.php").read_text(encoding="utf-8")
    langlist = (configuration / "langlist").read_text(encoding="utf-8").split()
    wikis, projects = languages_of_wikis(settings, set(facts["languages"])), project_names(namespaces)
    project_of = {wikis.get(wiki, wiki): projects.get(f"{wiki}wiki".replace("-", "_")) for wiki in langlist}
    members: dict[str, Any] = {}
    for code, facts_of_code in facts["languages"].items():
        if "4" in facts_of_code["namespaces"]:
            facts_of_code["namespaces"]["4"]["name"] = project_of.get(code) or projects["wikipedia"]
        members[code] = {
            "fallback": [other for other in facts_of_code["fallback"] if other in facts["languages"]],
            "namespaces": {
                number: [space["name"], *space.get("aliases", []), *dict.fromkeys(space.get("gender", {}).values())]
                for number, space in facts_of_code["namespaces"].items()
            },
            "words": words_of(kinds, facts_of_code.get("words", {})),
            "numbers": numbers_of(code, facts_of_code["numbers"], untranslated),
            "plural": PLURALS.get(code, facts_of_code.get("plural", [])),
            "grammar": grammar_of(code, mediawiki),
            "calendar": calendar_of([code, *facts_of_code["fallback"]], mediawiki),
        }
        if not members[code]["grammar"]:
            del members[code]["grammar"]
        if "variants" in facts_of_code:
            members[code]["variants"] = variants_of(code, mediawiki, facts_of_code["variants"], autonyms)
    members["en"]["kinds"] = {
        name: [kind["kind"], kind["case"]] for name, kind in kinds.items() if kind["kind"] in KINDS or name in OPTIONS
    }
    members["-autonyms"] = autonyms
    members["-wikis"] = {
        "languages": wikis,
        "codes": sorted({*langlist, *facts["languages"]}),
        "aliases": own_aliases(namespaces),
    }
    members["-all"] = {
        "prefixes": sorted(prefixes_of_all(members)),
        "variants": {
            variant: code
            for code, facts_of_code in members.items()
            if "variants" in facts_of_code
            for variant in facts_of_code["variants"]["codes"]
        },
        "redirect": sorted(
            {word for facts_of_code in members.values() for word in facts_of_code.get("words", {}).get("redirect", [])}
        ),
        "switches": [all_switches(members, kinds, case) for case in (1, 0)],
    }
    OUTPUT.write_bytes(archive(members))
    print(f"{OUTPUT}: {len(members)} members, {OUTPUT.stat().st_size} bytes")


def other_codes(source: str) -> dict[str, str]:
    """Return the code of a language in MediaWiki by those that others have for it, and by those that it had."""
    tables = {
        name: dict(re.findall(r"'([\w-]+)' => '([\w-]+)'", re.findall(rf"{name} = \[(.*?)\];", source, re.S)[0]))
        for name in ("DEPRECATED_LANGUAGE_CODE_MAPPING", "NON_STANDARD_LANGUAGE_CODE_MAPPING")
    }
    standard = {other.lower(): code for code, other in tables["NON_STANDARD_LANGUAGE_CODE_MAPPING"].items()}
    return {**standard, **tables["DEPRECATED_LANGUAGE_CODE_MAPPING"]}


def names_php(mediawiki: Path) -> str:
    """Return the file in which MediaWiki has the names of languages in these languages."""
    return (mediawiki / "includes/languages/data/Names.php").read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
