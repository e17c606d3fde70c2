"""``make figures``: the figures in the docs, from the product's own commands over the sample.

    python -m benchmarks.published [--only NAME ...] [--home FOLDER] [--pages]

Each family of figures is one command. Its tables are kept in ``benchmarks/results/NAME.json``, with date, commit,
command, and revisions of what they depend on; :mod:`benchmarks.published_pages` writes them to the pages. Without
``--home`` the sample is drawn in a temporary home first. ``tests/unit/benchmarks/test_published.py`` compares the
revisions with the code's, and the pages with the results.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.own_settings import environment_of, settings_of
from benchmarks.published_pages import RESULTS, ROOT, write_pages
from cir_core.encoders import load_encoder
from cir_core.gallery.gallery import open_gallery
from cir_core.garments.lexicon import describe
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.tasks import AspectsTask, ConstraintsTask, MergeTask, ReflectTask, Task
from cir_core.methods.declared import builtin_methods
from cir_core.sample.atelier.build import VERSION
from cir_core.sample.atelier.captions import Triplet, make_triplets
from cir_core.sample.atelier.catalogue import DEFAULT_SEED, Garment, catalogue
from cir_core.sample.gallery import NAME, SPLIT
from cir_core.version import __version__

METHODS = "guided,corr,soft-reward,corr-soft,cirevl,soft,slerp-corr,slerp,text-only,image-only"
_GARMENTS, _QUERIES = 1000, 60     # whose queries revisions are computed from
_PLACES = 6                       # of stored numbers
_ON_ONE_LINE = re.compile(r"[\[{][^\[\]{}]*[\]}]")     # a row, or a column


@dataclass(frozen=True)
class Family:
    """``arguments`` stand behind "cirque"; ``tables`` are the keys of those that are kept."""

    arguments: str
    tables: tuple[str, ...]

    @property
    def command(self) -> str:
        return f"cirque {self.arguments}"


_KINDS = ("neutral", "built")
FAMILIES = {
    "audit": Family("audit sample --retrievers text-only,image-only,slerp,cirevl", ("labels", "inputs", "gaps")),
    "single": Family(f"evaluate sample --methods {METHODS} --against cirevl --no-sessions --no-requests --yes",
                     ("single", "single-differences")),
    "requests": Family(f"evaluate requests --methods {METHODS} --yes",
                       ("requests", *(f"requests-{by}-{of}-5" for by in ("by-kind", "turns")
                                      for of in ("satisfaction", "preservation")))),
    "sessions": Family(f"evaluate sample --methods {METHODS} --against cirevl --no-requests --yes",
                       tuple(f"sessions-{kind}{what}" for kind in _KINDS for what in ("", "-differences"))),
}


def revisions() -> dict[str, str]:
    """What figures depend on, as the code has it now; nothing is drawn. ``model`` changes with the answers of the
    built-in language model to queries of the sample, whether or not it has another name."""
    garments = [one for one in catalogue() if one.split == SPLIT]
    drawn = [(one.item_id, dict(one.attributes), one.seed) for one in garments]
    queries = make_triplets(garments[:_GARMENTS], DEFAULT_SEED, _QUERIES // 3)
    return {"sample": _digest([VERSION, drawn, [query.record() for query in queries]]),
            "encoder": load_encoder(NAME).identity.revision,
            "model": f"{BuiltinLanguageModel.name}, {_digest(list(_answers(garments, queries)))}"}


def _answers(garments: Iterable[Garment], queries: Iterable[Triplet]) -> Iterable[Any]:
    """Without notes, whose wording changes no figure."""
    model, attributes = BuiltinLanguageModel(), {one.item_id: one.attributes for one in garments}
    for query in queries:
        caption, target = (describe(attributes[one]) for one in (query.reference_id, query.target_id))
        text = " and ".join(query.captions)
        tasks: tuple[Task[Any], ...] = (
            MergeTask(caption=caption, modification_text=text),
            ConstraintsTask(caption=caption, modification_text=text),
            AspectsTask(caption=caption, modification_text=text),
            ReflectTask(reference_caption=caption, modification_text=text, captions=(caption, target)))
        for task in tasks:
            yield model.complete(task).model_dump(mode="json", exclude={"notes"})


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def run(name: str, home: Path) -> None:
    """Run the family's command and keep its tables. Raises ``SystemExit`` if it fails."""
    family = FAMILIES[name]
    with tempfile.TemporaryDirectory(prefix="cirque-figures-") as folder:
        before = _spent()
        command = [sys.executable, "-m", "cli.main", *shlex.split(family.arguments), "--tables", folder]
        environment = environment_of(home, OMP_WAIT_POLICY="PASSIVE")
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            raise SystemExit(f"{family.command} failed; see its messages above. {name}.json is as it was.")
        keep(name, Path(folder), home, _spent() - before)


def keep(name: str, folder: Path, home: Path, seconds: float) -> None:
    """Write ``NAME.json`` of the tables that the family's command wrote to ``folder``."""
    family, gallery = FAMILIES[name], open_gallery(NAME, home=home)
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    content = {
        "date": datetime.now(UTC).date().isoformat(), "commit": _commit(), "version": __version__,
        "command": family.command, "cpu_seconds": round(seconds), "seed": settings_of(home).seed,
        "gallery": {"digest": gallery.digest, "images": len(gallery)}, **revisions(),
        "tables": {key: _table(found[key]) for key in family.tables},
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    text = _ON_ONE_LINE.sub(lambda row: re.sub(r"\s*\n\s*", " ", row[0]), text)
    (RESULTS / f"{name}.json").write_text(text, "utf-8")


def _table(table: dict[str, Any]) -> dict[str, Any]:
    """Columns and rows, methods by their names."""
    names = {method.title: name for name, method in builtin_methods().items()}

    def cell(key: str, value: Any) -> Any:
        if key == "method":
            return names.get(value, value)
        return round(value, _PLACES) if isinstance(value, float) else value

    keys = [column["key"] for column in table["columns"]]
    return {"columns": table["columns"], "rows": [[cell(key, row[key]) for key in keys] for row in table["rows"]],
            "note": table["note"]}


def _commit() -> str:
    """The last one that changed the product, with a plus sign if it was changed since."""
    def git(*words: str) -> str:
        return subprocess.run(("git", *words, "--", "cir_core", "annotation", "storage", "cli", "assets"), cwd=ROOT,
                              env=environment_of(ROOT), check=True, capture_output=True, text=True).stdout.strip()

    return git("log", "-1", "--format=%h") + ("+" if git("status", "--porcelain") else "")


def _spent() -> float:
    """CPU seconds of finished subprocesses."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--home", type=Path, help="an existing home folder, for its sample gallery")
    parser.add_argument("--pages", action="store_true", help="write the pages from the results there are")
    options = parser.parse_args()
    if not options.pages:
        with tempfile.TemporaryDirectory(prefix="cirque-figures-home-") as folder:
            for name in options.only:
                run(name, options.home or Path(folder))
    for path in write_pages():
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
