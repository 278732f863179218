"""`bertdata report`: one self-contained HTML page on a build.

    ledger      what came in at each step, what was dropped, and whether it adds up
    page        the page: the ledger, charts, examples with their masks marked

It needs only the build: no plotting library, and no network when the page is made or read. The page names no time and
no machine, so the same build gives the same page.
"""

from bertdata.inspect.report.page import add_arguments, report_html, run

__all__ = ["add_arguments", "report_html", "run"]
