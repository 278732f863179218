"""The token store: documents in, slices for each shard out, and back as a block."""

from __future__ import annotations

import io
from bisect import bisect_right
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bertdata.corpus.token_store import TokenSlice, load_documents, read_slices, token_schema, write_tokens
from bertdata.counter_rng import text_bits
from bertdata.documents import SCHEMA, SLOTS, slot
from bertdata.engine.parts import Counters
from bertdata.errors import InputError
from bertdata.objectives.blocks import TokenBlock
from bertdata.sentences import SentenceSegmenter
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from tests.small_build import texts
from tests.tokenizers.made import made, trained

ENDS = (10_000, 30_000, SLOTS)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TOKENIZER = WordPieceTokenizer.from_tokens(
    [*SPECIAL_TOKENS, "the", "lamp", "keeper", "sleep", "##ing", ".", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
)
SEGMENTER = SentenceSegmenter.from_pretrained("english")
TEXTS = {
    f"doc:{number}": " ".join(f"The keeper{'s' * (place % 2)} sleep{'ing' * (number % 2)}." for place in range(length))
    for number, length in enumerate([1, 4, 2, 7, 3, 1, 5, 2, 9, 3, 6, 1])
}


def documents(texts: dict[str, str]) -> pa.Table:
    rows = [{"id": name, "source": "", "title": "", "url": "", "text": text} for name, text in texts.items()]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def stored(folder: Path, tables: list[pa.Table], name: str = "tokens.arrow") -> tuple[Counters, list[list[TokenSlice]]]:
    """Write tables as one token file; returns its counters and the slices of each shard."""
    file = io.BytesIO()
    counters = write_tokens(tables, TOKENIZER, SEGMENTER, ENDS, file)
    (folder / name).write_bytes(file.getvalue())
    slices: list[list[TokenSlice]] = [[] for _ in ENDS]
    for shard, offset, length in counters.details["slices"]:
        slices[shard].append(TokenSlice(str(folder / name), "0" * 64, offset, length))
    return counters, slices


def load(slices: list[TokenSlice], seed: int = 0) -> TokenBlock:
    return load_documents(slices, TOKENIZER, seed)[0]


def same(one: TokenBlock, other: TokenBlock) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(vars(one).values(), vars(other).values(), strict=True))


def contents(block: TokenBlock) -> dict[int, list[list[int]]]:
    """Return the sentences of each document of a block, by the document's key."""
    ends = block.sentence_ends.tolist()
    sentences = list(zip([0, *ends[:-1]], ends, strict=True))
    starts = [0, *block.document_ends[:-1].tolist()]
    return {
        int(key): [block.tokens[a:b].tolist() for a, b in sentences if start <= a and b <= end]
        for key, start, end in zip(block.document_keys, starts, block.document_ends, strict=True)
    }


def test_every_document_comes_back_from_the_slices_of_its_shard(tmp_path: Path) -> None:
    _, slices = stored(tmp_path, [documents(TEXTS)])
    for shard, token_slice in enumerate(slices):
        expected = {
            text_bits(name): [TOKENIZER.encode(sentence) for sentence in SEGMENTER.segment(text)]
            for name, text in TEXTS.items()
            if bisect_right(ENDS, slot(name)) == shard
        }
        assert expected
        assert contents(load(token_slice)) == expected


def test_a_word_starts_where_no_piece_continues_one(tmp_path: Path) -> None:
    _, slices = stored(tmp_path, [documents(TEXTS)])
    block = load(slices[1])
    pieces = [TOKENIZER.tokens[token] for token in block.tokens.tolist()]
    assert any(piece.startswith("##") for piece in pieces)
    assert block.word_start.tolist() == [not piece.startswith("##") for piece in pieces]


