"""Every regular expression of the product, found in its source, and texts that are hostile to it."""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import re._constants as sre
import re._parser as parser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PRODUCT = ("cir_core", "annotation", "storage", "web", "cli")
METHODS = frozenset({"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
_USED = re.compile(rf"\bre\s*\.\s*({'|'.join(sorted(METHODS))}|compile)\b")
_FLAGS = re.ASCII | re.IGNORECASE | re.DOTALL | re.MULTILINE | re.VERBOSE
_FIXED = ("a+", "/a", "a ", '"a', "“a", "://", "a@", " \t", "0.", "[[", "e\u0301", "\u0301", "<a", "a,", "\\a", "a:",
          "''", "((", "a-", "a_", "\r\n")
_CATEGORIES = {sre.CATEGORY_SPACE: " \t", sre.CATEGORY_NOT_SPACE: "a+", sre.CATEGORY_WORD: "a_",
               sre.CATEGORY_NOT_WORD: "-.", sre.CATEGORY_DIGIT: "07", sre.CATEGORY_NOT_DIGIT: "a."}
_MOST_CHARACTERS, _MOST_WORDS = 6, 6      # of a pattern's own, from which pieces are made


@dataclass(frozen=True)
class Use:
    """A pattern and how the product applies it. ``where``: file and line, or file and name."""

    where: str
    pattern: re.Pattern[Any]
    method: str


def files() -> list[str]:
    """Those of the product that use patterns, told by a look at their text: nothing is imported or parsed yet."""
    return sorted(path.relative_to(ROOT).as_posix() for room in PRODUCT for path in (ROOT / room).rglob("*.py")
                  if _USED.search(path.read_text("utf-8")))


def uses(name: str, given: Mapping[str, Sequence[re.Pattern[Any]]]) -> Iterator[Use]:
    """All of a file. ``given``: the patterns of a call whose first argument is only known while it runs, by "file: that
    argument". Raises ``AssertionError`` for such a call that it does not have."""
    tree = ast.parse((ROOT / name).read_text("utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
             and isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
             and node.func.attr in METHODS | {"compile"}]
    if not calls:    # the text was in a string
        return
    module = importlib.import_module(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    applied = _applied(tree)
    for call in calls:
        argument = ast.unparse(call.args[0])
        try:
            patterns: Sequence[re.Pattern[Any]] = [_compiled(call, vars(module))]
        except NameError:
            assert f"{name}: {argument}" in given, f"{name}:{call.lineno}: which patterns are {argument}?"
            patterns = given[f"{name}: {argument}"]
        assert isinstance(call.func, ast.Attribute)
        kept = next((of for of, inside in _assigned(tree) if call in inside), "")
        methods = {call.func.attr} if call.func.attr != "compile" else applied.get(kept) or {"search"}
        for pattern in patterns:
            yield from (Use(f"{name}:{call.lineno} {kept}".rstrip(), pattern, method) for method in sorted(methods))


def _compiled(call: ast.Call, names: Mapping[str, Any]) -> re.Pattern[Any]:
    text = eval(compile(ast.Expression(call.args[0]), "", "eval"), dict(names))
    flags = [word for word in (*call.args[1:], *(keyword.value for keyword in call.keywords))
             if "re." in ast.unparse(word)]
    return re.compile(text, eval(ast.unparse(flags[0]), dict(names)) if flags else 0)


def _assigned(tree: ast.Module) -> Iterator[tuple[str, set[ast.AST]]]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            yield ast.unparse(target), set(ast.walk(node))


def _applied(tree: ast.Module) -> dict[str, set[str]]:
    """By the name of a module's pattern, the methods that are called on it."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS and isinstance(node.value, ast.Name):
            found.setdefault(node.value.id, set()).add(node.attr)
    return found


def hostile_to(pattern: re.Pattern[Any]) -> list[tuple[str, str, str]]:
    """Beginnings, pieces to repeat, and ends: pairs of the pattern's own characters, its words, and a fixed list."""
    parsed = parser.parse(pattern.pattern, pattern.flags & _FLAGS)
    literal = list(dict.fromkeys(_words(parsed)))
    alphabet = list(dict.fromkeys([*_characters(parsed), *(word[0] for word in literal)]))[:_MOST_CHARACTERS]
    pairs = ["".join(two) for two in itertools.product(alphabet, repeat=2)]
    begins = ["", *literal[:1]]
    pieces = list(dict.fromkeys([*_FIXED, *pairs, *literal[:_MOST_WORDS], *(f"{word} " for word in literal[:2])]))
    return [*((begin, piece, "\0") for begin in begins for piece in pieces), *(("", piece, "") for piece in pieces)]


def _words(parsed: Any) -> Iterator[str]:
    """Runs of literal characters."""
    run = ""
    for kind, value in parsed:
        if kind is sre.LITERAL:
            run += chr(value)
            continue
        if run:
            yield run
            run = ""
        for inner in _inner(value):
            yield from _words(inner)
    if run:
        yield run


def _characters(parsed: Any) -> Iterator[str]:
    """Some of each set of characters."""
    for kind, value in parsed:
        if kind in (sre.LITERAL, sre.NOT_LITERAL):
            yield from (chr(value), *("a" if kind is sre.NOT_LITERAL else ""))
        elif kind is sre.ANY:
            yield "a"
        elif kind is sre.IN:
            for what, of in value:
                if what is sre.LITERAL:
                    yield chr(of)
                elif what is sre.RANGE:
                    yield chr(of[0])
                elif what is sre.CATEGORY:
                    yield from _CATEGORIES.get(of, "")
                elif what is sre.NEGATE:
                    yield from "a "
        for inner in _inner(value):
            yield from _characters(inner)


def _inner(value: Any) -> Iterator[Any]:
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _inner(one)
