"""Special tokens that a text spells are text: the file of a tokenizer in which no text becomes one of them.

`encode_special_tokens` of `tokenizers` does that for the tokens that are looked for before the model is met. The model
itself has a special token as a piece as well: Unigram finds it anywhere, a model of whole words where it is a word, and
byte-pair merges may lead to it. Here such pieces get names that no text has, and a token that merges make is split.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from bertdata.tokenizers.ids import reading_json, vocabulary_size

MARK = "\u2581"
NAME_LENGTH = 128
"""Characters of a name that stands in for a special token in a model of whole words."""
_MOST_NAME = 1 << 14
_NO_FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


class Row(NamedTuple):
    """The tokens of one text: ids, the characters (start, end) of each, and the number of the word of each."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    word_ids: list[int | None]


class SpecialParts(NamedTuple):
    """How a text gets no special ids from a model.

    splits: for each special token that merges make, the ids that stand in its place. spellable: the ids whose names in
    the file are words that a text could spell, so that a longer name has to be tried where one of them comes out.
    """

    splits: Mapping[int, tuple[int, ...]]
    spellable: frozenset[int]

    @property
    def never_special(self) -> bool:
        """Whether the model gives no special ids to a text, whatever it is."""
        return not self.splits and not self.spellable


def kind_of(model: Mapping[str, Any]) -> str:
    """Return the type of a model; models of old files have none.

    >>> kind_of({"vocab": {}, "merges": []}), kind_of({"vocab": [], "unk_id": 0})
    ('BPE', 'Unigram')
    """
    if isinstance(model.get("type"), str):
        return str(model["type"])
    if "merges" in model:
        return "BPE"
    if "max_input_chars_per_word" in model:
        return "WordPiece"
    return "Unigram" if isinstance(model["vocab"], list) else "WordLevel"


