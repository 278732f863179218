"""What came into a build and what became of it, from its manifest or records: the table of a run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.corpus.left_out import left_out_rows
from bertdata.corpus.stored_ids import IDS_TAKEN, READ_BY_IDS
from bertdata.documents import CHANGED, LEFT_OUT
from bertdata.engine.parts import add_counts
from bertdata.io.console import Row, byte_size, counted, largest
from bertdata.masking.training import SHIFTED, find_training
from bertdata.objectives.blocks import BORROWED, DROPPED
from bertdata.objectives.objective import find_objective
from bertdata.shards.accounts import TOKENS_IN
from bertdata.sources.names import KINDS, IdCount, units_of
from bertdata.sources.text_encodings import READ_AS

_SHOWN_BROKEN = 3


def source_rows(sources: Mapping[str, Any]) -> list[Row]:
    """Return the rows of the sources: what came in, drops by reason, what rules changed and left out, broken parts by
    name, documents.

    Over 30 sources are the 30 with the most documents, and the others together.
    """
    rows: list[Row] = []
    for name, source in with_others_as_one(sources).items():
        counts = source["counts"]
        units = units_of(counts)
        unit_names = " and ".join(units) or KINDS.get(name, "rows")
        rows.append((f"{name}: {unit_names} in", f"{sum(counts[unit] for unit in units):,}"))
        rows += [(f"  dropped, {reason}", f"{number:,}") for reason, number in source["drops"].items()]
        rows += [(f"  {name}", f"{number:,}") for name, number in counts.items() if _of_rules(name)]
        broken = source["broken"]
        for entry in _of_different_reasons(broken):
            rows.append((f"  broken, {entry['reason']}", broken_place(entry)))
        if len(broken) > _SHOWN_BROKEN:
            rows.append(("  broken, others", f"{len(broken) - _SHOWN_BROKEN:,}; the manifest or the records name them"))
        size = byte_size(counts.get("text_bytes", 0))
        rows.append(("  documents", f"{counts.get('documents', 0):,} ({size} of text)"))
    return rows


def broken_place(entry: Mapping[str, Any]) -> str:
    """Return where a broken page, book or row is, by its title where it has one.

    >>> broken_place({"path": "w.xml", "title": "Salt", "offset": 10}), broken_place({"path": "x.jsonl", "place": 42})
    ('Salt (w.xml, byte 10)', 'x.jsonl:42')
    """
    place: str = entry["path"] + (f", byte {entry['offset']}" if "offset" in entry else "")
    if title := entry.get("title"):
        return f"{title} ({place})"
    number = entry.get("place", place)  # a byte or a row, as in the id of a document
    return place if number == place else f"{place}:{number}"


def _of_different_reasons(broken: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the first few entries, one of each reason before a second of any."""
    seen: Counter[str] = Counter()
    turns: list[int] = []
    for entry in broken:
        turns.append(seen[entry["reason"]])
        seen[entry["reason"]] += 1
    chosen = sorted(range(len(broken)), key=lambda number: turns[number])[:_SHOWN_BROKEN]
    return [broken[number] for number in sorted(chosen)]


def _of_rules(count: str) -> bool:
    """Return whether a count is of what was decoded, or what rules and stages changed in documents or left out."""
    return count.startswith((CHANGED, READ_AS)) or LEFT_OUT in count or count in [*IdCount]


def with_others_as_one(sources: Mapping[str, Any]) -> dict[str, Any]:
    """Return the largest sources, and what the others have together as one more."""
    largest_names, others = largest({name: source["counts"].get("documents", 0) for name, source in sources.items()})
    result = {name: sources[name] for name in largest_names}
    if others:
        together = [sources[name] for name in others]
        result[f"{counted(len(others), 'smaller source')}"] = {
            "counts": add_counts(other["counts"] for other in together),
            "drops": add_counts(other["drops"] for other in together),
            "broken": [broken for other in together for broken in other["broken"]],
        }
    return result


