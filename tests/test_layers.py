"""Arrows point one way: app, cli, web → storage, annotation → cir_core."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.fakes.imported import import_statements

ROOT = Path(__file__).parents[1]
ALLOWED = {
    "cir_core": {"cir_core"},
    "annotation": {"annotation", "cir_core"},
    "storage": {"storage", "annotation.records", "cir_core"},
    "web": {"web", "storage", "annotation", "cir_core"},
    "cli": {"cli", "web", "storage", "annotation", "cir_core"},
}
OURS = {"cir_core", "annotation", "storage", "web", "cli", "app", "benchmarks", "tests"}
FOREIGN = {"cir_core": {"gradio", "sqlalchemy", "alembic", "fastapi"},
           "annotation": {"gradio", "sqlalchemy", "fastapi"}, "storage": {"gradio", "fastapi"}}


@cache
def imports(path: Path) -> set[str]:
    found = set()
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif node.module:
            # "from package import module" names the module in its second half.
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", ALLOWED)
def test_arrows(package):
    for path in modules(package):
        for name in imports(path):
            top = name.partition(".")[0]
            assert top not in FOREIGN.get(package, ()), f"{path} imports {name}"
            if top in OURS:
                allowed = any(name == a or name.startswith(a + ".") for a in ALLOWED[package])
                assert allowed, f"{path} imports {name}"


def test_the_wheel_needs_no_benchmarks():
    """Nor tests: a checkout alone has them. ``test_arrows`` says so of the packages."""
    assert not {name for name in imports(ROOT / "app.py") if name.partition(".")[0] in ("benchmarks", "tests")}
    assert not any("benchmarks" in allowed for allowed in ALLOWED.values())


def test_only_evaluation_reads_the_ground_truth():
    """No retrieval code may know what a garment really is."""
    readers = {
        str(path.relative_to(ROOT))
        for package in ALLOWED for path in modules(package)
        if any(name.startswith("cir_core.sample.atelier.ground_truth") for name in imports(path))
    }
    assert readers == {"cir_core/sample/atelier/build.py", "cir_core/sample/evaluate_metrics.py",
                       "cir_core/sample/evaluate_requests.py", "cir_core/sample/evaluate_sample.py"}


def test_only_settings_reads_the_environment():
    for package in ALLOWED:
        for path in modules(package):
            text = path.read_text("utf-8")
            assert path.name == "settings.py" or not ("os.environ" in text or "getenv" in text), path


OTHERS_ENVIRONMENT = re.compile(r"""os\.environ(?!\["GRADIO_|\.setdefault\("OMP_)|getenv""")
# About SQLite files themselves, or about what these tests use.
ON_SQLITE_ALONE = {"databases.py", "test_file_watch.py", "test_migrations.py", "test_database.py", "test_backup.py",
                   "test_layers.py"}


def test_tests_open_databases_by_one_module():
    """Others would run on SQLite alone, whatever CIRQUE_TEST_DATABASE_URL says: use ``tests.fakes.databases``, its
    ``engine_of``, ``settings_of``, ``environment_of`` and ``use_home``."""
    for path in modules("tests"):
        text = path.read_text("utf-8")
        for sign in ("sqlite:///", " Settings(home=", "(Settings(home=", '{**os.environ, "CIRQUE_HOME"'):
            assert path.name in ON_SQLITE_ALONE or sign not in text, f"{path}: {sign}"


def test_benchmarks_take_no_settings_from_the_shell():
    """Its database may be one in which people work. Use ``benchmarks.own_settings``, its ``settings_of`` and
    ``environment_of``; a process that is started without ``env`` has the shell's."""
    for path in modules("benchmarks"):
        if path.name == "own_settings.py":
            continue
        text = path.read_text("utf-8")
        for sign in (" Settings(", "(Settings(", "get_settings", *OTHERS_ENVIRONMENT.findall(text)):
            assert sign not in text, f"{path}: {sign}"
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("subprocess.run", "subprocess.Popen"):
                assert any(word.arg == "env" for word in call.keywords), f"{path}:{call.lineno}: no env"



# --- the rooms of each package ---------------------------------------------------------------

ROOMS = {
    "web": ("server", "mcp", "analysis benchmarks jobs recruitment", "accounts search studies", "ops", "services",
            "middleware", "ui", "http", "limits"),
    "storage": ("stores", "sessions studies", "accounts checks", "opening", "migrations", "backups", "mapping",
                "engine"),
    "annotation": ("kinds", "accounts adjudication analysis recruitment sources votes", "studies tables", "quality",
                   "records"),
    # No search may know the sample's ground truth, and no measure what an audit found: both rooms are above them.
    "cir_core": ("registry", "audit sample construct", "sessions", "evaluation", "search captions", "jobs",
                 "methods index", "relevance", "gallery datasets language",
                 "encoders images garments bulk",
                 "settings reports", "support", "types", "errors version"),
    "cli": ("main", "admin studies construct relevance", "evaluate", "galleries tables", "console", "recorded"),
}
"""From the top floor to the ground. Rooms of one floor, in one string, do not know each other."""


def room_of(module: str) -> str:
    """"web.search.actions.base" -> "search"; a package's own ``__init__`` is no room."""
    return module.split(".")[1] if "." in module else ""


@cache
def graph() -> dict[str, set[str]]:
    """Which module of the product imports which, also within functions and for types alone."""
    paths = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
             for package in ALLOWED for path in modules(package)}
    found: dict[str, set[str]] = {name: set() for name in paths}
    for name, path in paths.items():
        for node in import_statements(path):
            if isinstance(node, ast.Import):
                found[name] |= {alias.name for alias in node.names}
            elif node.module:
                # "from package import module" imports the module; the package only for what else is named.
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                found[name] |= names & paths.keys() or {node.module}
                if names - paths.keys():
                    found[name].add(node.module)
    return {name: (imported & paths.keys()) - {name} for name, imported in found.items()}


