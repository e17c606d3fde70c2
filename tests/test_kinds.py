"""What differs between the kinds of study is said in their rows (``annotation.kinds.table``), and nowhere else: no
other code asks which kind a study is of."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.kinds.table import KINDS

ROOT = Path(__file__).parents[1]
# Folders that language models filled have a kind, too; two of the names are the same.
OF_FOLDERS = {("web/benchmarks", name) for name in ("folder.kind", "one.kind", "kind")}


def questions(tree: ast.AST, folder: str = "") -> Iterator[tuple[int, str]]:
    """Line and code of each place that compares a kind with a name of one, or looks it up in a table by such names."""
    bound: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(
            node, ast.AnnAssign | ast.NamedExpr) else []
        for name in (target.id for target in targets if isinstance(target, ast.Name)):
            if node.value is not None:
                bound.setdefault(name, []).append(node.value)

    def is_kind(node: ast.AST, depth: int = 0) -> bool:
        """``study.kind``, ``kind``, ``row["kind"]``, ``getattr(study, "kind")``, or a name for one of them."""
        if isinstance(node, ast.Attribute):
            return node.attr == "kind" and (folder, ast.unparse(node)) not in OF_FOLDERS
        if isinstance(node, ast.Subscript):
            return isinstance(node.slice, ast.Constant) and node.slice.value == "kind"
        if isinstance(node, ast.NamedExpr):
            return is_kind(node.value)
        if isinstance(node, ast.Call):
            return ast.unparse(node.func) == "getattr" and ast.unparse(node.args[1]) == "'kind'"
        if not isinstance(node, ast.Name) or (folder, node.id) in OF_FOLDERS:
            return False
        return node.id.split("_")[-1] == "kind" or (
            depth < 3 and any(is_kind(value, depth + 1) for value in bound.get(node.id, ())))

    def names(node: ast.AST, depth: int = 0) -> bool:
        """Whether it is, or has as a member or key, the name of a kind."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and not KINDS.keys().isdisjoint(node.value.split())
        if isinstance(node, ast.Dict):
            return any(key is not None and names(key, depth) for key in node.keys)
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return any(names(each, depth) for each in node.elts)
        if isinstance(node, ast.Call):   # frozenset({…}), "validity".lower()
            return any(names(each, depth) for each in (*node.args, node.func))
        if isinstance(node, ast.Attribute):
            return names(node.value, depth)
        return isinstance(node, ast.Name) and depth < 3 and any(
            names(value, depth + 1) for value in bound.get(node.id, ()))

    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            found = any(is_kind(one) for one in sides) and any(names(one) for one in sides)
            # Of a study for certain: not with a name from elsewhere either.
            found |= any(ast.unparse(one).endswith("study.kind") for one in sides) and any(
                isinstance(one, ast.Eq | ast.NotEq | ast.Is | ast.IsNot) for one in node.ops)
        elif isinstance(node, ast.Match):
            found = is_kind(node.subject) and any(
                names(one.value) for one in ast.walk(node) if isinstance(one, ast.MatchValue))
        elif isinstance(node, ast.Subscript):
            found = (is_kind(node.slice) and names(node.value)) or (
                ast.unparse(node.value) == "KINDS" and names(node.slice))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):   # of a table, or of the kind
            of = node.func.value
            found = any((is_kind(one) and names(of)) or ((is_kind(of) or ast.unparse(of) == "KINDS") and names(one))
                        for one in node.args) or (node.func.attr in ("startswith", "endswith") and is_kind(of))
        else:
            found = isinstance(node, ast.Call) and ast.unparse(node).startswith("isinstance(KINDS[")
        if found:
            yield node.lineno if hasattr(node, "lineno") else 0, ast.unparse(node).partition("\n")[0]


@pytest.mark.parametrize("package", ["annotation", "storage", "web", "cli"])
def test_no_code_outside_the_table_asks_for_the_kind_of_a_study(package):
    found = []
    for path in sorted((ROOT / package).rglob("*.py")):
        name = path.relative_to(ROOT)
        if not name.is_relative_to("annotation/kinds"):
            found += [f"{name}:{line}: {code}" for line, code in questions(
                ast.parse(path.read_text("utf-8")), "/".join(name.parts[:2]))]
    assert not found, "Give the row of annotation.kinds.table a field for it:\n" + "\n".join(found)


@pytest.mark.parametrize("code", [
    'study.kind == "validity"', '"sessions" != looked.study.kind', 'found.kind in ("sessions", "targets")',
    'it["kind"] == "preference"', 'kind = study.kind\nif kind not in {"targets"}: pass',
    'of = study.kind\nof == "targets"', '{"validity": 1}[study.kind]', 'ROWS: dict = {"targets": 2}\nROWS[study.kind]',
    '(found := study.kind) == "validity"', 'study.kind == OTHERS', 'study.kind is VALIDITY', 'study.kind != kind',
    'WITH = frozenset({"preference"})\nstudy.kind in WITH', '{"validity": 1}.get(study.kind)',
    'ROWS = {"sessions": 1, "targets": 2}\nROWS.get(found.study.kind, 0)',
    'match study.kind:\n    case "validity" | "targets": pass', 'study.kind in "validity targets".split()',
    'KINDS[study.kind] is KINDS["validity"]', 'KINDS.get("validity") is row', 'study.kind.startswith("valid")',
    'VALIDITY = "validity"\none.kind == VALIDITY', 'getattr(study, "kind") == "validity"', 'study_kind == "targets"',
    '["validity"].count(study.kind)', 'study.kind.__eq__("targets")', 'isinstance(KINDS[study.kind].answers, Validity)',
])
def test_all_ways_to_ask_are_found(code):
    assert list(questions(ast.parse(code)))


@pytest.mark.parametrize("code", [
    'event.kind == "finish"', 'KINDS[study.kind].has_survey', 'study.kind not in kinds', '{"sessions": counts}',
    'parameter.kind != "choice"', 'found["sessions"]', 'f"cirque report {study.kind}"', 'name == "sessions"',
])
def test_other_kinds_and_rows_are_no_question(code):
    assert not list(questions(ast.parse(code)))


def test_kinds_of_folders_are_told_apart_by_their_place():
    code = ast.parse('folder.kind == "targets"')
    assert not list(questions(code, "web/benchmarks")) and list(questions(code, "web/studies"))


def test_scripts_look_a_kind_up_in_two_tables_only():
    """Of the screen on which items are answered, and of the part with results; all else is in the words that the server
    sends of the kind."""
    asks = re.compile(r"kind [!=]== .(?:validity|preference|sessions|targets)\b|\b(?:validity|preference):")
    found = {path.relative_to(ROOT / "assets/js").as_posix() for path in (ROOT / "assets/js").rglob("*.js")
             if asks.search(path.read_text("utf-8")) and "benchmarks" not in path.parts}
    assert found == {"annotate/kinds.js", "studies/one.js"}


