"""`bertdata report`: one self-contained HTML page on a build.

    ledger      from what came in to what is in the shards, and whether it adds up
    figures     histograms and bars as inline SVG
    page        the page: the ledger, the figures, examples with their masks marked

It needs nothing but the build: no plotting library, no network when the page is made or read, and no time or machine in
it, so the same build gives the same page.
"""

from bertdata.inspect.report.page import add_arguments, report_html, run

__all__ = ["add_arguments", "report_html", "run"]
