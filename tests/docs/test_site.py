"""The site: built without a warning, and what the README and the pages say of each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

LINK = re.compile(r'\]\((?!\w+:|#)([^()\s#]+)(?:#[^()\s]*)?\)|\b(?:src|srcset)="(?!\w+:)([^"]+)"')


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.stem
)
def test_each_link_of_a_page_leads_to_a_file(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in LINK.finditer(prose):
        target = link[1] or link[2]
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_each_page_is_in_the_navigation() -> None:
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert re.search(rf"[ :]{page.relative_to(ROOT / 'docs')}$", listed, re.MULTILINE), page


def test_each_picture_has_colours_for_light_and_dark_pages_and_a_ground_of_its_own() -> None:
    pictures = set((ROOT / "docs" / "assets").glob("*.svg")) - set((ROOT / "docs" / "assets").glob("show*.svg"))
    assert len(pictures) >= 4
    for picture in pictures:
        text = picture.read_text(encoding="utf-8")
        assert "prefers-color-scheme:dark" in text
        assert 'class="paper"' in text


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocstrings", reason='needs pip install -e ".[docs]"')
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    quiet = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}  # as in scripts/docs
    done = subprocess.run(command, cwd=ROOT, env=os.environ | quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    reference = (tmp_path / "reference" / "python" / "index.html").read_text(encoding="utf-8")
    assert "clean_wikitext" in reference
    assert "--mask-unit" in (tmp_path / "reference" / "build" / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "files" / "examples" / "own_filter.py.txt").is_file()
    check_markdown(tmp_path)


def check_markdown(site: Path) -> None:
    """Check that programs find each page as Markdown by `llms.txt`, and from it the others that it links to."""
    listed = re.findall(r"^- \[(.+?)\]\((.+?)\)(?:: (.+))?$", (site / "llms.txt").read_text(encoding="utf-8"), re.M)
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages <= {path for _, path, _ in listed}
    for title, path, about in listed:
        assert title
        assert 10 < len(about) < 600 or path == "howto/index.md", path
        text = (site / path).read_text(encoding="utf-8")
        assert text.startswith("# "), path
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        for link in LINK.finditer(prose):
            if link[1] and link[1].endswith(".md"):
                assert ((site / path).parent / link[1]).is_file(), f"{path}: {link[1]}"
    assert "BatchCollator" in (site / "reference" / "loader.md").read_text(encoding="utf-8")
    assert "--mask-unit" in (site / "reference" / "build.md").read_text(encoding="utf-8")