def merges_with(model: Mapping[str, Any], tokens: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return what merges make of which two tokens, the first merge of each, where one of the three is among `tokens`.

    >>> merges_with({"vocab": dict.fromkeys(["lo", "low"]), "merges": ["l o", ["lo", "w"], "a b"]}, {"lo"})
    {'lo': ('l', 'o'), 'low': ('lo', 'w')}
    """
    if not model.get("merges"):
        return {}
    prefix, vocabulary = model.get("continuing_subword_prefix") or "", model["vocab"]
    made: dict[str, tuple[str, str]] = {}
    if not prefix:  # most tokens are not of merges, which the vocabulary tells sooner than the merges
        parts = ((token[:at], token[at:]) for token in tokens for at in range(1, len(token)))
        within = any(left in vocabulary and right in vocabulary for left, right in parts)
        if not (within or _are_parts(tokens, vocabulary)):
            return made
    with reading_json("is not a whole tokenizer.json: a merge is not a pair of tokens"):
        for pair in model.get("merges") or ():
            left, right = pair.split(" ") if isinstance(pair, str) else pair
            whole = left + right[len(prefix) :] if prefix and right.startswith(prefix) else left + right
            if whole in tokens or left in tokens or right in tokens:
                made.setdefault(whole, (left, right))
    return made


def _are_parts(tokens: Collection[str], vocabulary: Collection[str]) -> bool:
    """Tell whether other tokens of a vocabulary may begin or end with one of these: whether they hold one."""
    if any("\n" in token for token in tokens):
        return True
    together = "\n".join(vocabulary)
    return any(together.count(token) > (token in vocabulary) for token in tokens)


def without_special(
    data: Mapping[str, Any],
    vocabulary: Mapping[str, int],
    special: Collection[str],
    letters: Collection[str] = (),
    *,
    name_length: int = NAME_LENGTH,
) -> tuple[dict[str, Any], SpecialParts]:
    """Return the file of a tokenizer with the same ids, in which special tokens are not found by their names.

    vocabulary: all tokens with their ids; special: those that no text becomes; letters: tokens of single bytes, which
    every text needs, whatever else they are. Where there are added tokens that are not special, all stay in the list
    that are not in the model, as the ids of some depend on those before them; after these come special tokens by their
    own names, with ids that no text gets, as `tokenizers` looks for no other token within one that a text spells.
    """
    model = data["model"]
    kind, added = kind_of(model), data.get("added_tokens") or ()
    rest = any(entry["content"] not in special for entry in added)
    if kind == "Unigram":
        changed, hidden = _unigram(model, vocabulary, special, fill=bool(added) and not rest)
        parts = SpecialParts({}, frozenset())
    else:
        changed, hidden, parts = _by_names(data, vocabulary, special, letters, rest=rest, length=name_length)
    pieces = len(model["vocab"]) if kind == "Unigram" else 0
    nameless = {token for token in special if vocabulary[token] < pieces}
    entries = [
        {**entry, "content": hidden.get(entry["content"], entry["content"]), "special": True, **_NO_FLAGS}
        if entry["content"] in special
        else entry
        for entry in added
        if entry["content"] not in nameless
    ]
    first = vocabulary_size(vocabulary.values())
    spelled = [entry for entry in added if entry["content"] in special]
    entries += [{**entry, "special": True, "id": first + place} for place, entry in enumerate(spelled)]
    return {**data, "model": changed, "added_tokens": entries if rest else []}, parts


def _unigram(
    model: Mapping[str, Any], vocabulary: Mapping[str, int], special: Collection[str], *, fill: bool
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a Unigram model whose special pieces are empty, so that they are nowhere, and names of those beyond it."""
    pieces = [*model["vocab"]]
    for token in special:
        if (token_id := vocabulary[token]) < len(pieces):
            pieces[token_id] = ["", pieces[token_id][1]]
    beyond = [(token_id, token) for token, token_id in islice(vocabulary.items(), len(pieces), None)]
    if fill and beyond:
        worst = min(map(itemgetter(1), pieces), default=0.0)
        pieces += [["", worst]] * (max(beyond)[0] + 1 - len(pieces))
    return {**model, "vocab": pieces}, _names(sorted(beyond), vocabulary, NAME_LENGTH)


def _by_names(
    data: Mapping[str, Any],
    vocabulary: Mapping[str, int],
    special: Collection[str],
    letters: Collection[str],
    *,
    rest: bool,
    length: int,
) -> tuple[dict[str, Any], dict[str, str], SpecialParts]:
    """Return a model of a table of tokens, in which special ones have long names; these names; and what is left."""
    model = data["model"]
    kind, unknown = kind_of(model), model.get("unk_token")
    if kind == "WordPiece":
        limit = model.get("max_input_chars_per_word")
        limit = limit if isinstance(limit, int) else 0
        length = max(length, min(limit + 1, _MOST_NAME))
    made = merges_with(model, special) if kind == "BPE" else {}
    needed = {*made, *(side for pair in made.values() for side in pair), *letters}
    hidden = _names(sorted((vocabulary[token], token) for token in special if token not in needed), vocabulary, length)
    tokens = model["vocab"] if rest else vocabulary
    changed = {**model, "vocab": dict(zip(map(hidden.get, tokens, tokens), tokens.values(), strict=True))}
    if unknown in hidden:
        changed["unk_token"] = hidden[unknown]
    splits = {
        vocabulary[token]: tuple(vocabulary[part] for part in _split(token, made, special))
        for token in special
        if token in made and token != unknown
    }
    spelled = kind == "WordLevel" or (kind == "BPE" and bool(model.get("ignore_merges")) and not letters)
    spelled = spelled or (kind == "WordPiece" and limit >= length)
    ids = frozenset(vocabulary[token] for token in hidden if token != unknown and token in tokens) if spelled else ()
    return changed, hidden, SpecialParts(splits, frozenset(ids))


def _names(tokens: Sequence[tuple[int, str]], vocabulary: Collection[str], length: int) -> dict[str, str]:
    """Return a name of at least `length` characters for each of some tokens, given with their ids."""
    names = {token: f"a{MARK}{token_id}{MARK}".ljust(length, "a") for token_id, token in tokens}
    taken = any(name in vocabulary for name in names.values())
    return _names(tokens, vocabulary, 2 * length) if taken else names


def _split(token: str, made: Mapping[str, tuple[str, str]], special: Collection[str]) -> list[str]:
    """Return the tokens that a special token was merged from, none of them special where that can be."""
    if token not in special or token not in made:
        return [token]
    return [part for side in made[token] for part in _split(side, made, special)]


def split_row(row: Row, splits: Mapping[int, Sequence[int]], lengths: Sequence[int]) -> Row:
    """Return a row in which special tokens that merges made are split again.

    lengths: for each id the characters of its token. Where these do not add up to the characters of the text, as of
    letters of several bytes, each part has all of them.

    >>> split_row(Row([9, 1], [(0, 3), (3, 4)], [0, 0]), {9: (2, 3)}, [1, 1, 2, 1, 1, 1, 1, 1, 1, 3])
    Row(ids=[2, 3, 1], offsets=[(0, 2), (2, 3), (3, 4)], word_ids=[0, 0, 0])
    """
    if splits.keys().isdisjoint(row.ids):
        return row
    ids: list[int] = []
    offsets: list[tuple[int, int]] = []
    words: list[int | None] = []
    for token_id, (start, end), word in zip(*row, strict=True):
        parts = splits.get(token_id, (token_id,))
        exact = len(parts) > 1 and sum(lengths[part] for part in parts) == end - start
        at = start
        for part in parts:
            ids.append(part)
            offsets.append((at, at + lengths[part]) if exact else (start, end))
            words.append(word)
            at += lengths[part]
    return Row(ids, offsets, words)