@pytest.mark.parametrize("package", ROOMS)
def test_every_room_has_a_floor(package):
    there = {room_of(name) for name in graph() if name.startswith(f"{package}.")}
    assert there == {room for floor in ROOMS[package] for room in floor.split()}


@pytest.mark.parametrize("package", ROOMS)
def test_a_room_stands_above_all_that_it_imports(package):
    floors = {room: number for number, floor in enumerate(ROOMS[package]) for room in floor.split()}
    for name, imported in graph().items():
        for other in imported:
            if not (name.startswith(f"{package}.") and other.startswith(f"{package}.")):
                continue
            here, there = room_of(name), room_of(other)
            assert here == there or floors[here] < floors[there], f"{name} imports {other}"


def test_search_knows_no_garments():
    """Only what reads the requests of a gallery does: ``cir_core.language.readers``."""
    of_garments = ("cir_core.garments", "cir_core.language.builtin", "cir_core.language.readers.garments",
                   "cir_core.language.readers.pointing")
    for name, imported in graph().items():
        if name.startswith(("cir_core.search", "cir_core.methods", "cir_core.sessions")):
            assert not [one for one in imported if f"{one}.".startswith(tuple(f"{top}." for top in of_garments))], name


SCRIPT_IMPORT = re.compile(r"""^\s*(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"  |  ^\s*import\s+"([^"]+)"
                           |  \bimport\("([^"]+)"\)""", re.MULTILINE | re.VERBOSE)


@cache
def script_graph() -> dict[str, set[str]]:
    """Which script imports which, from the root, also when it is needed only; comments are left out."""
    folder = ROOT / "assets" / "js"
    found = {}
    for path in folder.rglob("*.js"):
        code = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
        named = (next(filter(None, names)) for names in SCRIPT_IMPORT.findall(code))
        found[path.relative_to(ROOT).as_posix()] = {
            (path.parent / name).resolve().relative_to(ROOT).as_posix() for name in named if name.startswith(".")}
    return found


