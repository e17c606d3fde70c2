"""Create the configured language models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from cir_core.encoders.base import Encoder
from cir_core.errors import SettingsError
from cir_core.language.base import LanguageModel
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.wrappers.availability import BreakerLanguageModel, CountedLanguageModel, FallbackLanguageModel
from cir_core.language.wrappers.cached import AnswerCache, CachedLanguageModel, MemoryCache
from cir_core.language.wrappers.routed import RoutedLanguageModel
from cir_core.settings import Settings, get_settings

if TYPE_CHECKING:
    from cir_core.language.openai.model import OpenAILanguageModel


def connected(settings: Settings, *, checked: bool = True) -> OpenAILanguageModel | None:
    """The model on the configured server, with what ``cirque models check`` has found out about it unless it is to be
    ``checked`` anew (False); None if there is none. Nothing is sent yet.

    Raises:
        SettingsError: incomplete settings, or an invalid address or key.
    """
    base_url, model = settings.llm_base_url.strip(), settings.llm_model.strip()
    if not base_url and not model:
        return None
    if not base_url or not model:
        given, missing = ("MODEL", "BASE_URL") if model else ("BASE_URL", "MODEL")
        raise SettingsError(f"CIRQUE_LLM_{given} is set and CIRQUE_LLM_{missing} is not. Set both to connect a "
                            "language model, or neither to use the built-in one (docs/how-to/language-models.md).")
    from cir_core.language.openai.model import OpenAILanguageModel
    from cir_core.language.openai.server import Abilities, Server, known

    server = Server(
        base_url, model, settings.llm_api_key.get_secret_value().strip(), sees=settings.llm_sees,
        temperature=settings.llm_temperature, timeout=settings.llm_timeout,
        connect_timeout=settings.llm_connect_timeout, retries=settings.llm_retries,
        concurrency=settings.llm_concurrency, image_edge=settings.llm_image_edge,
        max_reply_mb=settings.llm_max_reply_mb,
        prompt_price=settings.llm_prompt_price, completion_price=settings.llm_completion_price,
    )
    found = known(settings.home, server) if checked else Abilities()
    return OpenAILanguageModel(replace(server, sees=server.sees and found.sees), known=found)


def language_models(
    settings: Settings, cache: AnswerCache, *, fallback: bool = True, heard: Callable[[str, str], None] | None = None,
) -> Callable[[Encoder | None], LanguageModel]:
    """Factory of the language model for each encoder (None if every image has a caption); server, cache and captioner
    are shared.

    Without ``fallback`` an unavailable server raises its error: measurements must not
    mix the answers of two models. ``heard`` is called with the role of each request to the server, and its outcome.

    Raises:
        SettingsError: contradictory settings.
    """
    server, captioner = connected(settings), _captioner(settings)
    kept = None
    if server is not None:
        # Inside the cache: a cached answer needs no server, however long that is unavailable.
        asked: LanguageModel = server if heard is None else CountedLanguageModel(server, heard)
        kept = CachedLanguageModel(BreakerLanguageModel(asked), cache)
    captions = CachedLanguageModel(captioner, cache) if captioner is not None else None

    def for_encoder(encoder: Encoder | None) -> LanguageModel:
        builtin = BuiltinLanguageModel(encoder)
        model: LanguageModel = builtin
        if kept is not None:
            model = FallbackLanguageModel(kept, builtin) if fallback else kept
        if captions is not None:
            return RoutedLanguageModel(model, {"caption": captions})
        if kept is not None and not kept.sees:
            return RoutedLanguageModel(model, {"caption": builtin})
        return model

    return for_encoder


@dataclass(frozen=True)
class LanguageLoader:
    """Creates the language model of a process's settings, or the ``built_in`` one, once for each process that it is
    sent to: no key leaves this one. ``load`` gives its encoder."""

    load: Callable[[], Encoder]
    built_in: bool = False

    def __call__(self) -> LanguageModel:
        return _loaded(self)


@lru_cache(maxsize=1)
def _loaded(loader: LanguageLoader) -> LanguageModel:
    if loader.built_in:
        return BuiltinLanguageModel(loader.load())
    return language_models(get_settings(), MemoryCache(), fallback=False)(loader.load())


def _captioner(settings: Settings) -> LanguageModel | None:
    kind, _, path = settings.captioner.partition(":")
    if not kind:
        return None
    if kind != "blip" or not path:
        raise SettingsError(f"CIRQUE_CAPTIONER is '{settings.captioner}'. It must be like blip:/path/to/checkpoint, "
                            "or empty.")
    from cir_core.language.captioners.blip import BlipCaptioner

    return BlipCaptioner(Path(path).expanduser(), settings.device, settings.precision)
