"""Hostile input: the cases of archives, books, tables and dumps that a build reads."""

from __future__ import annotations

import bz2
import gzip
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hostile_cases import (
    GOOD,
    PROSE,
    Case,
    books,
    build,
    case,
    counted,
    dump,
    holds,
    lines,
    nothing_or,
    put,
    texts,
    wiki,
    zipped,
)


@case
def a_zip_that_was_cut_off(folder: Path) -> Case:
    put(folder, "a.zip", zipped({"a.txt": PROSE.encode() * 99})[:-30])
    return books(folder)


@case
def a_zip_whose_member_has_a_wrong_checksum(folder: Path) -> Case:
    data = bytearray(zipped({"a.txt": os.urandom(5000).hex().encode()}))
    data[300] ^= 1
    put(folder, "a.zip", bytes(data))
    return books(folder)


@case
def a_zip_in_a_zip(folder: Path) -> Case:
    put(folder, "a.zip", zipped({"b.zip": zipped({"a.txt": PROSE.encode()})}))
    return books(folder, nothing_or(0))


@case
def a_zip_whose_names_climb_out(folder: Path) -> Case:
    put(folder, "a.zip", zipped({"../../evil.txt": PROSE.encode()}))
    return books(folder, lambda out: holds("It rained")(out) and not list(folder.parent.rglob("evil*")))


@case
def a_zip_bomb(folder: Path) -> Case:
    put(folder, "a.zip", zipped({"a.txt": bytes(512 << 20)}))
    return books(folder, nothing_or(0))


@case
def a_gzip_bomb(folder: Path) -> Case:
    put(folder, "a.txt.gz", gzip.compress(bytes(512 << 20), 1))
    return books(folder, nothing_or(0))


@case
def a_gzip_file_that_was_cut_off(folder: Path) -> Case:
    put(folder, "a.txt.gz", gzip.compress(PROSE.encode())[:-9])
    return books(folder)


@case
def bytes_that_are_no_zstandard(folder: Path) -> Case:
    put(folder, "a.txt.zst", b"\x28\xb5\x2f\xfd" + os.urandom(300))
    return books(folder)


@case
def nul_bytes_in_a_book(folder: Path) -> Case:
    put(folder, "a.txt", PROSE.encode().replace(b"clock", b"cl\0ock"))
    return books(folder, lambda out: holds("The clock")(out) and "\0" not in texts(out)[0], message=False)


@case
def a_book_in_utf_16(folder: Path) -> Case:
    put(folder, "a.txt", ("Zoë. " + PROSE).encode("utf-16"))
    return books(folder, holds("Zoë. It rained"), message=False)


@case
def a_byte_order_mark(folder: Path) -> Case:
    put(folder, "a.txt", PROSE.encode("utf-8-sig"))
    return books(folder, lambda out: texts(out)[0].startswith("It rained"), message=False)


@case
def a_book_that_is_one_line_of_40_megabytes(folder: Path) -> Case:
    put(folder, "a.txt", b"word " * (8 << 20))
    return books(folder, nothing_or(9))


@case
def a_name_that_is_not_utf_8(folder: Path) -> Case:
    with open(os.fsencode(folder / "in") + b"/caf\xe9.txt", "wb") as file:
        file.write(PROSE.encode())
    return books(folder, holds("It rained"))


@case
def control_characters_in_a_name(folder: Path) -> Case:
    put(folder, "a\x1b[31m\nb.txt.gz", b"no gzip")
    return books(folder)


@case
def a_folder_with_the_name_of_a_book(folder: Path) -> Case:
    (folder / "in" / "a.txt").mkdir()
    put(folder, "b.txt", PROSE.encode())
    return books(folder, holds("It rained"))


@case
def a_pipe_that_nobody_writes_to(folder: Path) -> Case:
    os.mkfifo(folder / "in" / "a.txt")
    return books(folder)


@case
def a_loop_of_links(folder: Path) -> Case:
    (folder / "in" / "loop").symlink_to(folder / "in")
    put(folder, "a.txt", PROSE.encode())
    return books(folder, holds("It rained"))


@case
def a_link_to_itself(folder: Path) -> Case:
    (folder / "in" / "a.txt").symlink_to(folder / "in" / "a.txt")
    return books(folder)


@case
def an_empty_file(folder: Path) -> Case:
    put(folder, "a.jsonl", b"")
    return build(folder, "a.jsonl")