def decontamination_rows(account: Mapping[str, Any]) -> list[Row]:
    """Return the rows on test data: for each of its files how many n-grams were looked for, and how many found.

    >>> quiz = {"texts": 9, "too_short": 1, "ngrams": 40, "documents": 0, "hits": 0, "samples": []}
    >>> account = {"ngram": 13, "action": "drop", "documents": 5, "contaminated": 0, "files": {"quiz.txt": quiz}}
    >>> decontamination_rows(account)
    [('test data: documents searched', '5'), ('  quiz.txt', '0 hits in 0 documents, of 40 n-grams of 13 words')]
    """
    if not account:
        return []
    rows: list[Row] = [("test data: documents searched", f"{account['documents']:,}")]
    for name, figures in account["files"].items():
        hits = f"{counted(figures['hits'], 'hit')} in {counted(figures['documents'], 'document')}"
        rows.append((f"  {name}", f"{hits}, of {figures['ngrams']:,} n-grams of {account['ngram']} words"))
    return rows


def dedup_spans_rows(account: Mapping[str, Any]) -> list[Row]:
    """Return the rows on repeated text: how many spans were looked at, what was left out, and which documents went.

    >>> account = {"spans": "paragraphs", "found": 160, "documents": 30, "documents_changed": 9, "left_out": 9}
    >>> account |= {"bytes_left_out": 810, "documents_dropped": 1, "bytes_dropped": 90}
    >>> for row in dedup_spans_rows(account): print(*row, sep=": ")
    repeated paragraphs: documents searched: 30, with 160 paragraphs
      left out: 9 paragraphs, 810 B, of 9 documents
      dropped: 1 document, 90 B
    """
    if not account:
        return []
    units = account["spans"]
    spans = "runs of three sentences" if units == "sentences" else units
    left_out = f"{account['left_out']:,} {units}, {byte_size(account['bytes_left_out'])}"
    dropped = f"{counted(account['documents_dropped'], 'document')}, {byte_size(account['bytes_dropped'])}"
    return [
        (f"repeated {units}: documents searched", f"{account['documents']:,}, with {account['found']:,} {spans}"),
        ("  left out", f"{left_out}, of {counted(account['documents_changed'], 'document')}"),
        ("  dropped", dropped),
    ]


def build_rows(manifest: Mapping[str, Any]) -> list[Row]:
    """Return the rows of a whole build; of several phases, given by name, what they share is there once."""
    phases = manifest.get("phases", {"": manifest})
    first = next(iter(phases.values()))
    counts, drops = first["tokens"]["counts"], first["tokens"]["drops"]
    unknown = counts.get("unknown_tokens", 0) / max(1, counts.get("tokens", 0))
    rows = source_rows(first["sources"]) + dedup_spans_rows(first.get("dedup_spans", {}))
    rows += decontamination_rows(first.get("decontamination", {}))
    rows.append(("vocabulary", vocabulary_text(first["vocabulary"])))
    rows += [(f"dropped, {reason}", f"{number:,}") for reason, number in drops.items()]
    rows += [(name, f"{counts.get(name, 0):,}") for name in ("documents", "sentences")]
    if by_ids := counts.get(READ_BY_IDS):
        rows.append(("  documents with the ids they came with", f"{by_ids:,}, {counted(counts[IDS_TAKEN], 'id')}"))
    rows.append(("tokens", f"{counts.get('tokens', 0):,} ({unknown:.3%} [UNK])"))
    shown: dict[str, list[Row]] = {}
    for name, phase in phases.items():
        of_phase = _split_rows(phase)
        same = next((other for other, others in shown.items() if others == of_phase), "")
        shown[name] = of_phase
        rows += [(f"phase {name}", f"as {same}, figure for figure" if same else "")] if name else []
        rows += [] if same else of_phase
    return rows


