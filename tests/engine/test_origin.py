"""What an output was made from: kept, compared with the next run, and never replaced unsaid."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bertdata.engine.origin import ORIGIN, Origin, absolute, changes, read_origin, refusal
from bertdata.engine.output_lock import output_lock
from bertdata.errors import InputError, OutputError


def file(path: Path, text: str = "text") -> str:
    path.write_text(text)
    return str(path)


def made(output: Path, origin: Origin, *, force: bool = False) -> list[str]:
    with output_lock(str(output), "build", origin, force=force) as said:
        return said


def test_what_was_made_from_other_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    mine, other = file(tmp_path / "mine.txt"), file(tmp_path / "other.txt", "other")
    output = tmp_path / "out"
    made(output, Origin.of("build", [mine]))
    kept = (output / ORIGIN).read_bytes()
    with pytest.raises(OutputError, match=r"made by `bertdata build` from .*mine\.txt too.*add `force`"):
        made(output, Origin.of("build", [other]))
    assert (output / ORIGIN).read_bytes() == kept


def test_force_replaces_it_and_says_so(tmp_path: Path) -> None:
    mine, other = file(tmp_path / "mine.txt"), file(tmp_path / "other.txt", "other")
    made(tmp_path / "out", Origin.of("build", [mine]))
    said = made(tmp_path / "out", Origin.of("build", [other]), force=True)
    assert any(line.startswith("replaced: ") and "mine.txt" in line for line in said)
    finished, _ = read_origin(str(tmp_path / "out"))
    assert finished is not None
    assert list(finished.files) == [other]


def test_files_that_moved_or_changed_in_place_are_the_same_sources(tmp_path: Path) -> None:
    output = tmp_path / "out"
    mine = file(tmp_path / "mine.txt")
    made(output, Origin.of("build", [mine]))
    (tmp_path / "elsewhere").mkdir()
    moved = str((tmp_path / "mine.txt").rename(tmp_path / "elsewhere" / "mine.txt"))
    made(output, Origin.of("build", [moved]))
    file(Path(moved), "longer than before")
    assert made(output, Origin.of("build", [moved])) == [f"changed since the last build: {moved}"]


def test_a_file_with_colons_in_its_name_is_the_same_under_another(tmp_path: Path) -> None:
    mine = file(tmp_path / "vol:1.txt")
    made(tmp_path / "out", Origin.of("build", [mine]))
    renamed = str(Path(mine).rename(tmp_path / "vol:2.txt"))
    assert made(tmp_path / "out", Origin.of("build", [renamed])) == []


def test_files_that_are_added_are_told_and_may_go_again_until_they_are_built(tmp_path: Path) -> None:
    output = tmp_path / "out"
    mine, added = file(tmp_path / "mine.txt"), file(tmp_path / "added.txt", "added")
    made(output, Origin.of("build", [mine]))
    with contextlib.suppress(InputError), output_lock(str(output), "build", Origin.of("build", [mine, added])) as said:
        assert said == [f"added: {added}"]
        raise InputError("the file that was added is damaged")
    made(output, Origin.of("build", [mine]))
    made(output, Origin.of("build", [mine, added]))
    with pytest.raises(OutputError, match=r"added\.txt"):
        made(output, Origin.of("build", [mine]))


def test_an_interrupted_run_can_be_left_for_another_which_is_told(tmp_path: Path) -> None:
    mine, other = file(tmp_path / "mine.txt"), file(tmp_path / "other.txt", "other")
    with pytest.raises(KeyboardInterrupt), output_lock(str(tmp_path / "out"), "build", Origin.of("build", [mine])):
        raise KeyboardInterrupt
    [said] = [line for line in made(tmp_path / "out", Origin.of("build", [other])) if "mine.txt" in line]
    assert "had it not been interrupted" in said


def test_changed_settings_are_named_as_flags(tmp_path: Path) -> None:
    mine = file(tmp_path / "mine.txt")
    made(tmp_path / "out", Origin.of("build", [mine], settings={"masking": {"mask_unit": "token"}, "lengths": (1,)}))
    now = Origin.of("build", [mine], settings={"masking": {"mask_unit": "word"}, "lengths": (1,)})
    assert changes(str(tmp_path / "out"), now) == [("changed --mask-unit", "token -> word")]
    assert refusal(str(tmp_path / "out"), now) == ""


def test_the_same_run_writes_nothing(tmp_path: Path) -> None:
    origin = Origin.of("build", [file(tmp_path / "mine.txt")], settings={"lengths": (128, 512)})
    made(tmp_path / "out", origin)
    before = (tmp_path / "out" / ORIGIN).stat().st_mtime_ns
    assert made(tmp_path / "out", origin) == []
    assert (tmp_path / "out" / ORIGIN).stat().st_mtime_ns == before


@pytest.mark.parametrize("content", ["[]", "{}", '{"finished": {"a": 1}, "begun": null}'])
def test_a_damaged_origin_is_told(content: str, tmp_path: Path) -> None:
    (tmp_path / ORIGIN).write_text(json.dumps(json.loads(content)))
    with pytest.raises(InputError, match="delete it, and name all sources"):
        read_origin(str(tmp_path))


def test_a_flipped_bit_in_what_an_output_was_made_from_is_noticed(tmp_path: Path) -> None:
    output = tmp_path / "out"
    made(output, Origin.of("build", [file(tmp_path / "mine.txt")]))
    path = output / ORIGIN
    path.write_bytes(path.read_bytes().replace(b"mine.txt", b"nine.txt"))
    with pytest.raises(InputError, match="is damaged; delete it, and name all sources of the next build"):
        read_origin(str(output))


def test_sources_are_kept_as_they_were_given_and_none_of_the_sample_corpus(tmp_path: Path) -> None:
    mine = file(tmp_path / "mine.txt")
    origin = Origin.of("build", [mine], {"books": ("mine.txt", 2)}, {"seed": 3})
    assert (origin.given, origin.settings) == ({"books": ["mine.txt", 2]}, {"seed": 3})
    assert Origin.of("build", [mine], {"books": "mine.txt"}, {"seed": 3}, sample=True).given is None
    made(tmp_path / "out", origin)
    assert read_origin(str(tmp_path / "out")) == (origin, origin)


def test_a_path_means_the_same_from_elsewhere_and_a_url_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    assert absolute("books/a.txt") == f"{tmp_path}/books/a.txt"
    assert absolute("~/a.txt") == "/home/me/a.txt"
    assert absolute("gs://bucket/a.txt") == "gs://bucket/a.txt"


def test_the_sample_corpus_is_replaced_by_any_other_and_named(tmp_path: Path) -> None:
    sample, mine = file(tmp_path / "sample.txt", "sample"), file(tmp_path / "mine.txt")
    made(tmp_path / "out", Origin.of("build", [sample], sample=True))
    now = Origin.of("build", [mine], {"books": [mine]})
    assert refusal(str(tmp_path / "out"), now) == ""
    assert changes(str(tmp_path / "out"), now) == [
        ("replaced", f"{tmp_path / 'out'} is made by `bertdata build` from the sample corpus")
    ]


@pytest.mark.parametrize(("number", "rest"), [(3, ""), (4, " and 1 more files"), (1003, " and 1,000 more files")])
def test_of_many_files_three_are_named(number: int, rest: str, tmp_path: Path) -> None:
    changed_states = {f"/corpus/{place:04d}": f"text:{place}:1" for place in range(number)}
    made(tmp_path / "out", Origin("build", changed_states))
    said = changes(str(tmp_path / "out"), Origin("build", {"/mine": "text:0:2"}))
    assert said[0][1].endswith(f" from /corpus/0000, /corpus/0001, /corpus/0002{rest}, left out now")


def test_settings_that_come_or_go_are_named_and_those_of_another_command_are_not(tmp_path: Path) -> None:
    mine = file(tmp_path / "mine.txt")
    before = {"pack": True, "lengths": [], "sentences": "english"}
    made(tmp_path / "out", Origin.of("build", [mine], settings=before))
    now = {"pack": False, "lengths": [128, 512], "seed": 1}
    assert changes(str(tmp_path / "out"), Origin.of("build", [mine], settings=now)) == [
        ("changed --lengths", "none -> [128, 512]"),
        ("changed --pack", "true -> false"),
        ("changed --seed", "none -> 1"),
        ("changed --sentences", "english -> none"),
    ]
    assert changes(str(tmp_path / "out"), Origin.of("encode", [mine], settings=now)) == []


def test_phases_that_are_left_out_need_force(tmp_path: Path) -> None:
    mine, output = file(tmp_path / "mine.txt"), str(tmp_path / "out")
    made(tmp_path / "out", Origin.of("build", [mine], settings={"phases": ["128", "512"]}))
    for phases, left in (({}, "phases 128, 512"), ({"phases": ["128", "1024"]}, "phase 512")):
        with pytest.raises(OutputError, match=f"has the {left}, which this command leaves out; .*`force` to delete"):
            made(tmp_path / "out", Origin.of("build", [mine], settings=phases))
    assert refusal(output, Origin.of("build", [mine], settings={"phases": ["128", "512", "1024"]})) == ""
    assert refusal(output, Origin.of("build", [mine], settings={"phases": ["128", "512"], "seed": 3})) == ""
    made(tmp_path / "out", Origin.of("build", [mine]), force=True)
    assert refusal(output, Origin.of("build", [mine])) == ""


def test_settings_that_are_left_out_with_the_sources_need_force(tmp_path: Path) -> None:
    mine, output = file(tmp_path / "mine.txt"), str(tmp_path / "out")

    def origin(**settings: object) -> Origin:
        return Origin.of("build", [mine], settings={"examples": settings})

    made(tmp_path / "out", origin(max_seq_length=512, seed=1, pack=True))
    now = origin(max_seq_length=128, seed=2, pack=False)
    assert refusal(output, now) == ""  # the sources are named, so that it is a whole command
    expected = "was made with --max-seq-length 512, --pack, which this command leaves out, and the sources"
    assert refusal(output, now, {"seed"}).startswith(expected)
    assert refusal(output, now, {"seed", "max_seq_length", "pack"}) == ""
    assert refusal(output, origin(max_seq_length=512, seed=2, pack=True), {"seed"}) == ""
    assert refusal(output, origin(max_seq_length=512, seed=1, pack=True, added=3), {"added"}) == ""


def test_a_recipe_that_is_left_out_with_the_sources_needs_force(tmp_path: Path) -> None:
    mine, output = file(tmp_path / "mine.txt"), str(tmp_path / "out")

    def origin(recipe: str = "", **settings: object) -> Origin:
        return Origin.of("build", [mine], settings=settings | ({"recipe": recipe} if recipe else {}))

    made(tmp_path / "out", origin("roberta", objective="full-sentences", seed=7))
    default: dict[str, Any] = {"objective": "nsp", "seed": 7}
    assert "was made with --recipe roberta, which this command leaves out" in refusal(output, origin(**default), {"x"})
    assert refusal(output, origin(objective="full-sentences", seed=7), set()) == ""  # the same settings by flags
    assert refusal(output, origin("bert-base", **default), {"objective"}) == ""
    again = origin("roberta", objective="full-sentences", seed=12345)
    assert "was made with --seed 7," in refusal(output, again, {"objective"})
    assert refusal(output, again, {"objective", "seed"}) == ""
    assert ("changed --recipe", "roberta -> none") in changes(output, origin(**default))


def test_an_interrupted_run_that_goes_on_under_other_versions_says_so(tmp_path: Path) -> None:
    mine = file(tmp_path / "mine.txt")
    now = Origin.of("build", [mine])
    before = replace(now, versions=now.versions | {"tokenizers": "0.1"})
    with contextlib.suppress(KeyboardInterrupt), output_lock(str(tmp_path / "out"), "build", before):
        raise KeyboardInterrupt
    here = now.versions["tokenizers"]
    assert changes(str(tmp_path / "out"), now) == [
        (
            "made under other versions",
            f"tokenizers 0.1 (here {here}): what is done was made by those and is kept; --force makes all of it again",
        )
    ]
    assert changes(str(tmp_path / "out"), before) == []
    made(tmp_path / "out", now)
    assert changes(str(tmp_path / "out"), now) == []


def test_an_origin_that_knows_no_versions_is_read(tmp_path: Path) -> None:
    mine = file(tmp_path / "mine.txt")
    made(tmp_path / "out", replace(Origin.of("build", [mine]), versions={}))
    assert changes(str(tmp_path / "out"), Origin.of("build", [mine])) == []
