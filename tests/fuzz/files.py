"""Every reader and importer of files, over good small files that are spoilt."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from annotation.kinds.preference.hp_fashioniq import import_hp_study
from annotation.kinds.preference.report.score_files import read_scores
from annotation.kinds.preference.survey.texts import parse_survey
from annotation.kinds.validity.circus import read_circus_users
from annotation.kinds.validity.create import import_circus_study
from annotation.kinds.validity.rubric import parse_rubric
from annotation.sources.audit import read_audit
from annotation.sources.circus import read_circus
from annotation.sources.mbeir import read_mbeir
from cir_core.audit.aggregate import aggregate
from cir_core.audit.circus.aggregate_files import read_aggregate, write_aggregate
from cir_core.audit.circus.circus_files import read_run as read_audit_run
from cir_core.audit.circus.circus_files import write_run as write_audit_run
from cir_core.audit.circus.rank_files import read_ranks
from cir_core.audit.circus.traces import write_queries
from cir_core.construct.browse.folders import list_constructions
from cir_core.construct.browse.journal import JournalFollower
from cir_core.construct.browse.query import SessionQuery, TargetQuery, find_queries, find_sessions
from cir_core.construct.browse.sessions import SessionReader, judged_files
from cir_core.construct.browse.sessions import read_scores as read_scores_of_sessions
from cir_core.construct.browse.targets import TargetReader
from cir_core.construct.sessions.run import construct_sessions
from cir_core.construct.targets.multi_target import find_targets
from cir_core.construct.targets.settings import TargetSettings
from cir_core.datasets.readers.soft_constraints import write_constraints
from cir_core.encoders.remembered import usual_encoder
from cir_core.errors import CirqueError
from cir_core.evaluation.runs.files import read_run
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.scan import read_manifest, scan_folder
from cir_core.methods.declared import read_methods
from cir_core.registry.checking import check
from cir_core.registry.kinds import KINDS
from cir_core.sample.atelier.build import build_atelier
from cir_core.types.composition import Constraints
from storage.studies.store import SqlStudyStore
from tests.fakes import benchmark_files
from tests.fakes.audit_ranks import benchmark, image
from tests.fakes.audit_ranks import run as audit_run
from tests.fakes.colour_person import ColourPerson
from tests.fakes.colour_targets import ColourAssessor, colour_targets
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.construction import colour_construction
from tests.fakes.databases import engine_of
from tests.fakes.preferences import an_item
from tests.fuzz.inputs import spoilt_file
from tests.fuzz.outcome import Bad, Target
from tests.unit.annotation.kinds.validity import test_circus_users as circus_users
from tests.unit.cir_core.audit import test_audit_files as audit_files
from tests.unit.cir_core.datasets import test_circled_files as circled
from tests.unit.cir_core.datasets import test_hp_fashioniq as hp
from tests.unit.cir_core.datasets import test_lasco as lasco
from tests.unit.cir_core.datasets import test_mbeir as mbeir
from tests.unit.cir_core.datasets import test_multi_turn_fashioniq as multi_turn_fashioniq
from tests.unit.cir_core.datasets import test_soft_files as soft

ROOT = Path(__file__).parents[2]
_RUN = "q1 Q0 a 1 0.9 mine\nq1 Q0 b 2 0.5 mine\nq2 Q0 c 1 0.25 mine\n"
_QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
_SCORES = "item,set,clip,red\nq0,1,0.25,TRUE\nq0,2,-1.5,false\nq1,1,3,1\nq1,2,1e-3,\n"
_METHODS = '[methods.mine]\ntitle = "Mine"\nsource = "me"\nbase = "slerp"\nsoft_filter = { mode = "reward" }\n'
_CONSTRAINTS = [Constraints(("sleeves",), ("red",), ("blue",), ("a red dress",), ("a blue dress",)), Constraints()]
_PATTERNS = "# not these\n*.tmp\n!keep.tmp\n/drafts/\n**/raw/*.[jp]pg\n"
_MANIFEST = "id,path,caption\none,images/a.jpg,a red dress\ntwo,images/b.jpg,\n"
Read = Callable[[Path], object]


def targets(folder: Path) -> list[Target]:
    """A target for each reader; ``folder`` is where files are put."""
    return [_target(name, good, read, folder / "spoilt") for name, good, read in readers(folder)]


def readers(folder: Path) -> list[tuple[str, Path, Read]]:
    """The name of each reader, a folder of good files for it, and what reads such a folder."""
    seeds = Seeds(folder / "good")
    store = SqlStudyStore(engine_of(folder / "imports"))
    names = (f"import {number}" for number in count())
    three, items = benchmark(3), [an_item(0), an_item(1)]
    one = seeds.one
    return [
        *((f"datasets check {kind}", path, _checking(kind)) for kind, path in seeds.kinds()),
        ("CIRCUS annotators, read", seeds.users(), lambda path: read_circus_users(sorted(path.iterdir()))),
        ("CIRCUS annotators, imported", seeds.users(), lambda path: import_circus_study(
            store, next(names), read_circus_users(sorted(path.iterdir())), created_by="local")),
        ("HP-FashionIQ, imported", one("hpfiq.json", hp.RELEASED), lambda path: import_hp_study(
            store, next(names), path / "hpfiq.json", created_by="local")),
        ("scores of sets", one("scores.csv", _SCORES), lambda path: read_scores(
            (path / "scores.csv").read_bytes(), items, where="scores.csv")),
        ("a run", one("a.run", _RUN), lambda path: read_run(path / "a.run")),
        ("ranks for an audit", one("ranks.json", audit_files.ranks()), lambda path: read_ranks(
            path / "ranks.json", three)),
        ("an audit's run", one("run.json", seeds.audit_run()), lambda path: read_audit_run(
            path / "run.json", benchmark=three)),
        ("an audit's aggregate", one("all.json", seeds.aggregate()), lambda path: read_aggregate(path / "all.json")),
        ("an audit's folder, for a study", seeds.audit(), lambda path: read_audit(path, images=path)),
        ("CIRCUS's aggregate, for a study", one("all.json", seeds.aggregate()), lambda path: read_circus(
            path / "all.json", images=path)),
        ("M-BEIR, for a study", seeds.mbeir(), lambda path: read_mbeir(path, images=path)),
        ("a manifest", one("manifest.csv", _MANIFEST), lambda path: read_manifest(path / "manifest.csv", path)),
        ("declared methods", one("methods.toml", _METHODS), lambda path: read_methods(path / "methods.toml")),
        ("a rubric", one("circus.toml", (ROOT / "assets/rubrics/circus-1.toml").read_text("utf-8")),
         lambda path: parse_rubric((path / "circus.toml").read_text("utf-8", "replace"), "circus.toml")),
        ("a survey", one("hs.toml", (ROOT / "assets/surveys/hs-fashioniq-1.toml").read_text("utf-8")),
         lambda path: parse_survey((path / "hs.toml").read_text("utf-8", "replace"), "hs.toml")),
        ("a gallery's own files", seeds.gallery(), _open_gallery),
        ("constructed sessions", seeds.sessions(), _browse_sessions),
        ("queries with targets", seeds.targets(), _browse_targets),
        ("patterns of what to leave out", one(".cirqueignore", _PATTERNS), scan_folder),
        ("the encoder that was chosen last", one("encoders.json", {"default": "ViT-B-32/openai"}), usual_encoder),
    ]


class Seeds:
    """Good files, each in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._numbers = folder, count()

    def new(self) -> Path:
        path = self._folder / str(next(self._numbers))
        path.mkdir(parents=True)
        return path

    def one(self, name: str, content: object) -> Path:
        path = self.new()
        (path / name).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    def kinds(self) -> list[tuple[str, Path]]:
        """One for each kind that is registered. A kind without one is told by a KeyError."""
        rankings = {"0": list(range(70, 20, -1)), "1": list(range(20, 70))}
        traces = self.new()
        write_queries(traces / "traces.jsonl", benchmark(3), [_audited()], aggregate([_audited()]))
        files: Mapping[str, Path] = {
            "sample": build_atelier(self.new(), limit=3).folder,
            "fashioniq": benchmark_files.fashioniq(self.new()), "cirr": benchmark_files.cirr(self.new()),
            "circo": self.circo(), "genecis": benchmark_files.genecis(self.new()),
            "lasco": lasco.saved(self.new(), [lasco.QUERY]).parent, "mbeir": self.mbeir(),
            "circled": self.one("sessions.json", [circled.PUBLIC]),
            "multi-turn-fashioniq": self.one("dress.val.json", [multi_turn_fashioniq.RECORD]),
            "soft-multi-target": self.one("a.json", soft.MULTI), "soft-single-target": self.one("a.json", soft.SINGLE),
            "soft-candidates": self.one("a.json", soft.CANDIDATES),
            "soft-scores": self.one("a.json", soft.SCORES),
            "soft-constraints": self.soft_constraints(),
            "hp-fashioniq": self.one("hpfiq.json", hp.RELEASED), "trec-run": self.one("a.run", _RUN),
            "trec-qrels": self.one("a.qrels", _QRELS), "circo-submission": self.one("s.json", rankings),
            "cirr-submission": self.one("s.json", {"version": "rc2", "metric": "recall", "12": ["a", "b"]}),
            "circus-audit": self.one("a.json", self.audit_run()), "circus-traces": traces,
        }
        return [(kind, files[kind]) for kind in KINDS]

    def soft_constraints(self) -> Path:
        path = self.new()
        write_constraints(path / "a.json", _CONSTRAINTS, model="m")
        return path

    def circo(self) -> Path:
        root = self.new()
        benchmark_files.circo(root)
        benchmark_files.coco_images(root)
        return root

    def mbeir(self) -> Path:
        root = self.new()
        mbeir.native(root)
        return root

    def users(self) -> Path:
        path = self.new()
        for document in (circus_users.FIRST, circus_users.SECOND):
            (path / f"{document['username']}.json").write_text(json.dumps(document), "utf-8")
        return path

    def audit_run(self) -> str:
        path = self.new() / "a.json"
        write_audit_run(path, _audited(), benchmark(3))
        return path.read_text("utf-8")

    def aggregate(self) -> str:
        path = self.new() / "a.json"
        write_aggregate(path, benchmark(3), [_audited()], aggregate([_audited()]), source_files=["a.json"])
        return path.read_text("utf-8")

    def audit(self) -> Path:
        path = self.new()
        write_queries(path / "tiny-val_queries.jsonl", benchmark(3), [_audited()], aggregate([_audited()]))
        return path

    def gallery(self) -> Path:
        path = self.new()
        colour_gallery(path, steps=2)
        return path

    def sessions(self) -> Path:
        gallery = open_gallery(NAME, home=self.gallery() / "home")
        path = self.new()
        construct_sessions(colour_construction(gallery, ColourPerson(), 6), path / "built")
        shutil.copytree(path / "built", path / "stopped", ignore=shutil.ignore_patterns("raw"))
        return path

    def targets(self) -> Path:
        gallery = open_gallery(NAME, home=self.gallery() / "home")
        path = self.new()
        find_targets(colour_targets(gallery, ColourAssessor(), 4, settings=TargetSettings(keep=6, scored=4)),
                     path / "built")
        shutil.copytree(path / "built", path / "stopped", ignore=shutil.ignore_patterns("provenance"))
        return path


