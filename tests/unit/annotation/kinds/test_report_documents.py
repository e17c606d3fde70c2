"""A report as Markdown, as one HTML page, and as a folder of files."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from annotation.analysis.records import ReportColumn, ReportTable, Section, Selection
from annotation.kinds import reports as composing
from annotation.kinds.preference.report.sections import preference_sections
from annotation.kinds.reports import html, markdown, report_file, report_files, whole_report
from annotation.kinds.validity.report.sections import validity_sections
from cir_core.reports.figures import MatrixCell, matrix
from tests.fakes import reports
from tests.fakes.reports import PLAN


@pytest.fixture(scope="module")
def validity():
    report = reports.validity_report()
    return report, validity_sections(report, PLAN)


@pytest.fixture(scope="module")
def preference():
    report = reports.preference_report()
    return report, preference_sections(report)


class Page(HTMLParser):
    """Elements, addresses they name, and contents of scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses, self.scripts, self.policy, self._script = [], [], [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.tags.append(tag)
        self.addresses += [of[name] for name in ("src", "href", "action", "srcset", "data") if name in of]
        if of.get("http-equiv") == "Content-Security-Policy":
            self.policy = of["content"]
        self._script = of if tag == "script" else None

    def handle_data(self, data):
        if self._script is not None:
            self.scripts.append((self._script.get("type"), data))

    def handle_endtag(self, tag):
        self._script = None


@pytest.fixture(scope="module")
def page(validity):
    return Page(html(*validity))


def test_the_page_fetches_nothing(page):
    assert page.addresses and all(address.startswith("#") for address in page.addresses)
    assert page.policy.startswith("default-src 'none'; script-src 'sha256-")


def test_only_its_own_scripts_may_run(page):
    """A browser compares a script's digest with the policy."""
    running = [text for kind, text in page.scripts if kind is None]
    assert len(running) == 2
    for text in running:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in page.policy


def test_figures_stand_in_the_page_as_json(page, validity):
    specs = [json.loads(text) for kind, text in page.scripts if kind == "application/json"]
    assert specs == [json.loads(json.dumps(figure.spec)) for section in validity[1] for figure in section.figures]


def test_texts_of_a_study_are_never_markup(preference):
    text = html(*preference)
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert "<script>alert" not in own and "First <b>hundred" not in own and "cosine & <b>" not in own
    assert "First &lt;b&gt;hundred&lt;/b&gt; &amp; more" in own and "&lt;script&gt;alert(1)&lt;/script&gt;" in own
    # As many scripts as cirque puts there: data of figures, plotly and its own.
    figures = sum(len(section.figures) for section in preference[1])
    assert Page(text).tags.count("script") == figures + 2


def test_a_report_without_figures_needs_no_plotly():
    report = reports.empty_preference()
    text = html(report, preference_sections(report))
    assert len(text) < 100_000 and "No answers." in text


def test_markdown_has_every_number_with_its_interval(validity, preference):
    text = markdown(*validity)
    assert text.startswith(r"# First \<b\>hundred\</b\> \& more: agreement report" + "\n")
    assert r"| Judged valid | 25.0 % | \[10.0 %, 40.0 %\] | 20 | answers |  |" in text
    assert "| Krippendorff’s α, valid or not | −0.120 | " in text
    assert "\n## Whole signature\n" in text and "\\<script\\>alert(1)\\</script\\>" in text
    assert not re.search(r"(?<!\\)<", text) and "\n\n\n" not in text
    assert r"| Krippendorff’s α of preferences | 0.500 |  | 5 | questions | too few questions for an interval |" in (
        markdown(*preference))


def test_files_hold_every_table_in_each_form_and_every_figure(preference):
    whole = whole_report(preference[0])
    found = report_files(whole)
    tables = {table.key for section in preference[1] for table in section.tables}
    figures = {figure.key for section in preference[1] for figure in section.figures}
    assert set(found) == {
        "report.md", "report.html", "report.json", "report.tex", "preamble.tex",
        *(f"figures/{key}.json" for key in figures),
        *(f"tables/{key}.{form}" for key in tables for form in ("csv", "json", "md", "tex"))}
    assert json.loads(found["report.json"])["metrics"]["recall@5"]["spearman"]["rho"] == 0.153
    assert found == report_files(whole)            # the same each time


def test_the_json_of_a_report_has_its_plan():
    whole = whole_report(reports.validity_report(), PLAN)
    written = json.loads(report_file(whole, "json"))
    assert [one["more_of"] for one in written["plan"]] == [one.more_of for one in PLAN]
    assert written["plan"][0]["points"][0]["width"] == PLAN[0].points[0].width
    assert json.loads(report_file(whole_report(reports.validity_report()), "json"))["plan"] == []


def test_one_form_is_made_without_the_others(validity, monkeypatch):
    whole = whole_report(validity[0], PLAN)
    for form in ("md", "html", "json"):
        with monkeypatch.context() as others:
            for of, name in (("md", "markdown"), ("html", "html"), ("csv", "paper_files")):
                if of != form:
                    others.delattr(composing, name)
            content = report_file(whole, form)
        assert content == report_files(whole)[f"report.{form}"]


def test_the_head_says_what_was_selected():
    report = reports.validity_report(about=reports.about_of(selection=Selection(categories=("color",)), answered=252))
    said = "selected: category color (21 of 252 answers) · circus/1"
    for text in (html(report, ()), markdown(report, ())):
        assert said in text
    assert "selected:" not in html(reports.validity_report(), ())


def test_long_names_are_capped_remarks_have_room_and_a_long_table_counts_its_rows():
    columns = tuple(ReportColumn(key, key, "text") for key in ("a", "b", "reason"))
    table = ReportTable("t", "Pairs", columns, (("short", "n" * 60, "why " * 20),) * 12)
    text = html(reports.validity_report(), (Section("s", "S", "", tables=(table,)),))
    assert [re.search(f'class="([a-z]+)">{key}<', text)[1] for key in ("a", "b", "reason")] == [
        "short", "name", "long"]
    assert 'Pairs <span class="quiet">12 rows</span>' in text
    fewer = ReportTable("t", "Pairs", columns, table.rows[:11])
    assert "11 rows" not in html(reports.validity_report(), (Section("s", "S", "", tables=(fewer,)),))


def test_a_figure_has_its_note_in_both_documents():
    cells = {(a, b): MatrixCell(0.5, ()) for a in range(15) for b in range(15)}
    section = Section("s", "S", "", figures=(
        matrix("k", "κ", "alt", [str(number) for number in range(15)], cells, scale="κ"),))
    for text in (html(reports.validity_report(), (section,)), markdown(reports.validity_report(), (section,))):
        assert "values and numbers are in the table" in text
