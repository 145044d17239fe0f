"""Reports of a proof and of the doctor: as data, JSON and HTML, with a comparison to an earlier run."""

from stellwerk.report.compare import Change, Compared, compare
from stellwerk.report.model import SCHEMA, SCHEMA_VERSION, Report, from_json, make_report, to_json
from stellwerk.report.page import clean, render_html, to_html
from stellwerk.report.summary import Headline, headline

__all__ = [
    "SCHEMA",
    "SCHEMA_VERSION",
    "Change",
    "Compared",
    "Headline",
    "Report",
    "clean",
    "compare",
    "from_json",
    "headline",
    "make_report",
    "render_html",
    "to_html",
    "to_json",
]