def _audited() -> Any:
    return audit_run(benchmark(3), "a", [(2, 40, 50), (30, 40, 50), (1, 9, 800)],
                     top={0: [image(5)], 1: [image(4)], 2: [image(3)]})


def _checking(kind: str) -> Read:
    def read(path: Path) -> None:
        only = [one for one in path.rglob("*") if one.is_file()]
        report = check(kind, only[0] if len(only) == 1 and path.name != "sample" else path)
        json.dumps(report.as_json(), allow_nan=False)

    return read


def _open_gallery(path: Path) -> None:
    gallery = open_gallery(NAME, home=path / "home")
    for image_id in gallery.ids[:3]:
        gallery.caption_of(image_id)
        gallery.path_of(image_id)
    gallery.features[:3].sum()


def _browse_sessions(path: Path) -> None:
    for one in list_constructions(path):
        if one.kind == "sessions" and not one.problem:
            found = SessionReader().read(one)
            find_sessions(found, SessionQuery(), read_scores_of_sessions(judged_files(one.path), found))
            JournalFollower().look(one.journal)


def _browse_targets(path: Path) -> None:
    for one in list_constructions(path):
        if one.kind == "targets" and not one.problem:
            for query in find_queries(TargetReader().read(one).queries, TargetQuery()).shown:
                query.read()


def _target(name: str, good: Path, read: Read, work: Path) -> Target:
    paths = [path for path in sorted(good.rglob("*"))
             if path.is_file() and path.suffix not in (".png", ".jpg", ".lock") and "thumb" not in str(path)]
    content = {path.relative_to(good): path.read_bytes() for path in paths}
    shutil.copytree(good, work / "good")
    read(work / "good")      # what is refused as it is shows nothing when it is spoilt
    shutil.rmtree(work / "good")
    inputs = st.sampled_from(sorted(content)).flatmap(
        lambda path: st.tuples(st.just(path), spoilt_file(content[path])))
    numbers = count()

    def attempt(spoilt: tuple[Path, bytes]) -> str:
        path, changed = spoilt
        folder = work / f"{name.replace(' ', '-')}-{next(numbers)}"
        shutil.copytree(good, folder)
        (folder / path).write_bytes(changed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(folder)
            return "read"
        except CirqueError as error:
            if "Traceback" in str(error) or not str(error).strip():
                raise Bad(f"a refusal that is no sentence: {error!r}") from error
            return "refused"
        finally:
            shutil.rmtree(folder)

    return Target(f"file: {name}", inputs, attempt, weight=0.5)
