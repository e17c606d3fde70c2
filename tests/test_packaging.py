"""What pyproject.toml declares, what the lock files hold and what a wheel contains."""

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path
from shutil import copy, copytree, ignore_patterns
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cir_core.version import __version__
from tests.fakes.imported import import_statements

ROOT = Path(__file__).parents[1]
PACKAGES = ("cir_core", "annotation", "storage", "web", "cli")
SHIPPED = (*PACKAGES, "assets")
OWN = {*SHIPPED, "app", "benchmarks", "tests"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {name: [Requirement(line) for line in lines] for name, lines in PROJECT["optional-dependencies"].items()}
#: Declared without an import in the product, and why.
NOT_IMPORTED = {
    "milvus-lite": "the embedded server, a command of its own",
    "psycopg": "SQLAlchemy loads it by the name in a database URL",
    "plotly": "its plotly.js draws the figures in the browser; the package is a folder of files to us",
    "s3fs": "fsspec loads it for addresses that begin with s3://",
    "torchvision": "open_clip and transformers' image processors run on it; the latter do not ask for it",
}


def declared(*extras: str) -> dict[str, Requirement]:
    """Requirements by canonical name. The product's own, or those of ``extras``, also where these name other extras."""
    found: dict[str, Requirement] = {}
    for one in [one for extra in extras for one in EXTRAS[extra]] or map(Requirement, PROJECT["dependencies"]):
        found |= declared(*one.extras) if one.name == PROJECT["name"] else {canonicalize_name(one.name): one}
    return found


def locked(name: str) -> dict[str, str]:
    """Versions by canonical name."""
    lines = re.findall(r"^([\w.-]+)==([\w.!+]+)", (ROOT / name).read_text("utf-8"), re.MULTILINE)
    return {canonicalize_name(package): version for package, version in lines}


def imported(folders: Iterable[str]) -> dict[str, Path]:
    """Distributions that Python files below ``folders`` import, also lazily and by ``import_module``, and where."""
    of_module = packages_distributions()
    found: dict[str, Path] = {}
    for path in (path for folder in folders for path in sorted(ROOT.glob(f"{folder}/**/*.py"))):
        for names in _imported(path):
            for top in {name.partition(".")[0] for name in names} - OWN - sys.stdlib_module_names:
                assert top in of_module, f"{path} imports {top}, which no installed distribution has"
                found |= {canonicalize_name(name): path for name in of_module[top]}
    return found


def _imported(path: Path) -> Iterable[list[str]]:
    for statement in import_statements(path):
        if isinstance(statement, ast.Import):
            yield [alias.name for alias in statement.names]
        elif statement.module and not statement.level:
            yield [statement.module]
    text = path.read_text("utf-8")
    for node in ast.walk(ast.parse(text)) if "import_module" in text else ():
        if (isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
                and (node.func.id if isinstance(node.func, ast.Name) else node.func.attr) == "import_module"
                and isinstance(node.args[0], ast.Constant)):
            yield [str(node.args[0].value)]


def test_what_the_product_imports_is_declared_and_the_reverse():
    known, used = declared() | declared("all") | declared("ray"), imported(SHIPPED)
    assert {name: path for name, path in used.items() if name not in known} == {}
    assert known.keys() - used.keys() == NOT_IMPORTED.keys()


def test_what_tests_and_benchmarks_import_is_declared():
    known = declared() | declared("test")
    used = imported(["tests", "benchmarks", ".ci"])
    assert {name: path for name, path in used.items() if name not in known} == {}


def test_all_is_every_extra_of_the_product():
    """But Ray, whose wheel is larger than everything else but PyTorch, and the tools of tests and documentation."""
    assert set().union(*(one.extras for one in EXTRAS["all"])) == EXTRAS.keys() - {"all", "docs", "ray", "test"}


def test_the_lock_files_hold_what_is_declared_and_the_products_no_test_tools():
    product, added = locked("requirements.lock"), locked("requirements-test.lock")
    assert product.keys().isdisjoint(added)
    for known, lock in ((declared() | declared("all"), product), (declared("test"), product | added)):
        assert {name: lock.get(name) for name, one in known.items()
                if name not in lock or not one.specifier.contains(lock[name])} == {}
    assert {"hypothesis", "mypy", "playwright", "pytest", "pytest-xdist", "ruff"} <= added.keys()


def test_the_lock_file_of_the_documentation_holds_its_extra_alone():
    lock = locked("requirements-docs.lock")
    assert all(one.specifier.contains(lock[name]) for name, one in declared("docs").items())
    assert "torch" not in lock


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-test.lock", "requirements-docs.lock"])
def test_lock_files_name_no_index(name):
    text = (ROOT / name).read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert not [line for line in lines if not re.match(r"[\w.-]+==|-r requirements\.lock$", line)]
    assert "://" not in text


def test_messages_and_pages_install_extras_from_the_checkout():
    places = [path for folder in SHIPPED for path in (ROOT / folder).rglob("*")
              if path.suffix in {".py", ".js", ".html", ".json", ".toml", ".md"}]
    named = set()
    for path in [*places, ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for command in re.findall(r"\S*pip install\b.*", path.read_text("utf-8")):
            found = re.search(r"\.venv/bin/pip install -e '\.\[(\w+)\]'", command)
            assert found, f"{path}: {command}"
            named.add(found[1])
    assert {"mcp", "embed", "postgres"} <= named <= EXTRAS.keys()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Names of the files in a wheel, made of a copy: setuptools leaves folders behind."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in (*SHIPPED, "benchmarks"):
        copytree(ROOT / name, folder / name, ignore=ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "app.py", "README.md", "LICENSE"):
        copy(ROOT / name, folder)
    build = ("from setuptools.build_meta import build_wheel\n"
             "build_wheel('dist', {'--build-option': ['--compression=stored']})")
    done = subprocess.run([sys.executable, "-c", build], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [path] = (folder / "dist").glob("cirque_workbench-*.whl")
    with ZipFile(path) as archive:
        return set(archive.namelist())


def test_a_wheel_has_every_file_of_the_product_and_no_benchmarks(wheel):
    there = {str(path.relative_to(ROOT)) for folder in SHIPPED for path in (ROOT / folder).rglob("*")
             if path.is_file() and path.suffix not in {".pyc", ".ts"}}  # .ts: types, for the check of the scripts alone
    packed = {name for name in wheel if ".dist-info/" not in name}
    assert packed == there | {"app.py"}


def test_a_wheel_says_that_its_packages_are_typed(wheel):
    assert {f"{name}/py.typed" for name in PACKAGES} <= wheel


@pytest.mark.extended
def test_a_release_is_built_from_its_source_and_works_where_it_is_installed(tmp_path):
    """Source, the wheel that is built from it, and the wheel in an environment of its own, beside the packages of this
    one: commands that read shipped files, outside the checkout."""
    checkout, fresh = tmp_path / "checkout", tmp_path / "fresh"
    environment = {"PATH": os.environ["PATH"], "CIRQUE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}

    def said(*command, folder=tmp_path):
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def built(what, folder):
        build = f"from setuptools.build_meta import build_{what} as build\nprint(build('dist'))"
        return folder / "dist" / said(sys.executable, "-c", build, folder=folder).splitlines()[-1]

    copytree(ROOT, checkout, ignore=ignore_patterns(".*", "__pycache__", "node_modules", "*.egg-info"))
    source = built("sdist", checkout)
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    wheel = built("wheel", tmp_path / source.name.removesuffix(".tar.gz"))
    venv.create(fresh, with_pip=False)
    [place] = fresh.glob("lib/python*/site-packages")
    (place / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n", "utf-8")   # whose own .pth are not read
    said(sys.executable, "-m", "pip", "--python", fresh / "bin" / "python", "install", "--quiet", "--no-deps",
         "--no-index", wheel)
    cirque = fresh / "bin" / "cirque"
    assert __version__ in said(cirque, "version") and "guided" in said(cirque, "methods")
    assert 'protocol = "circled/1"' in said(cirque, "study", "questions", "sessions")
    assert "fashioniq" in said(cirque, "datasets", "list")
    where = said(fresh / "bin" / "python", "-c", "import cir_core, web.ui.languages as it; "
                 "print(cir_core.__file__, it.languages())")
    assert str(fresh) in where and "Deutsch" in where
