"""What a file of tests imports, found by reading, so that nothing has to run."""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
BROWSER = "playwright.sync_api"
PROCESSES = frozenset({"subprocess", "uvicorn", "tests.fakes.forked", BROWSER})    # what one imports to start one
# Scripts, styles and templates of a screen, by a part of their path, and what shows in a test that it opens it.
_SCREENS = (
    ("adjudicat", ("/adjudicate",)), ("analysis", ("/analysis",)), ("benchmarks", ("/benchmarks",)),
    ("jobs", ("/jobs",)),
    ("studies", ("/studies",)), ("survey", ("tests.web.surveying",)), ("search", ("web.screen", "web import screen")),
    ("annotate", ("/annotate", "tests.web.judging")), ("study", ("/annotate", "tests.web.judging")),
    ("admin", ("/people", "/log")), ("log", ("/log",)), ("people", ("/people",)))
_FOLLOWED = ("tests.", "benchmarks.")


@cache
def imports_of(path: Path) -> frozenset[str]:
    """The names of the modules that a file imports: itself, through others of tests and benchmarks, or by a conftest.py
    that pytest loads for it; that of all tests aside."""
    found: set[str] = set()
    waiting = [path, *(folder / "conftest.py" for folder in path.parents if ROOT / "tests" in folder.parents)]
    while waiting:
        one = waiting.pop()
        for name in _named(one) - found if one.is_file() else ():
            found.add(name)
            if name.startswith(_FOLLOWED):
                waiting.append(ROOT.joinpath(*name.split(".")).with_suffix(".py"))
    return frozenset(found)


def changed_since(commit: str) -> frozenset[Path]:
    """Files that differ from ``commit`` or that git does not know. Raises ValueError if there is no such commit."""
    found: set[Path] = set()
    for command in (["diff", "--name-only", commit], ["ls-files", "--others", "--exclude-standard"]):
        said = subprocess.run(["git", *command], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False)
        if said.returncode:
            raise ValueError(said.stderr.strip())
        found |= {ROOT / name for name in said.stdout.splitlines()}
    return frozenset(found)


def is_touched(path: Path, changed: frozenset[Path]) -> bool:
    """Whether a file of tests reaches one of the files ``changed``: by imports, wherever they lead; by a file beside
    imported code, such as a prompt; by a screen that it opens. A test of a server, or of whole commands, reaches what
    it and its helpers import, but not all that these do: that is what the unit tests are for."""
    if path.parent == ROOT / "tests":      # about the whole tree
        return True
    reached = _reached(path)
    folders = {one.parent for one in reached}
    return any(one in reached or (one.suffix != ".py" and _beside(one) in folders) or _shows(path, one)
               for one in changed)


@cache
def _reached(path: Path) -> frozenset[Path]:
    serves = bool(PROCESSES & imports_of(path)) or ROOT / "tests" / "unit" not in path.parents
    found: set[Path] = set()
    waiting = [path, *(folder / "conftest.py" for folder in path.parents if ROOT / "tests" in folder.parents)]
    while waiting:
        one = waiting.pop()
        if one in found or not one.is_file():
            continue
        found.add(one)
        parts = one.relative_to(ROOT).parts
        if not serves or (parts[0] == "tests" and parts[1] != "fakes"):
            waiting += [file for module in _named(one) for file in _files_of(module)]
    return frozenset(found)


@cache
def _files_of(module: str) -> Sequence[Path]:
    """Of a module of the repository and of the packages that it is in: importing it runs them all."""
    place = ROOT.joinpath(*module.split("."))
    packages = [folder / "__init__.py" for folder in (place, *place.parents) if ROOT in folder.parents]
    return [file for file in (place.with_suffix(".py"), *packages) if file.is_file()]


def _beside(file: Path) -> Path:
    """The nearest folder above it that holds code."""
    return next(folder for folder in file.parents if any(folder.glob("*.py")))


def _shows(path: Path, file: Path) -> bool:
    """Whether a test in a browser opens the screen to which a script, style or template belongs."""
    place = file.relative_to(ROOT)
    if BROWSER not in imports_of(path) or place.parts[0] not in ("assets", "web") or file.suffix == ".py":
        return False
    signs = next((signs for part, signs in _SCREENS if part in place.as_posix()), ("",))
    said = "".join(one.read_text("utf-8") for one in _reached(path)
                   if one == path or (one.parent == path.parent and one.name != "conftest.py"))
    return any(sign in said for sign in signs)


@cache
def _named(path: Path) -> frozenset[str]:
    """Names that are imported while it runs. Not what is for type checkers alone, nor what a package imports once one
    of its names is asked for (``__getattr__``), as nearly everything imports the package."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__" and path.name == "__init__.py":
            continue
        waiting += statements_in(node)
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """Those right below it, or its branches. Expressions, of which there are ten times as many, import nothing."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        inside = getattr(node, field, ())
        yield from inside if isinstance(inside, list) else ()


@cache
def import_statements(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """All of a file, those in functions and for type checkers alone among them."""
    found: list[ast.Import | ast.ImportFrom] = []
    waiting: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        waiting += statements_in(node)
    return tuple(found)