def split_store(folder: Path, parts: int) -> list[TokenSlice]:
    """Write the documents as several token files; returns the slices of shard 2 in all of them."""
    rows = list(TEXTS.items())
    size = -(-len(rows) // parts)
    chosen = [dict(rows[start : start + size]) for start in range(0, len(rows), size)]
    stored_slices = [
        stored(folder, [documents(part)], f"tokens-{number}.arrow")[1][2] for number, part in enumerate(chosen)
    ]
    return [token_slice for slices in stored_slices for token_slice in slices]


def test_a_block_does_not_depend_on_the_order_of_its_slices(tmp_path: Path) -> None:
    slices = split_store(tmp_path, 4)
    assert len(slices) > 2
    expected = load(slices)
    assert all(same(load(list(order)), expected) for order in permutations(slices))


def test_a_block_does_not_depend_on_how_documents_are_dealt_to_files(tmp_path: Path) -> None:
    expected = load(stored(tmp_path, [documents(TEXTS)])[1][2])
    for parts in (1, 3, 12):
        assert same(load(split_store(tmp_path, parts)), expected)


def test_the_order_of_documents_is_drawn_by_the_seed(tmp_path: Path) -> None:
    slices = stored(tmp_path, [documents(TEXTS)])[1][2]
    orders = {tuple(load(slices, seed).document_keys.tolist()) for seed in range(5)}
    assert len(orders) > 1
    assert len({tuple(sorted(order)) for order in orders}) == 1


def test_documents_that_share_an_id_stand_in_an_order_of_their_own(tmp_path: Path) -> None:
    first, second = {"twin": "The lamp."}, {"twin": "The keeper."}
    blocks = []
    for number, tables in enumerate([[documents(first), documents(second)], [documents(second), documents(first)]]):
        slices = stored(tmp_path, tables, f"{number}.arrow")[1]
        blocks.append(load([batch for token_slice in slices for batch in token_slice]))
    assert same(blocks[0], blocks[1])
    assert len(blocks[0].document_ends) == 2


def test_slices_lie_in_the_file_and_do_not_overlap(tmp_path: Path) -> None:
    _, slices = stored(tmp_path, [documents(TEXTS)])
    places = sorted((place.offset, place.offset + place.length) for token_slice in slices for place in token_slice)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
    assert places[-1][1] <= (tmp_path / "tokens.arrow").stat().st_size


def test_a_token_file_is_an_arrow_stream_that_any_reader_opens(tmp_path: Path) -> None:
    stored(tmp_path, [documents(TEXTS)])
    table = pa.ipc.open_stream((tmp_path / "tokens.arrow").read_bytes()).read_all()
    assert table.schema == token_schema(TOKENIZER)
    assert sorted(table["id"].to_pylist()) == sorted(TEXTS)


def test_documents_sentences_tokens_and_unknown_ones_are_counted(tmp_path: Path) -> None:
    counters, _ = stored(tmp_path, [documents({"a": "The lamp. The keeper sleeps!"}), documents({"b": "The lamp."})])
    expected = {"documents": 2, "sentences": 3, "text_bytes": 37, "tokens": 11, "unknown_tokens": 1}
    assert {name: counters.counts[name] for name in expected} == expected
    assert counters.drops == {}


def test_a_document_without_a_token_is_dropped_and_counted(tmp_path: Path) -> None:
    counters, slices = stored(tmp_path, [documents({"a": "The lamp.", "b": "\u200b\u200e", "c": "\x00"})])
    assert counters.drops == {"no tokens": 2}
    assert counters.counts["documents"] == sum(len(load(token_slice).document_ends) for token_slice in slices) == 1


def test_no_documents_give_a_token_file_without_slices(tmp_path: Path) -> None:
    counters, _ = stored(tmp_path, [])
    assert counters.details["slices"] == []
    assert pa.ipc.open_stream((tmp_path / "tokens.arrow").read_bytes()).read_all().num_rows == 0


def test_a_shard_without_slices_is_an_empty_block() -> None:
    block = load([])
    assert [len(value) for value in vars(block).values()] == [0] * 7
    assert block.tokens.dtype == np.uint16


def test_white_space_behind_a_sentence_gives_no_token() -> None:
    spaces = [chr(point) for point in range(0x110000) if chr(point).isspace()]
    assert len(spaces) > 20
    assert {tuple(ids) for ids in TOKENIZER.encode_batch([f"lamp{space}" for space in spaces]).to_pylist()} == {(6,)}


def test_an_id_that_the_vocabulary_does_not_have_is_refused(tmp_path: Path) -> None:
    _, slices = stored(tmp_path, [documents(TEXTS)])
    with pytest.raises(InputError, match="the token store holds an id over 5, the last of the vocabulary"):
        load_documents(slices[0], WordPieceTokenizer.from_tokens(TOKENIZER.tokens[:6]), 0)


@pytest.mark.costly
def test_ids_past_65535_do_not_wrap(tmp_path: Path) -> None:
    many = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, *(f"w{number}" for number in range(70_000))])
    file = io.BytesIO()
    counters = write_tokens([documents({"a": "w69999 w3 w65531"})], many, SEGMENTER, (SLOTS,), file)
    (tmp_path / "tokens.arrow").write_bytes(file.getvalue())
    [(_, offset, length)] = counters.details["slices"]
    slices = [TokenSlice(str(tmp_path / "tokens.arrow"), "", offset, length)]
    block, _ = load_documents(slices, many, 0)
    assert block.tokens.tolist() == [70_004, 8, 65_536]


