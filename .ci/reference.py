"""Write the generated pages of docs/reference from the code; with ``--check``, only say which differ.

    python .ci/reference.py

The texts are the help of commands, and descriptions of settings, parameters and calls: change them there.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer.main
from annotated_types import Ge, Le
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
_BY = "*Written by `make reference` from {}.*"
# Pages that explain a setting, by the beginning of its name.
_MORE = {
    **dict.fromkeys(("host", "sign_in", "trusted"), "../how-to/operate/accounts"),
    **dict.fromkeys(("public_demo", "demo"), "../how-to/operate/public-demo"),
    **dict.fromkeys(("public_url", "frame"), "../how-to/operate/proxies"),
    **dict.fromkeys(("text_batch", "accel"), "../how-to/operate/deployment"),
    **dict.fromkeys(("metrics", "log", "grace", "min_free", "decode"), "operation"),
    **dict.fromkeys(("llm", "captioner"), "../how-to/language-models"),
    **dict.fromkeys(("milvus", "ray"), "../how-to/scale"),
    "database_url": "../how-to/operate/storage", "index_folder": "../how-to/operate/jobs", "mcp": "api",
    "photo_encoder": "../how-to/encoders", "relevance": "../concepts/relevance", "methods": "../start/own-method",
    "allowed_hosts": "../project/security"}


def cell(text: object) -> str:
    """On one line, and without what would end a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"|{'|'.join(cell(one) for one in row)}|" for row in lines)


def _code(value: object) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if value in (None, "", PydanticUndefined):
        return ""
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


# --- commands --------------------------------------------------------------------------------------


def _commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "alone") or not hasattr(command, "commands"):   # a command, which may be a group as well
        yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from _commands(child, f"{path} {name}")


def _option(one: Any) -> tuple[str, str, str]:
    names = (*one.opts, *one.secondary_opts)
    name = one.metavar or one.name.upper() if one.param_type_name == "argument" else "/".join(names)
    default = getattr(one.default, "value", one.default)
    if callable(default) or default in (None, False, "", (), []) or one.required:
        default = ""
    elif isinstance(default, list | tuple):
        default = ", ".join(map(str, default))
    return f"`{name}`", one.help or "", _code(default)


_Option = tuple[str, str, str]


def _shared(found: Iterable[Iterable[_Option]]) -> set[_Option]:
    """Options that several of ``found`` have; of one name, the commonest meaning."""
    counts = Counter(one for rows in found for one in rows)
    commonest = {one[0]: one for one, _ in sorted(counts.items(), key=lambda item: (item[1], item[0]))}
    return {one for one in commonest.values() if counts[one] > 1}


def _also(path: str, shared: set[str], earlier: dict[str, set[str]]) -> str:
    """Names of the shared options that a command has, or the difference from another command of the group."""
    def names(options: set[str]) -> str:
        return ", ".join(f"`{one.strip('`').split('/')[0]}`" for one in sorted(options))

    like = min(earlier, key=lambda one: len(earlier[one] ^ shared), default="")
    without, more = earlier.get(like, set()) - shared, shared - earlier.get(like, set())
    earlier[path] = shared
    if not like or 2 * len(without | more) + 4 > len(shared):
        return f"Also {names(shared)}." if shared else ""
    return (f"Also as `{like}`" + (f", without {names(without)}" if without else "")
            + (f", and {names(more)}" if more else "") + ".")


def _options(rows: Iterable[_Option]) -> str:
    shown = [(f"{name} ({default})" if default else name, text) for name, text, default in rows]
    return f"{shown[0][0]}: {shown[0][1]}" if len(shown) == 1 else table(("Option", "Meaning"), shown)


def commands() -> str:
    from cli.main import app

    every = dict(_commands(typer.main.get_command(app), "cirque"))
    found = {path: [_option(one) for one in getattr(command, "alone", command).params
                    if one.name != "help" and not getattr(one, "hidden", False)]
             for path, command in every.items()}
    groups = {path: path.split()[1] if len(path.split()) > 2 or path in ("cirque audit", "cirque report") else ""
              for path in found}
    often = {one for one in _shared({one for path, rows in found.items() if groups[path] == group for one in rows}
                                    for group in set(groups.values())) if one[0].startswith("`--")}
    parts = ["# Commands", _BY.format("the help of the commands"),
             "The commands are in `.venv/bin`. Defaults are in brackets. Options of several commands "
             "are described once, here or at the head of a group; the nearest description counts. *Also as* a command "
             "means its shared options. Arguments in capitals at the head of a group are those of its commands.",
             _options(sorted(often))]
    for group, members in groupby(sorted(found, key=lambda path: (groups[path], path)), key=groups.__getitem__):
        paths, earlier = list(members), dict[str, set[str]]()
        own = _shared(found[path] for path in paths) - often
        head = own | {one for one in often if one[0] not in {name for name, _, _ in own}}
        parts += [f"## {group}" if group else "## Single commands", *([_options(sorted(own))] if own else [])]
        for path in paths:
            text = getattr(every[path], "alone", every[path]).help or every[path].help
            parts += [f"### {path}", re.split(r"(?<=[.]) (?=[A-Z`])", " ".join(text.partition("\f")[0].split()))[0]]
            rows = [one for one in found[path] if one not in head]
            parts += [_options(rows)] if rows else []
            also = _also(path, {one[0] for one in found[path] if one in head and one[0].startswith("`-")}, earlier)
            parts += [also] if also else []
    return "\n\n".join(parts)


