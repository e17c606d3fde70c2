"""Texts of screens name no option of the command line, which nobody has there. A whole command may be shown, to be
typed as it is."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
ROOMS = ("web", "annotation/analysis", "annotation/studies", "annotation/recruitment",
         *(f"annotation/kinds/{kind}/report" for kind in ("validity", "preference", "ratings", "marks")))
PYTHON = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
WRITTEN = sorted([*(ROOT / "assets/js").rglob("*.js"), *(ROOT / "web/templates").rglob("*.html")])
OPTION = re.compile(r"(?:(?<=[\w.,;:] )|(?<= \())--[a-z][a-z-]*(?![\w:-])")
COMMAND = re.compile(r"cirque [a-z]")


def texts(path: Path) -> list[str]:
    """Texts of a module, without docstrings and arguments for processes."""
    tree = ast.parse(path.read_text("utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
            and id(node) not in alone and " " in node.value]


def named(text: str) -> list[str]:
    """Options that no command stands before."""
    return [found.group() for found in OPTION.finditer(text) if not COMMAND.search(text[:found.start()])]


def test_what_is_an_option_and_what_a_command():
    assert named("resample questions (--resample items) or with --all.") == ["--resample", "--all"]
    assert named("Run: cirque report NAME --all") == [] == named("style='--columns: 3' var(--ink) a -- b & --over")


def test_texts_of_modules():
    assert [(path.name, text) for path in PYTHON for text in texts(path) if named(text)] == []


def test_texts_of_scripts_and_templates():
    comments = re.compile(r"(?m)^\s*//.*$")
    lines = [(path.name, line) for path in WRITTEN for line in comments.sub("", path.read_text("utf-8")).splitlines()]
    assert [one for one in lines if named(one[1])] == []