def _split_rows(manifest: Mapping[str, Any]) -> list[Row]:
    examples, masking = manifest["info"]["examples"], manifest["info"]["masking"]
    rows: list[Row] = []
    for split, entry in manifest["splits"].items():
        counts = entry["counts"]
        number = counts["examples"]
        rows.append((f"{split}: examples", f"{number:,} from {counted(counts['documents'], 'document')}"))
        rows += left_out_rows(counts)
        if sharing := counts.get("documents_sharing_id"):
            remark = "documents given twice (--dedup exact), or ids that several have (--id-column)"
            rows.append(("  documents with the id of another", f"{sharing:,}: {remark}"))
        names = find_objective(examples["objective"]).label_names
        if names and number:
            share = counts["labels_1"] / number
            balance = f"{1 - share:.2%} {names[0]}, {share:.2%} {names[1]}"
            rows.append(("  label balance", f"{balance} ({by_chance(number)})"))
        if counts.get("rows"):
            capacity = counts["rows"] * (examples["pack_length"] or examples["max_seq_length"])
            padding = 1 - counts["row_tokens"] / capacity
            rows.append(("  packed into", f"{counted(counts['rows'], 'row')}, {padding:.2%} of them padding"))
        tokens_in = {name.removeprefix(TOKENS_IN): n for name, n in counts.items() if name.startswith(TOKENS_IN)}
        if tokens_in:
            rows.append(("  languages", languages_text(tokens_in)))
        if split == "train":
            rows += _mix_rows(manifest.get("mix", {}))
        of_train = {} if split == "train" else {"mask_schedule": (), "mask_in_turn": False}
        if split != "train" and masking.get("eval_masked_lm_prob"):
            of_train |= {"mask_rate_draw": ""}
        rows += _mask_rows(counts, examples, masking | of_train)
        fates = [name for name in counts if name.startswith((BORROWED, DROPPED)) and counts[name]]
        for name in sorted(fates, reverse=True):
            reason = _TOKEN_FATES.get(name) or "dropped, " + name.removeprefix(DROPPED).replace("_", " ")
            rows.append((f"  tokens {reason}", f"{counts[name]:,}"))
        size = sum(shard["bytes"] for shard in entry["shards"])
        rows.append(("  bytes", f"{byte_size(size)} in {counted(len(entry['shards']), 'shard')}"))
    return rows


def by_chance(examples: int) -> str:
    """Return between which shares 95% of builds have a label that is drawn for each example like a coin.

    >>> by_chance(615), by_chance(12), by_chance(2_000_000)
    ('46.0% to 54.0% by chance', '21.7% to 78.3% by chance', '49.9% to 50.1% by chance')
    """
    deviation = 1.96 * 0.5 / math.sqrt(examples)
    return f"{max(0.0, 0.5 - deviation):.1%} to {min(1.0, 0.5 + deviation):.1%} by chance"


def languages_text(tokens: Mapping[str, int]) -> str:
    """Return the share of the tokens that each language has, of the five largest, and of the others together.

    >>> languages_text({"de": 30, "en": 60, "unknown": 10})
    'en 60.0%, de 30.0%, unknown 10.0% of the tokens'
    """
    total = max(1, sum(tokens.values()))
    ordered = sorted(tokens, key=lambda code: (-tokens[code], code))
    parts = [f"{code} {tokens[code] / total:.1%}" for code in ordered[:5]]
    if rest := ordered[5:]:
        parts.append(f"{counted(len(rest), 'other')} {sum(tokens[code] for code in rest) / total:.1%}")
    return ", ".join(parts) + " of the tokens"


def _mix_rows(mix: Mapping[str, Any]) -> list[Row]:
    """Return a row for each of several sources: its tokens, its epochs, and its weight where it has one.

    Over 30 sources are the 30 with the most tokens, and the others together.
    """
    rows = []
    largest_names, others = largest({name: source["tokens"] for name, source in mix.items()})
    for name in largest_names if len(mix) > 1 else ():
        source = mix[name]
        weight = f" (weight {source['weight']:.4g})" if "weight" in source else ""
        if "wanted" in source:
            weight += f", {source['wanted']:g} without --max-epochs"
        epochs = f"{source['epochs']:g} epoch{'' if source['epochs'] == 1 else 's'}"
        rows.append((f"  from {name}", f"{counted(source['tokens'], 'token')}, {epochs}{weight}"))
    if others:
        tokens, times = ([mix[name][what] for name in others] for what in ("tokens", "epochs"))
        range_ = f"{min(times):g} to {max(times):g} epochs; manifest.json has each"
        rows.append((f"  from {counted(len(others), 'smaller source')}", f"{counted(sum(tokens), 'token')}, {range_}"))
    return rows


_TOKEN_FATES = {
    "tokens_dropped_single_word": "dropped, a single word left over",
    "tokens_dropped_no_partner": "dropped, no other document's B fitted",
    "tokens_borrowed": "used twice, a B was borrowed",
}