# --- settings --------------------------------------------------------------------------------------


def settings() -> str:
    from cir_core.settings import Settings

    linked: set[str] = set()

    def row(name: str, field: FieldInfo) -> tuple[str, str, str]:
        default = field.default.get_secret_value() if hasattr(field.default, "get_secret_value") else field.default
        variable = f"`CIRQUE_{name.upper()}`" + (f" or `{name.upper()}`" if name in ("host", "port") else "")
        more = next((page for start, page in _MORE.items() if name.startswith(start)), "")
        link = f" [More]({more}.md)" if more and more not in linked else ""
        linked.add(more)
        shown = "the user's data folder" if name == "home" else _code(default) or "empty"
        return variable, shown, f"{field.description}{link}"

    return "\n\n".join((
        "# Settings", _BY.format("`cir_core/settings.py`"),
        "Environment variables, read once, at start. Empty ones count as not set; an empty `CIRQUE_HOME` is an error. "
        "Its default is `~/.local/share/cirque` on Linux, "
        "`~/Library/Application Support/cirque` on macOS and `%LOCALAPPDATA%\\cirque` on Windows.",
        table(("Variable", "Default", "Meaning"), (row(*one) for one in Settings.model_fields.items()))))


# --- methods ---------------------------------------------------------------------------------------


def _values(hint: Any) -> str:
    of, *extras = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
    if get_origin(of) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(of))
    bounds = [bound for extra in extras for bound in (extra.metadata if isinstance(extra, FieldInfo) else [extra])]
    least = next((bound.ge for bound in bounds if isinstance(bound, Ge)), None)
    most = next((bound.le for bound in bounds if isinstance(bound, Le)), None)
    return "`true`, `false`" if of is bool else f"{least} to {most}"


def _says(hint: Any) -> str:
    given = [one.description for one in getattr(hint, "__metadata__", ()) if isinstance(one, FieldInfo)]
    found = [text for text in given if text]
    if not found:
        raise TypeError(f"{hint} has no description. Write one: Annotated[…, Field(description=…)].")
    return found[-1]


def _parameters(record: type[Any], without: frozenset[str]) -> str:
    hints = get_type_hints(record, include_extras=True)
    return table(("Name", "Values", "Default", "Meaning"), (
        (f"`{one.name}`", _values(hints[one.name]), _code(one.default), _says(hints[one.name]))
        for one in fields(record) if one.name not in without))


def methods() -> str:
    from cir_core.methods.declared import builtin_methods
    from cir_core.methods.steps import STEPS
    from cir_core.types.methods import MethodSettings, method_to_dict

    usual = method_to_dict(MethodSettings(), whole=True)

    def differs(method: Any) -> str:
        content = method_to_dict(method.settings, whole=True)
        return ", ".join(f"`{name}`" if isinstance(value, dict) else f"`{name} = {value}`"
                         for name, value in content.items() if value is not None and value != usual.get(name))

    parts = [
        "# Methods and their parameters", _BY.format("`cir_core/methods`"),
        "[Explanation](../concepts/methods.md); [your own method](../start/own-method.md). `cirque methods --json "
        "FILE` writes every value. A method with `STEP = { … }` has that step; values not given are the defaults.",
        "## Built-in methods",
        table(("Name", "Not the default", "From"), (
            (f"`{one.name}`", differs(one), one.source) for one in builtin_methods().values())),
        "## Parameters of every method", _parameters(MethodSettings, frozenset({"step_parts", *STEPS}))]
    for step in STEPS.values():
        parts += [f"## `{step.name}`: {step.title}", _parameters(step.settings, frozenset())]
    return "\n\n".join(parts)


# --- keys ------------------------------------------------------------------------------------------

_KEY_PAGES = (("Search", "search/keys.js"), ("Validity study", "annotate/validity/keys.js"),
              ("Preference study", "annotate/survey/keys.js"), ("Session study", "annotate/sessions/keys.js"),
              ("Target study", "annotate/targets/keys.js"), ("Every kind of study", "annotate/keys.js"),
              ("Adjudication", "adjudicate/keys.js"), ("Benchmarks", "benchmarks/keys.js"))
_ROW = re.compile(r'\{ keys: (?P<keys>\[[^{}]*?\](?=,\s*(?:shown|text))|[\w.()=> ]+?)'
                  r'(?:, shown: (?P<shown>"[^"]*"|`[^`]*`|[^,]*? : "[^"]*"))?'
                  r',\s*text: (?:t\()?(?P<text>"[^"]*"|`[^`]*`|note|zoom|guide|tie [^,]*)')
