"""What a person asks to construct, from the form of the screen or from the card of a construction that has stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast, get_args

from cir_core.construct.browse.folders import ConstructionFolder, name_problem
from cir_core.construct.sessions.run import Construction
from cir_core.construct.sessions.settings import ConstructionSettings
from cir_core.datasets.readers.circled_raw import text_in
from cir_core.datasets.records import Benchmark, CaptionMode
from cir_core.encoders.base import Encoder
from cir_core.errors import DatasetError
from cir_core.jobs.spending import Budget
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.registry.constructing import WITHOUT_PATH, own_path, queries_to_construct
from cir_core.registry.kinds import domain_of
from cir_core.support.texts import quoted
from cir_core.types.records import Domain
from web.services import Services

MODELS = ("built-in", "settings")
_MOST = 10_000_000


@dataclass(frozen=True)
class ConstructionRequest:
    """``model``: one of :data:`MODELS`. Encoders, split and domain are None for the usual ones."""

    name: str
    dataset: str
    gallery: str
    model: str
    subsets: tuple[str, ...] = ()
    limit: int | None = None
    budget: Budget = Budget()
    settings: ConstructionSettings = ConstructionSettings()
    workers: int | None = None
    split: str | None = None
    caption_mode: CaptionMode | None = None
    domain: Domain | None = None
    select_encoder: str | None = None
    diversity_encoder: str | None = None

    def queries(self, services: Services) -> Benchmark:
        path = own_path(self.dataset, services.settings.home)
        return queries_to_construct(self.dataset, path, split=self.split, caption_mode=self.caption_mode)

    def construction(self, services: Services) -> Construction:
        """Everything that it is constructed with; loads encoders. Raises ``CirqueError`` for a data set, gallery
        or encoder that cannot be opened."""
        benchmark, searcher = self.queries(services), services.search.searcher(self.gallery)
        encoder = searcher.encoder
        language = BuiltinLanguageModel(encoder) if self.model == "built-in" else services.language_for(encoder)

        def another(spec: str | None) -> Encoder | None:
            return None if spec is None or spec == encoder.identity.spec else services.load_encoder(spec)

        return Construction(
            benchmark, searcher.gallery, encoder, language, self.settings, selecting=another(self.select_encoder),
            diversity=another(self.diversity_encoder),
            domain=self.domain or domain_of(benchmark) or services.settings.domain)

    def command(self, folder: Path) -> tuple[str, ...]:
        """What follows "cirque" to make the same construction in ``folder``."""
        usual = ConstructionSettings()
        given: dict[str, Any] = {
            "gallery": self.gallery, "out": folder, "model": self.model, "limit": self.limit,
            "budget": self.budget.cost, "max-calls": self.budget.calls, "workers": self.workers, "split": self.split,
            "caption-mode": self.caption_mode, "domain": self.domain, "select-encoder": self.select_encoder,
            "diversity-encoder": self.diversity_encoder}
        given |= {name.replace("_", "-"): value for name, value in asdict(self.settings).items()
                  if value != getattr(usual, name) and value is not True}
        flags = ["--fold-duplicates"] if self.settings.fold_duplicates else []
        return ("construct", "sessions", self.dataset, *(f"--subset={one}" for one in self.subsets), *flags,
                *(f"--{name}={value}" for name, value in given.items() if value is not None))

    def at_a_time(self, services: Services, construction: Construction) -> int:
        """Sessions at a time, as the command has them."""
        builtin = construction.language.name.startswith("built-in/")
        return self.workers or (1 if builtin else services.settings.llm_concurrency)


def read_request(sent: Mapping[str, Any], services: Services) -> ConstructionRequest:
    """Raises ``DatasetError`` for what the form cannot send."""
    name, dataset, model = (text_field(sent, key) for key in ("name", "dataset", "model"))
    if problem := name_problem(name):
        raise DatasetError(problem)
    if dataset not in WITHOUT_PATH:
        raise DatasetError(f"This server reads {', '.join(WITHOUT_PATH)} by itself, not {quoted(dataset)}. Construct "
                           "from other data sets with cirque construct sessions.")
    if model not in MODELS or (model == "settings" and not is_connected(services)):
        raise DatasetError(f"{quoted(model)} is not a language model of this server. Choose the built-in one, or "
                           "connect one (docs/how-to/language-models.md).")
    subsets = sent.get("subsets") or []
    if not isinstance(subsets, list) or not all(isinstance(one, str) and len(one) <= 200 for one in subsets[:50]):
        raise DatasetError("“subsets” must be a list of names.")
    most = _number(sent, "max_turns") or ConstructionSettings().max_turns
    return ConstructionRequest(
        name, dataset, text_field(sent, "gallery"), model, tuple(subsets[:50]), _number(sent, "limit"),
        Budget(_cost(sent), _number(sent, "max_calls")), replace(ConstructionSettings(), max_turns=most))


def is_connected(services: Services) -> bool:
    return bool(services.settings.llm_base_url.strip())


def resume_problem(folder: ConstructionFolder) -> str:
    """Why the screen cannot go on with ``folder``; "" if it can."""
    if folder.kind == "targets":
        return ("Ask the person who runs the server to continue it from the command line: cirque construct "
                "multi-target with --resume (docs/how-to/evaluate/construction.md).")
    if folder.run is None:
        return ("It was begun by an earlier version of cirque, which did not record how many sessions were wanted. Ask "
                "the person who runs the server to resume it from the command line "
                "(docs/how-to/evaluate/construction.md).")
    if _known_dataset(folder) is None:
        return ("This server cannot read its data set without a path. Ask the person who runs the server to resume it "
                "from the command line (docs/how-to/evaluate/construction.md).")
    return ""


def resumed_request(folder: ConstructionFolder) -> ConstructionRequest:
    """The request that goes on with ``folder``, whose card and last run say what was asked. Raises ``DatasetError``."""
    if problem := resume_problem(folder):
        raise DatasetError(problem)
    assert folder.run is not None
    card, run = folder.card, folder.run
    try:
        settings = ConstructionSettings(**card["settings"])
    except (KeyError, TypeError) as error:
        raise DatasetError(f"The protocol card of {quoted(folder.name)} is of another version of cirque. Construct the "
                           "sessions again under another name.") from error
    mode, domain = text_in(card, "caption_mode"), text_in(card, "domain")
    return ConstructionRequest(
        folder.name, _known_dataset(folder) or "", folder.gallery,
        "built-in" if text_in(card, "language_model").startswith("built-in/") else "settings", run.subsets, run.limit,
        run.budget, settings, run.workers, text_in(card, "split") or None,
        cast(CaptionMode, mode) if mode in get_args(CaptionMode) else None,
        cast(Domain, domain) if domain in get_args(Domain) else None,
        text_in(card, "encoders", "select", "spec") or None, text_in(card, "encoders", "diversity", "spec") or None)


def _known_dataset(folder: ConstructionFolder) -> str | None:
    dataset = text_in(folder.card, "dataset")
    return next((name for name in WITHOUT_PATH if dataset == name or dataset.startswith(f"{name}-")), None)


def text_field(sent: Mapping[str, Any], name: str, most: int = 200) -> str:
    """The text ``name`` of what was sent. Raises ``DatasetError``."""
    value = sent.get(name, "")
    if not isinstance(value, str) or len(value) > most:
        raise DatasetError(f"“{name}” must be a text of at most {most:,} characters.")
    return value.strip()


def _number(sent: Mapping[str, Any], name: str) -> int | None:
    value = sent.get(name)
    if value is None or value == "":
        return None
    if type(value) is not int or not 1 <= value <= _MOST:
        raise DatasetError(f"“{name}” must be a whole number from 1 to {_MOST:,}.")
    return value


def _cost(sent: Mapping[str, Any]) -> float | None:
    value = sent.get("budget")
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        raise DatasetError(f"“budget” must be a number from 0 to {_MOST:,}.")
    return float(value)