@pytest.mark.parametrize(("imports_of", "separator"), [(graph, "."), (script_graph, "/")], ids=["python", "scripts"])
def test_no_circle_among_the_children_of_any_folder(imports_of, separator):
    """Files and folders alike: whoever reads one may leave out those above it."""
    children = defaultdict(lambda: defaultdict(set))
    for name, imported in imports_of().items():
        for other in imported:
            # A package that imports a file of its own, or the reverse, is a child "" of itself.
            here, there = [*name.split(separator), ""], [*other.split(separator), ""]
            pairs = enumerate(zip(here, there, strict=False))
            depth = next((at for at, (one, two) in pairs if one != two), 0)
            if depth:
                children[separator.join(here[:depth])][here[depth]].add(there[depth])
    for folder, below in children.items():
        try:
            TopologicalSorter(below).prepare()
        except CycleError as error:
            pytest.fail(f"{folder}: {' <- '.join(error.args[1])}")


def test_scripts_are_followed():
    assert "assets/js/shared/common.js" in script_graph()["assets/js/annotate/main.js"]
    assert "assets/js/annotate/survey/main.js" in script_graph()["assets/js/annotate/main.js"]   # when it is needed
    assert all(other in script_graph() for imported in script_graph().values() for other in imported)


def test_the_picture_in_the_docs_is_of_these_rooms():
    """``python .ci/draw_rooms.py > docs/images/rooms.svg`` draws it anew."""
    drawn = subprocess.run([sys.executable, ROOT / ".ci" / "draw_rooms.py"], capture_output=True, text=True, check=True)
    assert (ROOT / "docs" / "images" / "rooms.svg").read_text("utf-8") == drawn.stdout


def test_a_folder_of_more_than_fifteen_entries_says_why():
    """In docs/project/architecture.md, by its path: whoever looks for something reads the folder first."""
    said = (ROOT / "docs" / "project" / "architecture.md").read_text("utf-8")
    for package in (*ALLOWED, "assets"):
        for folder in (ROOT / package, *(path for path in (ROOT / package).rglob("*")
                                         if path.is_dir() and path.name != "__pycache__")):
            entries = [path.name for path in folder.iterdir() if path.name not in ("__init__.py", "__pycache__")]
            name = folder.relative_to(ROOT).as_posix()
            assert len(entries) <= 15 or f"`{name}`" in said, f"{name} has {len(entries)} entries: {sorted(entries)}"


# --- one way to decode -----------------------------------------------------------------------

DECODING = {"cir_core/images/load.py", "cir_core/images/jpeg_ends.py", "cir_core/images/tiff_numbers.py"}
# Of images that cirque itself has drawn or decoded, for models that take RGB alone.
CONVERTING = {"cir_core/images/pixels.py", "cir_core/images/profiles.py", "cir_core/images/tiff_numbers.py",
              "cir_core/sample/relevance_data.py", "cir_core/relevance/backbones/open_clip.py",
              "cir_core/relevance/backbones/blip2.py", "cir_core/encoders/embedding/universal.py",
              "cir_core/encoders/torch_encoder.py", "cir_core/language/captioners/blip.py",
              "cir_core/language/openai/messages.py"}


def test_pictures_are_decoded_in_one_place():
    """Others would show other colours than a viewer: use ``cir_core.images.load.process_image``; for an image that is
    decoded, ``cir_core.images.pixels.to_rgb``."""
    for package in ALLOWED:
        for path in modules(package):
            name, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
            if name not in DECODING:
                assert not re.search(r"\bImage\.open\(|\bimread\(|\bimdecode\(|ImageFile\(|ImageOps\.exif", text), name
            if name not in CONVERTING:
                assert '.convert("RGB")' not in text, name
