"""Draws the pictures of the README and the site into docs/assets, for light and dark pages: python scripts/pictures.py.

`show.svg` is the real output of `bertdata show` for the first build of the README; it needs rich (the extra `docs`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from bertdata.loader.window_order import WindowedOrder

ASSETS = Path(__file__).resolve().parents[1] / "docs" / "assets"
THEMES = {
    "light": {
        "paper": "#ffffff",
        "ink": "#1f2933",
        "quiet": "#52606d",
        "line": "#7b8794",
        "fill": "#f0f4f8",
        "main": "#d5f0ec",
        "edge": "#0b7a6e",
    },
    "dark": {
        "paper": "#1b2128",
        "ink": "#e4e7eb",
        "quiet": "#a7b3c0",
        "line": "#7b8794",
        "fill": "#27323d",
        "main": "#12433e",
        "edge": "#3fb8a9",
    },
}


STYLE = ".{name}{{fill:{colour}}}.s-{name}{{stroke:{colour}}}"


def style() -> str:
    """Return the colours as CSS: those of dark pages where the reader asks for them."""
    light, dark = (
        "".join(STYLE.format(name=name, colour=colour) for name, colour in THEMES[theme].items())
        for theme in ("light", "dark")
    )
    return f"<style>{light}@media (prefers-color-scheme:dark){{{dark}}}</style>"


@dataclass
class Picture:
    """An SVG of boxes, arrows and words, `width` x `height` pixels."""

    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def words(self, x: float, y: float, text: str, size: int = 14, look: str = "ink", anchor: str = "middle") -> None:
        """Write a line of text; y is its base line, `look` its colour, with "bold" beside it where it is."""
        weight = ' font-weight="600"' if "bold" in look else ""
        place = f'x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}"{weight}'
        self.parts.append(f'<text {place} class="{look.split(maxsplit=1)[0]}">{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, title: str, *lines: str, main: bool = False) -> None:
        """Draw a box of a title and smaller lines, 30 + 17 pixels for each line high."""
        look = "main s-edge" if main else "fill s-line"
        place = f'x="{x}" y="{y}" width="{width}" height="{30 + 17 * len(lines)}"'
        self.parts.append(f'<rect {place} rx="6" class="{look}"/>')
        self.words(x + width / 2, y + 20, title, look="ink bold")
        for number, line in enumerate(lines):
            self.words(x + width / 2, y + 38 + 17 * number, line, 12, "quiet")

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """Draw an arrow between two points."""
        place = f'x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}"'
        self.parts.append(f'<line {place} class="s-line" stroke-width="1.6" marker-end="url(#tip)"/>')

    def svg(self) -> str:
        """Return the file."""
        tip = (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0 0 8 4 0 8z" class="line"/></marker></defs>'
        )
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui, sans-serif">'
        paper = f'<rect width="{self.width}" height="{self.height}" rx="8" class="paper"/>'
        return "\n".join([head, style(), tip, paper, *self.parts, "</svg>\n"])


def way() -> Picture:
    """The way of the data, from sources to batches."""
    picture = Picture(760, 330)
    for place, (title, line) in enumerate(
        [
            ("Wikipedia dumps", "bz2, gz, zst"),
            ("books", "Project Gutenberg"),
            ("your own text", "Parquet, JSON lines, .txt"),
        ]
    ):
        picture.box(10, 12 + 62 * place, 190, title, line)
        picture.arrow(200, 36 + 62 * place, 246, 84 + 14 * place)
    picture.box(250, 65, 220, "documents", "cleaned; each drop is counted", "filters, duplicates", main=True)
    picture.arrow(470, 97, 516, 97)
    picture.box(520, 65, 230, "token store", "Punkt sentences, any tokenizer", "each token has an address", main=True)
    picture.arrow(635, 129, 635, 206)
    picture.words(625, 172, "references, not text", 12, "quiet", "end")
    picture.box(
        520,
        210,
        230,
        "Arrow shards",
        "rows of NSP, SOP, full sentences ...",
        "packed or binned; sha256 of each",
        main=True,
    )
    picture.arrow(520, 242, 474, 242)
    picture.box(250, 210, 220, "loader", "masks drawn by seed, epoch, row", "exact resume on any ranks", main=True)
    picture.arrow(250, 242, 204, 242)
    picture.box(10, 210, 190, "training", "bertdata, transformers,", "Lightning, JAX ...")
    picture.words(635, 305, "bertdata verify recounts all tokens", 12, "quiet")
    return picture


def way_narrow() -> Picture:
    """The way of the data from top to bottom, to be read on a phone."""
    picture = Picture(360, 560)
    picture.box(10, 10, 340, "dumps, books, your own text", "bz2, zst, Parquet, JSON lines, CSV, .txt ...")
    steps = [
        ("documents", "cleaned; each drop is counted", "filters, duplicates"),
        ("token store", "Punkt sentences, any tokenizer", "each token has an address"),
        ("Arrow shards", "rows of NSP, SOP, full sentences ...", "packed or binned; sha256 of each"),
        ("loader", "masks drawn by seed, epoch, row", "exact resume on any ranks"),
    ]
    for place, (title, *lines) in enumerate(steps):
        picture.arrow(180, 57 if not place else 48 + 98 * place, 180, 80 + 98 * place)
        picture.box(30, 84 + 98 * place, 300, title, *lines, main=True)
    picture.words(190, 262, "references, not text", 12, "quiet", "start")
    picture.arrow(180, 442, 180, 474)
    picture.box(10, 478, 340, "training", "bertdata, transformers, Lightning, JAX ...")
    picture.words(180, 548, "bertdata verify recounts all tokens", 12, "quiet")
    return picture


def references() -> Picture:
    """Documents, the token store, a plan of references, and shards."""
    picture = Picture(700, 200)
    picture.box(10, 70, 130, "documents", "text")
    picture.arrow(140, 93, 186, 93)
    picture.box(190, 60, 170, "token store", "tokens by sentence", "made once", main=True)
    picture.arrow(360, 80, 406, 50)
    picture.box(410, 12, 280, "plan", "row 0: document 7, tokens 0 to 61", "row 1: document 3, tokens 40 to 126")
    picture.arrow(550, 76, 550, 126)
    picture.arrow(360, 105, 406, 150)
    picture.box(410, 130, 280, "shards", "tokens copied to their places", main=True)
    return picture


def draws() -> Picture:
    """A stream of random numbers beside a function of a place."""
    picture = Picture(700, 190)
    picture.words(170, 22, "a stream", 15, look="ink bold")
    picture.words(530, 22, "a function of the place", 15, look="ink bold")
    for place, (row, stream, other) in enumerate(
        [("row 1", "0.42", "0.42"), ("row 2", "0.17", "0.88"), ("row 3", "0.88", "0.17")]
    ):
        y = 78 + 32 * place
        for x, left, right in ((20, stream, other), (380, stream, stream)):
            picture.words(x, y, row, 13, "quiet", "start")
            picture.words(x + 120, y, left, 14)
            picture.words(x + 240, y, right, 14, "ink" if left == right else "edge bold")
    for x in (20, 380):
        picture.words(x + 120, 50, "one worker", 12, "quiet")
        picture.words(x + 240, 50, "two workers", 12, "quiet")
    picture.words(170, 178, "the order of work changes the data", 12, "quiet")
    picture.words(530, 178, "it does not matter who asks, and when", 12, "quiet")
    return picture


def vocab() -> Picture:
    """How pieces are joined or dropped."""
    picture = Picture(700, 236)
    picture.words(120, 20, "BPE, WordPiece: join", 15, look="ink bold")
    for place, pieces in enumerate(["n e w e s t", "n e w es t", "n e w est", "new est"]):
        picture.box(20, 34 + 50 * place, 200, pieces)
        if place < 3:
            picture.arrow(120, 64 + 50 * place, 120, 82 + 50 * place)
    picture.words(500, 20, "Unigram: drop", 15, look="ink bold")
    picture.box(
        320, 34, 360, "new  ne  ew  est  es  st  west  newest  n e w s t", "many pieces, each with a probability"
    )
    picture.arrow(500, 81, 500, 105)
    picture.box(320, 108, 360, "new  est  es  west  n e w s t", "those that are missed least go")
    picture.arrow(500, 155, 500, 179)
    picture.box(320, 182, 360, "new  est  n e w s t", "single characters always stay")
    return picture


def order() -> Picture:
    """The rows of an epoch as the loader orders them: which shard comes when, in a full and in a window shuffle."""
    shards, rows, window = 24, 60, 4
    picture = Picture(700, 286)
    for x, shown, title in ((20, shards, "over all shards"), (370, window, f"windows of {window} shards")):
        calculated = WindowedOrder(size=shards * rows, key=3, rows=np.full(shards, rows), window=shown, shards_key=5)
        _, numbers = calculated.pairs(np.arange(shards * rows) + shards * rows)  # the second epoch
        turn = np.argsort(calculated.windows(1).shards)[numbers // rows]
        picture.words(x + 155, 22, title, 15, look="ink bold")
        width, height = 310 / len(numbers), 216 / shards
        dots = [
            f"M{x + place * width:.1f} {34 + row_of_dot * height:.0f}v6"
            for place, row_of_dot in enumerate(turn.tolist())
        ]
        picture.parts.append(f'<path d="{"".join(dots)}" class="s-edge" stroke-width="1.2"/>')
        picture.parts.append(f'<rect x="{x}" y="32" width="310" height="220" fill="none" class="s-line"/>')
        picture.words(x + 155, 270, "rows of an epoch, in the order in which they come", 12, "quiet")
    picture.words(350, 284, "each line of dots is a shard, from the one that comes first to the last", 12, "quiet")
    return picture


def show_as_svg(columns: int = 92, count: int = 2) -> str:
    """Return what `bertdata show` prints on a terminal with colours, for a build of the sample corpus."""
    from rich.console import Console
    from rich.terminal_theme import DIMMED_MONOKAI
    from rich.text import Text

    with tempfile.TemporaryDirectory() as folder:
        run = [sys.executable, "-m", "bertdata"]
        subprocess.run([*run, "build", "--quiet", "--output", f"{folder}/corpus"], check=True)
        inner = f"{sys.executable} -m bertdata show {folder}/corpus --count {count}"
        environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm-256color"}
        environment.pop("NO_COLOR", None)  # below, `script` gives the command a terminal
        command = ["script", "-qec", f"stty cols {columns}; {inner}", "/dev/null"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    console = Console(record=True, width=columns + 2, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(Text.from_ansi(f"$ bertdata show corpus --count {count}\n{printed.replace(chr(13), '')}".rstrip()))
    svg = console.export_svg(title="bertdata show", theme=DIMMED_MONOKAI)
    start, end = svg.index("@font-face"), svg.rindex("@font-face")
    return str(svg[:start] + svg[svg.index("}", end) + 1 :])  # no font is loaded from elsewhere


def main() -> None:
    """Write all pictures."""
    ASSETS.mkdir(exist_ok=True)
    for draw in (way, way_narrow, references, draws, vocab, order):
        (ASSETS / f"{draw.__name__}.svg").write_text(draw().svg(), encoding="utf-8")
    (ASSETS / "show.svg").write_text(show_as_svg(), encoding="utf-8")
    (ASSETS / "show_narrow.svg").write_text(show_as_svg(44, 1), encoding="utf-8")


if __name__ == "__main__":
    main()