@case
def a_file_without_end(folder: Path) -> Case:
    (folder / "in" / "a.jsonl").symlink_to("/dev/zero")
    return build(folder, "a.jsonl")


@case
def json_of_great_depth(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD, b'{"text": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"))
    return build(folder, "a.jsonl", counted(9, 1))


@case
def ids_that_are_no_numbers(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD, {"id": float("nan"), "text": PROSE}, {"id": [1, {}], "text": PROSE}))
    return build(folder, "a.jsonl", counted(10, 0))


@case
def an_id_of_5000_digits(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD, b'{"id": ' + b"9" * 5000 + b', "text": "One. Two."}'))
    return build(folder, "a.jsonl", counted(9, 1))


@case
def ids_that_are_all_the_same(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*({"id": "same", "text": row["text"]} for row in GOOD)))
    return build(folder, "a.jsonl", counted(8, 0))


@case
def lone_surrogates(folder: Path) -> Case:
    rows = [*GOOD, {"id": "\ud800", "title": "\udfff", "text": PROSE}, {"id": "x", "text": "A \ud800. " + PROSE}]
    put(folder, "a.jsonl", lines(*rows))
    return build(folder, "a.jsonl", lambda out: counted(10, 0)(out) or counted(10, 1)(out) or counted(10, 2)(out))


@case
def json_lines_in_utf_16(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD).decode().encode("utf-16"))
    return build(folder, "a.jsonl")


@case
def json_lines_with_a_byte_order_mark(folder: Path) -> Case:
    put(folder, "a.jsonl", b"\xef\xbb\xbf" + lines(*GOOD))
    return build(folder, "a.jsonl", counted(8, 0))


@case
def sections_of_great_depth(folder: Path) -> Case:
    deep = '[{"type": "section", "has_parts": ' * 100_000
    good = [{"name": "A", "identifier": n, "sections": [{"type": "paragraph", "value": PROSE}]} for n in range(9)]
    put(folder, "a.jsonl", lines(*good, {"name": "A", "identifier": 9, "sections": deep + "1" + "}]" * 100_000}))
    return build(folder, "a.jsonl", counted(10, 1))


@case
def html_of_great_depth(folder: Path) -> Case:
    deep = "<div>" * 200_000 + PROSE
    put(folder, "a.ndjson", lines({"name": "A", "identifier": 1, "article_body": {"html": deep}}))
    return build(folder, "a.ndjson", nothing_or(0))


@case
def an_archive_of_pages(folder: Path) -> Case:
    put(folder, "wiki.json.tar.gz", gzip.compress(b"a.ndjson" + bytes(2000)))
    return build(folder, "wiki.json.tar.gz")


@case
def a_line_of_60_megabytes(folder: Path) -> Case:
    put(folder, "a.jsonl", lines(*GOOD, {"id": "long", "text": "x" * (60 << 20)}))
    return build(folder, "a.jsonl", counted(9, 0))


@case
def rows_without_a_text(folder: Path) -> Case:
    put(folder, "a.jsonl", lines({"text": None}, {"text": 7}, {"text": ""}, {"text": ["a"]}))
    return build(folder, "a.jsonl")


@case
def two_columns_of_one_name(folder: Path) -> Case:
    column = pa.array([PROSE])
    pq.write_table(pa.Table.from_arrays([column, column], ["text", "text"]), folder / "in" / "a.parquet")
    return build(folder, "a.parquet")


@case
def a_parquet_file_that_was_cut_off(folder: Path) -> Case:
    path = folder / "in" / "a.parquet"
    pq.write_table(pa.table({"text": [PROSE] * 99}), path)
    path.write_bytes(path.read_bytes()[:-20])
    return build(folder, "a.parquet")


@case
def a_parquet_file_with_a_damaged_page(folder: Path) -> Case:
    path = folder / "in" / "a.parquet"
    pq.write_table(pa.table({"text": [os.urandom(400).hex() for _ in range(99)]}), path)
    data = bytearray(path.read_bytes())
    data[4:40] = bytes(36)
    path.write_bytes(bytes(data))
    return build(folder, "a.parquet")


@case
def a_text_column_of_lists(folder: Path) -> Case:
    pq.write_table(pa.table({"text": [[PROSE]]}), folder / "in" / "a.parquet")
    return build(folder, "a.parquet")


@case
def a_file_system_that_is_not_there(folder: Path) -> Case:
    return Case(["build", "--documents", "hf://datasets/nobody/nothing", "--output", str(folder / "out")])