def vocabulary_text(vocabulary: Mapping[str, Any]) -> str:
    """Return one line on a vocabulary: its size, and why it is smaller than asked for.

    >>> vocabulary_text({"pieces": 900, "asked": 1000, "rare_words_left_out": 7})
    '900 tokens, without the 7 rarest words (--max-words): too few words for the 1,000 asked for'
    """
    text = f"{counted(vocabulary['pieces'], 'token')}"
    asked, left_out = vocabulary.get("asked"), vocabulary.get("rare_words_left_out")
    if not asked:
        return f"{text}, given"
    if left_out:
        text += f", without the {counted(left_out, 'rarest word')} (--max-words)"
    if long_words := vocabulary.get("long_words_left_out"):
        text += f", without {counted(long_words, 'word')} too long for the model"
    if vocabulary["pieces"] == asked:
        return text
    return f"{text}: {'too few words' if left_out else 'the corpus is too small'} for the {asked:,} asked for"


def _mask_rows(counts: Mapping[str, int], examples: Mapping[str, Any], masking: Mapping[str, Any]) -> list[Row]:
    ordinary = counts["tokens_in_examples"]
    if not ordinary:
        return []
    static = examples["masking"] == "static"
    shares = (counts["predictions_mask"], counts["predictions_kept"]) if static else (None, None)
    similar = bool(masking.get("similar_words"))
    rows = [("  realised mask rate", mask_text(counts["predictions"], ordinary, *shares, similar=similar))]
    if schedule := masking.get("mask_schedule"):
        shape = masking.get("mask_schedule_shape", "linear")
        rows.append(("  rate over the run", f"{shape} by --mask-schedule {' '.join(schedule)}"))
    if training := masking.get("training"):
        rows.append(("  trained for", training_text(training)))
    if draw := masking.get("mask_rate_draw"):
        rows.append(("  rate of each row", draw_text(draw, masking.get("mask_number", "rounded"))))
    if choice := choice_text(masking):
        rows.append(("  tokens to predict", choice))
    if limit := masking["max_predictions_per_seq"]:
        rows.append(("  rows at the limit", f"{counts['predictions_capped_rows']:,} of {limit}"))
    return rows


def training_text(training: str) -> str:
    """Return what rows are trained for, of `--training`.

    >>> training_text("causal"), training_text("0.0625")
    ('causal', '6.25% of the rows causal, the others masked-next-token')
    """
    share = find_training(training).causal_share
    return training if share in (0, 1) else f"{100 * share:.4g}% of the rows causal, the others {SHIFTED}"


def draw_text(draw: str, number: str) -> str:
    """Return how the rates of rows are drawn, and how many tokens a rate stands for.

    >>> draw_text("0.15-0.45", "independent")
    'drawn, 0.15-0.45, each token by itself'
    """
    return f"drawn, {draw}, {'each token by itself' if number == 'independent' else 'their number rounded'}"


def choice_text(masking: Mapping[str, Any]) -> str:
    """Return how the tokens to predict are chosen, "" where each has the same chance.

    >>> choice_text({"mask_smoothing": 0.7})
    'drawn by frequency in train to the power of -0.7'
    """
    if masking.get("mask_in_turn"):
        return "each position of a row once before any is masked again"
    smoothing = masking.get("mask_smoothing")
    return f"drawn by frequency in train to the power of -{smoothing:g}" if smoothing else ""


def mask_text(
    predictions: int, ordinary_tokens: int, masked: int | None, unchanged: int | None, *, similar: bool = False
) -> str:
    """Return the realised mask rate and, of static masks, the shares of [MASK], random and kept tokens.

    similar: whether similar words stand in for [MASK], whose tokens are counted with the random ones.

    >>> mask_text(20, 100, 16, 3)
    '20.000% predicted: 80.0% [MASK], 5.0% random, 15.0% kept'
    >>> mask_text(20, 100, 0, 3, similar=True)
    '20.000% predicted: 85.0% similar or random, 15.0% kept'
    """
    rate = f"{predictions / max(1, ordinary_tokens):.3%} predicted"
    if masked is None or unchanged is None:
        return f"{rate} in epoch 0; the loader draws masks"
    share = 1 / max(1, predictions)
    replaced = predictions - masked - unchanged
    if similar:
        return f"{rate}: {replaced * share:.1%} similar or random, {unchanged * share:.1%} kept"
    return f"{rate}: {masked * share:.1%} [MASK], {replaced * share:.1%} random, {unchanged * share:.1%} kept"