# Expressions of the scripts that depend on the study, in words.
_OF_STUDY = {"{one}": "A", "{other}": "B", "${points[0]}": "1", "${points[points.length - 1]}": "5",
             "{many}": "items", "{note}": "Go to the note", "note": "Go to the note",
             "zoom": "Enlarge images; arrows go through them",
             "guide": "Guidelines", "rubric.flags.map((flag) => flag.key)": "1 … 4", "letters(rubric)": "a  b  c",
             "${letters.join(\"  \")}": "y  n  u", "{question}": "The marked image answers the query:",
             "{names}": "yes, no, unsure", "{digits}": "1, 2, 3", "{no}": "no",
             "[rubric.valid.key]": "5", "points.map(String)": "1 … 5"}


def _words(text: str) -> str:
    if text.startswith("tie "):
        return "No difference, where the study allows it"
    if " : " in text:
        return "← →"
    plain = text.strip('"`')
    for expression, words in _OF_STUDY.items():
        plain = words if plain == expression else plain.replace(expression, words) if "{" in expression else plain
    if "{" in plain:
        raise ValueError(f"{plain}: say in {__file__} what this is.")
    return plain


def keys() -> str:
    parts = ["# Keys", _BY.format("the key tables of the scripts"),
             "`?` lists the keys of a page. *Change keys* there changes letters, digits and signs, for this browser."]
    for title, name in _KEY_PAGES:
        rows = []
        for found in _ROW.finditer((ROOT / "assets" / "js" / name).read_text("utf-8")):
            given = found["shown"] or found["keys"]
            literal = not found["shown"] and given.startswith('["')
            shown = " ".join(re.findall(r'"([^"]*)"', given)) if literal else _words(given)
            if found["text"] != '"These keys"':
                rows.append((f"`{shown}`", _words(found["text"])))
        parts += [f"## {title}", table(("Key", ""), rows)]
    return "\n\n".join(parts)


# --- kinds, roles, calls ---------------------------------------------------------------------------


def kinds() -> str:
    from annotation.accounts.roles import EVERYTHING, ROLES, may
    from cir_core.registry.kinds import KINDS

    of = {"search": "search", "annotate": "judge", "adjudicate": "adjudicate", "manage": "manage studies",
          "results": "see results", "people": "manage accounts"}
    if set(of) != EVERYTHING:
        raise ValueError(f"{__file__}: name every capability.")
    return "\n\n".join((
        "# Data-set kinds, roles", _BY.format("the tables of the code"),
        "## Kinds of data sets",
        "For the commands datasets, evaluate and audit. Queries of a benchmark can be ranked.",
        table(("Kind", "Is", "PATH", "Options", "Benchmark"), (
            (f"`{one.name}`", one.title, one.expects,
             ", ".join(f"`--{option.replace('_', '-')}`" for option in one.options),
             "✓" if one.is_benchmark else "") for one in KINDS.values())),
        "## Roles",
        table(("Role", *of.values()), (
            (f"`{role}`", *("✓" if one in may(role) else "" for one in of)) for role in ROLES))))


class _Nothing:
    """In place of the services of an app: calls are described here, and not made."""

    def __getattr__(self, name: str) -> _Nothing:
        return self

    def __call__(self, *given: object) -> _Nothing:
        return self


def calls() -> str:
    from web.search.api import search_call
    from web.search.thumbs import thumb_call
    from web.studies.api import study_calls
    from web.studies.managing import managing_calls

    nothing: Any = _Nothing()
    parts = ["# Calls and their arguments", _BY.format("the docstrings of the calls"),
             "Each is a plain route (`POST /api/NAME`) and an MCP tool; those to search and to judge are also named "
             "calls (`/NAME`). See [API](api.md). "
             "`GET /api/openapi.json` has the schemas."]
    for call in (search_call(nothing), thumb_call(nothing), *study_calls(nothing), *managing_calls(nothing)):
        parts += [f"## `{call.name}`", f"{call.doc.description} Permission: *{call.needs}*.",
                  *([table(("Argument", "Default", "Meaning"), (
                      (f"`{one.name}`", "required" if one.default is one.empty else _code(one.default) or "empty",
                       call.doc.parameters[one.name]) for one in call.parameters))] if call.parameters else []),
                  f"Returns: {call.doc.returns}"]
    return "\n\n".join(parts)


PAGES: dict[str, Callable[[], str]] = {"commands": commands, "settings": settings, "methods": methods, "keys": keys,
                                       "kinds": kinds, "calls": calls}


def main(arguments: Sequence[str]) -> int:
    differing = []
    for name, write in PAGES.items():
        path, text = FOLDER / f"{name}.md", write() + "\n"
        if "--check" not in arguments:
            path.write_text(text, "utf-8")
        elif not path.exists() or path.read_text("utf-8") != text:
            differing.append(path.name)
    if differing:
        print(f"Run make reference: {', '.join(differing)} differ from the code.")
    return bool(differing)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))
