"""Which methods a person named, and the language model that answers for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import TimeElapsedColumn

from cir_core.errors import MethodError
from cir_core.settings import get_settings
from cir_core.types.records import Domain
from cli.console import ModelChoice as ModelChoice
from cli.console import bars, open_stores

if TYPE_CHECKING:
    from cir_core.encoders.base import Encoder
    from cir_core.language.base import LanguageModel
    from cir_core.methods.declared import Method


ModelOption = Annotated[ModelChoice, typer.Option(help="The built-in language model, or the one in the settings.")]
DomainOption = Annotated[Domain | None, typer.Option(
    help="What the images show, for language models (default: the data set's, else CIRQUE_DOMAIN).")]

RelevanceOption = Annotated[str | None, typer.Option(
    "--relevance", metavar="SPEC", help="Relevance model: bundled or a folder (default: CIRQUE_RELEVANCE).")]


def chosen_methods(names: str, against: str | None, methods: Mapping[str, Method]) -> list[Method]:
    """Those of "a,b" and ``against``, each once, or "all". Raises ``MethodError``."""
    from cir_core.methods.declared import find_method

    if names.strip() == "all":
        return list(methods.values())
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if not wanted:
        raise MethodError("No method given. `cirque methods` lists them; separate names with commas.")
    return [find_method(name, methods) for name in dict.fromkeys([*wanted, *([against] if against else [])])]


@contextmanager
def language_model(
    model: ModelChoice, encoder: Encoder | None, named: str | None = None
) -> Iterator[LanguageModel]:
    """``encoder``: that of the images which the built-in model describes; None if it describes none. ``named``: a model
    of the connected server, instead of the settings' one."""
    if model is ModelChoice.built_in:
        from cir_core.language.builtin import BuiltinLanguageModel

        yield BuiltinLanguageModel(encoder)
        return
    from cir_core.language.connect import language_models

    settings = get_settings()
    if named is not None:
        settings = settings.model_copy(update={"llm_model": named})
    with open_stores() as stores:
        # Without a fallback: figures must not mix the answers of two models.
        yield language_models(settings, stores.answers, fallback=False)(encoder)


@contextmanager
def named_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A bar that says what is being evaluated. Quiet when nobody watches."""
    with bars(TimeElapsedColumn()) as bar:
        task = bar.add_task("Evaluating", total=None)
        yield lambda name, done, total: bar.update(task, description=name, completed=done, total=total)
