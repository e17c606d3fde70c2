"""The steps of a reproduction: what each paper reports, as commands over one data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cir_core.errors import SettingsError
from cir_core.support.texts import quoted

SAMPLE = "sample"
WORK = "work"      # folder of what commands write besides tables and figures
QUICK = 15         # queries of each category
BASES = "text-only,image-only,slerp,cirevl,soft,corr"
HISTORIES = "cirevl,latest,average,weighted,slerp,soft"
SOFT = "cirevl,soft,soft-reward,soft-penalty"
CORR = "cirevl,corr,corr-linear,corr-replace,corr-prf,corr-free,corr-silent"
RETRIEVERS = "text-only,image-only,slerp,cirevl"


@dataclass(frozen=True)
class Step:
    """``arguments`` stand behind "cirque", with paths as seen from the output folder; one with a * stands for every
    file that it matches, each in a command of its own.

    Attributes:
        shows: tables and figures of the paper.
        needs: steps whose files it reads.
        journal: its folder, if it can be continued with --resume.
        cards: files with protocol cards, with * as in ``arguments``; "" is what it prints.
        fixed: processor seconds before the first query.
        rate, asks: processor seconds, and requests of a connected language model at most, of a query.
        fresh: it is quick, and what it reads changes, so it always runs again.
        missing: why it cannot run.
    """

    name: str
    paper: str
    title: str
    shows: str
    arguments: tuple[str, ...]
    needs: tuple[str, ...] = ()
    journal: str = ""
    cards: tuple[str, ...] = ()
    fixed: float = 8.0
    rate: float = 0.0
    asks: int = 0
    fresh: bool = False
    missing: str = ""


@dataclass(frozen=True)
class Subject:
    """What is reproduced over: a data set and its gallery.

    Attributes:
        path: of its files, absolute; "" of the sample.
        options: further ones of its reader, such as ("--split", "val").
        model: "built-in" or "settings".
        studies: names and kinds of the studies there are.
        quick: fewer queries and values, where a command can have fewer.
    """

    dataset: str
    gallery: str
    path: str = ""
    options: tuple[str, ...] = ()
    model: str = "built-in"
    studies: tuple[tuple[str, str], ...] = ()
    quick: bool = False

    @property
    def is_sample(self) -> bool:
        return self.dataset == SAMPLE


def plan(subject: Subject) -> tuple[Step, ...]:
    """All steps, each behind those that it needs."""
    return (*_circled(subject), *_circus(subject), *_soft(subject), *_corr(subject), *_cirqrs(subject),
            *_studies(subject))


def chosen(steps: Sequence[Step], only: Iterable[str], skip: Iterable[str]) -> frozenset[str]:
    """Names of the steps to run. Raises ``SettingsError`` for one that there is not."""
    only, skip, names = set(only), set(skip), [step.name for step in steps]
    if unknown := sorted((only | skip) - set(names)):
        raise SettingsError(f"There is no step {quoted(unknown[0])}. Steps are: {', '.join(names)}.")
    return frozenset(name for name in names if (not only or name in only) and name not in skip)


def _circled(of: Subject) -> Iterable[Step]:
    data = (of.dataset, *((of.path,) if of.path else ()), *of.options)
    few = ("--limit", str(QUICK)) if of.quick else ()
    yield Step(
        "sessions", "CIRCLED", "Construction", "Section 4, Figure 6 (in the file work/built/raw)",
        ("construct", "sessions", *data, "--gallery", of.gallery, "--model", of.model, *few, "--out", f"{WORK}/built"),
        journal=f"{WORK}/built", cards=(f"{WORK}/built/protocol.json",), rate=0.03, asks=20)
    yield Step(
        "filters", "CIRCLED", "Filters", "Table 3, Figure 5",
        ("construct", "filter", f"{WORK}/built", "--out", f"{WORK}/kept", "--explain", "--write-excluded"),
        needs=("sessions",), rate=0.001)
    yield Step(
        "description", "CIRCLED", "Sessions and their language", "Tables 1, 2 and 4",
        ("construct", "describe", f"{WORK}/kept", "--out", f"{WORK}/described"), needs=("filters",), rate=0.005)
    yield Step(
        "turns", "CIRCLED", "Evaluation by turn", "Figures 7 and 8",
        ("evaluate", "circled", "--annotations", f"{WORK}/kept/public/*.json", "--gallery", of.gallery,
         "--model", of.model, "--methods", HISTORIES, "--figure", f"{WORK}/turns.html", "--json"),
        needs=("filters",), cards=("",), rate=0.06, asks=12)
    yield Step(
        "concatenation", "CIRCLED", "Simple Concat", "Table 5, another source",
        ("construct", "concat", *data, "--out", f"{WORK}/concat"), rate=0.001)
    yield Step(
        "judging", "CIRCLED", "Sessions judged by a language model", "Table 5, Figure 9",
        ("construct", "judge", f"kept={WORK}/kept", f"excluded={WORK}/kept/excluded", f"concat={WORK}/concat",
         "--gallery", of.gallery, *(("--sample", "5") if of.quick else ()), "--out", f"{WORK}/judged"),
        needs=("filters", "concatenation"), journal=f"{WORK}/judged", cards=(f"{WORK}/judged/protocol.json",),
        rate=0.05, asks=1)


def _circus(of: Subject) -> Iterable[Step]:
    few = ("--limit", str(QUICK)) if of.quick else ()
    yield Step(
        "audit", "CIRCUS", "Shortcut audit and Composition Gap", "Table 1, Composition Gap, Recall@10 by subset",
        ("audit", of.dataset, *_annotations(of), "--gallery", of.gallery, "--model", of.model,
         "--retrievers", RETRIEVERS, *few, "--out", f"{WORK}/audit"),
        cards=(f"{WORK}/audit/summary.json",), rate=0.01, asks=6)


def _soft(of: Subject) -> Iterable[Step]:
    data = (of.dataset, *((of.path,) if of.path else ()), *of.options)
    few = ("--limit", str(QUICK)) if of.quick else ()
    yield _sweep(of, "soft-lambda", "SoFT", "λ of the soft filter", "λ figure (Figure 5)", "soft",
                 "lambda=0,0.5,1" if of.quick else "lambda=0:1:0.1", rate=0.02, asks=3)
    yield _methods(of, "soft-ablations", "SoFT", "Reward and penalty", "Tables 1, 2 and 4", SOFT, rate=0.05, asks=3)
    yield Step(
        "targets", "SoFT", "All targets of queries", "Section 3.2, Figure 4",
        ("construct", "multi-target", *data, "--gallery", of.gallery, *few, "--out", f"{WORK}/targets"),
        journal=f"{WORK}/targets", cards=(f"{WORK}/targets/protocol.json",), rate=0.1, asks=31)
    yield Step(
        "targets-described", "SoFT", "Number of targets", "Appendix B.1",
        ("construct", "describe", f"{WORK}/targets", "--out", f"{WORK}/targets-described"), needs=("targets",))
    yield Step(
        "multi-target", "SoFT", "Evaluation with several targets", "Table 3",
        ("evaluate", "soft-multi-target", "--annotations", f"{WORK}/targets/multi_target_selection/*.json",
         "--gallery", of.gallery, "--model", of.model, "--methods", SOFT, "--json"),
        needs=("targets",), cards=("",), rate=0.12, asks=3)


def _corr(of: Subject) -> Iterable[Step]:
    yield _sweep(of, "corr-rounds", "CoRR", "Rounds of reflection", "Figure 4", "corr",
                 "rounds=1,2" if of.quick else "rounds=1:4:1", rate=0.03, asks=12)
    yield _sweep(of, "corr-images", "CoRR", "Images shown, K", "Figure 5", "corr",
                 "images=1,5" if of.quick else "images=1,3,5,10", rate=0.03, asks=12)
    yield _sweep(of, "corr-captions", "CoRR", "Captions shown, N", "Figure 5", "corr",
                 "captions=0,10" if of.quick else "captions=0,5,10,20", rate=0.03, asks=12)
    yield _sweep(of, "corr-history", "CoRR", "Weight of the history, α", "Figure 5", "corr",
                 "history_weight=0.5,0.8" if of.quick else "history_weight=0.2:1:0.2", rate=0.03, asks=12)
    yield _methods(of, "corr-ablations", "CoRR", "Fusion and prompt", "Tables 1, 2, 4 and 5", CORR, rate=0.12, asks=20)


def _cirqrs(of: Subject) -> Iterable[Step]:
    # A trial makes the features of the images that it finds, which are not kept; else all are made once, and kept.
    if not of.quick:
        yield Step("relevance-features", "CIRQRS", "Relevance features of the gallery", "none: for what follows",
                   ("relevance", "index", of.gallery), fixed=60.0)
    yield _methods(of, "cirqrs", "CIRQRS", "Relevance of the first 10 and 50", "Tables 4, 5 and 6",
                   "image-only,cirevl" if of.quick else BASES, ("--metric", "cirqrs"),
                   fixed=200.0 if of.quick else 10.0, rate=0.3 if of.quick else 0.17, asks=12)
    if of.is_sample:
        yield Step(
            "raters", "CIRQRS", "Metrics against simulated raters", "Tables 2 and 3, with raters that are simulated",
            ("evaluate", "relevance", "sample", *(("--limit", str(QUICK)) if of.quick else ()),
             "--json", f"{WORK}/raters.json"), cards=(f"{WORK}/raters.json",),
            fixed=20.0, rate=0.07)


def _studies(of: Subject) -> Iterable[Step]:
    """A report of every study; of those kinds of which there is none, why."""
    told = {"validity": ("CIRCUS", "Agreement on validity", "Table 2, agreement report"),
            "preference": ("CIRQRS", "Preference and correlation", "Section 4, Tables 1 to 3"),
            "sessions": ("CIRCLED", "Sessions rated by people", "Table 5"),
            "targets": ("SoFT", "Targets checked by people", "not in the paper")}
    for word, (paper, title, shows) in told.items():
        names = [name for name, one in of.studies if one == word]
        for number, name in enumerate(names, 1):
            yield Step(f"study-{word}{f'-{number}' if len(names) > 1 else ''}", paper, f"{title}: {name}", shows,
                       ("report", name), fresh=True)
        if not names:
            yield Step(f"study-{word}", paper, title, shows, ("report", "STUDY"), missing=(
                f"There is no {word.removesuffix('s')} study here. Make one with cirque study create {word}, have "
                "people answer, and run this command again."))


def _methods(
    of: Subject, name: str, paper: str, title: str, shows: str, methods: str, further: tuple[str, ...] = (), *,
    rate: float, asks: int, fixed: float = Step.fixed,
) -> Step:
    """An evaluation of methods by the benchmark's own measures, a turn at a time."""
    if not of.is_sample:
        return Step(name, paper, title, shows, ("evaluate", of.dataset, *_annotations(of), "--gallery", of.gallery,
                    "--model", of.model, "--methods", methods, *further, "--json"), cards=("",), fixed=fixed,
                    rate=rate, asks=asks)
    few = ("--limit", str(QUICK)) if of.quick else ()
    return Step(name, paper, title, shows, ("evaluate", SAMPLE, "--model", of.model, "--methods", methods,
                "--no-requests", "--no-sessions", *few, *further, "--json", f"{WORK}/{name}.json"),
                cards=(f"{WORK}/{name}.json",), fixed=fixed, rate=rate, asks=asks)


def _sweep(
    of: Subject, name: str, paper: str, title: str, shows: str, method: str, values: str, *, rate: float, asks: int,
) -> Step:
    asked = ("--model", of.model, "--methods", method, "--sweep", values)
    if not of.is_sample:
        return Step(name, paper, title, shows, ("evaluate", of.dataset, *_annotations(of), "--gallery", of.gallery,
                    *asked, "--json"), cards=("",), rate=rate, asks=asks)
    few = ("--limit", str(QUICK)) if of.quick else ()
    return Step(name, paper, title, shows, ("evaluate", SAMPLE, *asked, "--choose-by", "recall@1", *few,
                "--json", f"{WORK}/{name}.json"), cards=(f"{WORK}/{name}.json",), rate=rate, asks=asks)


def _annotations(of: Subject) -> tuple[str, ...]:
    return (*(("--annotations", of.path) if of.path else ()), *of.options)
