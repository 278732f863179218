"""Write the table of docs/loader.md."""

from pathlib import Path

from tests.torch.data.company.table import written_into

PAGE = Path(__file__).resolve().parents[4] / "docs" / "loader.md"

if __name__ == "__main__":
    PAGE.write_text(written_into(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
