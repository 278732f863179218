"""Masking in plain Python, one row and one draw at a time: for reading, and for testing `masking.Masker`.

It is slow, and does not check its input. It shares only the probabilities of the units' lengths, and the tables of
`smoothing` and `rate_draws`, with the kernels; the draws are written out here on Python integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import blake2b

from bertdata.masking.rate_draws import table_of
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.smoothing import spread
from bertdata.masking.units import find_unit, unit_thresholds

_GOLDEN = 0x9E3779B97F4A7C15


def draw(seed: int, purpose: str, *counters: int) -> int:
    """Return the 64 bits of a seed, a purpose and counters, as `counter_rng.bits` does.

    >>> draw(0, "mask position", 1, 2) == draw(0, "mask position", 1, 2) != draw(0, "mask position", 2, 1)
    True
    """
    state = int.from_bytes(blake2b(f"{seed}\x1f{purpose}".encode(), digest_size=8).digest(), "little")
    for counter in counters:
        state = _mix(state ^ _mix(counter + _GOLDEN))
    return state


def _mix(x: int) -> int:
    """One step of SplitMix64 (Steele, Lea and Flood, 2014)."""
    x = (x + _GOLDEN) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def mask_row(
    input_ids: Sequence[int],
    special: Sequence[bool],
    example_id: int,
    *,
    config: MaskingConfig,
    seed: int,
    epoch: int,
    mask_token_id: int,
    replacement_ids: Sequence[int],
    continuation: Sequence[bool] = (),
    word_starts: Sequence[bool] | None = None,
    similar_words: Mapping[tuple[int, ...], Sequence[tuple[int, ...]]] | None = None,
    delays: Sequence[int] = (),
    schedule: MaskingConfig | None = None,
) -> tuple[list[int], list[int], bool]:
    """Return what `Masker.mask` makes of one row: its ids, its labels, whether `max_predictions_per_seq` shortened it.

    Words are known by `word_starts`, one for each token, or by `continuation`, one for each id of the vocabulary.
    similar_words: those of each word, by ids, which replace it instead of [MASK]; delays: those of `smoothing`, by id,
    where tokens are drawn by weights; schedule: the settings of which `config` is a level.

    >>> mask_row([2, 9, 8, 7, 3], [True, False, False, False, True], 77, config=MaskingConfig(), seed=0, epoch=0,
    ...     mask_token_id=4, replacement_ids=range(5, 10))
    ([2, 9, 4, 7, 3], [-100, -100, 8, -100, -100], False)
    """

    def high(purpose: str, *counters: int) -> int:
        return draw(seed, f"mask {purpose}", epoch, example_id, *counters) >> 32

    def of_unit(purpose: str, *counters: int) -> int:
        return draw(seed, f"mask {purpose}", of_round, example_id, *counters) >> 32

    if config.random_tokens == "vocabulary" and continuation:
        replacement_ids = range(len(continuation))
    share = round(config.masked_lm_prob * 2**32)
    if config.mask_rate_draw:
        share = drawn_share(config, high("rate"))
    part, parts, of_round = 0, 0, epoch
    if config.mask_in_turn:
        of_round, part, parts = round_of(draw(seed, "mask round", example_id) >> 32, epoch, schedule or config)
        mean = round((schedule or config).mean_rate * 2**32)
        reaches = [rate * 2**32 // mean for rate in (share, *(rates_of(schedule) if schedule else [mean]))]
        reach, least = reaches[0] if schedule else 2**32, min(reaches[1:])
        share = least // parts
    continues = [token < len(continuation) and continuation[token] for token in input_ids]
    if word_starts is not None:
        continues = [not start for start in word_starts]
    words = words_of(special, continues if find_unit(config).whole_words else [False] * len(input_ids))
    most = max(1, *(n for n in range(len(input_ids) + 1) if n <= places(words, n) * share // 2**32))
    limit = config.max_predictions_per_seq or len(input_ids)
    units = join_words(words, special, config, min(most, limit), lambda place: of_unit("length", place))

    def order(unit: list[int]) -> tuple[int, int]:
        if not config.mask_smoothing:
            return draw(seed, "mask position", of_round, example_id, unit[0]), unit[0]
        token = input_ids[unit[0]]
        return spread(high("position", unit[0])) + (delays[token] if token < len(delays) else 0), unit[0]

    units.sort(key=order)
    around = places(units, most)
    wanted = min(max((around * share + high("number")) // 2**32, 1), around)
    window = 0 if find_unit(config).is_token(config) else high("window") * around // 2**32
    if config.mask_in_turn:
        window = part * around // parts
        arc = (part + 1) * around // parts - window
        wanted = min(max((arc * reach + high("number")) // 2**32, most, 1), around)
    circle = sorted(((places(units[:i], most) - window) % max(around, 1), unit) for i, unit in enumerate(units))
    chosen = [unit for distance, unit in circle if distance < wanted]
    if config.mask_number == "independent":
        chosen = [unit for unit in units if high("position", unit[0]) < share]
    capped = sum(map(len, chosen)) > limit
    taken: list[list[int]] = []
    for unit in [unit for _, unit in circle] if capped else chosen:
        room_left = limit - sum(map(len, taken))
        if len(unit) <= room_left or not taken:
            taken.append(unit[:room_left])

    masked, labels = list(input_ids), [-100] * len(input_ids)
    word_of = {position: word for word in words for position in word}
    for unit in taken:
        for position in unit:
            labels[position] = input_ids[position]
            word = word_of[position] if similar_words is not None else [position]
            action = high("action", unit[0] if config.replace_unit == "unit" else word[0])
            to_mask = action < round(config.mask_token_prob * 2**32)
            similar = (similar_words or {}).get(tuple(input_ids[place] for place in word))
            if to_mask and similar and set(word) <= set(unit):
                other = similar[high("similar word", word[0]) * len(similar) // 2**32]
                masked[position] = other[word.index(position)]
            elif to_mask and similar_words is None:
                masked[position] = mask_token_id
            elif action < round((config.mask_token_prob + config.random_token_prob) * 2**32) or to_mask:
                masked[position] = replacement_ids[high("replacement", position) * len(replacement_ids) // 2**32]
    return masked, labels, capped


def drawn_share(config: MaskingConfig, time: int) -> int:
    """Return the rate of a row whose draw is `time`, of 32 bits, in units of 2**-32, as `row_shares` does.

    >>> drawn_share(MaskingConfig(mask_rate_draw="0.2-0.4"), 1 << 31) / 2**32
    0.30000000004656613
    """
    if config.mask_number == "independent" and config.mask_rate_draw in ("uniform", "cosine", "bell"):
        time = 4294967 + time * (2**32 - 4294967) // 2**32
    piece, part = divmod(time, 2**20)
    low, high = table_of(config.mask_rate_draw)[piece : piece + 2].tolist()
    return int(low + (high - low) * part // 2**20)


def round_of(drawn: int, epoch: int, config: MaskingConfig) -> tuple[int, int, int]:
    """Return the round of an epoch, which part of its order is masked, and how many parts it has, as `turns_of` does.

    drawn: the draw of the row, of 32 bits, by which the lengths of its rounds are rounded.

    >>> [round_of(1 << 31, epoch, MaskingConfig(0.4)) for epoch in range(6)]
    [(0, 0, 3), (0, 1, 3), (0, 2, 3), (1, 0, 2), (1, 1, 2), (2, 0, 3)]
    """
    length, epoch = 2**64 // round(config.mean_rate * 2**32), epoch % 2**30
    number = (epoch * 2**32 + 2**32 - 1 - drawn) // length
    begin, end = (number * length + drawn) // 2**32, ((number + 1) * length + drawn) // 2**32
    return number, epoch - begin, end - begin


@cache
def rates_of(schedule: MaskingConfig) -> list[int]:
    """Return the rates of a schedule at all levels of the run, in units of 2**-32."""
    return [round(schedule.at(level).masked_lm_prob * 2**32) for level in range(1001)]


def words_of(special: Sequence[bool], continues: Sequence[bool]) -> list[list[int]]:
    """Return the positions of each word of a row, in order, given which tokens are special and which continue a word.

    >>> words_of([True, False, False, False, True], [False, False, True, False, False])
    [[1, 2], [3]]
    """
    words: list[list[int]] = []
    for position in range(len(special)):
        if special[position]:
            continue
        if position == 0 or special[position - 1] or not continues[position]:
            words.append([])
        words[-1].append(position)
    return words


def places(units: Sequence[Sequence[int]], most: int) -> int:
    """Return how many places units have on the circle, each as many as it has tokens, but at most `most`."""
    return sum(min(len(unit), most) for unit in units)


def join_words(
    words: Sequence[Sequence[int]],
    special: Sequence[bool],
    config: MaskingConfig,
    longest: int,
    draw_length: Callable[[int], int],
) -> list[list[int]]:
    """Return the positions of each unit: as many words of a segment as are drawn, together at most `longest` tokens.

    >>> join_words([[1, 2], [3], [4]], [True] + [False] * 4, MaskingConfig(mask_unit="ngram"), 3, lambda _: 3 << 30)
    [[1, 2, 3], [4]]
    """
    units: list[list[int]] = []
    room = 0
    for word in words:
        in_segment = word[0] > 0 and not special[word[0] - 1]
        if room and in_segment and len(units[-1]) + len(word) <= longest:
            units[-1] += word
        else:
            units.append(list(word))
            drawn = draw_length(word[0])
            room = next(n for n, below in enumerate(unit_thresholds(config).tolist(), 1) if drawn < below)
        room -= 1
    return units
