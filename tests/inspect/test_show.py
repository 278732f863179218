"""Examples as text: what is shown is what is in the shards, or what the loader would draw."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from bertdata.cli.main import dispatch
from bertdata.cli.show import wants_color
from bertdata.errors import ConfigError, InputError
from bertdata.inspect.examples import Example, ShownToken, read_examples, words
from bertdata.inspect.show import columns, legend, render
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import Shards, open_shards
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from tests.shards.build import write_build as write_two_sources
from tests.small_build import write_build

ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("dynamic"))


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = ExamplesConfig(objective="sop", masking="static", max_seq_length=32, dupe_factor=2)
    return write_build(tmp_path_factory.mktemp("static"), config)


def ids_and_labels(shards: Shards, example: Example) -> tuple[list[int], list[int]]:
    """Return the row that the pieces of a shown example stand for."""
    ids = {token: number for number, token in enumerate(shards.tokenizer().tokens)}
    pieces = [piece for segment in example.segments for piece in segment]
    labels = [-100 if piece.target is None else ids[piece.target] for piece in pieces]
    return [ids[piece.token] for piece in pieces], labels


def test_static_masks_are_shown_as_they_are_in_the_shards(static: Path) -> None:
    shards = open_shards(static)
    kinds = set()
    for number, example in enumerate(read_examples(shards, range(len(shards)))):
        row = shards[number]
        assert ids_and_labels(shards, example) == (row["input_ids"].tolist(), row["labels"].tolist())
        kinds |= {piece.kind for segment in example.segments for piece in segment}
    assert kinds == {"text", "special", "mask", "random", "kept"}


def test_dynamic_masks_are_shown_as_the_loader_draws_them(dynamic: Path) -> None:
    pytest.importorskip("torch")
    from bertdata.torch import PretrainingCollator, ShardDataset

    dataset = ShardDataset(dynamic)
    collator = PretrainingCollator(dataset)
    shards = dataset.shards
    for epoch in (None, 0, 3):
        batch = collator([dataset[(epoch or 0, number)] for number in range(20)])
        for number, example in enumerate(read_examples(shards, range(20), epoch=epoch)):
            ids, labels = ids_and_labels(shards, example)
            assert ids == batch["input_ids"][number, : len(ids)].tolist()
            assert labels == batch["labels"][number, : len(ids)].tolist()


def test_epochs_have_masks_of_their_own_over_the_same_text(dynamic: Path) -> None:
    shards = open_shards(dynamic)
    [first], [other] = (list(read_examples(shards, [0], epoch=epoch)) for epoch in (0, 1))
    assert first != other
    for segment, two in zip(first.segments, other.segments, strict=True):
        assert [piece.original for piece in segment] == [piece.original for piece in two]


def test_segments_and_label_are_those_of_the_row(dynamic: Path, static: Path) -> None:
    for path, pattern in ((dynamic, r"(IsNext|NotNext): .*next_sentence_label"), (static, r"(in order|swapped): ")):
        shards = open_shards(path, "validation")
        for example in read_examples(shards, range(len(shards))):
            row = shards[example.number]
            assert [len(segment) for segment in example.segments] == np.bincount(row["token_type_ids"]).tolist()
            assert example.label is not None
            assert re.match(pattern, example.label)
            assert example.label.endswith(f"{row[shards.info.label or '']})")
            assert example.predictions == sum(label != -100 for label in ids_and_labels(shards, example)[1])


def test_an_objective_without_pairs_is_one_segment_without_a_label(tmp_path: Path) -> None:
    shards = open_shards(write_build(tmp_path, ExamplesConfig(objective="full-sentences", max_seq_length=64)))
    for example in read_examples(shards, [0, 1]):
        assert example.label is None
        assert len(example.segments) == 1
        assert "A  " not in render(example, len(shards), 80, color=False)


def test_each_mark_says_what_stands_there_and_what_is_predicted() -> None:
    row = [
        ShownToken("[CLS]", None, "special"),
        ShownToken("salt", None, "text"),
        ShownToken("[MASK]", "##y", "mask", continues=True),
        ShownToken("river", "water", "random"),
        ShownToken("(", None, "text"),
        ShownToken("lamp", "lamp", "kept"),
        ShownToken(")", None, "text"),
        ShownToken("keep", None, "text"),
        ShownToken("##er", None, "text", "er", True),
    ]
    shown = " ".join("".join(piece.text for piece in word) for word in words(row))
    assert shown == "[CLS] salt[MASK→##y] [river→water] ([lamp=]) keeper"
    assert [piece for word in words(row) for piece in word] == row


def test_a_vocabulary_cannot_send_commands_to_the_terminal() -> None:
    assert ShownToken("a\x1b[2Jb", None, "text").text == "a<U+001B>[2Jb"
    assert ShownToken("[MASK]", "\x07", "mask").text == "[MASK→<U+0007>]"


@pytest.mark.parametrize("width", [40, 60, 120])
def test_lines_fit_the_terminal_and_lose_nothing(dynamic: Path, width: int) -> None:
    shards = open_shards(dynamic)
    for example in read_examples(shards, range(30)):
        _, *lines = render(example, len(shards), width, color=False).split("\n")
        assert all(columns(line) <= width for line in lines)
        shown = " ".join(line[3:] for line in lines)
        assert shown == " ".join(
            "".join(piece.text for piece in word) for segment in example.segments for word in words(segment)
        )


def test_wide_characters_count_twice_when_lines_are_wrapped() -> None:
    segment = tuple(ShownToken(character, None, "text") for character in "塩" * 30)
    _, *lines = render(Example(0, 0, None, (segment,)), 1, 20, color=False).split("\n")
    assert len(lines) == 5
    assert all(columns(line) <= 20 for line in lines)


def test_colour_changes_nothing_but_colour(dynamic: Path) -> None:
    shards = open_shards(dynamic)
    [example] = read_examples(shards, [0])
    plain, painted = (render(example, len(shards), 80, color=color) for color in (False, True))
    assert painted != plain
    assert ANSI.sub("", painted) == plain
    assert ANSI.sub("", legend(color=True)) == legend(color=False)


def test_the_command_prints_as_many_examples_as_asked_for(dynamic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["show", str(dynamic), "--split", "validation", "--count", "2"]) == 0
    shown = capsys.readouterr().out
    assert len(re.findall(r"^example \d+ of", shown, re.MULTILINE)) == 2
    assert "[MASK→word]" in shown
    assert "\x1b" not in shown
    assert dispatch(["show", str(dynamic / "train"), "--index", "-1", "--color", "always"]) == 0
    assert f"example {len(open_shards(dynamic)) - 1} of" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--index", "100000"], r"no example 100000; train has \d+, 0 to"),
        (["--count", "0"], "--count is 0"),
        (["--split", "test"], "no split 'test'; it has train, validation"),
    ],
)
def test_what_is_not_there_is_an_error_that_says_what_is(dynamic: Path, flags: list[str], message: str) -> None:
    with pytest.raises((ConfigError, InputError), match=message):
        dispatch(["show", str(dynamic), *flags])


def test_an_example_is_rendered_line_by_line() -> None:
    first = (
        ShownToken("[CLS]", None, "special"),
        *(ShownToken(word, None, "text") for word in ("salt", "is", "here", ".")),
    )
    second = (ShownToken("[MASK]", "it", "mask"), ShownToken("helps", None, "text"))
    example = Example(1234, 7, "IsNext", (first, second))
    assert render(example, 5678, 18, color=False).split("\n") == [
        "example 1234 of 5,678: 7 tokens, 1 to predict, IsNext",
        "A  [CLS] salt is",
        "   here.",
        "B  [MASK→it] helps",
    ]
    assert render(Example(0, 7, None, (first,)), 1, 17, color=False).split("\n") == [
        "example 0 of 1: 5 tokens, 0 to predict",
        "   [CLS] salt is",
        "   here.",
    ]
    long = tuple(ShownToken(word, None, "text") for word in ("unbelievable", "a"))
    assert render(Example(0, 7, None, (long,)), 1, 8, color=False).split("\n")[1:] == ["   unbelievable", "   a"]


def test_colours_are_those_of_the_kinds() -> None:
    kinds = ("special", "text", "mask", "random", "kept")
    segment = tuple(ShownToken("salt", "lamp" if kind in ("mask", "random") else None, kind) for kind in kinds)
    head, line = render(Example(0, 7, None, (segment,)), 1, 200, color=True).split("\n")
    assert head == "\x1b[1mexample 0 of 1: 5 tokens, 2 to predict\x1b[0m"
    assert line.split(" ")[3:] == [
        "\x1b[2msalt\x1b[0m",
        "salt",
        "\x1b[1;33m[MASK→lamp]\x1b[0m",
        "\x1b[1;31m[salt→lamp]\x1b[0m",
        "\x1b[1;32m[salt=]\x1b[0m",
    ]
    assert legend(color=True).count("\x1b[1;3") == 3


def test_the_legend_has_its_explanations_below_one_another() -> None:
    *marks, last = legend([WordPieceTokenizer.NOTATION], color=False).split("\n")
    assert [line.index("to predict") for line in marks] == [len("[other→word]") + 2] * 3
    assert last.startswith("## in a mark")


def test_columns_of_combining_wide_and_ambiguous_characters() -> None:
    assert [columns(text) for text in ("", "é", "e\u0301", "塩", "Ａ", "α", "a塩e\u0301")] == [0, 1, 1, 2, 2, 1, 4]


def test_of_a_packed_row_each_example_is_shown_with_its_place(tmp_path: Path) -> None:
    config = ExamplesConfig(max_seq_length=32, pack=True, pack_length=96)
    shards = open_shards(write_build(tmp_path, config))
    shown = list(read_examples(shards, range(len(shards))))
    assert len(shown) > len(shards)
    for number in range(len(shards)):
        row = shards.examples(number)
        places = [example.label or "" for example in shown if example.number == number]
        assert [label.split(", ")[-1] for label in places] == [
            f"{place + 1} of {len(row)} in this row" for place in range(len(row))
        ]
        assert [example.example_id for example in shown if example.number == number] == [
            example["example_id"] for example in row
        ]


def test_of_several_sources_the_one_of_an_example_is_named(tmp_path: Path) -> None:
    shards = open_shards(write_two_sources(tmp_path))
    assert shards.info.sources == ("wikipedia", "books")
    for example in read_examples(shards, range(len(shards))):
        source = shards.info.sources[shards[example.number]["source"]]
        assert example.label is not None
        assert example.label.endswith(f", from {source}")


def test_examples_count_from_the_end_too_and_no_further_than_the_first(dynamic: Path) -> None:
    shards = open_shards(dynamic)
    [last], [first] = (list(read_examples(shards, [number])) for number in (-1, -len(shards)))
    assert (last.number, first.number) == (len(shards) - 1, 0)
    for number in (len(shards), -len(shards) - 1):
        with pytest.raises(
            ConfigError, match=f"no example {number}; train has {len(shards):,}, 0 to {len(shards) - 1}"
        ):
            list(read_examples(shards, [number]))


def test_by_default_three_examples_of_train_in_epoch_0_are_printed(
    dynamic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shards = open_shards(dynamic)
    assert dispatch(["show", str(dynamic)]) == 0
    default = capsys.readouterr().out
    assert re.findall(r"^example (\d+) of ([\d,]+)", default, re.MULTILINE) == [
        (str(number), f"{len(shards):,}") for number in range(3)
    ]
    assert dispatch(["show", str(dynamic), "--epoch", "0", "--count", "3", "--color", "never"]) == 0
    assert capsys.readouterr().out == default
    assert dispatch(["show", str(dynamic), "--epoch", "1"]) == 0
    assert capsys.readouterr().out != default
    assert dispatch(["show", str(dynamic / "validation"), "--count", "100000"]) == 0
    shown = len(re.findall(r"^example ", capsys.readouterr().out, re.MULTILINE))
    assert shown == len(open_shards(dynamic, "validation"))


@pytest.mark.parametrize(
    ("terminal", "variables", "painted"),
    [
        (True, {"TERM": "xterm"}, True),
        (False, {"TERM": "xterm"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, True),
    ],
)
def test_colour_is_for_terminals_whose_user_did_not_say_no(
    terminal: bool, variables: dict[str, str], painted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert wants_color() is painted


def test_an_epoch_of_static_masks_is_refused(static: Path) -> None:
    with pytest.raises(ConfigError, match=r"static.*leave --epoch out"):
        dispatch(["show", str(static), "--epoch", "1"])


def test_a_number_that_is_not_there_prints_nothing_but_the_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_build(tmp_path / "build", documents=20)
    with pytest.raises(ConfigError, match="there is no example 99999"):
        dispatch(["show", str(tmp_path / "build"), "--index", "99999"])
    assert capsys.readouterr().out == ""
