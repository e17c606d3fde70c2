"""The steps of a reproduction."""

import shlex

import pytest
from typer.main import get_command

from cir_core.errors import SettingsError
from cli.main import app
from cli.reproduce.plan import SAMPLE, WORK, Subject, chosen, plan

SUBJECTS = {
    "sample": Subject(SAMPLE, "atelier"),
    "quick": Subject(SAMPLE, "atelier", quick=True, studies=(("Two shops", "preference"), ("a b", "preference"))),
    "data set": Subject("fashioniq", "fashioniq-val", "/data/fashioniq", ("--split", "val"), "settings"),
}


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)
def test_a_step_stands_behind_those_that_it_needs_and_has_a_name_of_its_own(subject):
    steps = plan(subject)
    for at, step in enumerate(steps):
        assert {*step.needs} <= {one.name for one in steps[:at]}, step
    assert len({step.name for step in steps}) == len(steps)


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)
def test_every_command_can_be_typed(subject):
    root = get_command(app)
    for step in plan(subject):
        with root.make_context("cirque", list(step.arguments)) as context:      # its group takes the rest
            group, name, rest = root, step.arguments[0], list(step.arguments[1:])
            while True:
                group = group.commands[name]
                child = rest[0] if rest and rest[0] in getattr(group, "commands", {}) else None
                if child is None:
                    break
                name, rest = rest[0], rest[1:]
            given = group.make_context(name, rest, parent=context)
            given.close()
        assert shlex.split(shlex.join(step.arguments)) == list(step.arguments)


def test_what_a_step_reads_is_written_by_a_step_that_it_needs():
    for subject in SUBJECTS.values():
        steps = {step.name: step for step in plan(subject)}
        written = {name: [one for flag, one in zip(step.arguments, step.arguments[1:], strict=False)
                          if flag == "--out"] for name, step in steps.items()}
        for step in steps.values():
            read = [one.rpartition("=")[2] for flag, one in zip(("", *step.arguments), step.arguments, strict=False)
                    if one.rpartition("=")[2].startswith(f"{WORK}/") and flag not in ("--out", "--json", "--figure")]
            for path in read:
                assert any(f"{path}/".startswith(f"{to}/") for name in step.needs for to in written[name]), (step, path)


def test_studies_have_a_step_each_and_kinds_without_one_say_how_to_make_it():
    steps = {step.name: step for step in plan(SUBJECTS["quick"])}
    assert [steps[f"study-preference-{n}"].arguments for n in (1, 2)] == [("report", "Two shops"), ("report", "a b")]
    assert "cirque study create validity" in steps["study-validity"].missing


def test_steps_are_chosen_by_name():
    steps = plan(SUBJECTS["sample"])
    names = {step.name for step in steps}
    assert chosen(steps, (), ()) == names
    assert chosen(steps, ("audit", "turns"), ("turns",)) == {"audit"}
    with pytest.raises(SettingsError, match=r"no step 'audits'. Steps are: sessions"):
        chosen(steps, ("audits",), ())
