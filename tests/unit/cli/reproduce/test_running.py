"""A reproduction that is killed, fails, and goes on; with commands that write a file and give a table."""

import json

import pytest

from cir_core.reports.gathered import given
from cir_core.reports.records import Figure, ReportTable, Section, count, text
from cli.reproduce.journal import Journal, digests
from cli.reproduce.paper import paper, write_paper
from cli.reproduce.plan import Step, Subject
from cli.reproduce.running import expanded, run_steps
from tests.fakes.undrawn import without_images

SUBJECT = Subject("sample", "atelier")
STEPS = (
    Step("make", "CIRCLED", "Making", "Table 1", ("make", "--out", "work/made")),
    Step("read", "CIRCLED", "Reading", "Table 2", ("read", "work/made/*.txt", "--json"), ("make",), cards=("",)),
    Step("fail", "SoFT", "Failing", "Table 3", ("fail",)),
    Step("after", "SoFT", "Afterwards", "Table 4", ("after",), ("fail",)),
    Step("ask", "SoFT", "Asking", "Table 5", ("ask",), missing="There is no study here."),
    Step("last", "CoRR", "Last", "Figure 1", ("last",), fresh=True),
)


class Killed(BaseException):
    """Nothing catches it, as nothing catches kill -9."""


class Commands:
    """``killed``: the number of the command within which the process ends, after its first file."""

    def __init__(self, folder, killed=-1):
        self.folder, self.killed, self.run = folder, killed, []

    def __call__(self, arguments):
        name = arguments[0]
        self.run.append(name)
        if name == "make":
            for letter in "ab":
                path = self.folder / "work" / "made" / f"{letter}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(letter)
                self._end()
        self._end()
        if name == "fail":
            return f"No file {self.folder}/elsewhere."
        table = ReportTable("table", f"{name} & all", (text("of", "of"), count("n", "n")), ((arguments[-1], 1 / 3),))
        figure = Figure("curve", "A curve", "alt", {"data": [], "layout": {}})
        given([f"Facts of {name} in {self.folder}/work", Section("s", "A section", "Intro", (), (figure,), (table,)),
               ReportTable("times", "Milliseconds", (count("n", "n"),), ((len(self.run),),))])
        if name == "read":
            print(json.dumps({"systems": [{"protocol": {"digest": arguments[1]}}]}))
        return ""

    def _end(self):
        if len(self.run) - 1 == self.killed:
            raise Killed


def whole(folder, commands, steps=STEPS, wanted=None, inputs=()):
    found = list(run_steps(steps, frozenset(wanted or {step.name for step in steps}),
                           digests(steps, dict(inputs)), folder, commands))
    write_paper(folder, paper(SUBJECT, found, "Facts."))
    return found


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and "work" not in path.relative_to(folder).parts}


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    without_images(monkeypatch)


def test_outcomes(tmp_path):
    found = whole(tmp_path, Commands(tmp_path))
    assert [one.state for one in found] == ["finished", "finished", "failed", "missing", "missing", "finished"]
    assert [one.result.failure for one in found] == [
        "", "", "No file elsewhere.", "It needs the step fail, which was not run.", "There is no study here.", ""]


@pytest.mark.parametrize("killed", range(5))    # make, read of a, read of b, fail, last
def test_killed_at_any_command_it_ends_with_the_files_of_a_run_that_was_not(tmp_path, killed):
    whole(tmp_path / "whole", Commands(tmp_path / "whole"))
    folder = tmp_path / "killed"
    first = Commands(folder, killed)
    with pytest.raises(Killed):
        whole(folder, first)
    second = Commands(folder)
    whole(folder, second)
    assert files(folder) == files(tmp_path / "whole") and str(tmp_path).encode() not in b"".join(files(folder).values())
    finished = {"make"} if killed in (1, 2) else {"make", "read"} if killed > 2 else set()
    assert finished.isdisjoint(second.run)


def test_what_is_finished_stays_until_its_inputs_change(tmp_path):
    whole(tmp_path, Commands(tmp_path))
    for inputs, expected in (((), ["fail", "last"]), ((("seed", 2),), ["make", "read", "read", "fail", "last"])):
        again = Commands(tmp_path)
        whole(tmp_path, again, inputs=inputs)
        assert again.run == expected    # what failed is tried again; what is fresh always is


def test_a_changed_command_runs_again_with_all_that_reads_its_files(tmp_path):
    before, after = digests(STEPS, {}), digests(
        (Step("make", "CIRCLED", "Making", "Table 1", ("make", "--limit", "2")), *STEPS[1:]), {})
    assert [name for name in before if before[name] != after[name]] == ["make", "read"]


def test_a_damaged_file_of_a_step_is_made_again(tmp_path):
    found = Journal(tmp_path)
    whole(tmp_path, Commands(tmp_path))
    path = tmp_path / "work" / "steps" / "make.json"
    path.write_bytes(path.read_bytes()[:-9])
    assert not found.finished(STEPS[0], digests(STEPS, {})["make"])


def test_steps_left_out_keep_their_earlier_results(tmp_path):
    whole(tmp_path, Commands(tmp_path), wanted={"make"})
    again = Commands(tmp_path)
    found = whole(tmp_path, again, wanted={"read"})
    assert again.run == ["read", "read"]
    assert [one.state for one in found] == ["kept", "finished", *["left out"] * 4]


def test_the_document_has_every_step_with_its_command_or_why_it_was_not_run(tmp_path):
    whole(tmp_path, Commands(tmp_path))
    made = files(tmp_path)
    tex = made["report.tex"].decode()
    assert tex.index(r"\section{CIRCLED}") < tex.index(r"\section{SoFT}") < tex.index(r"\section{CoRR}")
    for said in (r"\textbf{Not run.} No file elsewhere.", r"\textbf{Not run.} There is no study here.",
                 "Facts of read in work", r"\input{tables/make-table}", r"\cirqueimage{figures/read-curve-2.pdf}"):
        assert said in tex.replace(r"\allowbreak{}", "").replace(r"\allowbreak ", ""), said
    assert "Milliseconds" not in tex and not [name for name in made if "times" in name]
    assert json.loads(made["cards/read.json"]) == [{"digest": f"work/made/{letter}.txt"} for letter in "ab"]
    assert made["commands.sh"].decode().splitlines()[3:9] == [
        "# make: CIRCLED, Table 1", "cirque make --out work/made", "", "# read: CIRCLED, Table 2",
        "cirque read work/made/a.txt --json", "cirque read work/made/b.txt --json"]
    assert "# cirque ask" in made["commands.sh"].decode()


def test_files_of_an_earlier_run_that_are_no_longer_made_go(tmp_path):
    whole(tmp_path, Commands(tmp_path))
    before = set(files(tmp_path))
    whole(tmp_path, Commands(tmp_path), steps=STEPS[:1])
    assert before - set(files(tmp_path)) >= {"tables/read-table.tex", "cards/read.json"}


def test_a_file_for_each_command(tmp_path):
    (tmp_path / "b.json").touch()
    (tmp_path / "a.json").touch()
    assert expanded(("x", "*.json", "-y"), tmp_path) == [("a", ("x", "a.json", "-y")), ("b", ("x", "b.json", "-y"))]
    assert expanded(("x", "-y"), tmp_path) == [("", ("x", "-y"))]
    assert expanded(("x", "*.csv"), tmp_path) == []