@case
def a_bzip2_dump_that_was_cut_off(folder: Path) -> Case:
    put(folder, "wiki.xml.bz2", bz2.compress(dump(*[PROSE] * 99))[:-20])
    return wiki(folder, name="wiki.xml.bz2")


@case
def a_bzip2_dump_with_damage_in_it(folder: Path) -> Case:
    data = bytearray(bz2.compress(dump(*(os.urandom(2000).hex() for _ in range(99)))))
    data[len(data) // 2] ^= 0xFF
    put(folder, "wiki.xml.bz2", bytes(data))
    return wiki(folder, name="wiki.xml.bz2")


@case
def an_index_with_wrong_offsets(folder: Path) -> Case:
    put(folder, "enwiki-1-pages-articles-multistream.xml.bz2", bz2.compress(dump(PROSE, PROSE)))
    wrong = b"".join(b"%d:1:P1\n" % number for number in (0, 7, 99, 10**12, 10**30))
    put(folder, "enwiki-1-pages-articles-multistream-index.txt.bz2", bz2.compress(wrong + b"x:y\n\xff\n"))
    return wiki(folder, holds("It rained", count=2), name="enwiki-1-pages-articles-multistream.xml.bz2")


@case
def a_page_over_two_files_of_which_one_holds_another(folder: Path) -> Case:
    put(folder, "enwiki-2026-09-01-p1r1r5.xml", dump(PROSE))
    put(folder, "enwiki-2026-09-01-p1r6r9.xml", dump(PROSE, PROSE))
    return Case(["clean-wikipedia", str(folder / "in"), "--output", str(folder / "out")])


@case
def a_list_of_sums_without_end(folder: Path) -> Case:
    put(folder, "enwiki-2026-09-01-p1p2.xml", dump(PROSE, PROSE))
    os.truncate(put(folder, "SHA256SUMS", b"x"), 8 << 30)
    return wiki(folder, holds("It rained", count=2), name="enwiki-2026-09-01-p1p2.xml")


@case
def braces_that_never_close(folder: Path) -> Case:
    put(folder, "wiki.xml", dump("{{" * 200_000 + PROSE, "{{{" * 100_000 + PROSE, PROSE))
    return wiki(folder, lambda out: any(text.startswith("It rained") for text in texts(out)))


@case
def links_that_never_close(folder: Path) -> Case:
    put(folder, "wiki.xml", dump("[[a|" * 200_000 + PROSE, "[http://x " * 100_000 + PROSE, PROSE))
    return wiki(folder, lambda out: any(text.startswith("It rained") for text in texts(out)))


@case
def tags_within_tags(folder: Path) -> Case:
    put(folder, "wiki.xml", dump("&lt;div&gt;" * 200_000 + PROSE, "&lt;ref " * 200_000, "{|\n|" * 100_000, PROSE))
    return wiki(folder, lambda out: any(text.startswith("It rained") for text in texts(out)))


@case
def quotes_and_comments_that_repeat(folder: Path) -> Case:
    put(folder, "wiki.xml", dump("'" * 500_000 + PROSE, "&lt;!--" * 100_000, "=" * 500_000, "*#:;" * 100_000, PROSE))
    return wiki(folder, lambda out: any(text.startswith("It rained") for text in texts(out)))


@case
def a_page_of_40_megabytes(folder: Path) -> Case:
    put(folder, "wiki.xml", dump((PROSE + "\n\n") * (40 * 2**20 // len(PROSE))))
    return wiki(folder, lambda out: sum(map(len, texts(out))) > 20 << 20)


@case
def html_with_the_name_of_a_dump(folder: Path) -> Case:
    put(folder, "wiki.xml", b"<!DOCTYPE html><html><body>Not found</body></html>")
    return wiki(folder)


@case
def entities_that_grow(folder: Path) -> Case:
    laughs = b"".join(b'<!ENTITY l%d "%s">' % (number, b"&l%d;" % (number - 1) * 10) for number in range(1, 12))
    put(folder, "wiki.xml", b"<!DOCTYPE x [" + laughs + b"]>" + dump("&l11; " + PROSE))
    return wiki(folder, lambda out: sum(map(len, texts(out))) < 10_000)


@case
def a_dump_of_other_bytes_than_utf_8(folder: Path) -> Case:
    put(folder, "wiki.xml", dump("Caf\u00e9. " + PROSE, PROSE).replace("\u00e9".encode(), b"\xe9\xff\xed\xa0\x80"))
    return wiki(folder, lambda out: len(texts(out)) in (1, 2))
