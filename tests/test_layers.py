"""Arrows point one way: app, cli, web → storage, annotation → cir_core."""

import ast
import re
from pathlib import Path

import pytest

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


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
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


def test_only_evaluation_reads_the_ground_truth():
    """No retrieval code may know what a garment really is."""
    readers = {
        str(path.relative_to(ROOT))
        for package in ALLOWED for path in modules(package)
        if any(name.startswith("cir_core.sample.atelier.ground_truth") for name in imports(path))
    }
    assert readers == {"cir_core/sample/atelier/build.py", "cir_core/sample/evaluate_sample.py"}


def test_retrieval_does_not_import_the_catalogue():
    for path in modules("cir_core"):
        relative = path.relative_to(ROOT / "cir_core")
        outside = relative.parts[0] not in {"atelier", "training"} and not path.name.startswith("evaluate")
        if outside and path.name != "sample.py":
            assert not any(name.startswith("cir_core.sample.atelier") for name in imports(path)), path


def test_only_settings_reads_the_environment():
    for package in ALLOWED:
        for path in modules(package):
            text = path.read_text("utf-8")
            assert path.name == "settings.py" or not ("os.environ" in text or "getenv" in text), path


OTHERS_ENVIRONMENT = re.compile(r"""os\.environ(?!\["GRADIO_|\.setdefault\("OMP_)|getenv""")
# About SQLite files themselves, or about what these tests use.
ON_SQLITE_ALONE = {"databases.py", "test_file_watch.py",
                   "test_migrations.py", "test_database.py", "test_backup.py", "test_layers.py"}


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


# Inside cir_core, what a package may not know. The registry reads files of every kind, also of runs and audits.
REGISTRY = {"kinds.py", "contents.py", "audit_contents.py", "checking.py", "counting.py", "converting.py"}
INNER = {
    "metrics": {"datasets", "runs", "evaluators", "audit"},
    "language": {"datasets", "runs", "evaluators", "audit"},
    "datasets": {"runs", "evaluators", "audit"},
    "runs": {"evaluators", "audit"},
    "evaluators": {"audit"},
}


@pytest.mark.parametrize("package", INNER)
def test_arrows_between_data_sets_runs_measures_and_the_audit(package):
    for path in modules(f"cir_core/{package}"):
        if package == "datasets" and path.name in REGISTRY:
            continue
        for name in imports(path):
            inside = name.removeprefix("cir_core.").partition(".")[0] if name.startswith("cir_core.") else ""
            assert inside not in INNER[package], f"{path} imports {name}"
            assert package == "language" or not inside.startswith("evaluate_"), f"{path} imports {name}"


def test_only_the_commands_ask_the_registry():
    """What the registry reads may not ask it: runs and the audit are below it."""
    registry = {f"cir_core.datasets.{name.removesuffix('.py')}" for name in REGISTRY}
    for path in modules("cir_core"):
        if not (path.parent.name == "datasets" and path.name in REGISTRY):
            assert not registry & imports(path), path


def test_evaluation_does_not_need_the_audit():
    for path in sorted((ROOT / "cir_core").glob("*.py")):
        assert not any(name.startswith("cir_core.audit") for name in imports(path)), path