@pytest.mark.parametrize("damage", ["cut off", "shifted"])
def test_a_damaged_token_store_is_an_error_that_names_file_and_byte(tmp_path: Path, damage: str) -> None:
    _, slices = stored(tmp_path, [documents(TEXTS)])
    damaged = slices[2][0]
    data = (tmp_path / "tokens.arrow").read_bytes()
    changed = data[: damaged.offset + damaged.length // 2] if damage == "cut off" else b"12345678" + data
    (tmp_path / "tokens.arrow").write_bytes(changed)
    with pytest.raises(InputError, match=rf"tokens\.arrow, byte {damaged.offset}: the token store is damaged"):
        list(read_slices([damaged], token_schema(TOKENIZER)))


def test_damaged_offsets_in_a_token_store_are_an_error_and_read_nothing_beyond_it(tmp_path: Path) -> None:
    _, slices = stored(tmp_path, [documents(TEXTS)])
    damaged = slices[2][0]
    data = bytearray((tmp_path / "tokens.arrow").read_bytes())
    [batch] = read_slices([damaged], token_schema(TOKENIZER))
    offsets = batch["tokens"].offsets.to_numpy().tobytes()
    place = bytes(data).index(offsets, damaged.offset)
    data[place + 4 : place + 8] = (1 << 30).to_bytes(4, "little")
    (tmp_path / "tokens.arrow").write_bytes(bytes(data))
    with pytest.raises(InputError, match="the token store is damaged"):
        load([damaged])


def test_a_missing_token_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.arrow"):
        load([TokenSlice(str(tmp_path / "gone.arrow"), "", 0, 10)])


@pytest.mark.parametrize("kind", ["byte-level", "whitespace"])
def test_where_ids_do_not_tell_words_the_store_does(kind: str, tmp_path: Path) -> None:
    tokenizer = made(kind)
    corpus = dict(zip(TEXTS, texts(len(TEXTS)), strict=False))
    file = io.BytesIO()
    table = documents(corpus | {"doc:lost": "\u200b \n"})
    counters = write_tokens([table.slice(0, 5), table.slice(5)], tokenizer, SEGMENTER, ENDS, file)
    (tmp_path / "tokens.arrow").write_bytes(file.getvalue())
    place = str(tmp_path / "tokens.arrow")
    blocks = [
        load_documents([TokenSlice(place, "", offset, length)], tokenizer, 0)[0]
        for _, offset, length in counters.details["slices"]
    ]
    expected = {}
    for name, sentences in zip(corpus, SEGMENTER.segment_batch(list(corpus.values())).to_pylist(), strict=True):
        encoded = [tokenizer.reference.encode(sentence, add_special_tokens=False) for sentence in sentences]
        words = [[0, *np.diff(encoding.word_ids)] for encoding in encoded]
        flags = [place == 0 or bool(step) for steps in words for place, step in enumerate(steps)]
        expected[text_bits(name)] = ([token for encoding in encoded for token in encoding.ids], flags)
    starts_of = {}
    for block in blocks:
        begins = [0, *block.document_ends.tolist()]
        for number, name in enumerate(block.document_keys.tolist()):
            part = slice(begins[number], begins[number + 1])
            starts_of[name] = (block.tokens[part].tolist(), block.word_start[part].tolist())
    assert {name: starts_of[name] for name in expected} == expected
    assert any(not flag for _, flags in expected.values() for flag in flags)


def test_a_store_with_another_number_of_flags_than_ids_is_refused(tmp_path: Path) -> None:
    schema = token_schema(made("byte-level"))
    row = {"id": "a", "tokens": [270, 271], "sentence_lengths": [2], "word_starts": [True]}
    file = io.BytesIO()
    with pa.ipc.new_stream(file, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_pylist([], schema=schema))
        begin = file.tell()
        writer.write_batch(pa.RecordBatch.from_pylist([row], schema=schema))
        length = file.tell() - begin
    (tmp_path / "tokens.arrow").write_bytes(file.getvalue())
    with pytest.raises(InputError, match="the token store has 1 flags for 2 ids"):
        load_documents([TokenSlice(str(tmp_path / "tokens.arrow"), "", begin, length)], made("byte-level"), 0)


def test_an_id_over_the_vocabulary_is_refused_also_where_the_store_has_flags(tmp_path: Path) -> None:
    large, small = made("byte-level"), trained("byte-level", list(texts(4)), 265)
    file = io.BytesIO()
    counters = write_tokens([documents({"a": "The keeper covers the lamp."})], large, SEGMENTER, (SLOTS,), file)
    (tmp_path / "tokens.arrow").write_bytes(file.getvalue())
    [(_, offset, length)] = counters.details["slices"]
    with pytest.raises(InputError, match="an id over 264, the last of the vocabulary"):
        load_documents([TokenSlice(str(tmp_path / "tokens.arrow"), "", offset, length)], small, 0)


def test_the_store_of_a_vocabulary_whose_ids_tell_words_has_no_flags() -> None:
    assert token_schema(TOKENIZER).names == token_schema(made("unigram")).names == ["id", "tokens", "sentence_lengths"]
